"""What the documents show is what happens: graphs parse, commands run."""

import os
import re
import shlex

import tool
from tool import EXAMPLES, HAS_COMPILER, ToolTest

ROOT = os.path.dirname(os.path.abspath(EXAMPLES))


def page(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


class Docs(ToolTest):
    def test_the_example_of_the_text_form_runs(self):
        block = re.search(r"(?m)(^    ingot 1\.0\n(?:    .*\n)+)", page("docs/text-form.md")).group(1)
        graph = self.write("g.ingot", re.sub(r"(?m)^    ", "", block))
        flags = ["--random", "1", "--shape", "N=16", "--shape", "B=3", "--backend", "interp"]
        self.assertIn(b"y: f32[16]", self.ok("run", graph, *flags))

    def test_statements_in_the_text_form_parse(self):
        text = page("docs/text-form.md")
        slices = "{starts = [4], limits = [-6], steps = [-1]}"
        for statement in ["%r = softmax %x {axis = 1}", slices, '{to = "f64"}']:
            self.assertIn(f"`{statement}`", text)
        body = (
            "  %r = softmax %x {axis = 1}\n  %s = slice %v {starts = [4], limits = [-6], steps = [-1]}\n"
            '  %t = cast %s {to = "f64"}\n  return %r, %t\n'
        )
        graph = self.graph(f"graph @g(%x: f32[2, 3], %v: f32[5]) -> (f32[2, 3], f64[5]) {{\n{body}}}\n")
        self.ok("run", graph, "--random", "1", "--backend", "interp")

    def test_readme_commands_run(self):
        commands = re.findall(r"(?m)^    build/tools/ingot (.*)$", page("README.md"))
        self.assertGreater(len(commands), 3)
        for command in commands:
            with self.subTest(command):
                if not HAS_COMPILER and ("asm" in command or command.startswith("doctor")):
                    continue
                words = shlex.split(command)
                words = [EXAMPLES + w[len("examples") :] if w.startswith("examples/") else w for w in words]
                self.assertNotEqual(self.ok(*words) + b"".join(self.written(words)), b"")

    def written(self, words):
        for flag, name in zip(words, words[1:]):
            if flag == "-o" and name != "-":
                with open(self.path(name), "rb") as file:
                    yield file.read()


if __name__ == "__main__":
    tool.main()
