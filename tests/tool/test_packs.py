"""Packs, targets of `cache warm`, and `ingot cache` beside processes that use the same directory."""

import glob
import json
import os
import subprocess

import tool
from tool import EXAMPLES, TOOL, ToolTest, checksums

GRAPHS = sorted(glob.glob(os.path.join(EXAMPLES, "graphs", "*.ingot")))
SOFTMAX = os.path.join(EXAMPLES, "graphs", "softmax.ingot")
RUN = [SOFTMAX, "--random", "1", "--shape", "B=64", "--shape", "N=1000", "--backend", "cpu"]
LEVELS = [flag for level in ["x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"] for flag in ["--target", level]]


class Packs(ToolTest):
    def setUp(self):
        super().setUp()
        if not tool.HAS_COMPILER:
            self.skipTest("no compiler module")

    def forget(self):
        self.ok("cache", "clear")

    def test_a_process_with_a_pack_compiles_nothing(self):
        expected = checksums(self.ok("run", *RUN))
        out = self.ok("cache", "pack", "-o", "all.pack", *GRAPHS, *LEVELS).decode()
        self.assertIn(f"all.pack: {len(GRAPHS)} graphs", out)
        self.forget()
        stats = self.stats(*RUN, "--pack", "all.pack")
        self.assertEqual(
            (stats["compiles"], stats["misses"], stats["disk_hits"], stats["compiler_loaded"]), (0, 0, 0, 0)
        )
        self.assertEqual(stats["pack_hits"], stats["kernels"])
        self.assertEqual(checksums(self.ok("run", *RUN, "--pack", "all.pack")), expected)

    def test_the_module_stays_out_of_the_process(self):
        self.assertRegex(self.ok("cache", "pack", "-o", "p", SOFTMAX), rb"^p: 1 graph, \d+ bytes\n$")
        self.forget()
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        command = [TOOL, "run", *RUN, "--pack", self.path("p"), "--output", f"0={fifo}"]
        with subprocess.Popen(command, env=self.environment()) as process, open(fifo, "rb") as pipe:
            with open(f"/proc/{process.pid}/maps", encoding="utf-8") as file:
                maps = file.read()
            while pipe.read(1 << 20):
                pass
            self.assertEqual(process.wait(), 0)
        self.assertIn("libingot.so", maps)
        self.assertNotIn("libingot_cpu", maps)

    def test_a_pack_to_stdout_is_the_same_bytes(self):
        self.ok("cache", "pack", "-o", "p", *GRAPHS)
        with open(self.path("p"), "rb") as file:
            self.assertEqual(self.ok("cache", "pack", "-o", "-", *reversed(GRAPHS)), file.read())

    def test_a_damaged_pack_is_told_of_and_does_no_harm(self):
        expected = self.ok("run", *RUN)
        self.ok("cache", "pack", "-o", "p", SOFTMAX)
        with open(self.path("p"), "rb") as file:
            good = file.read()
        for bad in [b"", good[:-1], good[:40], b"x" * 500, good[:-9] + b"\x55" + good[-8:]]:
            self.write("p", bad)
            self.forget()
            code, out, err = self.call("run", *RUN, "--pack", "p")
            self.assertEqual((code, out, err.count("\n")), (0, expected, 1), err)
            self.assertIn("pack", err)

    def test_targets_are_checked(self):
        for verb in [["pack", "-o", "p"], ["warm"]]:
            self.fails(tool.USAGE, "x86-64-v9", "cache", *verb, SOFTMAX, "--target", "x86-64-v9")
        self.fails(tool.USAGE, "--output", "cache", "pack", SOFTMAX)

    def test_warm_for_targets_that_this_machine_may_not_run(self):
        out = self.ok("cache", "warm", *GRAPHS, *LEVELS).decode().splitlines()
        self.assertEqual(len(out), len(GRAPHS))
        kernels = [int(line.split(": ")[1].split()[0]) for line in out]
        report = json.loads(self.ok("cache", "list", "--json"))
        self.assertEqual(len(report["entries"]), 4 * sum(kernels))
        again = self.ok("cache", "warm", *GRAPHS, *LEVELS).decode().splitlines()
        self.assertTrue(all(line.endswith(" 0 compiled") for line in again), again)
        self.assertEqual(self.stats(*RUN)["compiles"], 0)

    def test_list_verify_warm_and_clear_beside_running_processes(self):
        expected = self.ok("run", *RUN)
        runs = [
            subprocess.Popen(
                ["sh", "-c", 'for i in 1 2 3 4 5 6; do "$@" || exit 1; done', "sh", TOOL, "run", *RUN],
                env=self.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for _ in range(3)
        ]
        rounds = 0
        while any(process.poll() is None for process in runs) and rounds < 100:
            rounds += 1
            verified = json.loads(self.ok("cache", "verify", "--json"))
            self.assertEqual((verified["removed"], verified["unreadable"]), ([], []))
            self.ok("cache", "clear")
            self.ok("cache", "warm", SOFTMAX)
            self.ok("cache", "list")
        for process in runs:
            out, err = process.communicate()
            self.assertEqual((process.returncode, err), (0, b""))
            self.assertEqual(out, expected * 6)


if __name__ == "__main__":
    tool.main()
