#!/usr/bin/env python3
"""Kernels of known traffic: counts equal the closed form, to the last one.

Each kernel runs beside its twin that does everything but the loop; what the loop adds is the
difference. The only other lines that it adds are those of its own code: hits in L1I do not make a
line recent in the LLC, which is inclusive, so each turnover of the LLC takes them away once. They are
counted by their opcode, CRd, and bounded.
"""
import unittest

from harness import SMALL, Guests, stat, total

LLC_LINES = 10 * 1024 * 1024 // 64
LINES = 1 << 18  # 16 MB an array
CODE_LINES = 4   # of the loop and what is around it

ANY = "cbo.LLC_LOOKUP.ANY:state=I"
DRD = "cbo.LLC_LOOKUP.DATA_READ:state=I"
CRD = "cbo.TOR_INSERTS.MISS_OPCODE:opc=CRd"
VICTIMS = "cbo.LLC_VICTIMS.M_STATE"
HA_READS, HA_WRITES = "ha.REQUESTS.READS", "ha.REQUESTS.WRITES"
INVITOE = "ha.REQUESTS.INVITOE_LOCAL"
READS, READ_HITS = "imc.CAS_COUNT.RD", "imc.WPQ_READ_HIT"
WRITES, WRITE_HITS = "imc.CAS_COUNT.WR", "imc.WPQ_WRITE_HIT"
EVENTS = [ANY, DRD, CRD, VICTIMS, HA_READS, HA_WRITES, INVITOE, READS, READ_HITS, WRITES, WRITE_HITS]


class Kernels(Guests):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.machine = cls.untranslated(SMALL)

    def counts(self, kind, lines, rounds):
        program = self.build("kernels.c", "-O2", "-nostdlib", "-ffreestanding", f"-DKERNEL={kind}",
                             f"-DLINES={lines}", f"-DROUNDS={rounds}")
        report = stat(self.machine, EVENTS, program, options=["--prefetchers", "none"])
        return {event: total(report, event) for event in EVENTS}

    def added(self, kind, lines, rounds=1, twin=0):
        more, base = self.counts(kind, lines, rounds), self.counts(kind, lines, twin)
        return {event: more[event] - base[event] for event in EVENTS}

    def check(self, kind, drd, rfo, writes, wcilf=0):
        """Reads and writes that the loop must add, in lines."""
        added = self.added(kind, LINES)
        crd = added[CRD]
        turnovers = (drd + rfo) // LLC_LINES + 1
        with self.subTest(kind=kind):
            self.assertLessEqual(abs(crd), CODE_LINES * (turnovers + 1), "the loop's own code")
            self.assertEqual(added[DRD], drd)
            self.assertEqual(added[ANY], drd + rfo + crd + wcilf)
            self.assertEqual(added[HA_READS], drd + rfo + crd)
            self.assertEqual(added[INVITOE], wcilf)
            self.assertEqual(added[HA_WRITES], writes)
            self.assertEqual(added[VICTIMS], writes - wcilf)
            # What the write pending queue still holds is read from there and overwritten there.
            self.assertEqual(added[READS] + added[READ_HITS], drd + rfo + crd)
            self.assertEqual(added[WRITES] + added[WRITE_HITS], writes)

    def test_larger_than_the_llc(self):
        self.check("load", drd=LINES, rfo=0, writes=0)
        self.check("store", drd=0, rfo=LINES, writes=LINES)
        self.check("copy", drd=LINES, rfo=LINES, writes=LINES)
        self.check("update", drd=LINES, rfo=0, writes=LINES)
        self.check("triad", drd=2 * LINES, rfo=LINES, writes=LINES)
        self.check("stride", drd=LINES // 4, rfo=0, writes=0)

    def test_non_temporal_stores_read_nothing(self):
        self.check("stream", drd=0, rfo=0, writes=LINES, wcilf=LINES)

    def test_arrays_that_fit(self):
        """Once all of array and code is there, nothing more passes the level that holds them."""
        for holds, kind, lines in (
                ("L1D", "load", 1 << 8), ("L1D", "store", 1 << 8), ("L1D", "copy", 1 << 7),
                ("L2", "load", 1 << 11), ("L2", "update", 1 << 11), ("L2", "copy", 1 << 10),
                ("LLC", "load", 1 << 16), ("LLC", "store", 1 << 16), ("LLC", "triad", 1 << 15)):
            with self.subTest(kind=kind, holds=holds):
                added = self.added(kind, lines, rounds=5, twin=2)
                # Whether a line is still in the write pending queue is a matter of time.
                added[READS] += added.pop(READ_HITS)
                added[WRITES] += added.pop(WRITE_HITS)
                self.assertEqual({event: count for event, count in added.items() if count}, {})

    def test_lookups_of_an_array_in_the_llc(self):
        """Twice the L2, which is LRU: each further round asks the LLC for every line. How many of them are
        prefetched into the LLC alone, and asked for again, is a matter of time."""
        lines, event = 1 << 13, "cbo.LLC_LOOKUP.DATA_READ:state=M+E+S+F"
        counts = []
        for rounds in (5, 1):
            program = self.build("kernels.c", "-O2", "-nostdlib", "-ffreestanding", "-DKERNEL=load",
                                 f"-DLINES={lines}", f"-DROUNDS={rounds}")
            counts.append(total(stat(self.machine, [event], program, options=["--prefetchers", "none"]),
                                "cbo.LLC_LOOKUP"))
        self.assertEqual(counts[0] - counts[1], 4 * lines)


if __name__ == "__main__":
    unittest.main()
