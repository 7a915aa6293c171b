"""Kernels on disk: a second process compiles nothing and never loads the compiler."""

import glob
import json
import os
import subprocess
import time

import tool
from tool import BAD_INPUT, EXAMPLES, TOOL, USAGE, ToolTest

GRAPHS = sorted(glob.glob(os.path.join(EXAMPLES, "graphs", "*.ingot")))
SOFTMAX = os.path.join(EXAMPLES, "graphs", "softmax.ingot")
RUN = [SOFTMAX, "--random", "1", "--shape", "B=64", "--shape", "N=1000", "--backend", "cpu"]


class Looking(ToolTest):
    """list, verify and clear look at a cache; only what fills one makes its directory."""

    def test_a_directory_that_is_not_there_is_an_error_and_stays_so(self):
        for verb in ["list", "verify", "clear"]:
            for flags in [[], ["--json"]]:
                for name in ["absent", "absent/deeper"]:
                    with self.subTest((verb, flags, name)):
                        self.fails(BAD_INPUT, self.path(name), "cache", verb, "--dir", self.path(name), *flags)
                        self.fails(BAD_INPUT, name, "cache", verb, "--dir", name, *flags)
        self.assertEqual(os.listdir(self.folder), [])

    def test_without_dir_it_is_an_empty_cache_and_stays_absent(self):
        for verb, said in [("list", "0 entries"), ("verify", "0 good"), ("clear", "0 entries removed")]:
            text = self.ok("cache", verb).decode()
            self.assertIn(self.cache, text)
            self.assertIn(said, text)
            report = json.loads(self.ok("cache", verb, "--json"))
            self.assertEqual((report["schema"], report["directory"]), (1, self.cache))
        self.assertEqual(os.listdir(self.folder), [])

    def test_an_empty_name_does_not_mean_the_users_cache(self):
        for verb in ["list", "verify", "clear"]:
            self.fails(USAGE, "empty", "cache", verb, "--dir", "")
        self.fails(USAGE, "empty", "cache", "warm", SOFTMAX, "--dir", "")

    def test_a_directory_of_other_things_is_left_as_it_is(self):
        os.mkdir(self.path("other"), 0o700)
        self.write("other/file", "content")
        for verb in ["list", "verify", "clear"]:
            self.ok("cache", verb, "--dir", "other")
        self.assertEqual(os.listdir(self.path("other")), ["file"])


class Cache(ToolTest):
    def setUp(self):
        super().setUp()
        if not tool.HAS_COMPILER:
            self.skipTest("no compiler module")

    def files(self):
        return sorted(glob.glob(os.path.join(self.cache, "**", "*.ing"), recursive=True))

    def test_the_second_process_loads_no_compiler(self):
        cold = self.stats(*RUN)
        self.assertEqual(
            (cold["compiles"], cold["misses"], cold["disk_hits"], cold["compiler_loaded"]), (1, 1, 0, 1)
        )
        self.assertEqual((cold["kernels"], cold["launches"], cold["backend_used"]), (1, 1, "cpu"))
        self.assertGreater(cold["compile_ms"], 0)
        self.assertEqual((cold["bytes_read"], cold["bytes_written"]), (256000, 256000))
        warm = self.stats(*RUN)
        self.assertEqual(
            (warm["compiles"], warm["misses"], warm["disk_hits"], warm["compiler_loaded"]), (0, 0, 1, 0)
        )
        self.assertEqual(warm["backend_used"], "cpu")
        # Another size is the same kernel.
        other = self.stats(SOFTMAX, "--random", "1", "--shape", "B=3", "--shape", "N=77", "--backend", "cpu")
        self.assertEqual((other["compiles"], other["disk_hits"]), (0, 1))

    def maps(self, *flags):
        """The mappings of a process that has run its graph: it is caught while a pipe of 64 KiB blocks its output."""
        fifo = self.path("fifo")
        if not os.path.exists(fifo):
            os.mkfifo(fifo)
        with subprocess.Popen(
            [TOOL, "run", *RUN, "--output", f"0={fifo}", *flags], env=self.environment()
        ) as process:
            with open(fifo, "rb") as pipe:
                with open(f"/proc/{process.pid}/maps", encoding="utf-8") as file:
                    text = file.read()
                while pipe.read(1 << 20):
                    pass
            self.assertEqual(process.wait(), 0)
        return text

    def test_modules_of_a_cold_and_a_warm_process(self):
        self.assertIn("libingot_cpu", self.maps())
        warm = self.maps()
        self.assertIn("libingot.so", warm)
        for module in ["libingot_cpu", "LLVM", "nvrtc", "libcuda"]:
            self.assertNotIn(module, warm)

    def test_warm_fills_what_run_finds(self):
        out = self.ok("cache", "warm", *GRAPHS, "--dir", self.cache).decode()
        self.assertEqual(len(out.splitlines()), len(GRAPHS))
        self.assertEqual(self.stats(*RUN)["compiles"], 0)
        again = self.ok("cache", "warm", *GRAPHS, "--dir", self.cache).decode()
        self.assertTrue(all(line.endswith(" 0 compiled") for line in again.splitlines()), again)

    def test_list_and_clear(self):
        self.ok("run", *RUN)
        report = json.loads(self.ok("cache", "list", "--json"))
        self.assertEqual((report["schema"], report["directory"], len(report["entries"])), (1, self.cache, 1))
        self.assertEqual(report["bytes"], sum(os.path.getsize(f) for f in self.files()))
        self.assertIn(b"1 entry,", self.ok("cache", "list"))
        self.assertIn(b"1 entry removed", self.ok("cache", "clear"))
        self.assertEqual(self.files(), [])
        self.assertEqual(self.stats(*RUN)["compiles"], 1)

    def test_dir_is_relative_to_the_working_directory(self):
        self.ok("cache", "warm", SOFTMAX, "--dir", "here")
        self.assertEqual(len(os.listdir(self.path("here"))) > 0, True)

    def test_a_damaged_entry_is_removed_and_made_again(self):
        first = self.ok("run", *RUN)
        for change in ["flip", "cut"]:
            with self.subTest(change):
                (path,) = self.files()
                with open(path, "rb") as file:
                    data = bytearray(file.read())
                data[len(data) // 2] ^= 1
                with open(path, "wb") as file:
                    file.write(data if change == "flip" else data[: len(data) // 2])
                verified = json.loads(self.ok("cache", "verify", "--json"))
                self.assertEqual((verified["good"], len(verified["removed"])), (0, 1))
                self.assertEqual(self.ok("run", *RUN), first)
                self.assertEqual(json.loads(self.ok("cache", "verify", "--json"))["good"], 1)

    def test_racing_processes_agree(self):
        started = [
            subprocess.Popen([TOOL, "run", *RUN], env=self.environment(), stdout=subprocess.PIPE)
            for _ in range(6)
        ]
        outs = [p.communicate(timeout=120)[0] for p in started]
        self.assertEqual({p.returncode for p in started}, {0})
        self.assertEqual(len(set(outs)), 1)
        self.assertEqual(len(self.files()), 1)
        self.assertLess(os.path.getmtime(self.files()[0]), time.time() + 60)


if __name__ == "__main__":
    tool.main()
