#!/usr/bin/env python3
"""check_layering.py [ROOT]: fails on an #include that points up the layers, or at a library its folder must not see.

The tables below are the rule (docs/architecture.md explains it); a new folder or third-party header is a row here.
"""
import os
import re
import sys

# What stands below a layer, from the bottom up.
BELOW_LOOP = ["src/base", "src/ir"]
BELOW_JIT = BELOW_LOOP + ["src/loop"]
BELOW_DEVICE = BELOW_JIT + ["jit", "jit/strip", "jit/image", "jit/cuda"]
BELOW_RUNTIME = BELOW_DEVICE + ["jit/interp", "src/device"]
BELOW_ENGINE = BELOW_RUNTIME + ["src/pass", "src/fuse", "src/runtime", "cache"]

# What a folder may include besides itself. The longest matching key rules a file, so a subfolder can be stricter.
# Nothing may include jit/cpu: that module takes bytes and returns bytes.
MAY_INCLUDE = {
    "src/base": [],
    "src/ir": ["src/base"],
    "src/pass": BELOW_LOOP,
    "src/loop": BELOW_LOOP,
    "src/fuse": BELOW_JIT,
    "jit": BELOW_JIT,
    "jit/strip": BELOW_JIT + ["jit"],
    "jit/interp": BELOW_JIT + ["jit", "jit/strip"],
    "jit/image": BELOW_JIT + ["jit", "jit/strip"],
    "jit/cpu": BELOW_JIT + ["jit", "jit/image"],
    "jit/cuda": BELOW_JIT + ["jit", "jit/strip", "jit/image"],
    "src/device": BELOW_DEVICE,
    "src/runtime": BELOW_RUNTIME,
    "cache": ["src/base"],
    "src/engine": BELOW_ENGINE,
    "include": [],
    "capi": BELOW_ENGINE + ["src/engine", "include"],
    "tools": BELOW_ENGINE + ["src/engine", "include", "capi"],
    "examples": ["include"],
}

# Libraries kept in one place: prefix of the included name -> the paths that may include it.
ONLY_IN = {
    "llvm/": ["jit/cpu/"],
    "llvm-c/": ["jit/cpu/"],
    "cuda.h": ["jit/cuda/"],
    "nvrtc.h": ["jit/cuda/"],
    "spdlog/": ["src/base/log.cpp"],
    "fmt/": ["src/base/log.cpp"],
    "xxhash.h": ["src/base/hash.cpp"],
    "CLI/": ["tools/"],
    "nlohmann/": ["src/engine/", "tools/"],
    "iostream": ["tools/"],  # it brings a static constructor, which the library must not have
}

# Quoted names that no file of the tree has: made at build time.
GENERATED = []

SOURCES = (".h", ".hpp", ".c", ".cpp", ".cc", ".inc", ".def")
SEARCH = ("", "src", "include")  # the include path of every target (root_inc in meson.build)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def folder_of(path):
    """The key of MAY_INCLUDE that rules a file, or None."""
    keys = [key for key in MAY_INCLUDE if path.startswith(key + "/")]
    return max(keys, key=len, default=None)


def resolve(root, includer, name, quoted):
    """The tree's file that the include names, relative to the root, or None."""
    bases = ([os.path.dirname(includer)] if quoted else []) + list(SEARCH)
    for base in bases:
        path = os.path.normpath(os.path.join(base, name))
        if os.path.isfile(os.path.join(root, path)):
            return path
    return None


def check_include(root, path, name, quoted):
    """What is wrong with one include, or None."""
    if name.startswith("/"):
        return "absolute path"
    if ".." in name.split("/"):
        return "'..' in a path: name it from the root"
    for prefix, places in ONLY_IN.items():
        if name.startswith(prefix):
            return None if path.startswith(tuple(places)) else f"allowed only in {', '.join(places)}"
    target = resolve(root, path, name, quoted)
    if target is None:
        return "no such file in the tree" if quoted and name not in GENERATED else None
    source, dest = folder_of(path), folder_of(target)
    if dest is None:
        return f"{target} belongs to no layer"
    if dest != source and dest not in MAY_INCLUDE[source]:
        return f"{source} may not include {dest}"
    return None


def check(root):
    """All faults as 'file:line: #include name: reason'."""
    faults = []
    for top in sorted({key.split("/")[0] for key in MAY_INCLUDE}):
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), root)
                if not path.endswith(SOURCES):
                    continue
                if folder_of(path) is None:
                    faults.append(f"{path}:1: in no folder that tools/dev/check_layering.py knows")
                    continue
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    text = file.read()
                for match in INCLUDE.finditer(text):
                    fault = check_include(root, path, match.group(2), match.group(1) == '"')
                    if fault:
                        line = text.count("\n", 0, match.start(2)) + 1
                        faults.append(f"{path}:{line}: #include {match.group(2)}: {fault}")
    return faults


def main():
    default = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    faults = check(sys.argv[1] if len(sys.argv) > 1 else default)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
