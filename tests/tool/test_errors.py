"""Exit codes and messages: what is wrong, where, and what was expected. Nothing here may crash."""

import os
import signal
import subprocess

import numpy as np

import tool
from tool import BAD_INPUT, EXAMPLES, FAILED, TOOL, UNSUPPORTED, USAGE, ToolTest

COPY = "graph @g(%x: f32[N]) -> (f32[N]) {\n  return %x\n}\n"


class Usage(ToolTest):
    def test_no_verb_an_unknown_verb_and_unknown_flags(self):
        for args in [
            [],
            ["fly"],
            ["run"],
            ["run", "g", "--nope"],
            ["bench"],
            ["cache"],
            ["cache", "burn"],
            ["compile", "g", "--emit", "gold"],
            ["run", "g", "--threads", "many"],
            ["ops", "extra"],
            ["run", "g", "--random", "1.5"],
            ["run", "g", "--random", "-1"],
            ["bench", "g", "--random", "-1"],
            ["run", "g", "--random", "18446744073709551616"],
            ["run", "g", "--threads", "-1"],
            ["bench", "g", "--threads", "-1"],
            ["bench", "g", "--samples", "-1"],
            ["bench", "g", "--samples", "0"],
            ["cache", "warm"],
            ["compile", "g", "--kernel", "-1"],
            ["run", "g", "--input"],
        ]:
            with self.subTest(args):
                code, out, err = self.call(*args)
                self.assertEqual((code, out), (USAGE, b""), err)
                self.assertNotEqual(err, "")

    def test_words_that_are_no_verbs_are_named(self):
        self.fails(USAGE, "no verb foo; ", "foo")
        self.fails(USAGE, "no verb foo; ", "foo", "--help-me")
        self.fails(USAGE, "no verb foo; ", "cache", "foo")

    def test_help_and_version_are_data(self):
        self.assertIn(b"Exit codes", self.ok("--help"))
        self.assertIn(b"--no-fuse", self.ok("run", "--help"))
        self.assertTrue(self.ok("--version").startswith(b"ingot 0."))

    def test_flags_that_do_not_fit_the_graph(self):
        graph = self.graph(COPY)
        for message, flags in [
            ("it has x", ["--input", "z=1"]),
            ("it has x", ["--input", "1=1"]),
            ("expected NAME=", ["--input", "x"]),
            ("expected NAME=", ["--input", "=a"]),
            ("expected SYMBOL=NUMBER", ["--shape", "N"]),
            ("expected SYMBOL=NUMBER", ["--shape", "N=-1"]),
            ("expected SYMBOL=NUMBER", ["--shape", "N=1x"]),
            ("no input has the extent M; there are N", ["--random", "1", "--shape", "M=3"]),
            ("--shape N=NUMBER", ["--random", "1"]),
            ("--input x=FILE.npy or --random", []),
            ("no output y", ["--random", "1", "--shape", "N=1", "--output", "y=a.npy"]),
            ("expected NAME=FILE", ["--random", "1", "--shape", "N=1", "--output", "a.npy"]),
            ("named twice", ["--random", "1", "--shape", "N=1", "--output", "0=a.npy", "--output", "0=b.npy"]),
            ("given as 1 and as 2", ["--random", "1", "--shape", "N=1", "--shape", "N=2"]),
            ("LOW:HIGH", ["--random", "1", "--shape", "N=1", "--range", "x=3"]),
            ("LOW (3) is above HIGH (1)", ["--random", "1", "--shape", "N=1", "--range", "x=3:1"]),
            ("LOW:HIGH", ["--random", "1", "--shape", "N=1", "--range", "x=a:1"]),
            ("LOW:HIGH", ["--random", "1", "--shape", "N=1", "--range", "x=1:2:3"]),
            ("finite", ["--random", "1", "--shape", "N=1", "--range", "x=nan:1"]),
            ("finite", ["--random", "1", "--shape", "N=1", "--range", "x=0:inf"]),
            ("x is given twice", ["--random", "1", "--shape", "N=1", "--range", "x=0:1", "--range", "0=0:1"]),
        ]:
            with self.subTest(flags):
                self.fails(USAGE, message, "run", graph, *flags)


    def test_an_input_is_given_once(self):
        graph = self.graph("graph @g(%x: f32[]) -> (f32[]) {\n  return %x\n}\n")
        self.fails(USAGE, "input x is given twice", "run", graph, "--input", "x=1", "--input", "x=2")
        self.fails(USAGE, "input x is given twice", "run", graph, "--input", "x=1", "--input", "0=2")
        self.fails(USAGE, "not random", "run", graph, "--random", "1", "--input", "x=1", "--range", "x=0:1")


