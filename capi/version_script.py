"""Writes the linker's version script from the entry list: one node per minor version, everything else local.

usage: version_script.py ENTRIES.def MAJOR OUT
"""
import re
import sys


def main():
    entries, major, out = sys.argv[1:]
    text = re.sub(r"/\*.*?\*/", "", open(entries, encoding="utf-8").read(), flags=re.S)
    minors = {}
    for minor, name in re.findall(r"INGOT_ENTRY\((\d+),[^,]*?,\s*(\w+),", text):
        minors.setdefault(int(minor), []).append(name)
    lines, previous = [], ""
    for minor in sorted(minors):
        node = f"INGOT_{major}.{minor}"
        lines.append(node + " {\n  global:")
        lines += [f"    {name};" for name in minors[minor]]
        if not previous:
            lines.append("  local:\n    *;")
        lines.append("}" + (f" {previous}" if previous else "") + ";")
        previous = node
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


main()
