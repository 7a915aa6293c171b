"""The library exports the functions of the entry list, each under the version node of its minor, and nothing else."""
import re
import subprocess
import sys
from pathlib import Path

root, library = Path(sys.argv[1]), sys.argv[2]
text = re.sub(r"/\*.*?\*/", "", (root / "include/ingot/entries.def").read_text(), flags=re.S)
wanted = {name: minor for minor, name in re.findall(r"INGOT_ENTRY\((\d+),[^,]*?,\s*(\w+),", text)}
lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
found = dict(re.findall(r" [TtVWBDRi] (ingot_\w+)@@INGOT_0\.(\d+)$", lines, re.M))
other = [l for l in lines.splitlines() if "@@INGOT_" not in l and " A INGOT_" not in l]
dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
soname = re.search(r"SONAME.*\[(.*)\]", dynamic)
needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
bad = 0
if found != wanted:
    print("entry list and exports differ:", sorted(set(found.items()) ^ set(wanted.items())))
    bad = 1
if other:
    print("exported beside the entries:", other)
    bad = 1
if not soname or soname.group(1) != "libingot.so.0":
    print("SONAME is", soname and soname.group(1))
    bad = 1
# Only the C and C++ run times: nothing that a host might have in another version.
allowed = re.compile(r"lib(stdc\+\+|m|gcc_s|c|dl|pthread|asan|ubsan|tsan)\.so|ld-linux")
if [n for n in needed if not allowed.match(n)]:
    print("linked with", needed)
    bad = 1
sys.exit(bad)