class GraphText(ToolTest):
    def at(self, position, message, text):
        """The message begins with the file and the position of the fault."""
        path = self.write("bad.ingot", text)
        for verb in ["run", "compile", "explain", "bench"]:
            code, out, err = self.call(verb, path)
            self.assertEqual((code, out), (BAD_INPUT, b""), err)
            self.assertTrue(err.startswith(f"ingot: {path}:{position}: "), err)
            self.assertIn(message, err)

    def test_positions(self):
        self.at("1:1", "expected 'ingot 1.0'", "")
        self.at("1:1", "expected 'ingot 1.0'", "graph @g() -> () {}")
        self.at(
            "3:8",
            "unknown op 'foo'",
            "ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = foo %x\n  return %0\n}\n",
        )
        self.at(
            "3:13",
            "named 'y'",
            "ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = neg %y\n  return %0\n}\n",
        )
        self.at("2:14", "", "ingot 1.0\ngraph @g(%x: f33[N]) -> (f32[N]) {\n  return %x\n}\n")

    def test_columns_count_characters_not_bytes(self):
        self.at(
            "3:15",
            "named 'y'",
            "ingot 1.0\ngraph @g(%\"\u00e9\u00e9\": f32[N]) -> (f32[N]) {\n  %\"\u00e9\" = neg %y\n  return %y\n}\n",
        )

    def test_a_type_error_names_op_and_operand(self):
        text = "ingot 1.0\ngraph @g(%x: f32[N], %y: i32[N]) -> (f32[N]) {\n  %0 = add %x, %y\n  return %0\n}\n"
        self.at("3:8", "i32", text)

    def test_bytes_that_are_no_text(self):
        self.at("1:1", "UTF-8", b"\xff\xfe\x00")
        self.at("2:7", "", b"ingot 1.0\ngraph \x00")

    def test_stdin_has_a_name_too(self):
        code, _, err = self.call("run", "-", stdin=b"ingot 2.0\n")
        self.assertEqual(code, BAD_INPUT)
        self.assertTrue(err.startswith("ingot: <stdin>:1:"), err)

    def test_deep_and_long_texts_end_in_a_status(self):
        deep = (
            "ingot 1.0\ngraph @g(%x: f32["
            + "(" * 10000
            + "N"
            + ")" * 10000
            + "]) -> (f32[N]) {\n  return %x\n}\n"
        )
        long_line = (
            "ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = "
            + "a" * 10_000_000
            + " %x\n  return %0\n}\n"
        )
        for text in [deep, long_line, "x" * 10_000_000]:
            for verb in ["run", "compile", "explain", "bench"]:
                code, out, err = self.call(verb, self.write("big.ingot", text))
                self.assertEqual((code, out), (BAD_INPUT, b""))
                self.assertLess(len(err), 2000)


