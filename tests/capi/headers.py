"""Each public header compiles alone and twice, as every language version it promises, without a warning."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

root = Path(sys.argv[1])
FLAGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", f"-I{root}/include"]
USE = "#include <{0}>\n#include <{0}>\n{1}\n"
C_BODY = "int main(void) { ingot_run_options o = INGOT_RUN_OPTIONS_INIT; return (int)o.serial; }"
CXX_BODY = "int main() { ingot_run_options o = INGOT_RUN_OPTIONS_INIT; return (int)o.serial; }"


def compile_alone(compiler, std, suffix, header, body):
    with tempfile.TemporaryDirectory() as d:
        source = Path(d) / f"use.{suffix}"
        source.write_text(USE.format(header, body))
        r = subprocess.run([compiler, f"-std={std}", *FLAGS, str(source)], capture_output=True, text=True)
    if r.returncode:
        print(f"{header} as {std}:\n{r.stderr}")
    return r.returncode


bad = sum(compile_alone("cc", std, "c", "ingot/ingot.h", C_BODY) for std in ("c99", "c11", "c17"))
bad += sum(compile_alone("c++", std, "cpp", "ingot/ingot.h", CXX_BODY)
           for std in ("c++11", "c++14", "c++17", "c++20"))
bad += sum(compile_alone("c++", std, "cpp", "ingot/ingot.hpp", "int main() { return 0; }")
           for std in ("c++17", "c++20"))
# Rows of the op table and constants of the header carry the same numbers.
rows = dict(re.findall(r"^OP\((\w+), (\d+),", (root / "src/ir/ops.def").read_text(), re.M))
header = (root / "include/ingot/ingot.h").read_text()
constants = {n.lower(): v for n, v in re.findall(r"INGOT_OP_(\w+) = (\d+)", header)}
if rows != constants:
    print("ops.def and ingot.h differ:", sorted(set(rows.items()) ^ set(constants.items())))
    bad += 1
sys.exit(bad != 0)
