"""compile, explain, bench, ops, doctor."""

import html.parser
import json
import os
import re

import numpy as np

import tool
from tool import EXAMPLES, HAS_COMPILER, ToolTest

SOFTMAX = os.path.join(EXAMPLES, "graphs", "softmax.ingot")
HEADER = os.path.join(EXAMPLES, "..", "include", "ingot", "ingot.h")


class Compile(ToolTest):
    def test_kernel_text_goes_to_stdout_or_a_file(self):
        text = self.ok("compile", SOFTMAX)
        self.assertIn(b"fold.max", text)
        self.assertIn(b"fold.sum", text)
        self.ok("compile", SOFTMAX, "--emit", "kernel", "-o", self.path("k.txt"))
        with open(self.path("k.txt"), "rb") as file:
            self.assertEqual(file.read(), text)

    def test_unfused_there_is_a_kernel_for_every_op(self):
        count = self.ok("compile", SOFTMAX, "--no-fuse").count(b"// kernel ")
        self.assertEqual(self.ok("compile", SOFTMAX).count(b"// kernel "), 1)
        self.assertGreater(count, 3)
        one = self.ok("compile", SOFTMAX, "--no-fuse", "--kernel", count - 1)
        self.assertTrue(one.startswith(b"// kernel %d" % (count - 1)))

    def test_bytes_are_of_one_kernel(self):
        for emit in ["artifact", "cubin"]:
            args = ["compile", SOFTMAX, "--no-fuse", "--emit", emit]
            self.fails(tool.BAD_INPUT, "pick it with --kernel N, N from 0 to", *args)

    def test_code_for_every_target(self):
        if not HAS_COMPILER:
            self.skipTest("no compiler module")
        for target, token in [
            ("x86-64-v2", b"%xmm"),
            ("x86-64-v3", b"%ymm"),
            ("x86-64-v4", b"mm"),
            ("aarch64", b"fmla"),
        ]:
            with self.subTest(target):
                self.assertIn(token, self.ok("compile", SOFTMAX, "--target", target, "--emit", "asm"))
                self.assertIn(b"define", self.ok("compile", SOFTMAX, "--target", target, "--emit", "llvm"))
        artifact = self.ok("compile", SOFTMAX, "--emit", "artifact", "-o", "-")
        self.assertEqual(artifact, self.ok("compile", SOFTMAX, "--emit", "artifact"))


