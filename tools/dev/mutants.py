#!/usr/bin/env python3
"""mutants.py [NAME...]: shows that each fault in tests/mutants/*.patch turns the test that its header names red.

Works on a copy of the tree (tracked and new files) in build-mutants/src with its own build folder, rebuilt step by
step. First every named test must be green and, where a case filter is given, must run at least one case. Then each
patch is applied, what its test needs is built, the test is run, and the patch is taken out again. Prints one line per
mutant and fails unless all are killed:

  killed     the test went red (or ran into its time limit)
  SURVIVED   the test stayed green: nothing watches over this line
  STALE      the patch no longer applies
  BROKEN     the faulty tree does not compile, which proves nothing
"""
import filecmp
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

WORK = "build-mutants"
SRC = os.path.join(WORK, "src")
BUILD = os.path.join(WORK, "build")
CASES = re.compile(r"\[doctest\] test cases:\s*(\d+)")
TIMEOUT_FACTOR = 2


class Mutant:
    """One patch; its header line is `Test: MESON-TEST-NAME [DOCTEST CASE FILTER]`, told apart by find_test()."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.name = os.path.basename(path)[: -len(".patch")]
        with open(path, encoding="utf-8") as file:
            head = re.search(r"^Test: (.+)$", file.read(), re.MULTILINE)
        if not head:
            sys.exit(f"{path}: no line 'Test: MESON-TEST-NAME [CASE FILTER]'")
        self.header = head.group(1).strip()
        self.test = self.case = ""

    def find_test(self, names):
        """Splits the header: the longest known test name it starts with (a name may hold spaces), then the case."""
        fits = [name for name in names if (self.header + " ").startswith(name + " ")]
        if fits:
            self.test = max(fits, key=len)
            self.case = self.header[len(self.test):].strip()
        return bool(fits)

    def patch(self, *options):
        command = ["patch", "-p1", "-s", "--batch", "--no-backup-if-mismatch", "-r", "-", *options, "-i", self.path]
        return subprocess.run(command, cwd=SRC, check=False, capture_output=True).returncode == 0


def sync():
    """Makes SRC equal to the working tree, touching only what differs, so that a rebuild is small."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)
    wanted = {path for path in listed.stdout.splitlines() if os.path.isfile(path)}
    for path in wanted:
        copy = os.path.join(SRC, path)
        if not os.path.exists(copy) or not filecmp.cmp(path, copy, shallow=False):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copyfile(path, copy)  # a new modification time: ninja must see that it changed
            shutil.copymode(path, copy)
    for folder, _, names in os.walk(SRC):
        for name in names:
            full = os.path.join(folder, name)
            if os.path.relpath(full, SRC) not in wanted:
                os.remove(full)


def configure():
    if os.path.exists(os.path.join(BUILD, "build.ninja")):
        # What is asked next is of the tests as they are now.
        subprocess.run(["ninja", "-C", BUILD, "build.ninja"], check=True, stdout=subprocess.DEVNULL)
        return
    launcher = "ccache " if shutil.which("ccache") else ""
    env = {**os.environ, "CC": launcher + os.environ.get("CC", "gcc"), "CXX": launcher + os.environ.get("CXX", "g++")}
    subprocess.run(["meson", "setup", BUILD, SRC], check=True, env=env, stdout=subprocess.DEVNULL)


def introspect(what):
    done = subprocess.run(["meson", "introspect", BUILD, what], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


class Tests:
    """The build folder's tests and what ninja must make for them."""

    def __init__(self):
        self.tests = {test["name"]: test for test in introspect("--tests")}
        targets = introspect("--targets")
        root = os.path.realpath(BUILD)
        self.outputs = {t["id"]: [os.path.relpath(os.path.realpath(f), root) for f in t["filename"]] for t in targets}
        # Modules are opened at run time, so that a test need not name them as its dependency.
        self.shared = [o for t in targets if t["type"] in ("shared library", "shared module")
                       for o in self.outputs[t["id"]]]

    def build(self, names):
        wanted = set(self.shared)
        for name in names:
            for target in self.tests[name]["depends"]:
                wanted.update(self.outputs.get(target, []))
        done = subprocess.run(["ninja", "-C", BUILD, *sorted(wanted)], check=False, capture_output=True, text=True)
        return done.returncode == 0, done.stdout

    def run(self, name, case):
        """(green, cases that ran or None, output)"""
        test = self.tests[name]
        command = list(test["cmd"])
        if case:
            # A comma separates doctest's filters; '?' matches one character, so also the comma meant.
            command.append("--test-case=" + case.replace(",", "?"))
        env = {**os.environ, **test["env"]}
        try:
            done = subprocess.run(command, check=False, cwd=test["workdir"] or BUILD, env=env, errors="replace",
                                  timeout=test["timeout"] * TIMEOUT_FACTOR if test["timeout"] > 0 else None,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except subprocess.TimeoutExpired:
            return False, None, f"timed out: {shlex.join(command)}"
        cases = CASES.findall(done.stdout)
        return done.returncode == 0, sum(map(int, cases)) if cases else None, done.stdout


def baseline(mutants, tests):
    """Names what makes the run pointless: a test that is unknown, red without any fault, or runs no case."""
    bad = [f"{m.name}: no meson test fits '{m.header}'" for m in mutants if not m.find_test(tests.tests)]
    if bad:
        return bad
    good, output = tests.build({m.test for m in mutants})
    if not good:
        return ["the tree without a fault does not build:\n" + output]
    for test, case in sorted({(m.test, m.case) for m in mutants}):
        green, cases, output = tests.run(test, case)
        if not green:
            bad.append(f"{test} {case}: red without any fault:\n{output}")
        elif case and not cases:
            bad.append(f"{test} {case}: no test case has this name")
    return bad


def verdict(mutant, tests):
    if not mutant.patch("--dry-run", "--forward"):
        return "STALE"
    mutant.patch("--forward")
    try:
        if not tests.build({mutant.test})[0]:
            return "BROKEN"
        return "SURVIVED" if tests.run(mutant.test, mutant.case)[0] else "killed"
    finally:
        mutant.patch("--reverse")


def main():
    mutants = [Mutant(path) for path in sorted(glob.glob("tests/mutants/*.patch"))]
    if len(sys.argv) > 1:
        unknown = set(sys.argv[1:]) - {m.name for m in mutants}
        if unknown:
            sys.exit(f"no such mutant: {', '.join(sorted(unknown))}")
        mutants = [m for m in mutants if m.name in sys.argv[1:]]
    if not mutants:
        sys.exit("tests/mutants holds no patch")
    sync()
    configure()
    tests = Tests()
    bad = baseline(mutants, tests)
    if bad:
        sys.exit("\n".join(bad))
    counts = {}
    for mutant in mutants:
        result = verdict(mutant, tests)
        counts[result] = counts.get(result, 0) + 1
        print(f"{result:<9} {mutant.name}  ({mutant.test}{': ' + mutant.case if mutant.case else ''})", flush=True)
    print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())))
    return 0 if set(counts) == {"killed"} else 1


if __name__ == "__main__":
    sys.exit(main())
