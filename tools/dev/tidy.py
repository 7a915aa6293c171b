#!/usr/bin/env python3
"""tidy.py BUILD_DIR [FILE...]: clang-tidy over the sources that BUILD_DIR compiles, or over the named ones of them.

A source that was clean is not looked at again until it, a header it includes, .clang-tidy or its command changes:
clang-tidy takes seconds a file. Stamps lie in BUILD_DIR/tidy. Exits 1 if any file has a warning.
"""
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys

TIDY = "clang-tidy-22"
CONFIGURATIONS = (".clang-tidy", "tests/.clang-tidy")


def headers_of(build):
    """Object path -> what ninja recorded that it was compiled from."""
    out = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    deps, current = {}, None
    for line in out.splitlines():
        if line and not line.startswith((" ", "ninja:")):
            current = deps.setdefault(line.split(":", 1)[0], [])
        elif line.startswith(" ") and current is not None:
            current.append(line.strip())
    return deps


class Fingerprints:
    """What a file's result depends on, as one hash; each header is read once."""

    def __init__(self, build):
        self.build = build
        self.deps = headers_of(build)
        self.known = {}

    def of_file(self, path):
        if path not in self.known:
            with open(path, "rb") as file:
                self.known[path] = hashlib.sha256(file.read()).hexdigest()
        return self.known[path]

    def of_entry(self, entry):
        parts = [entry["command"], *map(self.of_file, CONFIGURATIONS)]
        for path in [entry["file"], *self.deps.get(entry.get("output", ""), [])]:
            full = os.path.join(self.build, path)
            # The system's headers change with its packages only; a new compiler changes the command.
            if os.path.isfile(full) and not os.path.realpath(full).startswith("/usr/"):
                parts.append(self.of_file(full))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def main():
    build, named = sys.argv[1], {os.path.realpath(path) for path in sys.argv[2:]}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    root = os.path.realpath(".") + "/"
    sources = {}
    for entry in entries:
        path = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
        # tests/abi holds what earlier releases were, which is not edited.
        others = (root + "subprojects/", root + "tests/abi/", os.path.realpath(build) + "/")
        ours = path.startswith(root) and not path.startswith(others)
        if ours and (not named or path in named):
            sources.setdefault(path, entry)  # a file compiled for several targets is checked once
    stamps = os.path.join(build, "tidy")
    os.makedirs(stamps, exist_ok=True)
    prints = Fingerprints(build)

    def check(item):
        path, entry = item
        stamp = os.path.join(stamps, os.path.relpath(path, root).replace("/", "@"))
        want = prints.of_entry(entry)
        if os.path.exists(stamp):
            with open(stamp, encoding="utf-8") as file:
                if file.read() == want:
                    return ""
        done = subprocess.run([TIDY, "-p", build, "--quiet", path], check=False, capture_output=True, text=True)
        if done.returncode == 0:
            with open(stamp, "w", encoding="utf-8") as file:
                file.write(want)
            return ""
        return done.stdout or done.stderr

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for report in pool.map(check, sorted(sources.items())):
            if report:
                bad += 1
                print(report.rstrip(), flush=True)
    print(f"clang-tidy: {len(sources)} files, {bad} with warnings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