class Links(html.parser.HTMLParser):
    """Tags left open, and attributes that would fetch something."""

    def __init__(self):
        super().__init__()
        self.open, self.outside = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.outside += [v for k, v in attrs if k in ("src", "href", "data") and not v.startswith("#")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


class Explain(ToolTest):
    def page(self, *args):
        text = self.ok("explain", *args).decode()
        links = Links()
        links.feed(text)
        self.assertEqual((links.open, links.outside), ([], []))
        self.assertNotIn("url(", text)
        return text

    def test_page_shows_graph_kernels_and_bytes(self):
        text = self.page(SOFTMAX, "--shape", "B=64", "--shape", "N=1000")
        for part in ["softmax %scores", "fold.sum", "Launch 0", "input scores", "B = 64, N = 1000"]:
            self.assertIn(part, text)

    def test_page_says_why_values_are_stored_and_inputs_read_twice(self):
        graph = self.graph(
            "graph @g(%x: f32[B, N], %v: f32[N]) -> (f32[B, N], f32[N]) {\n  %0 = exp %v\n  %1 = add %x, %0\n"
            "  %2 = softmax %1 {axis = 1}\n  %3 = reduce_sum %x {axes = [0]}\n  return %2, %3\n}\n"
        )
        text = self.page(graph)
        self.assertIn("would cost 14 operations an element against 4 bytes", text)
        self.assertIn("one kernel sweeps [N], the other [B]", text)
        self.assertIn("Inputs that several launches read", text)
        self.assertNotIn("Inputs that several launches read", self.page(SOFTMAX))

    def test_bytes_are_those_that_a_run_counts(self):
        sizes = ["--shape", "B=64", "--shape", "N=1000"]

        def kib(*flags):
            s = self.stats(SOFTMAX, "--random", "1", *sizes, *flags)
            value = (s["bytes_read"] + s["bytes_written"]) / 1024
            return f"{value:.0f} KiB" if value < 1024 else f"{value / 1024:.1f} MiB"

        text = self.page(SOFTMAX, *sizes)
        self.assertIn(f">{kib()}</span>", text)
        self.assertIn(f">{kib('--no-fuse')}</span>", text)

    def test_without_sizes_it_says_how_to_give_them(self):
        self.assertIn("--shape B=NUMBER --shape N=NUMBER", self.page(SOFTMAX))
        said = "the extent N has no value; give every extent or none"
        self.fails(tool.USAGE, said, "explain", SOFTMAX, "--shape", "B=1")
        self.fails(tool.USAGE, "no input has the extent Q", "explain", SOFTMAX, "--shape", "Q=1")

    def test_sizes_that_a_run_refuses_are_refused(self):
        graph = self.graph(
            "graph @g(%x: f32[N], %y: f32[M], %k: dim K) -> (f32[N]) where N >= 1, N <= 9, N % 3 == 0, M == N {\n"
            "  %0 = neg %x\n  return %0\n}\n"
        )
        right_or_not = [(3, 3, 0, True), (0, 0, 1, False), (12, 12, 1, False), (4, 4, 1, False), (3, 6, 1, False)]
        for n, m, k, right in right_or_not:
            sizes = ["--shape", f"N={n}", "--shape", f"M={m}", "--shape", f"K={k}"]
            with self.subTest(sizes):
                run = self.call("run", graph, "--random", "1", *sizes)
                explained = self.call("explain", graph, *sizes)
                self.assertEqual((run[0], explained[0]), (0, 0) if right else (tool.BAD_INPUT, tool.BAD_INPUT))
                if not right:
                    self.assertEqual(explained[1:], run[1:])

    def test_names_from_the_graph_are_escaped(self):
        graph = self.graph(
            'graph @"<script>&"(%"<b>": f32[N]) -> ("<i>": f32[N]) {\n  %0 = neg %"<b>"\n  return %0\n}\n'
        )
        text = self.page(graph, "--shape", "N=4")
        self.assertNotIn("<script>", text)
        self.assertNotIn("<b>&", text)
        self.assertIn("&lt;script&gt;&amp;", text)


class Bench(ToolTest):
    def test_json_holds_samples_of_every_figure(self):
        report = json.loads(
            self.ok("bench", SOFTMAX, "--shape", "B=4", "--shape", "N=100", "--samples", "3", "--json")
        )
        self.assertEqual(report["schema"], 1)
        self.assertEqual(
            set(report["ns"]),
            {
                "cold_compile",
                "later_compile",
                "warm_disk_first_call",
                "warm_call",
                "unfused_call",
                "memcpy",
                "dispatch",
            },
        )
        for name, figure in report["ns"].items():
            self.assertGreaterEqual(len(figure["samples"]), 3, name)
            self.assertGreater(min(figure["samples"]), 0, name)
            self.assertEqual(figure["count"], len(figure["samples"]))
            for key, wanted in [
                ("min", np.min(figure["samples"])),
                ("median", np.median(figure["samples"])),
                ("p10", np.percentile(figure["samples"], 10)),
                ("p90", np.percentile(figure["samples"], 90)),
            ]:
                self.assertAlmostEqual(figure[key] / wanted, 1, 9, (name, key))
        self.assertEqual(report["bytes_read"] + report["bytes_written"], 2 * 4 * 100 * 4)
        self.assertEqual(report["launches"], 1)
        self.assertGreater(report["ratios"]["unfused_to_fused"], 0)

    def test_text_and_stdin(self):
        with open(SOFTMAX, "rb") as file:
            text = self.ok(
                "bench",
                "-",
                "--shape",
                "B=2",
                "--shape",
                "N=10",
                "--samples",
                "3",
                "--tiny",
                "B=1",
                "--tiny",
                "N=16",
                stdin=file.read(),
            )
        times = [b"cold compile", b"warm disk, first call", b"B=1, N=16", b"memcpy / fused"]
        for part in [*times, b"1 kernel, 1 launch "]:
            self.assertIn(part, text)
        self.assertRegex(text, rb"(?m)^ +min +median +p10 +p90 +n *$")
        cell = rb" +[0-9.]+ [num]s"
        self.assertRegex(text, rb"(?m)^  warm call" + cell * 4 + rb" +3  \d+ bytes read")
        self.assertRegex(text, rb"(?m)^  cold compile" + cell * 4 + rb" +7  ")

    def test_relaxed_precision_may_change_bits_by_fusion(self):
        graph = self.graph(
            "graph @g(%x: bf16[N], %y: bf16[N]) -> (bf16[N]) flags(relaxed_precision) {\n"
            "  %0 = mul %x, %y\n  %1 = add %0, %y\n  %2 = mul %1, %x\n  return %2\n}\n"
        )
        self.assertIn(b"1 kernel", self.ok("bench", graph, "--shape", "N=1000", "--samples", "3", "--tiny", "N=16"))

    def test_nothing_is_left_behind(self):
        self.ok("bench", SOFTMAX, "--shape", "B=2", "--shape", "N=10", "--samples", "3")
        self.assertFalse([n for n in os.listdir(self.folder) if n.startswith("ingot-")])

    def environment(self):
        return {**super().environment(), "TMPDIR": self.folder}


class Ops(ToolTest):
    def test_the_table_is_the_headers(self):
        table = json.loads(self.ok("ops", "--json"))
        self.assertEqual(table["schema"], 1)
        with open(HEADER, encoding="utf-8") as file:
            numbers = dict(re.findall(r"INGOT_OP_(\w+) = (\d+)", file.read()))
        self.assertEqual(
            {op["name"]: op["number"] for op in table["ops"]}, {k.lower(): int(v) for k, v in numbers.items()}
        )
        text = self.ok("ops").decode()
        self.assertEqual(len(text.splitlines()), len(table["ops"]))
        self.assertRegex(text, r"(?m)^fma +elementwise, 3 operands: ")
        self.assertRegex(text, r"(?m)^exp +function, 1 operand: ")

    def test_every_example_runs(self):
        inputs = re.search(r"inputs\n`(.*)`", self.page()).group(1)
        for op in json.loads(self.ok("ops", "--json"))["ops"]:
            rows = 1 if op["name"] == "squeeze" else 4
            sizes = ["--random", "1", "--shape", f"B={rows}", "--shape", "N=4", "--shape", "M=2", "--backend", "interp"]
            with self.subTest(op["name"]):
                self.assertIn(f"`{op['example']}`", self.page())
                results = {"split": "%r, %other", "frexp": "%r, %other", "batch_norm_training": "%r, %mean, %var"}
                results = results.get(op["name"], "%r")
                if op["class"] == "gather" or op["name"] == "cross_entropy":  # an index for every operand
                    low = 0 if op["name"] == "cross_entropy" else -1
                    sizes += [flag for name in "ijkl" for flag in ("--range", f"{name}={low}:1")]
                body = f"  {results} = {op['example']}\n  %same = eq %r, %r\n  %all = reduce_all %same\n  return %all\n"
                graph = self.graph(f"graph @g({inputs}) -> (bool[]) {{\n{body}}}\n")
                self.assertIn(b"bool[]", self.ok("run", graph, *sizes))

    def page(self):
        with open(os.path.join(EXAMPLES, "..", "docs", "ops.md"), encoding="utf-8") as file:
            return file.read()


class Doctor(ToolTest):
    def test_says_what_is_there(self):
        code, out, err = self.call("doctor")
        text = out.decode()
        self.assertRegex(text, r"(?m)^library +\d+\.\d+\.\d+$")
        self.assertRegex(text, r"(?m)^target +(x86-64-v\d|aarch64)")
        self.assertRegex(text, r"(?m)^interpreter +compiles, runs, right result$")
        self.assertIn(self.cache, text)
        self.assertEqual(code, tool.DONE if HAS_COMPILER else tool.FAILED, text + err)
        if HAS_COMPILER:
            self.assertRegex(text, r"(?m)^machine code +compiles, runs, right result$")
        # Places are spelled as they are, not by way of the tool's search path.
        self.assertNotIn("/../", text + err)

    def test_makes_no_directory_and_caches_nothing(self):
        absent = self.path("absent")
        _, out, _ = self.call("doctor", "--dir", absent)
        self.assertIn(f"{absent}, not there yet", out.decode())
        self.assertFalse(os.path.exists(absent))
        os.mkdir(absent, 0o700)
        _, out, _ = self.call("doctor", "--dir", absent)
        self.assertIn("0 entries", out.decode())
        self.assertEqual(os.listdir(absent), [])

    def nvrtc(self, **environment):
        """The exit code of doctor and what it says of NVRTC."""
        old = self.environment
        self.environment = lambda: {**old(), **environment}
        code, out, _ = self.call("doctor")
        self.environment = old
        return code, re.search(r"(?ms)^NVRTC +(.*)\Z", out.decode()).group(1)

    def test_nvrtc_is_optional_and_named_with_its_version(self):
        usual, _ = self.nvrtc()
        code, said = self.nvrtc(INGOT_NVRTC=self.path("libnvrtc.so.13"))
        self.assertEqual(code, usual)
        self.assertIn("none, so no cubins", said)
        self.assertIn(self.path("libnvrtc.so.13"), said)
        _, said = self.nvrtc()
        if "none, so no cubins" not in said:
            self.assertRegex(said, r"libnvrtc\.so\S*, version \d+\.\d+, makes cubins")

    def test_a_missing_module_is_a_problem_and_every_place_is_named(self):
        os.mkdir(self.path("empty"))
        old = self.environment
        self.environment = lambda: {**old(), "INGOT_MODULE_DIR": self.path("empty")}
        code, out, _ = self.call("doctor")
        self.assertEqual(code, tool.FAILED)
        self.assertIn("PROBLEM", out.decode())
        self.assertIn(self.path("empty"), out.decode())
        # Everything still runs, by the interpreter.
        self.ok("run", SOFTMAX, "--random", "1", "--shape", "B=2", "--shape", "N=3")
        self.fails(
            tool.UNSUPPORTED,
            "compiler module",
            "run",
            SOFTMAX,
            "--random",
            "1",
            "--shape",
            "B=2",
            "--shape",
            "N=3",
            "--backend",
            "cpu",
        )


if __name__ == "__main__":
    tool.main()
