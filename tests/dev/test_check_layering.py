"""check_layering.py on small trees with one known fault each."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "dev"))
import check_layering  # noqa: E402


def faults_of(files):
    """The faults in a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        return check_layering.check(root)


class CheckLayering(unittest.TestCase):
    def test_downward_and_own_includes_pass(self):
        self.assertEqual(faults_of({
            "src/base/error.h": "#pragma once\n",
            "src/ir/shape.h": '#include "base/error.h"\n#include "ir/dim.h"\n',
            "src/ir/dim.h": "#include <vector>\n",
        }), [])

    def test_upward_include_fails_with_its_line(self):
        faults = faults_of({"src/ir/a.h": '\n#include "engine/b.h"\n', "src/engine/b.h": ""})
        self.assertEqual(len(faults), 1)
        self.assertIn("src/ir/a.h:2:", faults[0])
        self.assertIn("src/ir may not include src/engine", faults[0])

    def test_jit_may_not_include_runtime(self):
        self.assertEqual(len(faults_of({"jit/backend.h": '#include "runtime/pool.h"\n', "src/runtime/pool.h": ""})), 1)

    def test_nothing_reaches_into_the_compiler_module(self):
        self.assertEqual(len(faults_of({"src/engine/a.cpp": '#include "jit/cpu/emit.h"\n', "jit/cpu/emit.h": ""})), 1)

    def test_libraries_stay_in_their_place(self):
        for path, name in (("src/fuse/a.cpp", "llvm/IR/IRBuilder.h"), ("jit/interp/a.cpp", "llvm/IR/IRBuilder.h"),
                           ("src/engine/a.cpp", "spdlog/spdlog.h"), ("cache/a.cpp", "xxhash.h"),
                           ("src/runtime/a.cpp", "cuda.h"), ("capi/a.cpp", "iostream")):
            with self.subTest(path=path, name=name):
                self.assertEqual(len(faults_of({path: f"#include <{name}>\n"})), 1)
        self.assertEqual(faults_of({"jit/cpu/a.cpp": "#include <llvm/IR/IRBuilder.h>\n"}), [])

    def test_paths_that_escape_the_root_fail(self):
        self.assertEqual(len(faults_of({"src/ir/a.h": '#include "../base/error.h"\n', "src/base/error.h": ""})), 1)
        self.assertEqual(len(faults_of({"src/ir/a.h": '#include "/usr/include/stdio.h"\n'})), 1)

    def test_unknown_quoted_name_and_unknown_folder_fail(self):
        self.assertEqual(len(faults_of({"src/ir/a.h": '#include "ir/gone.h"\n'})), 1)
        self.assertEqual(len(faults_of({"src/misc/a.h": ""})), 1)


if __name__ == "__main__":
    unittest.main()
