"""Every op judged by NumPy (functions that it lacks by Python's math and MPFR), as it answers here and as it answered
when tests/data/values.txt was made.

One graph holds all cases of the table (tests/data/cases.py); an op that is neither in it nor in WITHOUT fails the last
test.
"""

import itertools
import json
import os
import sys
import unittest

import numpy as np

import tool
from tool import ToolTest

DATA = os.path.join(os.path.dirname(__file__), "..", "data")
sys.path.append(DATA)

import cases  # noqa: E402
import values  # noqa: E402

EPS = 2.0**-23  # an ulp of f32 is between EPS / 2 and EPS of the value


def ulps(have, want):
    """The distance in ulps of f32, which end at 2^-149."""
    return np.abs(have - want) / np.ldexp(1.0, np.maximum(np.frexp(want)[1] - 24, -149))


class NumPy(ToolTest):
    def judge(self, inputs, table, backend):
        statements, types, names, number = [], [], [], itertools.count()
        for statement, results, how in table:
            mine = [f"%r{next(number)}" for _ in results]
            statements.append(f"  {', '.join(mine)} = {statement}\n")
            names += mine
            for r in results:
                # The engine computes in f32 what the table has in float64.
                kind = cases.NAMES[r.dtype.name] if how == cases.EXACT else "f32"
                types.append(f"{kind}{list(r.shape)}")
        of_inputs = ", ".join(f"%{n}: {cases.NAMES[v.dtype.name]}{list(v.shape)}" for n, v in inputs.items())
        graph = self.graph(
            f"graph @all({of_inputs}) -> ({', '.join(types)}) {{\n"
            f"{''.join(statements)}  return {', '.join(names)}\n}}\n"
        )
        got = iter(self.run_graph(graph, inputs, "--backend", backend))
        for statement, results, how in table:
            for want in results:
                have = next(got)
                with self.subTest(statement):
                    self.assertEqual(have.shape, want.shape)
                    if how == cases.EXACT:
                        self.assertEqual(have.dtype, want.dtype)
                        np.testing.assert_array_equal(values.words(have), values.words(want))
                    elif how == cases.NEAR:
                        # What the table's own float64 is off by is far below a thousandth.
                        self.assertLessEqual(ulps(have.astype(np.float64), want).max(), 1.001)
                    else:
                        # Sums are off by a few roundings of their terms, which may cancel.
                        np.testing.assert_allclose(have.astype(np.float64), want, rtol=40 * EPS, atol=40 * EPS)

    def test_every_case_of_the_table(self):
        inputs = cases.data()
        self.judge(inputs, list(cases.table(inputs)), "interp")

    def test_every_stored_case_interpreted(self):
        self.judge(*values.stored(os.path.join(DATA, "values.txt")), "interp")

    @unittest.skipUnless(tool.HAS_COMPILER, "a build without the compiler")
    def test_every_stored_case_compiled(self):
        self.judge(*values.stored(os.path.join(DATA, "values.txt")), "cpu")

    def test_every_op_is_in_the_table_or_has_another_judge(self):
        ops = {op["name"] for op in json.loads(self.ok("ops", "--json"))["ops"]}
        for table in (cases.table(cases.data()), values.stored(os.path.join(DATA, "values.txt"))[1]):
            known = {statement.split()[0] for statement, _, _ in table}
            self.assertEqual(ops - known, set(cases.WITHOUT))


if __name__ == "__main__":
    tool.main()
