"""ingot run: the example graphs against NumPy in double precision, inputs by name, position, number and seed."""

import math
import os

import numpy as np

import tool
from tool import BAD_INPUT, EXAMPLES, UNSUPPORTED, USAGE, ToolTest, checksums

M64 = (1 << 64) - 1


erf = np.vectorize(math.erf)


def splitmix_units(seed, index, count):
    """The documented generator of --random (tools/ingot/random.h), in Python's own integers."""
    out = []
    for k in range(count):
        z = ((seed << 32) + index + (k + 1) * 0x9E3779B97F4A7C15) & M64
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & M64
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & M64
        out.append(((z ^ z >> 31) >> 40) / (1 << 24))
    return np.array(out)


class Examples(ToolTest):
    def example(self, name, inputs, expected, rtol=1e-5, atol=1e-6):
        graph = os.path.join(EXAMPLES, "graphs", name + ".ingot")
        for got, want in zip(self.run_graph(graph, inputs), expected, strict=True):
            self.assertEqual(got.dtype, np.float32)
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)
        fused = self.ok("run", graph, *self.flags(inputs))
        self.assertEqual(fused, self.ok("run", graph, *self.flags(inputs), "--no-fuse"))
        self.assertEqual(
            fused, self.ok("run", graph, *self.flags(inputs), "--backend", "interp", "--threads", "1")
        )

    def flags(self, inputs):
        return [f for key in inputs for f in ("--input", f"{key}={self.path(f'in_{key}.npy')}")]

    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(7)

    def normal(self, *shape):
        return self.rng.standard_normal(shape).astype(np.float32)

    def test_softmax(self):
        x = self.normal(17, 133)
        e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        self.example("softmax", {"scores": x}, [e / e.sum(1, keepdims=True)])

    def test_layer_norm(self):
        x, scale, bias = self.normal(9, 300), self.normal(300), self.normal(300)
        d = x.astype(np.float64)
        d = (d - d.mean(1, keepdims=True)) / np.sqrt(d.var(1, keepdims=True) + 1e-5)
        self.example("layer_norm", {"x": x, "scale": scale, "bias": bias}, [d * scale + bias], atol=1e-5)

    def test_bias_gelu(self):
        x, bias = self.normal(5, 77), self.normal(77)
        s = (x + bias).astype(np.float64)
        self.example("bias_gelu", {"x": x, "bias": bias}, [s * 0.5 * (1 + erf(s / np.sqrt(2)))])

    def test_black_scholes(self):
        n = 1001
        spot, strike = (self.rng.uniform(50, 150, n).astype(np.float32) for _ in range(2))
        years = self.rng.uniform(0.1, 2, n).astype(np.float32)
        rate, vol = np.float32(0.03), np.float32(0.2)
        s, k, t, r, v = (np.asarray(a, np.float64) for a in (spot, strike, years, rate, vol))
        d1 = (np.log(s / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))
        n1, n2 = (0.5 * (1 + erf(d / np.sqrt(2))) for d in (d1, d1 - v * np.sqrt(t)))
        call = s * n1 - k * np.exp(-r * t) * n2
        inputs = {"spot": spot, "strike": strike, "years": years, "rate": rate, "volatility": vol}
        self.example("black_scholes", inputs, [call, call - s + k * np.exp(-r * t)], atol=1e-4)

    def test_adamw(self):
        p, g, m = self.normal(501), self.normal(501), self.normal(501)
        v = self.normal(501) ** 2
        lr, c1, c2 = np.float32(1e-3), np.float32(0.1), np.float32(1e-3)
        m_new = 0.9 * m.astype(np.float64) + 0.1 * g
        v_new = 0.999 * v.astype(np.float64) + 0.001 * g.astype(np.float64) ** 2
        step = lr * (m_new / c1 / (np.sqrt(v_new / c2) + 1e-8) + 0.01 * p)
        inputs = {"p": p, "g": g, "m": m, "v": v, "lr": lr, "correction1": c1, "correction2": c2}
        self.example("adamw", inputs, [p - step, m_new, v_new])

    def test_logsumexp(self):
        x = self.normal(31, 90) * 30
        d = x.astype(np.float64)
        self.example("logsumexp", {"x": x}, [np.log(np.exp(d - d.max(1, keepdims=True)).sum(1)) + d.max(1)])


