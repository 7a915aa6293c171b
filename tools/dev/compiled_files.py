#!/usr/bin/env python3
"""compiled_files.py BUILD_DIR: passes on those paths of stdin that BUILD_DIR/compile_commands.json compiles."""
import json
import os
import sys

with open(os.path.join(sys.argv[1], "compile_commands.json"), encoding="utf-8") as file:
    compiled = {os.path.realpath(os.path.join(entry["directory"], entry["file"])) for entry in json.load(file)}
for line in sys.stdin:
    if os.path.realpath(line.strip()) in compiled:
        print(line.strip())
