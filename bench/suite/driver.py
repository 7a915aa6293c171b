"""The driver's end of a contestant: a worker process, talked to over pipes."""
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# Contestants in the order of a round. The first three are ours: Ingot, the baseline by hand, the memory limit.
CONTESTANTS = {
    "ingot": "ingot_engine", "hand": "hand_written", "limit": "memory_limit", "numpy": "numpy_peer",
    "numexpr": "numexpr_peer", "numba": "numba_peer", "jax": "jax_peer", "eager": "torch_eager",
    "inductor": "torch_compiled", "drjit": "drjit_peer", "mlx": "mlx_peer",
}

# Freed buffers stay with the process, so that page faults of fresh outputs do not count; jax is faster without.
KEEP = {"MALLOC_TRIM_THRESHOLD_": str(1 << 33), "MALLOC_MMAP_THRESHOLD_": str(1 << 33)}
STUBS = f"{sys.prefix}/stubs"  # of torch_stubs.py, where the peers were installed with it
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                     "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS")}


def say(text):
    print(f"bench suite: {text}", file=sys.stderr, flush=True)


def environment(name, folder):
    out = {**os.environ, **ONE_THREAD, "PYTHONPATH": HERE,
           "TORCHINDUCTOR_CACHE_DIR": f"{os.path.dirname(folder)}/inductor"}
    if name == "jax":
        out["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
        out["JAX_PLATFORMS"] = "cpu"
        return out
    if name == "drjit" and "DRJIT_LIBLLVM_PATH" not in out:
        found = sorted(glob.glob("/usr/lib/*/libLLVM.so.19*") + glob.glob("/usr/lib/*/libLLVM-19.so*"))
        out["DRJIT_LIBLLVM_PATH"] = found[0] if found else ""
    if os.path.isdir(STUBS):
        out["LD_LIBRARY_PATH"] = STUBS + os.pathsep + os.environ.get("LD_LIBRARY_PATH", "")
    return {**out, **KEEP}


class Peer:
    def __init__(self, name, folder, cpu):
        self.name = name
        command = ["taskset", "-c", str(cpu), sys.executable, f"{HERE}/worker.py", CONTESTANTS[name], folder]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment(name, folder))
        self.error, self.version = None, ""

    def wait(self):
        """Until it has loaded its library, or said why it cannot."""
        answer = self.read()
        self.error, self.version = answer.get("error"), answer.get("versions", "")
        if self.error:
            self.stop()

    def read(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": f"its process ended with {self.process.wait()}"}

    def ask(self, do, **arguments):
        try:
            self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self.read()

    def stop(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:  # it has ended by itself
            pass
        self.process.wait()
        self.process.stdout.close()
