"""What the tests of the command-line tool share: running it, and a summary line that ./do test counts cases by.

Environment: INGOT_TOOL the program, INGOT_EXAMPLES examples/ of the source tree, INGOT_COMPILER 1 if the build has the
compiler module.
"""

import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

TOOL = os.environ["INGOT_TOOL"]
EXAMPLES = os.environ["INGOT_EXAMPLES"]
HAS_COMPILER = os.environ.get("INGOT_COMPILER") == "1"
DONE, FAILED, USAGE, BAD_INPUT, UNSUPPORTED = 0, 1, 2, 3, 4


class ToolTest(unittest.TestCase):
    """Each case has a folder of its own, with a kernel cache in it. `variables` are put into the tool's environment."""

    variables = {}

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ingot-tool-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.cache = self.path("cache")

    def path(self, name):
        return os.path.join(self.folder, name)

    def environment(self):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("INGOT_")}
        return {**clean, "INGOT_CACHE_DIR": self.cache, **self.variables}

    def call(self, *args, stdin=b""):
        """(exit code, stdout, stderr) as bytes, bytes, text."""
        done = subprocess.run(
            [TOOL, *map(str, args)],
            input=stdin,
            capture_output=True,
            check=False,
            env=self.environment(),
            cwd=self.folder,
        )
        return done.returncode, done.stdout, done.stderr.decode()

    def ok(self, *args, stdin=b""):
        """stdout of a call that must succeed."""
        code, out, err = self.call(*args, stdin=stdin)
        self.assertEqual(code, DONE, err)
        return out

    def fails(self, code, message, *args, stdin=b""):
        """The call ends with this code, says `message` on stderr and nothing on stdout."""
        got, out, err = self.call(*args, stdin=stdin)
        self.assertEqual(got, code, err)
        self.assertIn(message, err)
        self.assertEqual(out, b"")

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        return self.path(name)

    def graph(self, text, name="g.ingot"):
        return self.write(name, "ingot 1.0\n" + text)

    def save(self, name, array):
        np.save(self.path(name), array)
        return self.path(name)

    def run_graph(self, graph, inputs, *flags):
        """The outputs of a run on NumPy arrays, which go in and out as files."""
        args = []
        for key, value in inputs.items():
            args += ["--input", f"{key}={self.save(f'in_{key}.npy', value)}"]
        count = len(self.ok("run", graph, *args, *flags).splitlines())
        for i in range(count):
            args += ["--output", f"{i}={self.path(f'out_{i}.npy')}"]
        self.ok("run", graph, *args, *flags)
        return [np.load(self.path(f"out_{i}.npy")) for i in range(count)]

    def stats(self, *args):
        file = self.path("stats.json")
        self.ok("run", *args, "--stats", file)
        with open(file, encoding="utf-8") as opened:
            return json.load(opened)


def checksums(out):
    """The last word of every summary line."""
    return [line.split()[-1] for line in out.decode().splitlines()]


def npy_bytes(array, version=(1, 0)):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


def main():
    result = unittest.main(exit=False, verbosity=2).result
    bad = len(result.failures) + len(result.errors)
    print(f"[doctest] test cases: {result.testsRun} | {result.testsRun - bad} passed | {bad} failed")
    sys.exit(1 if bad else 0)
