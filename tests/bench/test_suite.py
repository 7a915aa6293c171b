#!/usr/bin/env python3
"""test_suite.py SUITE LIBINGOT: checks, references, texts, figures and plots of the benchmark suite."""
import json
import math
import os
import random
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import numpy as np

SUITE, LIBRARY = sys.argv[1], sys.argv.pop(2)
sys.argv.pop(1)
sys.path.insert(0, SUITE)
os.environ["INGOT_LIBRARY"] = LIBRARY

import checks  # noqa: E402 -- found by the path set above
import graphs  # noqa: E402
import ingot  # noqa: E402
import main  # noqa: E402
import page  # noqa: E402
import plots  # noqa: E402
import report  # noqa: E402

EVERY = {g.key: g for g in graphs.every()}


def normal(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


class Checks(unittest.TestCase):
    graph = EVERY["poly@256"]

    def fault(self, change):
        want = np.linspace(-3, 3, 256)
        got = want.astype(np.float32)
        change(got)
        return checks.fault(self.graph, 0, want, got)

    def test_what_is_right_passes(self):
        self.assertIsNone(self.fault(lambda got: None))

    def test_one_item_that_is_wrong_fails(self):
        def change(got):
            got[200] += np.float32(1e-3)
        self.assertIn("item 200", self.fault(change))

    def test_one_nan_fails(self):
        def change(got):
            got[7] = np.nan
        self.assertIn("item 7 is nan", self.fault(change))

    def test_other_dtypes_and_shapes_fail(self):
        want = np.zeros(256)
        self.assertIn("float64", checks.fault(self.graph, 0, want, want))
        self.assertIn("[16, 16]", checks.fault(self.graph, 0, want, np.zeros((16, 16), np.float32)))

    def test_integers_may_be_off_by_one_where_few_are(self):
        graph = EVERY["quantize"]
        want = np.zeros(graph.outputs[0][0])
        got = want.astype(np.int8)
        got[0, :100] = 1
        self.assertIsNone(checks.fault(graph, 0, want, got))
        got[0, 0] = 2
        self.assertIn("off", checks.fault(graph, 0, want, got))
        got[:100] = 1
        self.assertIn("off", checks.fault(graph, 0, want, got))


class References(unittest.TestCase):
    """Against the same formulas one number at a time, by Python's math."""

    def test_softmax(self):
        row = [0.5, -1.0, 3.25]
        total = math.fsum(math.exp(v) for v in row)
        np.testing.assert_allclose(graphs.softmax(np.array([row]))[0], [math.exp(v) / total for v in row], 1e-14)

    def test_gelu(self):
        for x in (-2.5, -0.1, 0.7, 3.0):
            self.assertAlmostEqual(float(graphs.gelu(np.array([x]))[0]), x * normal(x), 14)
            self.assertAlmostEqual(float(graphs.gelu_tanh(np.array([x]))[0]), x * normal(x), 2)

    def test_black_scholes(self):
        # Rate 0.02 and volatility 0.3 at the money for a year: 12.8216 by the formula of 1973.
        call, put = (float(v[0]) for v in graphs.black_scholes(*(np.array([v]) for v in (100.0, 100.0, 1.0))))
        self.assertAlmostEqual(call, 100 * normal(0.65 / 3) - 100 * math.exp(-0.02) * normal(-0.25 / 3), 10)
        self.assertAlmostEqual(call, 12.8216, 4)
        self.assertAlmostEqual(call - put, 100 - 100 * math.exp(-0.02), 10)

    def test_cross_entropy(self):
        scores = np.array([[1.0, 2.0, 0.0], [0.5, 0.5, 0.5]])
        first = -math.log(math.exp(2) / (math.e + math.exp(2) + 1))
        self.assertAlmostEqual(float(graphs.cross_entropy(scores, np.array([1, 2]))[0]), (first + math.log(3)) / 2, 14)

    def test_adamw_is_adamw_for_each_of_many(self):
        rng = np.random.default_rng(1)
        many = [rng.random(n) for _ in range(4) for n in (3, 5)]
        got = graphs.adamw_many(*many)
        for tensor in (0, 1):
            want = graphs.adamw(*many[tensor::2])
            for part in range(3):
                np.testing.assert_array_equal(got[2 * part + tensor], want[part])


class Texts(unittest.TestCase):
    def test_ingot_takes_every_graph_and_makes_as_many_outputs(self):
        context, seen = ingot.Context(), set()
        for graph in EVERY.values():
            if graph.text not in seen:
                seen.add(graph.text)
                executable = ingot.Executable(context, graph.text, ingot.BACKEND_AUTO)
                self.assertEqual(executable.outputs(), len(graph.outputs), graph.key)

    def test_keys_are_names(self):
        self.assertEqual(len(EVERY), len(graphs.every()))
        self.assertEqual(12, sum(g.family == "twelve" for g in EVERY.values()))


def data_of(times):
    """One graph of the twelve with these times in seconds."""
    results = {name: {"samples": [[t * 2, t], [t * 3]], "first": 1.0} for name, t in times.items()}
    results["numexpr"] = {"error": "NotImplementedError: cannot | express it\nmore"}
    return {"graphs": {"softmax": {"title": "a < b", "family": "twelve", "results": results}}, "missing": {},
            "machine": {"cpu": "one", "cpus": 1}, "contestants": {**dict.fromkeys(times, ""), "numexpr": ""}}


class Reports(unittest.TestCase):
    data = data_of({"ingot": 2.0, "hand": 1.0, "limit": 0.5, "numpy": 8.0, "jax": 4.0})

    def test_the_best_peer_is_none_of_ours(self):
        self.assertEqual(report.best_peer(self.data["graphs"]["softmax"]["results"]), ("jax", 4.0))

    def test_ratios_are_speeds_of_ingot(self):
        self.assertEqual(report.mean_against(self.data, "best"), (2.0, 1))
        self.assertEqual(page.speed(self.data, "softmax", "hand"), 0.5)
        self.assertAlmostEqual(report.geometric([(2, 1), (8, 1), (None, 1)])[0], 4)

    def test_figures_say_met_and_missed(self):
        self.assertEqual(page.figure("x", 1.5, 1.5)[3], "met")
        self.assertEqual(page.figure("x", 1.5, 1.4)[3], "missed")
        self.assertEqual(page.figure("x", 5, 6, at_most=True)[3], "missed")
        self.assertEqual(page.figure("x", 5, None)[3], "not measured")

    def test_a_failure_is_on_the_page_with_its_words(self):
        text = page.build(self.data)
        self.assertIn("| numexpr | cannot \\| express it | a < b |", text)

    def test_a_page_needs_no_peers(self):
        data = data_of({"ingot": 2.0})
        data["contestants"] = {"ingot": ""}
        self.assertIn("Peers: none", page.build(data))


class Merging(unittest.TestCase):
    def test_new_graphs_take_the_place_of_old_ones_and_the_others_stay(self):
        old, new = data_of({"ingot": 2.0}), data_of({"ingot": 1.0})
        old["graphs"]["poly"] = old["graphs"]["softmax"]
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/suite.json", "w", encoding="utf-8") as file:
                json.dump(old, file)
            merged = main.merge(f"{folder}/suite.json", new)["graphs"]
        self.assertEqual([report.least(merged[k]["results"], "ingot") for k in ("poly", "softmax")], [2.0, 1.0])


class Plots(unittest.TestCase):
    def test_every_file_is_well_formed(self):
        random.seed(1)
        data = data_of({name: random.random() + 0.1 for name in report.NAMES})
        for power in (10, 16):
            data["graphs"][f"poly^{power}"] = {**data["graphs"]["softmax"], "family": "growth"}
        with tempfile.TemporaryDirectory() as folder:
            written = plots.write_all(data, folder)
            self.assertIn("suite-growth-poly.svg", [name for name, _ in written])
            for name, _ in written:
                root = ElementTree.parse(f"{folder}/{name}").getroot()
                self.assertTrue(root.tag.endswith("svg"))
                self.assertGreater(len(root), 5, name)


unittest.main()
