#!/usr/bin/env python3
"""test_targets.py BUILD_DIR SUITE...: the ninja targets that the tests of these suites need, one a line."""
import json
import os
import subprocess
import sys


def main():
    build, suites = os.path.realpath(sys.argv[1]), {f"ingot:{suite}" for suite in sys.argv[2:]}

    def introspect(what):
        return json.loads(subprocess.run(["meson", "introspect", build, what], check=True, capture_output=True).stdout)

    files = {target["id"]: target["filename"] for target in introspect("--targets")}
    needed = set()
    for test in introspect("--tests"):
        if suites.isdisjoint(test["suite"]):
            continue
        needed.update(word for word in test["cmd"] if word.startswith(build + "/"))
        for target in test["depends"]:
            needed.update(files[target])
    known = {file for group in files.values() for file in group}
    for file in sorted(needed & known):
        print(os.path.relpath(file, build))


if __name__ == "__main__":
    main()
