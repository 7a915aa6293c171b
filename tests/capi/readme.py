"""README's programs compile without a warning, and print what they say they print."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

root, build = Path(sys.argv[1]), Path(sys.argv[2])
page = (root / "README.md").read_text()


def check(language, compiler, std, output):
    program = re.search(rf"```{language}\n(.*?)```", page, re.S).group(1)
    expected = re.search(output, program).group(1)
    with tempfile.TemporaryDirectory() as d:
        source, binary = Path(d) / f"example.{language}", Path(d) / "example"
        source.write_text(program)
        flags = [f"-std={std}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{root}/include"]
        link = [f"-L{build}/lib", "-lingot", f"-Wl,-rpath,{build}/lib"]
        subprocess.run([compiler, *flags, str(source), "-o", str(binary), *link], check=True)
        env = dict(os.environ, XDG_CACHE_HOME=d)
        out = subprocess.run([str(binary)], capture_output=True, text=True, env=env, check=True).stdout.strip()
    if out != expected:
        sys.exit(f"README says {expected}, the {language} program printed {out}")


check("c", "cc", "c99", r"/\* ([\d. ]+) \*/")
check("cpp", "c++", "c++17", r"// (x: .*)")
