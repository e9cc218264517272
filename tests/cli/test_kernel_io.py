#!/usr/bin/env python3
"""What the system copies for programs goes through the caches, if asked for, in both feeds."""
import os
import unittest

from harness import SMALL, Folder, OnValgrind, stat, total

# Memory that malloc() fills has been owned before anything is read into it.
os.environ.pop("MALLOC_PERTURB_", None)

READS = "imc.CAS_COUNT.RD"
ITOM = "cbo.TOR_INSERTS.OPCODE:opc=ItoM"
BYTES = 4 << 20
LINES = BYTES // 64
BUFFER_LINES = 65536 // 64
# Of the programs themselves: code, data, libraries.
FEW = 12000


class Files(Folder):
    options = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.file = cls.path / "file"
        cls.file.write_bytes(bytes(BYTES))

    def count(self, *command, asked=True):
        options = (*self.options, "--prefetchers", "none", *(["--kernel-io"] if asked else []))
        report = stat(SMALL, [READS, ITOM], *command, options=options)
        return total(report, READS), total(report, ITOM)

    def test_reading(self):
        """Each line of the file comes from memory, each line of the buffer is owned unread."""
        command = ("dd", f"if={self.file}", "of=/dev/null", "bs=64k", "status=none")
        reads, owned = self.count(*command)
        self.assertGreaterEqual(reads, LINES)
        self.assertLess(reads, LINES + FEW)
        self.assertGreaterEqual(owned, BUFFER_LINES)
        self.assertLess(owned, BUFFER_LINES + FEW)
        reads, owned = self.count(*command, asked=False)
        self.assertLess(reads, FEW)
        self.assertLess(owned, BUFFER_LINES)

    def test_pipe(self):
        """Few pages that stay in the caches, whatever goes through them."""
        reads, owned = self.count("sh", "-c", f"head -c {BYTES} /dev/zero | cat >/dev/null")
        self.assertLess(reads, 3 * FEW)
        self.assertGreaterEqual(owned, 16 * 4096 // 64)


class FilesOnValgrind(OnValgrind, Files):
    pass


if __name__ == "__main__":
    unittest.main()
