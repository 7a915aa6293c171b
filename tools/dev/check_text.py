#!/usr/bin/env python3
"""check_text.py: rules for every tracked text file that no compiler or formatter checks. Prints 'file:line: fault'.

- sources: at most 600 lines, no tab, no trailing blank, a final newline, and where clang-format does not see to it
  lines of at most 120 columns; headers have #pragma once (the C headers a guard);
- TODO only as 'TODO: what it costs to leave it';
- no path of somebody's machine;
- a folder has one README, and no line of prose stands in two of them.
"""
import os
import re
import subprocess
import sys

MAX_LINES = 600
MAX_COLUMNS = 120
SOURCES = (".h", ".hpp", ".c", ".cpp", ".def", ".py", ".sh", ".build")
UNLIMITED = (".h", ".hpp", ".c", ".cpp", ".def")  # clang-format's; and a table's row is one line
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:work/|root/|Users/|home/(?!u\b|user\b))\w")  # /home/u stands for any
BARE_TODO = re.compile(r"\b(?:TODO|FIXME|XXX)\b(?!: \S+ \S)")
# Formats whose bytes are data.
DATA = (".patch", ".npy", ".png", ".ppm", ".jpg", ".bin", ".ingot")


def check_source(path, lines, faults):
    if len(lines) > MAX_LINES:
        faults.append(f"{path}:1: {len(lines)} lines, over {MAX_LINES}: a file that long has two jobs")
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS and not path.endswith(UNLIMITED):
            faults.append(f"{path}:{number}: {len(line)} columns, over {MAX_COLUMNS}")
        if "\t" in line:
            faults.append(f"{path}:{number}: a tab")
        if line != line.rstrip():
            faults.append(f"{path}:{number}: trailing blank")
    if path.endswith((".h", ".hpp")):
        text = "\n".join(lines)
        if "#pragma once" not in text and not re.search(r"^#ifndef INGOT_", text, re.MULTILINE):
            faults.append(f"{path}:1: no #pragma once and no include guard")


def check_readmes(readmes, faults):
    seen = {}
    folders = {}
    for path, lines in readmes.items():
        folder = os.path.dirname(path)
        if folder in folders:
            faults.append(f"{path}:1: a second README beside {folders[folder]}")
        folders[folder] = path
        for number, line in enumerate(lines, 1):
            prose = line.strip()
            if len(prose) < 60 or prose.startswith(("|", "```", "#")):
                continue
            if prose in seen:
                faults.append(f"{path}:{number}: this line stands in {seen[prose]} too")
            seen[prose] = f"{path}:{number}"


def main():
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)
    faults = []
    readmes = {}
    for path in sorted(set(listed.stdout.splitlines())):
        if path.endswith(DATA) or not os.path.isfile(path) or path.startswith("tests/fuzz/corpus/"):
            continue
        with open(path, "rb") as file:
            data = file.read()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        elif text:
            faults.append(f"{path}:{len(lines)}: no newline at the end")
        if path.endswith(SOURCES) or os.path.basename(path) == "do":
            check_source(path, lines, faults)
        if os.path.basename(path).lower().startswith("readme"):
            readmes[path] = lines
        for number, line in enumerate(lines, 1):
            if MACHINE_PATH.search(line):
                faults.append(f"{path}:{number}: a path of somebody's machine")
            if BARE_TODO.search(line) and path != "tools/dev/check_text.py":
                faults.append(f"{path}:{number}: a TODO must say what leaving it costs ('TODO: ...')")
    check_readmes(readmes, faults)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
