#!/usr/bin/env python3
"""test_summary.py TESTLOG.json SKIPS.txt MESON_EXIT_CODE

Counts the test cases of a `meson test` run, prints every skip with its reason, and ends with the line
`N passed, N failed` (`, N skipped`). doctest programs count by their own summaries, any other test as one.

A test that cannot run here prints a line `SKIP: NAME: REASON`, once per case left out; such a case does not count as
passed. In CI (CI=true) a skip whose name is not in SKIPS.txt (lines `NAME: REASON`, `#` comments) is a failure, so
that a test cannot quietly stop running. Exits 0 only if nothing failed.
"""
import json
import os
import re
import sys

DOCTEST = re.compile(r"\[doctest\] test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed")
SKIP = re.compile(r"^\s*SKIP: ([^:\n]+): (.*)$", re.MULTILINE)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def count(entry):
    """(passed, failed, skips) of one meson test; skips maps a name to its reason."""
    text = COLOUR.sub("", (entry.get("stdout") or "") + "\n" + (entry.get("stderr") or ""))
    skips = {name.strip(): reason.strip() for name, reason in SKIP.findall(text)}
    good = entry["result"] in ("OK", "EXPECTEDFAIL")
    if entry["result"] == "SKIP":
        return 0, 0, skips or {entry["name"]: "the test said no more"}
    summaries = DOCTEST.findall(text)
    if not summaries:
        # A plain test is one case, which it either ran or left out.
        return (0 if skips else 1, 0, skips) if good else (0, 1, skips)
    passed = sum(int(p) for p, _ in summaries)
    failed = sum(int(f) for _, f in summaries)
    if not good and failed == 0:
        failed = 1  # died after its summary: a leak report, a crash in a destructor
    return max(0, passed - len(skips)), failed, skips


def listed_skips(path):
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    return {line.split(":", 1)[0].strip() for line in lines if line and not line.startswith("#")}


def main():
    log, skips_path, meson_rc = sys.argv[1], sys.argv[2], int(sys.argv[3])
    entries = []
    if os.path.exists(log):
        with open(log, encoding="utf-8", errors="replace") as file:
            entries = [json.loads(line) for line in file if line.strip()]
    passed = failed = 0
    skips = {}
    for entry in entries:
        p, f, s = count(entry)
        passed, failed = passed + p, failed + f
        skips.update(s)

    print()
    for name, reason in sorted(skips.items()):
        print(f"SKIP: {name}: {reason}")
    if os.environ.get("CI") == "true":
        for name in sorted(set(skips) - listed_skips(skips_path)):
            print(f"FAIL: the skip '{name}' is not in {skips_path}")
            failed += 1
    if meson_rc != 0 and failed == 0:
        print(f"FAIL: meson test ended with {meson_rc}")
        failed = 1
    if not entries:
        print("FAIL: no test ran")
        failed = max(failed, 1)
    print(f"{passed} passed, {failed} failed" + (f", {len(skips)} skipped" if skips else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
