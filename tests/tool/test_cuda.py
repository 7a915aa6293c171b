"""The verbs on CUDA devices, on the stand-in for the driver and NVRTC (INGOT_STANDIN, the folder of the two)."""

import json
import math
import os
import re

import tool
from tool import EXAMPLES, ToolTest

SOFTMAX = os.path.join(EXAMPLES, "graphs", "softmax.ingot")
STANDIN = os.environ["INGOT_STANDIN"]
DRIVER = os.path.join(STANDIN, "libcuda_standin.so")
NVRTC = os.path.join(STANDIN, "libnvrtc_standin.so")
SIZES = ["--shape", "B=64", "--shape", "N=1000"]


class OnStandin(ToolTest):
    variables = {"INGOT_CUDA_DRIVER": DRIVER, "INGOT_NVRTC": NVRTC}

    def setUp(self):
        super().setUp()
        self.variables = {**self.variables, "STANDIN_CACHE": os.path.join(STANDIN, "tool_cubins")}

    def explained(self, graph, *args):
        return json.loads(self.ok("explain", graph, "--backend", "cuda", "--json", *args))


class Explain(OnStandin):
    def test_a_launch_has_bytes_operations_occupancy_and_a_least_time(self):
        # Three operations an element of eight bytes moved, on a device of 1.5 GHz, 4 multiprocessors of 128 lanes, and
        # memory of 2.5 GHz and 5,120 bits.
        graph = self.graph(
            "graph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = mul %x, %x\n  %1 = add %0, %x\n  %2 = sub %1, 3.0\n"
            "  return %2\n}\n"
        )
        report = self.explained(graph, "--shape", "N=1000000")
        self.assertEqual(report["schema"], 1)
        self.assertEqual(report["device"]["target"], "sm_90")
        self.assertEqual(report["device"]["devices"][0]["bytes_per_s"], 2 * 2_500_000_000 * 5120 // 8)
        self.assertEqual(report["device"]["devices"][0]["f32_per_s"], 1_500_000_000 * 4 * 128)
        self.assertEqual(report["device"]["devices"][0]["f64_per_s"], 1_500_000_000 * 4 * 64)
        (launch,) = report["launches"]
        self.assertEqual(launch["bytes_read"], 4_000_000)
        self.assertEqual(launch["bytes_written"], 4_000_000)
        self.assertEqual(launch["float_ops"], 3_000_000)
        self.assertAlmostEqual(launch["intensity"], 3 / 8)
        memory, arithmetic = 8e6 / 3.2e12 * 1e9, 3e6 / 7.68e11 * 1e9
        self.assertAlmostEqual(launch["least_ns"], max(memory, arithmetic), 3)
        self.assertEqual(launch["bound_by"], "arithmetic")
        entries = {e["name"]: e for e in launch["entries"]}
        self.assertEqual(set(entries), {"ingot_kernel", "ingot_kernel_linear"})
        # 32 registers and no shared memory: 2,048 threads.
        for e in entries.values():
            self.assertEqual((e["threads"], e["registers"], e["blocks"], e["warps"]), (256, 32, 8, 64))

    def test_memory_bounds_what_computes_little(self):
        graph = self.graph("graph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = neg %x\n  return %0\n}\n")
        (launch,) = self.explained(graph, "--shape", "N=1000000")["launches"]
        self.assertEqual((launch["float_ops"], launch["bound_by"]), (0, "memory"))
        self.assertAlmostEqual(launch["least_ns"], 8e6 / 3.2e12 * 1e9, 3)

    def test_the_page_shows_the_same(self):
        page = self.ok("explain", SOFTMAX, "--backend", "cuda", *SIZES).decode()
        (launch,) = self.explained(SOFTMAX, *SIZES)["launches"]
        self.assertIn("Stand-in device 0", page)
        self.assertIn(f"{launch['float_ops']} float operations", page)
        self.assertIn(f"at least {launch['least_ns'] / 1e3:.3g} us", page)
        for e in launch["entries"]:
            self.assertIn(f"<code>{e['name']}</code>", page)
            self.assertIn(f">{math.floor(100 * e['warps'] / e['most_warps'] + 0.5)} %</td>", page)

    def test_the_form_that_is_launched_is_marked(self):
        graph = self.graph("graph @g(%x: f32[A, B], %y: f32[B]) -> (f32[A, B]) {\n  %0 = add %x, %y\n  return %0\n}\n")
        for a, b, entry in [(1, 4096, "ingot_kernel_linear"), (1000, 4096, None), (1000, 3, "ingot_kernel")]:
            (launch,) = self.explained(graph, "--shape", f"A={a}", "--shape", f"B={b}")["launches"]
            names = [e["name"] for e in launch["entries"]]
            (stage,) = launch["stages"]
            self.assertIn(stage["entry"], names)
            self.assertEqual(stage["threads"], 256)
            self.assertGreater(stage["blocks"], 0)
            if entry is None:
                self.assertNotEqual(stage["entry"], "ingot_kernel_linear")
        graph = self.graph("graph @s(%x: f32[N]) -> (f32[]) {\n  %0 = reduce_sum %x {axes = [0]}\n  return %0\n}\n")
        few, many = [
            self.explained(graph, "--shape", f"N={n}")["launches"][0]["stages"] for n in (100, 10_000_000)
        ]
        self.assertLess(sum(s["blocks"] for s in few), sum(s["blocks"] for s in many))
        # Without sizes nothing is said.
        self.assertNotIn("stages", self.explained(graph)["launches"][0])
        fixed = self.graph("graph @f(%x: f32[8]) -> (f32[8]) {\n  %0 = neg %x\n  return %0\n}\n")
        self.assertEqual(len(self.explained(fixed)["launches"][0]["stages"]), 1)
        page = self.ok("explain", SOFTMAX, "--backend", "cuda", *SIZES).decode()
        self.assertIn("launched, blocks", page)
        (launch,) = self.explained(SOFTMAX, *SIZES)["launches"]
        for stage in launch["stages"]:
            self.assertIn(f">{stage['blocks']}</td>", page)

    def test_without_a_device_there_are_no_times_and_without_nvrtc_no_occupancy(self):
        self.variables["INGOT_CUDA_DRIVER"] = "/nonexistent/libcuda.so"
        report = self.explained(SOFTMAX, *SIZES, "--target", "sm_86")
        self.assertIn("/nonexistent/libcuda.so", report["device"]["driver_error"])
        (launch,) = report["launches"]
        self.assertNotIn("least_ns", launch)
        self.assertEqual(launch["entries"][0]["most_warps"], 48)
        (launch,) = self.explained(SOFTMAX)["launches"]
        self.assertIn("no target", launch["error"])
        self.variables["INGOT_NVRTC"] = "/nonexistent/libnvrtc.so"
        (launch,) = self.explained(SOFTMAX, *SIZES, "--target", "sm_80")["launches"]
        self.assertIn("/nonexistent/libnvrtc.so", launch["error"])
        self.assertEqual(launch["bytes_read"], 64 * 1000 * 4)
        page = self.ok("explain", SOFTMAX, *SIZES, "--backend", "cuda", "--target", "sm_80").decode()
        self.assertIn("/nonexistent/libnvrtc.so", page)

    def test_a_device_that_does_not_run_the_code_gives_no_times(self):
        (launch,) = self.explained(SOFTMAX, *SIZES, "--target", "sm_80")["launches"]
        self.assertNotIn("least_ns", launch)
        self.assertIn("entries", launch)

    def test_a_target_is_of_the_backend(self):
        self.fails(tool.USAGE, "--backend cuda alone", "explain", SOFTMAX, "--target", "sm_90")


class Packs(OnStandin):
    def test_a_pack_of_cubins_is_made_without_a_device(self):
        pack = os.path.join(self.folder, "app.pack")
        self.variables["INGOT_CUDA_DRIVER"] = "/nonexistent/libcuda.so"
        self.ok("cache", "pack", "-o", pack, SOFTMAX, "--target", "sm_80", "--target", "sm_90")
        self.assertGreater(os.path.getsize(pack), 1000)
        self.fails(tool.USAGE, "sm_NN", "cache", "pack", "-o", pack, SOFTMAX, "--target", "gpu")

    def test_a_warmed_cache_serves_without_nvrtc(self):
        cache = os.path.join(self.folder, "cache")
        for compiled in (2, 0):
            out = self.ok("cache", "warm", SOFTMAX, "--target", "sm_90", "--dir", cache).decode()
            self.assertIn(f"{compiled} compiled", out)


class Bench(OnStandin):
    small = ["--shape", "B=4", "--shape", "N=100", "--samples", "3"]

    def test_every_figure_is_of_the_device(self):
        report = json.loads(self.ok("bench", SOFTMAX, "--backend", "cuda", "--json", *self.small))
        self.assertEqual((report["backend_used"], report["device"]), ("cuda", "Stand-in device 0"))
        for name, figure in report["ns"].items():
            self.assertGreaterEqual(len(figure["samples"]), 3, name)
            self.assertGreater(min(figure["samples"]), 0, name)
        self.assertEqual(report["bytes_read"] + report["bytes_written"], 2 * 4 * 100 * 4)
        self.assertEqual((report["launches"], report["launches_unfused"]), (1, 5))
        self.assertGreater(report["ratios"]["memcpy_to_fused"], 0)
        text = self.ok("bench", SOFTMAX, "--backend", "cuda", *self.small).decode()
        self.assertIn("cuda, Stand-in device 0\n", text)
        self.assertIn("moves as many bytes as the warm call, on the device", text)

    def test_tensors_lie_on_the_device_and_what_binds_a_symbol_with_the_host(self):
        graph = self.graph(
            "graph @g(%x: f32[N], %n: dim N, %i: i64[M]) -> (f32[M]) {\n  %0 = gather %x, %i {axis = 0}\n"
            "  %1 = add %0, 1.0\n  return %1\n}\n"
        )
        args = ["bench", graph, "--backend", "cuda", "--samples", "3", "--range", "i=-2:1", "--shape", "M=5"]
        self.assertIn(b"warm call", self.ok(*args, "--shape", "N=2", "--tiny", "N=2", "--tiny", "M=1"))
        # What the runs found of the indices is told, and nothing is timed.
        self.fails(tool.BAD_INPUT, "index", *args, "--shape", "N=1", "--tiny", "N=1", "--tiny", "M=1")

    def test_without_a_driver_or_a_device_it_says_so(self):
        self.variables["STANDIN_DEVICES"] = "0"
        self.fails(tool.UNSUPPORTED, "no CUDA device", "bench", SOFTMAX, "--backend", "cuda", *self.small)
        self.variables["INGOT_CUDA_DRIVER"] = "/nonexistent/libcuda.so"
        self.fails(tool.UNSUPPORTED, "/nonexistent/libcuda.so", "bench", SOFTMAX, "--backend", "cuda", *self.small)


class Targets(OnStandin):
    def test_a_gpu_that_is_none_is_refused_with_those_that_are(self):
        for target in ["sm_5", "sm_", "sm_74", "sm_9x", "sm_130", "sm_90b"]:
            for emit in ["cuda", "cubin", "kernel"]:
                with self.subTest(target, emit=emit):
                    args = ["compile", SOFTMAX, "--target", target, "--emit", emit]
                    self.fails(tool.BAD_INPUT, "is none of sm_75, sm_80", *args)

    def test_code_of_a_gpu_is_text_a_cubin_and_an_artifact(self):
        args = ["compile", SOFTMAX, "--target", "sm_90", "--emit"]
        self.assertIn(b'extern "C"', self.ok(*args, "cuda"))
        cubin = self.ok(*args, "cubin")
        self.assertTrue(cubin.startswith(b"\x7fELF"))
        artifact = self.ok(*args, "artifact")
        self.assertTrue(artifact.startswith(b"INGOTART") and artifact.endswith(cubin))
        self.fails(tool.BAD_INPUT, "there are cuda, cubin and artifact", *args, "asm")


class Doctor(OnStandin):
    def doctor(self):
        return self.call("doctor")[1].decode()

    def test_driver_devices_and_nvrtc(self):
        self.variables.update(STANDIN_DEVICES="2", STANDIN_SM="86", STANDIN_DRIVER_VERSION="12040")
        said = self.doctor()
        self.assertIn(f"{DRIVER}, serves CUDA 12.4", said)
        for device in ["0: Stand-in device 0, sm_86, 4 multiprocessors", "1: Stand-in device 1, sm_86"]:
            self.assertIn(device, said)
        self.assertRegex(said, r"(?m)^CUDA +compiles, runs, right result$")
        self.assertIn(f"{NVRTC}, version 13.0, makes cubins", said)

    def test_every_place_is_named_where_they_are_not(self):
        self.variables.update(INGOT_CUDA_DRIVER="/nonexistent/libcuda.so", INGOT_NVRTC="/nonexistent/libnvrtc.so")
        said = self.doctor()
        self.assertRegex(said, r"(?m)^CUDA driver +not here\.")
        for place in ["/nonexistent/libcuda.so", "/nonexistent/libnvrtc.so"]:
            self.assertIn(place, said)
        self.assertNotIn("PROBLEM", re.sub(r"(?m)^compiler module.*\n", "", said))


if __name__ == "__main__":
    tool.main()
