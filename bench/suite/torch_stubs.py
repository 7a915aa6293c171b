#!/usr/bin/env python3
"""`torch_stubs.py FOLDER`: makes libraries that stand for the CUDA ones torch is linked with, so that torch runs on the
CPU without 3 GB of them. Every function says that there is no device."""
import glob
import importlib.util
import os
import re
import subprocess
import sys

NO_DEVICE = 100  # cudaErrorNoDevice


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], check=True, capture_output=True, text=True).stdout


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    torch = os.path.dirname(importlib.util.find_spec("torch").origin)
    needed, undefined, defined = set(), {}, set()
    own = sorted(glob.glob(f"{torch}/lib/lib*.so*"))
    for path in own:
        needed.update(re.findall(r"NEEDED.*\[(.*?)\]", readelf("-d", path)))
        for line in readelf("--dyn-syms", path).splitlines():
            part = line.split()
            if len(part) < 8 or not part[0].endswith(":"):
                continue
            name, _, version = part[7].partition("@")
            if part[6] == "UND":
                undefined[name] = version.lstrip("@")
            else:
                defined.add(name)
    needed -= {os.path.basename(p) for p in own}
    stubs = [n for n in needed if re.match(r"lib(cu|nv|nccl)", n)]
    names = [n for n in undefined if n not in defined and re.match(r"(__)?(cu|nv|nccl)", n)]
    homes = {soname: [] for soname in stubs}
    for name in names:  # what has no version may be in any of them
        homes[undefined[name] if undefined[name] in homes else stubs[0]].append(name)
    for soname, symbols in homes.items():
        lines = [f"const char* {s}(void) {{ return \"no CUDA\"; }}" if re.search(r"String|Name$", s) else
                 f"long {s}(void) {{ return {NO_DEVICE}; }}" for s in symbols]
        source, script = f"{folder}/stub.c", f"{folder}/stub.map"
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"{soname} {{ *; }};\n")
        subprocess.run([os.environ.get("CC", "gcc"), "-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,-soname,{soname}",
                        f"-Wl,--version-script={script}", source, "-o", f"{folder}/{soname}"], check=True)


main()
