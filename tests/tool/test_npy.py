"""Arrays in and out of the tool, with NumPy as the other side."""

import numpy as np

import tool
from tool import BAD_INPUT, UNSUPPORTED, ToolTest, npy_bytes

COPY = "graph @copy(%x: {0}[A, B]) -> (y: {0}[A, B]) {{\n  return %x\n}}\n"
DTYPES = {
    "bool": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f32": np.float32,
    "f64": np.float64,
}


class Npy(ToolTest):
    def copy(self, name, data):
        """What comes out of a graph that only copies."""
        out = self.path("y.npy")
        self.ok(
            "run",
            self.graph(COPY.format(name)),
            "--input",
            f"x={self.write('x.npy', data)}",
            "--output",
            f"y={out}",
        )
        return np.load(out)

    def test_every_dtype_comes_out_as_it_went_in(self):
        rng = np.random.default_rng(1)
        for name, dtype in DTYPES.items():
            with self.subTest(name):
                x = rng.integers(0, 2 if name == "bool" else 120, (3, 5)).astype(dtype)
                y = self.copy(name, npy_bytes(x))
                self.assertEqual(y.dtype, x.dtype)
                np.testing.assert_array_equal(y, x)

    def test_nan_payloads_infinities_and_signed_zeros_keep_their_bits(self):
        bits = np.array([[0x7FC00001, 0xFFC12345, 0x7F800000, 0xFF800000, 0x80000000, 1]], np.uint32)
        np.testing.assert_array_equal(self.copy("f32", npy_bytes(bits.view(np.float32))).view(np.uint32), bits)

    def test_fortran_order_is_read_and_c_order_written(self):
        x = np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4))
        y = self.copy("f32", npy_bytes(x))
        np.testing.assert_array_equal(y, x)
        self.assertTrue(y.flags.c_contiguous)

    def test_header_versions_1_2_and_3(self):
        x = np.arange(6, dtype=np.int32).reshape(2, 3)
        for version in [(1, 0), (2, 0), (3, 0)]:
            with self.subTest(version):
                np.testing.assert_array_equal(self.copy("i32", npy_bytes(x, version)), x)

    def test_empty_arrays_and_scalars(self):
        for shape in [(0, 4), (3, 0), (0, 0)]:
            with self.subTest(shape):
                self.assertEqual(self.copy("f64", npy_bytes(np.zeros(shape))).shape, shape)
        graph = self.graph(
            "graph @g(%x: f64[]) -> (f64[]) {\n  %0 = add %x, 1.0\n  return %0\n}\n", "scalar.ingot"
        )
        (y,) = self.run_graph(graph, {"x": np.float64(2.5)})
        self.assertEqual((y.shape, float(y)), ((), 3.5))

    def test_data_begins_at_a_multiple_of_64(self):
        graph = self.graph("graph @g(%x: f32[N]) -> (f32[N]) {\n  return %x\n}\n")
        data = self.ok(
            "run", graph, "--input", f"x={self.save('x.npy', np.zeros(3, np.float32))}", "--output", "0=-"
        )
        self.assertEqual((len(data) - 12) % 64, 0)

    def test_stdin_and_stdout_carry_arrays(self):
        graph = self.graph("graph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = neg %x\n  return %0\n}\n")
        x = np.arange(5, dtype=np.float32)
        out = self.ok("run", graph, "--input", "x=-", "--output", "0=-", stdin=npy_bytes(x))
        self.write("y.npy", out)
        np.testing.assert_array_equal(np.load(self.path("y.npy")), -x)

    def reject(self, code, message, data, dtype="f32"):
        self.fails(
            code, message, "run", self.graph(COPY.format(dtype)), "--input", f"x={self.write('bad.npy', data)}"
        )

    def test_truncated_files_say_so(self):
        good = npy_bytes(np.zeros((4, 4), np.float32))
        self.reject(BAD_INPUT, "f32[4, 4] has 64 bytes, 63 are there", good[:-1])
        for cut in [8, 9, 11, 20, 70]:
            with self.subTest(cut):
                self.reject(BAD_INPUT, "truncated", good[:cut])
        self.reject(BAD_INPUT, "trailing bytes", good + b"x")

    def test_other_files_are_no_arrays(self):
        self.reject(BAD_INPUT, "does not begin with", b"")
        self.reject(BAD_INPUT, "does not begin with", b"PK\x03\x04")
        good = npy_bytes(np.zeros((4, 4), np.float32))
        for old, new in [
            (b"'descr'", b"'desks'"),
            (b"{", b"["),
            (b"False", b"Fals "),
            (b"(4, 4)", b"(4,-4)"),
            (b"'shape'", b"'descr'"),
        ]:
            with self.subTest(new):
                self.reject(BAD_INPUT, "no .npy file", good.replace(old, new, 1))

    def test_a_header_may_claim_any_size_without_harm(self):
        self.reject(BAD_INPUT, "overflows", npy_of_shape(b"(4611686018427387904, 4)"))
        self.reject(BAD_INPUT, "truncated", npy_of_shape(b"(1000000, 1000000)"))
        self.reject(BAD_INPUT, "no number", npy_of_shape(b"(99999999999999999999, 4)"))

    def test_unsupported_kinds_are_told_from_bad_ones(self):
        self.reject(UNSUPPORTED, "big-endian", npy_bytes(np.zeros((2, 2), ">f4")))
        self.reject(UNSUPPORTED, "'<c8'", npy_bytes(np.zeros((2, 2), np.complex64)))
        self.reject(UNSUPPORTED, "'<U3'", npy_bytes(np.array([["abc"]])))
        self.reject(UNSUPPORTED, "structured", npy_bytes(np.zeros((2, 2), [("a", "<f4")])))
        data = bytearray(npy_bytes(np.zeros((2, 2), np.float32)))
        data[6] = 9
        self.reject(UNSUPPORTED, "version 9", bytes(data))

    def test_dtype_and_rank_must_be_the_inputs(self):
        self.reject(BAD_INPUT, "holds f64[2, 2], expected f32[A, B]", npy_bytes(np.zeros((2, 2))))
        self.reject(BAD_INPUT, "holds f32[2], expected f32[A, B]", npy_bytes(np.zeros(2, np.float32)))


def npy_of_shape(shape):
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + b", }\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)


if __name__ == "__main__":
    tool.main()
