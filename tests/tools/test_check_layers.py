#!/usr/bin/env python3
"""scripts/check-layers finds a planted hole, and none in the tree as it is."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE"])


def check(folder):
    run = subprocess.run([SOURCE / "scripts/check-layers", folder], stdout=subprocess.PIPE, text=True,
                         timeout=60)
    return run.returncode, run.stdout


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("src", "plugin", "examples"):
            shutil.copytree(SOURCE / name, self.root / name)

    def plant(self, path, line):
        path = self.root / path
        path.write_text(line + "\n" + path.read_text())

    def test_none(self):
        self.assertEqual(check(self.root), (0, ""))

    def test_command(self):
        for line in ('#include "emul/block.h"', '# include <emul/block.h>'):
            with self.subTest(line=line):
                self.setUp()
                self.plant("src/cli/show.c", line)
                self.assertEqual(check(self.root), (
                    1, "src/cli/show.c: includes emul/, which cli may not know\n"))

    def test_example(self):
        self.plant("examples/encode.c", '#include "event/expression.h"')
        self.assertEqual(check(self.root)[0], 1)

    def test_machine(self):
        self.plant("src/machine/home.c", '#include "pmon/pmon.h"')
        self.assertEqual(check(self.root), (
            1, "src/machine/home.c: includes pmon/, which machine may not know\n"))


unittest.main()
