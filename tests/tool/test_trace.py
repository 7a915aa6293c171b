"""INGOT_TRACE holds the spans of a run, as Chrome's trace events that Perfetto opens; INGOT_DUMP logs its stages."""

import json
import os
import resource

import tool
from tool import EXAMPLES, HAS_COMPILER, ToolTest

RUN = ["run", os.path.join(EXAMPLES, "graphs", "softmax.ingot"), "--random", "1", "--shape", "B=3", "--shape", "N=5"]


class Trace(ToolTest):
    trace = ""

    def environment(self):
        return {**super().environment(), "INGOT_TRACE": self.trace, "INGOT_LOG": "warning"}

    def test_spans_of_two_processes(self):
        self.trace = self.path("trace.json")
        for _ in range(2):  # the second process appends
            self.ok(*RUN)
        with open(self.trace, encoding="utf-8") as file:
            # The array stays open, since a process may end at any time: that is part of the format.
            spans = json.loads(file.read().rstrip().rstrip(",") + "]")
        names = [span["name"] for span in spans]
        for name in ["parse", "plan", "fuse", "signature", "prepare", "run"]:
            self.assertIn(name, names)
        if HAS_COMPILER:
            for name in ["compile", "load", "look up"]:
                self.assertIn(name, names)
            self.assertEqual(names.count("compile"), 1)
        self.assertEqual(len({span["pid"] for span in spans}), 2)
        for span in spans:
            self.assertEqual(span["ph"], "X")
            self.assertGreaterEqual(span["dur"], 0)
            self.assertGreater(span["ts"], 0)
            self.assertGreater(span["tid"], 0)
        # A plan contains its passes.
        plan = next(span for span in spans if span["name"] == "plan")
        inner = next(span for span in spans if span["name"].startswith("pass "))
        self.assertGreaterEqual(inner["ts"] + 1, plan["ts"])
        self.assertLessEqual(inner["ts"] + inner["dur"], plan["ts"] + plan["dur"] + 1)

    def test_a_file_that_cannot_be_written_costs_a_warning(self):
        self.trace = self.path("no/such/folder/trace.json")
        code, _, err = self.call(*RUN)
        self.assertEqual(code, 0)
        self.assertIn("INGOT_TRACE", err)

    def test_a_pipe_costs_a_warning_and_neither_blocks_nor_kills(self):
        self.trace = self.path("pipe")
        os.mkfifo(self.trace)
        for reader in [None, os.open(self.trace, os.O_RDONLY | os.O_NONBLOCK)]:
            code, _, err = self.call(*RUN)
            self.assertEqual(code, 0)
            self.assertIn("INGOT_TRACE", err)
            if reader is not None:
                os.close(reader)

    def test_a_limit_on_the_size_of_files_ends_the_trace_and_not_the_host(self):
        self.trace = self.path("trace.json")
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
        try:
            code, _, err = self.call(*RUN)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        self.assertEqual(code, 0, err)
        self.assertLessEqual(os.path.getsize(self.trace), 300)


class Dump(ToolTest):
    words = ""

    def environment(self):
        return {**super().environment(), "INGOT_DUMP": self.words, "INGOT_LOG": "info"}

    def test_stages_are_logged(self):
        self.words = "graph,kernel"
        code, _, err = self.call(*RUN)
        self.assertEqual(code, 0, err)
        self.assertIn("graph @softmax", err)
        self.assertIn("fold.sum", err)

    def test_words_that_cannot_be_served_cost_a_warning(self):
        for self.words in ["foo", "kernel/7", "cubin", "=", "graph,foo"]:
            with self.subTest(self.words):
                code, _, err = self.call(*RUN)
                self.assertEqual(code, 0, err)
                self.assertIn("INGOT_DUMP", err)


if __name__ == "__main__":
    tool.main()