class Files(ToolTest):
    def test_files_that_are_not_there_or_cannot_be_read(self):
        for verb in [["run"], ["compile"], ["explain"], ["bench"], ["cache", "warm"]]:
            self.fails(BAD_INPUT, "none.ingot: No such file", *verb, self.path("none.ingot"))
            self.fails(BAD_INPUT, self.folder + ": Is a directory", *verb, self.folder)
        self.fails(BAD_INPUT, "Is a directory", "run", self.graph(COPY), "--input", f"x={self.folder}")
        self.fails(BAD_INPUT, "No such file", "run", self.graph(COPY), "--input", "x=none.npy")

    def test_a_file_takes_one_output(self):
        graph = self.graph("graph @g(%x: f32[2]) -> (f32[2], f32[2]) {\n  %y = neg %x\n  return %x, %y\n}\n")
        flags = ["run", graph, "--random", "1", "--output", "0=a.npy", "--output"]
        self.fails(USAGE, "--output 1=a.npy: another output goes to that file", *flags, "1=a.npy")
        self.ok(*flags, "1=b.npy")
        self.assertEqual(self.ok(*flags[:4], "--output", "0=-", "--output", "1=-").count(b"NUMPY"), 2)

    # Opened by its name, a file that stdout goes to is truncated and written over.
    def test_the_file_that_stdout_goes_to_may_be_named(self):
        graph = self.graph(COPY)
        run = ["run", graph, "--random", "1", "--shape", "N=4", "--stats"]
        for args, file in [
            (run, "-"),
            (run, "/dev/stdout"),
            (run, self.path("out")),
            (["compile", graph, "-o"], "/dev/stdout"),
            (["explain", graph, "-o"], "/dev/stdout"),
        ]:
            with self.subTest([*args, file]):
                with open(self.path("out"), "wb") as out:
                    out.write(b"before\n")
                    out.flush()
                    subprocess.run([TOOL, *args, file], stdout=out, env=self.environment(), check=True)
                with open(self.path("out"), "rb") as out:
                    text = out.read()
                self.assertTrue(text.startswith(b"before\n"))
                self.assertNotIn(b"\0", text)
                if args is run:
                    self.assertRegex(text, rb"(?s)\Abefore\n0: f32\[4\] .*\n\{\n  \"schema\": 1,.*\}\n\Z")

    def test_outputs_that_cannot_be_written(self):
        flags = ["run", self.graph(COPY), "--random", "1", "--shape", "N=4"]
        self.fails(FAILED, "No such file", *flags, "--output", "0=none/y.npy")
        self.fails(FAILED, "directory", *flags, "--output", f"0={self.folder}")
        for verb in ["compile", "explain"]:
            self.fails(FAILED, "No such file", verb, self.graph(COPY), "-o", "none/out")
            self.fails(FAILED, "directory", verb, self.graph(COPY), "-o", self.folder)
        self.fails(FAILED, "No such file", *flags, "--output", "0=y.npy", "--stats", "none/s.json")
        if os.path.exists("/dev/full"):
            self.fails(FAILED, "No space", *flags, "--output", "0=/dev/full")
            with open("/dev/full", "wb") as full:
                done = subprocess.run(
                    [TOOL, *flags], stdout=full, stderr=subprocess.PIPE, env=self.environment(), check=False
                )
            self.assertEqual(done.returncode, FAILED)

    def test_a_closed_pipe_is_no_crash(self):
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "wb") as pipe:
            done = subprocess.run(
                [TOOL, "ops", "--json"],
                stdout=pipe,
                stderr=subprocess.PIPE,
                env=self.environment(),
                check=False,
            )
        self.assertIn(done.returncode, (FAILED, -signal.SIGPIPE))

    def test_a_cache_directory_that_cannot_be_one(self):
        self.cache = self.write("file", "not a directory")
        code, out, err = self.call("run", self.graph(COPY), "--random", "1", "--shape", "N=4")
        self.assertEqual(code, 0, err)  # named by the environment it only costs the disk cache
        self.assertIn(b"f32[4]", out)
        self.assertIn("cached in memory only", err)
        code, out, err = self.call("cache", "list", "--dir", self.cache)
        self.assertIn(code, (BAD_INPUT, UNSUPPORTED))  # named on the command line it is an error
        self.assertEqual(out, b"")
        self.assertIn(self.cache, err)


