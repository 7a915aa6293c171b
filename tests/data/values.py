#!/usr/bin/env python3
"""Inputs and results of every op, by NumPy, Python's math and MPFR (cases.py): values.py > values.txt makes the file,
values.py --check values.txt computes it again from the file's own inputs. The last line is the SHA-256 of those before
it.

'input NAME' and 'case JUDGED STATEMENT' are followed by tensors: a line with dtype and shape, then the bits of the
elements in hexadecimal, row-major. Results that are not exact are float64, where libraries differ in the last bits:
these the check lets pass."""
import hashlib
import platform
import sys
import textwrap

import numpy as np

import cases

DTYPES = {name: np.dtype(numpy_name) for numpy_name, name in cases.NAMES.items()}


def bits_of(dtype):
    return np.dtype(f"u{dtype.itemsize}")


def words(array):
    return np.ascontiguousarray(array).reshape(-1).view(bits_of(array.dtype))


def tensor(array):
    yield f"  {cases.NAMES[array.dtype.name]} {list(array.shape)}"
    text = " ".join(f"{w:x}" for w in words(array))
    yield from textwrap.wrap(text, 120, initial_indent="    ", subsequent_indent="    ")


def head():
    return (
        f"# Made by values.py: NumPy {np.__version__}, Python {platform.python_version()}, "
        f"MPFR {cases.mpfr().mpfr_get_version().decode()}"
    )


def lines():
    inputs = cases.data()
    yield head()
    for name, array in inputs.items():
        yield f"input {name}"
        yield from tensor(array)
    for statement, results, how in cases.table(inputs):
        yield f"case {how} {statement}"
        for array in results:
            yield from tensor(array)


def hash_line(text):
    return "sha256 " + hashlib.sha256(text.encode()).hexdigest() + "\n"


class Reader:
    """Takes a file apart again."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        body, last = text[: text.rfind("\n", 0, -1) + 1], text[text.rfind("\n", 0, -1) + 1 :]
        if last != hash_line(body):
            raise ValueError(f"{path}: the text is not that of its hash")
        self.lines = body.splitlines()[1:]
        self.at = 0

    def __bool__(self):
        return self.at < len(self.lines)

    def next(self):
        self.at += 1
        return self.lines[self.at - 1]

    def tensors(self):
        while self and self.lines[self.at].startswith("  "):
            dtype, shape = self.next().split(maxsplit=1)
            shape = [int(n) for n in shape.strip("[]").split(",") if n]
            found = []
            while self and self.lines[self.at].startswith("    "):
                found += [int(w, 16) for w in self.next().split()]
            dtype = DTYPES[dtype]
            yield np.array(found, bits_of(dtype)).view(dtype).reshape(shape)


def stored(path):
    """(inputs, cases) as cases.py has them."""
    reader = Reader(path)
    inputs, table = {}, []
    while reader:
        kind, rest = reader.next().split(" ", 1)
        tensors = list(reader.tensors())
        if kind == "input":
            inputs[rest] = tensors[0]
        else:
            how, statement = rest.split(" ", 1)
            table.append((statement, tensors, how))
    return inputs, table


def same(old, new, how):
    if len(old) != len(new) or any(a.shape != b.shape or a.dtype != b.dtype for a, b in zip(old, new)):
        return False
    if how == cases.EXACT:
        return all(np.array_equal(words(a), words(b)) for a, b in zip(old, new))
    slack = 1e-12 if how == cases.SUMMED else 0
    return all(np.allclose(a, b, rtol=1e-12, atol=slack, equal_nan=True) for a, b in zip(old, new))


def check(path):
    inputs, old = stored(path)
    if inputs.keys() != cases.data().keys():
        return ["the inputs"]
    new = list(cases.table(inputs))
    if [(statement, how) for statement, _, how in old] != [(statement, how) for statement, _, how in new]:
        return ["the list of cases"]
    return [statement for (statement, a, how), (_, b, _) in zip(old, new) if not same(a, b, how)]


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        wrong = check(sys.argv[2])
        print(f"{sys.argv[2]} is not what this script makes: {'; '.join(wrong)}" if wrong else "current")
        return 1 if wrong else 0
    text = "\n".join(lines()) + "\n"
    sys.stdout.write(text + hash_line(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
