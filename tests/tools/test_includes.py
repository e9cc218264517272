#!/usr/bin/env python3
"""scripts/check-layers and check-includes find planted holes, and none in the tree as it is."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE"])


class Planted(unittest.TestCase):
    """A copy of the tree, checked by one script."""

    script = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("src", "plugin", "examples"):
            shutil.copytree(SOURCE / name, self.root / name)

    def plant(self, path, line):
        path = self.root / path
        path.write_text(line + "\n" + path.read_text())

    def found(self):
        run = subprocess.run([sys.executable, SOURCE / "scripts" / self.script, self.root], stdout=subprocess.PIPE,
                             text=True, timeout=60, check=False)
        self.assertEqual(run.returncode, bool(run.stdout))
        return run.stdout.splitlines()


class Layers(Planted):
    script = "check-layers"

    def test_none(self):
        self.assertEqual(self.found(), [])

    def test_command(self):
        for line in ('#include "emul/block.h"', '# include <emul/block.h>'):
            with self.subTest(line=line):
                self.setUp()
                self.plant("src/cli/show.c", line)
                self.assertEqual(self.found(), ["src/cli/show.c: includes emul/, which cli may not know"])

    def test_example(self):
        self.plant("examples/encode.c", '#include "event/expression.h"')
        self.assertEqual(len(self.found()), 1)

    def test_machine(self):
        self.plant("src/machine/home.c", '#include "pmon/pmon.h"')
        self.assertEqual(self.found(), ["src/machine/home.c: includes pmon/, which machine may not know"])


class Includes(Planted):
    script = "check-includes"

    def test_none(self):
        self.assertEqual(self.found(), [])

    def test_layers(self):
        self.plant("src/catalog/tables.h", '#include "event/names.h"')
        self.assertIn("layers include each other: catalog, event", self.found())

    def test_types(self):
        """The slice needs nothing that the write-combining buffers do."""
        self.plant("src/machine/slice.h", '#include "machine/write_combining.h"')
        self.assertEqual(self.found(), ["src/machine/slice takes only types of "
                                        "src/machine/write_combining, which leads back to it"])

    def test_folder_below_a_layer(self):
        self.plant("src/feed/ia64/alat.h", '#include "feed/ia64/signal.h"')
        self.assertIn("src/feed/ia64/alat takes only types of src/feed/ia64/signal, which leads back to it",
                      self.found())

    def test_call(self):
        """Units that call each other are not ended by a header."""
        self.plant("src/machine/slice.h", '#include "machine/write_combining.h"')
        self.plant("src/machine/slice.c", "static void *const drain = wc_drain;")
        self.assertEqual(self.found(), [])


if __name__ == "__main__":
    unittest.main()
