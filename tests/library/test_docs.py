#!/usr/bin/env python3
"""The programs in docs/library.md compile, without a warning; the table of examples is right."""
import os
import pathlib
import re
import subprocess
import textwrap
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE"])


def programs():
    """Indented blocks that begin with an #include."""
    text = (SOURCE / "docs/library.md").read_text()
    blocks = re.findall(r"^    \S.*\n(?:(?:    .*)?\n)*", text, re.M)
    return [textwrap.dedent(block) for block in blocks if block.startswith("    #include")]


class Programs(unittest.TestCase):
    def test_number(self):
        self.assertEqual(len(programs()), 3)

    def test_compile(self):
        for number, program in enumerate(programs()):
            with self.subTest(program=number):
                done = subprocess.run(
                    [os.environ["CC"], "-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                     "-fsyntax-only", "-I", SOURCE / "include", "-x", "c", "-"], input=program,
                    stderr=subprocess.PIPE, text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)


class Examples(unittest.TestCase):
    def test_table(self):
        """It has each example, and how many lines that has."""
        text = (SOURCE / "examples/README.md").read_text()
        listed = dict(re.findall(r"^\| `(\w+\.c)` \|.*\| (\d+) \|$", text, re.M))
        found = {path.name: str(len(path.read_text().splitlines()))
                 for path in (SOURCE / "examples").glob("*.c")}
        self.assertEqual(listed, found)


unittest.main()
