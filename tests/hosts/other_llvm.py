"""other_llvm.py LIBINGOT BUILD_DIR numba|shared

Ingot in a process that has another LLVM, loaded before it and after it, each compiling while the other is there:
numba's (llvmlite, a static one inside of a Python module) or Debian's libLLVM, its symbols visible to everyone.
"""
import ctypes
import glob
import os
import subprocess
import sys

library, build, kind = sys.argv[1:4]
TEXT = b"ingot 1.0\ngraph @g(%%x: f32[N]) -> (f32[N]) {\n  %%0 = mul %%x, %d.0\n  %%1 = exp %%0\n  return %%1\n}\n"


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]


class CompileOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("next", ctypes.c_void_p), ("backend", ctypes.c_int32),
                ("no_fusion", ctypes.c_uint32), ("target", ctypes.c_char_p)]


class Ingot:
    """A context of its own over the C interface."""

    def __init__(self):
        self.lib = ctypes.CDLL(library)
        self.lib.ingot_status_message.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_void_p]
        for name in ("context_create", "graph_parse", "compile", "run", "executable_prepare"):
            getattr(self.lib, "ingot_" + name).restype = ctypes.c_void_p
        self.context = ctypes.c_void_p()
        self.ok(self.lib.ingot_context_create(None, ctypes.byref(self.context)))

    def ok(self, status):
        if status:
            text = ctypes.c_char_p()
            self.lib.ingot_status_message(status, ctypes.byref(text), None)
            sys.exit(f"ingot: {text.value.decode()}")

    def works(self, factor):
        """Compiles a kernel that nobody has compiled before, as `cpu`, and compares it with the interpreter's bits."""
        results = []
        for backend in (2, 3):
            graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
            self.ok(self.lib.ingot_graph_parse(self.context, TEXT % factor, ctypes.c_size_t(2**64 - 1),
                                               ctypes.byref(graph)))
            options = CompileOptions(ctypes.sizeof(CompileOptions), None, backend, 0, None)
            self.ok(self.lib.ingot_compile(self.context, graph, ctypes.byref(options), ctypes.byref(executable)))
            n = 1000
            source, result = (ctypes.c_float * n)(*[i / n for i in range(n)]), (ctypes.c_float * n)()
            shape = (ctypes.c_int64 * 1)(n)
            pair = [Tensor(ctypes.addressof(a), (1, 0), 1, 2, 32, 1, shape, None, 0) for a in (source, result)]
            ins, outs = (ctypes.POINTER(Tensor)(t) for t in pair)
            self.ok(self.lib.ingot_run(executable, ctypes.byref(ins), ctypes.c_size_t(1), ctypes.byref(outs),
                                       ctypes.c_size_t(1), None))
            results.append(bytes(result))
            self.lib.ingot_executable_release(executable)
            self.lib.ingot_graph_release(graph)
        if results[0] != results[1] or not any(results[0]):
            sys.exit("compiled and interpreted bits differ")


def numba_works(factor):
    import numba

    @numba.njit
    def total(n):
        s = 0.0
        for i in range(n):
            s += i * factor
        return s

    if total(1000) != 499500.0 * factor:
        sys.exit("numba computes something else")


def shared_works(factor):
    """Debian's libLLVM for everyone, and a module printed by it."""
    llvm = ctypes.CDLL(shared_llvm()[-1], mode=ctypes.RTLD_GLOBAL)
    for name in ("ContextCreate", "ModuleCreateWithNameInContext", "PrintModuleToString"):
        getattr(llvm, "LLVM" + name).restype = ctypes.c_void_p
    context = ctypes.c_void_p(llvm.LLVMContextCreate())
    module = ctypes.c_void_p(llvm.LLVMModuleCreateWithNameInContext(b"m%d" % factor, context))
    text = ctypes.string_at(llvm.LLVMPrintModuleToString(module)).decode()
    if f"m{factor}" not in text:
        sys.exit("libLLVM prints something else")
    llvm.LLVMDisposeModule(module)
    llvm.LLVMContextDispose(context)


def shared_llvm():
    found = glob.glob("/usr/lib/*/libLLVM*.so*") + glob.glob("/usr/lib/llvm-*/lib/libLLVM*.so*")
    return sorted(path for path in found if os.path.exists(path) and "libLLVMS" not in path)


def child(order):
    """One process: the other LLVM is there first, or comes second."""
    other = numba_works if kind == "numba" else shared_works
    if order == "before":
        other(2)
    ingot = Ingot()
    ingot.works(3)
    other(4)
    ingot.works(5)
    other(6)
    Ingot().works(7)


def interpreter():
    """Of a virtual environment with numba, made once under the build folder; None, and why, where there can be none."""
    folder = os.path.join(build, "venv-numba")
    python = os.path.join(folder, "bin", "python3")
    ready = os.path.join(folder, "ready")
    if os.path.exists(ready):
        return python, ""
    install = [python, "-m", "pip", "install", "-q", "--retries", "1", "--timeout", "15", "--only-binary", ":all:"]
    steps = [[sys.executable, "-m", "venv", "--clear", folder], [*install, "numba"]]
    for command in steps:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
        except subprocess.TimeoutExpired:
            return None, "installing numba takes too long"
        if done.returncode != 0:
            return None, " ".join((done.stderr or done.stdout).split())[-200:]
    with open(ready, "w", encoding="utf-8"):
        pass
    return python, ""


def main():
    if len(sys.argv) > 4:
        child(sys.argv[4])
        return 0
    python = sys.executable
    if kind == "numba":
        python, why = interpreter()
        if not python:
            print(f"SKIP: other-llvm-numba: {why}")
            return 0
    elif not shared_llvm():
        print("SKIP: other-llvm-shared: no libLLVM.so on this machine")
        return 0
    env = {**os.environ, "XDG_CACHE_HOME": os.path.join(build, "no-such-cache"), "INGOT_CACHE_DIR": "/dev/null/none"}
    for order in ("before", "after"):
        done = subprocess.run([python, __file__, library, build, kind, order], env=env, check=False)
        if done.returncode != 0:
            print(f"with the other LLVM {order} Ingot's: exit {done.returncode}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
