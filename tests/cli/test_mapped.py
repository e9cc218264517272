#!/usr/bin/env python3
"""What processes map by themselves: files to which nobody can write have the same lines in all of them."""
import json
import unittest

from harness import SMALL, Guests, OnValgrind, stat, total

READS, OWNS = "imc.CAS_COUNT.RD", "cbo.TOR_INSERTS.OPCODE:opc=RFO"
PAGES = 256
LINES = PAGES * 64


class Mapped(Guests):
    options = ()
    written = "write", "protect"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.mapped = cls.build("mapped.c")
        cls.file = cls.path / "file"
        cls.file.write_bytes(bytes(PAGES * 4096))
        cls.alone = cls.path / "machine.json"
        cls.alone.write_text(json.dumps({"base": SMALL, "name": "alone", "translation": "none",
                                         "prefetchers": 0}), encoding="utf-8")

    def reads(self, command):
        return total(stat(str(self.alone), [READS], *command, options=self.options), READS)

    def second(self, command):
        """Lines of the pages that a second process reads from memory."""
        few, many = ([self.reads(command(pages, processes)) for processes in (1, 2)]
                     for pages in ("000", str(PAGES)))
        return (many[1] - many[0]) - (few[1] - few[0])

    def forked(self, how):
        return self.second(lambda pages, processes: [self.mapped, how, str(self.file), pages,
                                                     str(processes)])

    def test_what_nobody_can_write_is_the_same(self):
        for how in "read", "table":
            self.assertEqual(self.forked(how), 0, how)

    def test_a_fork_reads_what_its_parent_has_written(self):
        self.assertEqual(self.forked("inherit"), 0)

    def test_a_fork_writes_pages_of_its_own(self):
        """Elsewhere, and on the core where its parent has the line in M."""
        for cores in (), ("--pin", "0"):
            for how, lines in ("store", 2), ("update", 1):
                owned = [total(stat(str(self.alone), [OWNS], self.mapped, how, "-", times, "1",
                                    options=(*self.options, *cores)), OWNS)
                         for times in ("00000", "20000")]
                self.assertEqual(owned[1] - owned[0], lines, (how, cores))

    def test_what_can_be_written_is_each_ones_own(self):
        for how in self.written:
            self.assertEqual(self.forked(how), LINES, how)

    def test_programs_have_the_same_lines_when_executed_again(self):
        self.assertEqual(self.second(lambda pages, times: ["sh", "-c", "; ".join(
            times * [f"{self.mapped} table {self.file} {pages} 1"])]), 0)


class MappedOnValgrind(OnValgrind, Mapped):
    """The same under the other emulator, which knows one call more."""

    written = "write", "protect", "key"


if __name__ == "__main__":
    unittest.main()
