"""Ingot through its C interface by ctypes: just what a benchmark calls."""
import ctypes
import json
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
pointer, i32, u32, u64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint64

CODES = {"i": 0, "u": 1, "f": 2, "b": 6}  # DLDataTypeCode by NumPy's kind
BACKEND_AUTO, BACKEND_CPU = 1, 2


class Tensor(ctypes.Structure):
    _fields_ = [("data", pointer), ("device", i32 * 2), ("ndim", i32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", pointer), ("byte_offset", u64)]


class ContextOptions(ctypes.Structure):  # the first members; the library gives the rest their defaults
    _fields_ = [("struct_size", ctypes.c_size_t), ("next", pointer), ("cache_dir", ctypes.c_char_p),
                ("no_disk_cache", u32), ("no_threads", u32), ("memory_cache_bytes", u64),
                ("memory_cache_entries", u64), ("disk_cache_bytes", u64), ("module_dir", ctypes.c_char_p),
                ("num_threads", u32), ("ignore_environment", u32)]


class CompileOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("next", pointer), ("backend", i32), ("no_fusion", u32),
                ("target", ctypes.c_char_p)]


def load():
    library = ctypes.CDLL(os.environ.get("INGOT_LIBRARY", f"{ROOT}/build/lib/libingot.so"))
    for name in ("context_create", "graph_parse", "compile", "executable_prepare", "executable_describe",
                 "executable_io_count", "call_create", "call_bind", "call_run"):
        getattr(library, f"ingot_{name}").restype = pointer
    library.ingot_status_code.argtypes = [pointer]
    library.ingot_status_message.argtypes = [pointer, pointer, pointer]
    for name in ("status", "graph", "executable", "context", "buffer", "call"):
        getattr(library, f"ingot_{name}_release").argtypes = [pointer]
        getattr(library, f"ingot_{name}_release").restype = None
    library.ingot_buffer_data.argtypes = [pointer, pointer, pointer]
    return library


LIBRARY = load()


class Error(Exception):
    pass


def check(status):
    if status:
        text = ctypes.c_char_p()
        LIBRARY.ingot_status_message(status, ctypes.byref(text), None)
        message = text.value.decode()
        LIBRARY.ingot_status_release(status)
        raise Error(message)


def tensor(array):
    t = Tensor(data=array.ctypes.data, ndim=array.ndim, code=CODES[array.dtype.kind], bits=array.itemsize * 8,
               lanes=1, shape=(ctypes.c_int64 * array.ndim)(*array.shape))
    t.device[0] = 1
    return t


def pointers(arrays):
    tensors = [tensor(a) for a in arrays]
    table = (ctypes.POINTER(Tensor) * len(tensors))(*(ctypes.pointer(t) for t in tensors))
    table.tensors = tensors
    return table


class Context:
    def __init__(self, threads=1):
        options = ContextOptions(struct_size=ctypes.sizeof(ContextOptions), no_disk_cache=1, num_threads=threads,
                                 ignore_environment=1)
        self.handle = pointer()
        check(LIBRARY.ingot_context_create(ctypes.byref(options), ctypes.byref(self.handle)))

    def __del__(self):
        LIBRARY.ingot_context_release(self.handle)


class Executable:
    """A graph of the text form, planned for machine code unless said otherwise."""

    def __init__(self, context, text, backend=BACKEND_CPU):
        graph, self.handle = pointer(), pointer()
        data = text.encode()
        check(LIBRARY.ingot_graph_parse(context.handle, data, ctypes.c_size_t(len(data)), ctypes.byref(graph)))
        options = CompileOptions(struct_size=ctypes.sizeof(CompileOptions), backend=backend)
        try:
            check(LIBRARY.ingot_compile(context.handle, graph, ctypes.byref(options), ctypes.byref(self.handle)))
        finally:
            LIBRARY.ingot_graph_release(graph)

    def __del__(self):
        LIBRARY.ingot_executable_release(self.handle)

    def prepare(self):
        """Compiles every kernel."""
        check(LIBRARY.ingot_executable_prepare(self.handle, None, ctypes.c_size_t(0), None, None))

    def describe(self, what):
        buffer, data, size = pointer(), pointer(), ctypes.c_size_t()
        check(LIBRARY.ingot_executable_describe(self.handle, what.encode(), ctypes.c_size_t(len(what)),
                                                ctypes.byref(buffer)))
        LIBRARY.ingot_buffer_data(buffer, ctypes.byref(data), ctypes.byref(size))
        out = ctypes.string_at(data, size.value)
        LIBRARY.ingot_buffer_release(buffer)
        return out

    def outputs(self):
        count = ctypes.c_size_t()
        check(LIBRARY.ingot_executable_io_count(self.handle, None, ctypes.byref(count)))
        return count.value

    def kernels(self):
        return json.loads(self.describe("json"))["kernels"]

    def caller(self, inputs, outputs):
        """A function of no arguments that runs on these arrays."""
        bound = Bound(self, inputs, outputs)
        run, handle = LIBRARY.ingot_call_run, bound.handle

        def call():
            status = run(handle, None)
            if status:
                check(status)
        call.bound = bound
        return call


class Bound:
    """An executable with its arrays bound, which it keeps."""

    def __init__(self, executable, inputs, outputs):
        self.handle, self.kept = pointer(), (executable, inputs, outputs)
        check(LIBRARY.ingot_call_create(executable.handle, ctypes.byref(self.handle)))
        check(LIBRARY.ingot_call_bind(self.handle, pointers(inputs), ctypes.c_size_t(len(inputs)), pointers(outputs),
                                      ctypes.c_size_t(len(outputs))))

    def __del__(self):
        LIBRARY.ingot_call_release(self.handle)
