"""INGOT_PERF_MAP=1 gives generated code names in profiles: of the graph, its ops and the function."""

import os
import shutil
import subprocess
import unittest

import tool
from tool import EXAMPLES, HAS_COMPILER, ToolTest

GRAPH = os.path.join(EXAMPLES, "graphs", "softmax.ingot")


def map_of(pid):
    return f"/tmp/perf-{pid}.map"


@unittest.skipUnless(HAS_COMPILER, "built without LLVM")
class Perf(ToolTest):
    def environment(self):
        return {**super().environment(), "INGOT_PERF_MAP": "1", "INGOT_LOG": "warning"}

    def start(self, *arguments, before=None):
        """Runs the tool, with `before(pid)` between fork and exec; returns the process and what it wrote to stderr."""
        process = subprocess.Popen([tool.TOOL, *arguments], env=self.environment(), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True,
                                   preexec_fn=None if before is None else lambda: before(os.getpid()))
        self.addCleanup(lambda: os.path.lexists(map_of(process.pid)) and os.unlink(map_of(process.pid)))
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        return process, err

    RUN = ("run", GRAPH, "--random", "1", "--shape", "B=8", "--shape", "N=64")

    def test_lines_are_address_size_name(self):
        process, err = self.start(*self.RUN)
        self.assertEqual(err, "")
        with open(map_of(process.pid), encoding="utf-8") as file:
            lines = [line.split(" ", 2) for line in file.read().splitlines()]
        self.assertTrue(lines)
        for address, size, name in lines:
            self.assertGreater(int(address, 16), 0)
            self.assertGreater(int(size, 16), 0)
            self.assertRegex(name, r"^ingot:softmax/[a-z_+]*exp[a-z_+]*:\w+$")
        ranges = sorted((int(address, 16), int(size, 16)) for address, size, _ in lines)
        for (a, n), (b, _) in zip(ranges, ranges[1:]):
            self.assertLessEqual(a + n, b)
        self.assertEqual(os.stat(map_of(process.pid)).st_mode & 0o077, 0)

    def test_kernels_from_the_disk_cache_have_names_too(self):
        self.start(*self.RUN)
        process, _ = self.start(*self.RUN)
        with open(map_of(process.pid), encoding="utf-8") as file:
            self.assertIn("ingot:softmax/", file.read())

    def test_a_planted_link_is_not_followed(self):
        target = self.path("target")
        with open(target, "w", encoding="utf-8"):
            pass
        process, err = self.start(*self.RUN, before=lambda pid: os.symlink(target, map_of(pid)))
        self.assertIn("INGOT_PERF_MAP", err)
        self.assertEqual(os.stat(target).st_size, 0)

    def test_perf_shows_them(self):
        if not shutil.which("perf"):
            print("SKIP: perf: there is no perf here")
            return
        data = self.path("perf.data")
        record = subprocess.run(["perf", "record", "-e", "cpu-clock", "-o", data, tool.TOOL, "bench", GRAPH, "--shape",
                                 "B=512", "--shape", "N=512"], env=self.environment(), capture_output=True, text=True,
                                check=False, timeout=120)
        if record.returncode != 0:
            print("SKIP: perf: perf may not record here: " + record.stderr.strip().splitlines()[-1].replace(":", ","))
            return
        report = subprocess.run(["perf", "report", "--stdio", "-i", data], capture_output=True, text=True, check=True,
                                timeout=120)
        self.assertRegex(report.stdout, r"ingot:softmax/\S*exp")


if __name__ == "__main__":
    tool.main()