class Sizes(ToolTest):
    def test_sizes_out_of_all_bounds(self):
        graph = self.graph(COPY)
        for n in [2**62, 2**63 - 1, 10**15]:
            with self.subTest(n):
                code, out, err = self.call("run", graph, "--random", "1", "--shape", f"N={n}")
                self.assertEqual((code, out), (BAD_INPUT, b""), err)
        self.fails(USAGE, "expected SYMBOL=NUMBER", "run", graph, "--random", "1", "--shape", f"N={2**63}")

    def test_sizes_that_the_facts_of_the_graph_forbid(self):
        graph = self.graph(
            "graph @g(%x: f32[N], %y: f32[M]) -> (f32[N]) where N % 8 == 0, M <= 5 {\n  return %x\n}\n"
        )
        self.ok("run", graph, "--random", "1", "--shape", "N=16", "--shape", "M=5")
        self.fails(
            BAD_INPUT,
            "symbol M is 6 here, but is declared to be at most 5",
            *["run", graph, "--random", "1", "--shape", "N=16", "--shape", "M=6"],
        )
        for n, m in [(7, 5), (16, 6)]:
            code, _, err = self.call("run", graph, "--random", "1", "--shape", f"N={n}", "--shape", f"M={m}")
            self.assertEqual(code, BAD_INPUT, err)

    def test_arrays_that_contradict_each_other(self):
        graph = self.graph(
            "graph @g(%x: f32[N], %y: f32[N]) -> (f32[N]) {\n  %0 = add %x, %y\n  return %0\n}\n"
        )
        x, y = self.save("x.npy", np.zeros(3, np.float32)), self.save("y.npy", np.zeros(4, np.float32))
        self.fails(
            BAD_INPUT, "N = 4, but elsewhere N = 3", "run", graph, "--input", f"x={x}", "--input", f"y={y}"
        )


class Targets(ToolTest):
    def test_unknown_targets(self):
        graph = os.path.join(EXAMPLES, "graphs", "softmax.ingot")
        self.fails(USAGE, "x86-64-v3", "compile", graph, "--target", "z80")
        self.fails(BAD_INPUT, "kernel 9 of 1", "compile", graph, "--kernel", "9")

    def test_a_cubin_is_for_a_gpu_that_is_named(self):
        graph = os.path.join(EXAMPLES, "graphs", "softmax.ingot")
        for flags, said in [([], "no target is given"), (["--target", "x86-64-v3"], '"x86-64-v3" is none')]:
            self.fails(BAD_INPUT, said, "compile", graph, "--emit", "cubin", *flags)
            self.fails(BAD_INPUT, "sm_90", "compile", graph, "--emit", "cubin", *flags)

    def test_what_is_emitted_is_for_the_target_that_is_named(self):
        graph = os.path.join(EXAMPLES, "graphs", "softmax.ingot")
        for target in ["x86-64-v2", "aarch64"]:
            self.fails(BAD_INPUT, f"{target} is no GPU's", "compile", graph, "--emit", "cuda", "--target", target)
        text = self.ok("compile", graph, "--emit", "cuda")
        self.assertEqual(text, self.ok("compile", graph, "--emit", "cuda", "--target", "sm_90"))
        for emit in ["llvm", "asm"]:
            self.assertNotEqual(self.call("compile", graph, "--emit", emit, "--target", "sm_90")[0], 0)

    def test_code_for_another_machine_can_be_warmed(self):
        if not tool.HAS_COMPILER:
            self.skipTest("no compiler module")
        graph = os.path.join(EXAMPLES, "graphs", "softmax.ingot")
        self.assertIn(b"1 kernel, 1 compiled", self.ok("cache", "warm", graph, "--target", "aarch64"))


if __name__ == "__main__":
    tool.main()
