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


def wanted():
    """What torch's libraries need of others: {library: {version: [functions]}}; a version may be ''."""
    torch = os.path.dirname(importlib.util.find_spec("torch").origin)
    needed, undefined, defined, home = set(), {}, set(), {}
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
        library = ""
        for line in readelf("-V", path).splitlines():
            library = (re.findall(r"File: (\S+)", line) or [library])[0]
            for version in re.findall(r" Name: (\S+)", line):
                home[version] = library
    needed -= {os.path.basename(p) for p in own}
    out = {library: {} for library in sorted(needed) if re.match(r"lib(cu|nv|nccl)", library)}
    for version, library in home.items():
        if library in out:
            out[library][version] = []
    for name, version in undefined.items():
        if name not in defined and re.match(r"(__)?(cu|nv|nccl)", name):
            library = home.get(version, next(iter(out)))  # what has no version may be in any of them
            if library in out:
                out[library].setdefault(version, []).append(name)
    return out


def make(folder, library, versions):
    names = [name for functions in versions.values() for name in functions]
    with open(f"{folder}/stub.c", "w", encoding="utf-8") as file:
        for name in names:
            if re.search(r"String|Name$", name):
                file.write(f"const char* {name}(void) {{ return \"no CUDA\"; }}\n")
            else:
                file.write(f"long {name}(void) {{ return {NO_DEVICE}; }}\n")
    with open(f"{folder}/stub.map", "w", encoding="utf-8") as file:
        for version, functions in versions.items():
            file.write(f"{version or 'UNVERSIONED'} {{ {' '.join(f + ';' for f in functions)} }};\n")
    subprocess.run([os.environ.get("CC", "gcc"), "-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,-soname,{library}",
                    f"-Wl,--version-script={folder}/stub.map", f"{folder}/stub.c", "-o", f"{folder}/{library}"],
                   check=True)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for library, versions in wanted().items():
        make(folder, library, versions or {"": []})


main()
