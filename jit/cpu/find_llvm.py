#!/usr/bin/env python3
"""Finds LLVM's static archives and prints what the CPU module needs to compile and link with them.

Debian's Meson finds whichever llvm-config is first on the path, often the wrong one, so versions are tried by name,
newest first. Prints lines: `version`, `prefix`, `include`, then `link` once per linker argument. Exits with 1 and the
reason on stderr when there is none.
"""
import os
import shutil
import subprocess
import sys

VERSIONS = (22, 21, 20, 19)
COMPONENTS = ["x86codegen", "aarch64codegen", "orcjit", "jitlink"]


def ask(tool, *args):
    return subprocess.run([tool, *args], check=True, capture_output=True, text=True).stdout.strip()


def candidates():
    named = os.environ.get("LLVM_CONFIG")
    if named:
        yield named
        return
    for version in VERSIONS:
        for path in (f"llvm-config-{version}", f"/usr/lib/llvm-{version}/bin/llvm-config"):
            found = shutil.which(path)
            if found:
                yield found
    if shutil.which("llvm-config"):
        yield "llvm-config"


def main():
    tried = []
    for tool in candidates():
        try:
            version = ask(tool, "--version")
            if int(version.split(".")[0]) not in VERSIONS:
                tried.append(f"{tool}: version {version}")
                continue
            libs = ask(tool, "--link-static", "--libs", *COMPONENTS).split()
            system = ask(tool, "--link-static", "--system-libs").split()
            libdir = ask(tool, "--libdir")
            include = ask(tool, "--includedir")
        except (OSError, subprocess.CalledProcessError, ValueError) as error:
            tried.append(f"{tool}: {error}")
            continue
        print("version", version)
        print("include", include)
        for lib in libs:
            path = os.path.join(libdir, "lib" + lib[2:] + ".a") if lib.startswith("-l") else lib
            if not os.path.exists(path):
                tried.append(f"{tool}: no {path}")
                break
            print("link", path)
        else:
            # z3, xml2 and libedit serve parts of LLVM that are not linked.
            for lib in system:
                if not any(word in lib for word in ("z3", "xml2", "edit", "tinfo")):
                    print("link", lib)
            return 0
    print("no LLVM of versions %s with static archives; tried: %s"
          % (", ".join(map(str, VERSIONS)), "; ".join(tried) or "nothing on the path"), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
