"""Two programs outside the build tree find an installed Ingot: by pkg-config and by CMake's find_package."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

root, build = Path(sys.argv[1]), Path(sys.argv[2])
PROGRAM = """#include <ingot/ingot.h>
int main(void) { int32_t major = -1; ingot_version(&major, 0, 0); return major != INGOT_VERSION_MAJOR; }
"""
CMAKE = """cmake_minimum_required(VERSION 3.13)
project(consumer C)
find_package(ingot 0.1 REQUIRED)
add_executable(consumer main.c)
target_link_libraries(consumer ingot::ingot)
"""


def run(*command, **kw):
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True, **kw)
    if r.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{r.stdout}{r.stderr}")
    return r.stdout


with tempfile.TemporaryDirectory() as d:
    stage, work = Path(d) / "stage", Path(d) / "work"
    work.mkdir()
    run("meson", "install", "-C", build, "--no-rebuild", "--destdir", stage)
    pc = next(stage.rglob("ingot.pc"))
    prefix = Path(str(stage) + next(l.split("=", 1)[1] for l in pc.read_text().splitlines() if l.startswith("prefix=")))
    libdir = pc.parent.parent
    (work / "main.c").write_text(PROGRAM)
    env = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent), LD_LIBRARY_PATH=str(libdir))
    flags = run("pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "--libs", "ingot", env=env).split()
    run("cc", "-std=c99", "-Wall", "-Werror", work / "main.c", *flags, "-o", work / "by_pkg_config")
    run(work / "by_pkg_config", env=env)
    if shutil.which("cmake"):
        (work / "CMakeLists.txt").write_text(CMAKE)
        run("cmake", "-S", work, "-B", work / "b", f"-DCMAKE_PREFIX_PATH={prefix}", f"-Dingot_DIR={libdir}/cmake/ingot")
        run("cmake", "--build", work / "b")
        run(work / "b" / "consumer", env=env)
    else:
        print("SKIP: find_package consumer: cmake is not installed")
    # The tool finds the library that was installed with it.
    if list(stage.rglob("bin/ingot")):
        clean = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
        if not run(next(stage.rglob("bin/ingot")), "--version", env=clean).startswith("ingot "):
            sys.exit("the installed tool does not tell its version")
    # The module lies beside the library, where it is looked up.
    if (build / "lib" / "libingot_cpu.so").exists() and not list(stage.rglob("libingot_cpu.so")):
        sys.exit("libingot_cpu.so was not installed")
