"""README's C program compiles without a warning, and prints what it says it prints."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

root, build = Path(sys.argv[1]), Path(sys.argv[2])
program = re.search(r"```c\n(.*?)```", (root / "README.md").read_text(), re.S).group(1)
expected = re.search(r"/\* ([\d. ]+) \*/", program).group(1)
with tempfile.TemporaryDirectory() as d:
    source, binary = Path(d) / "softmax.c", Path(d) / "softmax"
    source.write_text(program)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{root}/include"]
    link = [f"-L{build}/lib", "-lingot", f"-Wl,-rpath,{build}/lib"]
    subprocess.run(["cc", *flags, str(source), "-o", str(binary), *link], check=True)
    env = dict(os.environ, XDG_CACHE_HOME=d)
    out = subprocess.run([str(binary)], capture_output=True, text=True, env=env, check=True).stdout.strip()
if out != expected:
    sys.exit(f"README says {expected}, the program printed {out}")