class Inputs(ToolTest):
    TWO = (
        "graph @g(%a: f32[N], %b: f32[N]) -> (d: f32[N], f32[]) {\n  %0 = sub %a, %b\n"
        "  %1 = reduce_sum %0\n  return %0, %1\n}\n"
    )
    DIM = (
        "graph @g(%x: f32[2*N], %n: dim N) -> (f32[2*N]) {\n  %0 = cast %n {to = \"f32\"}\n  %1 = mul %x, %0\n"
        "  return %1\n}\n"
    )

    def test_by_name_and_by_position(self):
        a, b = np.float32([5, 7]), np.float32([1, 2])
        graph = self.graph(self.TWO)
        files = self.save("a.npy", a), self.save("b.npy", b)
        out = self.path("d.npy")
        for keys in [("a", "b"), ("0", "1"), ("a", "1")]:
            for target in ["d", "0"]:
                with self.subTest(keys=keys, target=target):
                    self.ok(
                        "run",
                        graph,
                        "--input",
                        f"{keys[0]}={files[0]}",
                        "--input",
                        f"{keys[1]}={files[1]}",
                        "--output",
                        f"{target}={out}",
                    )
                    np.testing.assert_array_equal(np.load(out), [4, 5])

    def test_numbers_feed_scalars_and_dim_inputs(self):
        graph = self.graph(self.DIM)
        x = self.save("x.npy", np.float32([1, 2, 3, 4, 5, 6]))
        out = self.path("y.npy")
        self.ok("run", graph, "--input", f"x={x}", "--input", "n=3", "--output", f"0={out}")
        np.testing.assert_array_equal(np.load(out), [3, 6, 9, 12, 15, 18])
        self.fails(BAD_INPUT, "", "run", graph, "--input", f"x={x}", "--input", "n=4")
        self.fails(
            BAD_INPUT, "2.5 is not a value of dtype i64", "run", graph, "--input", f"x={x}", "--input", "n=2.5"
        )
        self.fails(BAD_INPUT, "expected f32[2*N]", "run", graph, "--input", "x=1", "--input", "n=4")
        # --random takes the dim's value from --shape.
        self.assertIn(b"f32[10]", self.ok("run", graph, "--random", "1", "--shape", "N=5"))

    def test_every_scalar_dtype_takes_its_numbers(self):
        for dtype, text, want in [
            ("f32", "-1.5e3", -1500),
            ("f64", "inf", np.inf),
            ("i32", "-7", -7),
            ("u8", "255", 255),
            ("bool", "true", True),
            ("i64", "9007199254740993", 9007199254740993),
        ]:
            with self.subTest(dtype):
                graph = self.graph(f"graph @g(%x: {dtype}[]) -> ({dtype}[]) {{\n  return %x\n}}\n")
                self.ok("run", graph, "--input", f"x={text}", "--output", f"0={self.path('y.npy')}")
                self.assertEqual(np.load(self.path("y.npy"))[()], want)
        graph = self.graph("graph @g(%x: u8[]) -> (u8[]) {\n  return %x\n}\n")
        for text in ["256", "-1", "1.5", "nan"]:
            self.fails(BAD_INPUT, "is not a value of dtype u8", "run", graph, "--input", f"x={text}")

    def test_random_fills_as_documented(self):
        graph = self.graph(
            "graph @g(%a: f32[N], %b: i32[N], %c: u8[N], %d: bool[N]) -> "
            "(f32[N], i32[N], u8[N], bool[N]) {\n  return %a, %b, %c, %d\n}\n"
        )
        outputs = [f for i in range(4) for f in ("--output", f"{i}={self.path(f'{i}.npy')}")]
        self.ok("run", graph, "--random", "42", "--shape", "N=50", "--range", "a=3:5", *outputs)
        units = [splitmix_units(42, i, 50) for i in range(4)]
        np.testing.assert_array_equal(np.load(self.path("0.npy")), (3 + units[0] * 2).astype(np.float32))
        np.testing.assert_array_equal(np.load(self.path("1.npy")), np.floor(-8 + units[1] * 17))
        np.testing.assert_array_equal(np.load(self.path("2.npy")), np.floor(units[2] * 17))
        np.testing.assert_array_equal(np.load(self.path("3.npy")), np.floor(units[3] * 2) != 0)

    def test_the_widest_range_of_f64_fills_with_finite_numbers(self):
        graph = self.graph("graph @g(%a: f64[N]) -> (f64[N]) {\n  return %a\n}\n")
        out = self.path("a.npy")
        widest = "a=-1.7e308:1.7e308"
        self.ok("run", graph, "--random", "1", "--shape", "N=64", "--range", widest, "--output", f"0={out}")
        a = np.load(out)
        self.assertTrue(np.isfinite(a).all())
        self.assertTrue(a.min() < -1e308 and a.max() > 1e308)

    def test_symbols_of_given_arrays_size_the_random_ones(self):
        graph = self.graph(self.TWO)
        a = self.save("a.npy", np.zeros(6, np.float32))
        self.assertIn(b"d: f32[6]", self.ok("run", graph, "--input", f"a={a}", "--random", "1"))
        self.fails(
            BAD_INPUT,
            "N = 6, but elsewhere N = 7",
            "run",
            graph,
            "--input",
            f"a={a}",
            "--random",
            "1",
            "--shape",
            "N=7",
        )

    def test_sizes_that_are_expressions(self):
        graph = self.graph(
            "graph @g(%x: f32[A, B], %y: f32[A*B+1, min(A, B)]) -> (f32[A, B], f32[A*B+1, min(A, B)]) "
            "{\n  return %x, %y\n}\n"
        )
        self.assertIn(b"f32[13, 3]", self.ok("run", graph, "--random", "1", "--shape", "A=3", "--shape", "B=4"))

    def test_quoted_names(self):
        graph = self.graph(
            'graph @g(%"the x, (of) it": f32["rows: n"], %k: dim "rows: n") -> ("an y": f32["rows: n"]) '
            '{\n  return %"the x, (of) it"\n}\n'
        )
        out = self.ok("run", graph, "--random", "1", "--shape", "rows: n=3")
        self.assertIn(b"an y: f32[3]", out)
        self.ok(
            "run",
            graph,
            "--input",
            f"the x, (of) it={self.save('x.npy', np.zeros(2, np.float32))}",
            "--input",
            "k=2",
        )

    def test_summary_tells_statistics_nan_and_bits(self):
        graph = self.graph("graph @g(%x: f32[N]) -> (y: f32[N]) {\n  return %x\n}\n")
        x = np.float32([1, np.nan, -2.5, 4, 0])
        line = self.ok("run", graph, "--input", f"x={self.save('x.npy', x)}").decode()
        h = 0xCBF29CE484222325
        for byte in x.tobytes():
            h = ((h ^ byte) * 0x100000001B3) & M64
        self.assertEqual(
            line, f"y: f32[5] min -2.5 max 4 mean 0.625 nan 1 [1, nan, -2.5, 4, ...] fnv1a64 {h:016x}\n"
        )

    def test_an_index_names_a_result_that_has_no_name(self):
        graph = self.graph(self.TWO)
        lines = self.ok("run", graph, "--random", "3", "--shape", "N=4").decode().splitlines()
        self.assertEqual([line.split(":")[0] for line in lines], ["d", "1"])

    def test_backends_agree_bit_for_bit(self):
        graph = os.path.join(EXAMPLES, "graphs", "softmax.ingot")
        args = ["run", graph, "--random", "5", "--shape", "B=7", "--shape", "N=1234"]
        want = checksums(self.ok(*args, "--backend", "interp"))
        for flags in [[], ["--no-fuse"], ["--threads", "1"], ["--threads", "3"]]:
            with self.subTest(flags):
                self.assertEqual(checksums(self.ok(*args, *flags)), want)

    def test_cuda_gives_the_bits_of_the_cpu_and_is_unsupported_without_a_driver(self):
        graph = os.path.join(EXAMPLES, "graphs", "softmax.ingot")
        args = ["run", graph, "--random", "1", "--shape", "B=3", "--shape", "N=70"]
        standin = os.path.join(os.path.dirname(tool.TOOL), "..", "tests", "cuda", "standin")
        driver = os.path.abspath(os.path.join(standin, "libcuda_standin.so"))
        if os.path.exists(driver):
            want = checksums(self.ok(*args))
            self.variables = {
                "INGOT_CUDA_DRIVER": driver,
                "INGOT_NVRTC": driver.replace("libcuda", "libnvrtc"),
            }
            self.assertEqual(checksums(self.ok(*args, "--backend", "cuda")), want)
        self.variables = {"INGOT_CUDA_DRIVER": "/nonexistent/libcuda.so.1"}
        self.fails(UNSUPPORTED, "/nonexistent/libcuda.so.1", *args, "--backend", "cuda")
        self.fails(USAGE, "--backend", "run", graph, "--backend", "tpu")


if __name__ == "__main__":
    tool.main()
