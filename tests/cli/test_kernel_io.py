#!/usr/bin/env python3
"""What the system copies and clears for programs goes through the caches, if asked for, in both feeds."""
import json
import os
import unittest

from harness import SMALL, Folder, Guests, OnValgrind, stat, total

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


PAGES = 8
PAGE_LINES, LARGE_LINES = 4096 // 64, (2 << 20) // 64
RFO, DRD = "cbo.TOR_INSERTS.OPCODE:opc=RFO", "cbo.TOR_INSERTS.OPCODE:opc=DRd"
INVITOE, HOME_READS = "ha.REQUESTS.INVITOE_LOCAL", "ha.REQUESTS.READS"


class Pages(Guests):
    """What the system does to pages at their first touch: it clears them, or copies others."""

    options = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.fresh = cls.build("fresh.c", "-pthread")

    def counts(self, events, how, pages=PAGES, threads=1, **machine):
        """Of the pages: those of a run that touches none are taken off."""
        file = self.path / "machine.json"
        file.write_text(json.dumps({"base": SMALL, "name": "m", "prefetchers": 0, **machine}),
                        encoding="utf-8")
        runs = []
        # As many digits, or the program's arguments would move its stack.
        for count in f"{pages:03}", "000":
            report = stat(str(file), [ITOM, INVITOE, *events], self.fresh, how, count,
                          str(threads), options=(*self.options, "--kernel-io"))
            self.assertEqual(total(report, INVITOE), total(report, ITOM), how)
            runs.append([total(report, event) for event in (ITOM, *events)])
        return [a - b for a, b in zip(*runs)]

    def alone(self, how, pages=PAGES):
        """Lines owned unread, requested to be stored to, and to be loaded, and read from memory."""
        return self.counts([RFO, DRD, HOME_READS], how, pages, translation="none")

    def test_pages_are_cleared_that_are_stored_to(self):
        for pages in PAGES, 1:
            self.assertEqual(self.alone("store", pages), [pages * PAGE_LINES, 0, 0, 0])

    def test_pages_that_are_loaded_are_one(self):
        self.assertEqual(self.alone("load"), [0, 0, PAGE_LINES, PAGE_LINES])
        self.assertEqual(self.alone("both"), [PAGES * PAGE_LINES, 0, PAGE_LINES, PAGE_LINES])

    def test_a_fork_copies_pages(self):
        self.assertEqual(self.alone("copy"), [PAGES * PAGE_LINES, 0, PAGES * PAGE_LINES, 0])

    def test_large_pages_are_cleared_whole(self):
        self.assertEqual(self.counts([], "store", 1, large_pages="transparent"), [LARGE_LINES])

    def test_threads_have_a_page_cleared_once(self):
        for how in "store", "both":
            self.assertEqual(self.counts([], how, 512, 4), [512 * PAGE_LINES], how)


class PagesOnValgrind(OnValgrind, Pages):
    pass


if __name__ == "__main__":
    unittest.main()
