#!/usr/bin/env python3
"""pmulab lint on a machine with IA-64 cores: each rule broken by a tool, and a twin that keeps it."""
import json
import os
import subprocess
import sys
import unittest

import test_registers
from assembled import Assembled, skip_without_assembler

PMULAB, TOOL = os.environ["PMULAB"], os.environ["TOOL"]

# What a tool does: each argument is FILE NUMBER=VALUE, FILE NUMBER? or run PROGRAM.
STEPS = """
import os, subprocess, sys
cpu = sys.argv[1]
files = {name: os.open(f"/dev/cpu/{cpu}/{name}", os.O_RDWR) for name in ("pmc", "pmd", "csr")}
for step in sys.argv[2:]:
    name, rest = step.split(" ", 1)
    if name == "run":
        subprocess.run(rest.split(), check=True, stdout=subprocess.DEVNULL)
    elif rest.endswith("?"):
        os.pread(files[name], 8, int(rest[:-1], 0))
    else:
        number, value = (int(part, 0) for part in rest.split("="))
        try:
            os.pwrite(files[name], value.to_bytes(8, "little"), number)
        except OSError:
            pass
"""
FREEZE, GO = "pmc 0=1", "pmc 0=0"
IA64 = 2 << 24  # ism of table 3-4
CACHE, TLB, ALAT = 0, 1 << 7, 2 << 7  # PMC40.mode of table 3-19
USER = 1 << 3  # plm


def counts(counter, code, umask=0, ism=IA64):
    """323602-001 table 3-5: at privilege level 3, lines in any state."""
    return f"pmc {counter}={0xF << 27 | ism | umask << 16 | code << 8 | USER:#x}"


def data_ear(mode, ism=IA64):
    return f"pmc 40={ism | mode | USER:#x}"


# The codes are those of tables 4-10 and 4-19: sets 0 and 1 of the L1D have READS and REFERENCES.
READS0, REFERENCES0, REFERENCES1, L2D_REFERENCES, L2D_BYPASS = 0xC2, 0xC3, 0xC5, 0xE6, 0xE4
CYCLES = 0x12
# Table 5-4: CSRs of B-Boxes 0 and 1 and of the D-Box.
CTL0, CTL2, CTL3, OTHER_CTL3, MISC = "csr 0xC080", "csr 0xC090", "csr 0xC098", "csr 0xD098", "csr 0xFA00"
COMPLETIONS, SNOOPS, RSNID = 1 << 15, 2 << 15, 1 << 17  # iob_trans_sel, iob_id_in

MUST_1 = "reserved bits that have to be written as 1 are 0"
MUST_0 = "reserved bits that have to be written as 0 are 1"
ISM = "the instruction set mask is not the one that is defined"
NO_EVENT = "this counter has no event of this code"
LEADER = "an event of a set counts, and the set's leader counts none of it"
LEADERS = "bits that the set's leader gives differ from the leader's"
TRACE = "branches are traced while the data captures are not of the cache"
CAPTURES = "a capture is read while the monitors are not frozen"
OVERFLOW = "the overflow bit of a counter has to be written as 0"
AFTER = "a field changes that needs a write of the box's other filter right after"
GLOBAL = "freezes of the socket are enabled and overflows of its boxes not"
UNCLEARED = "overflow bits are not cleared before counting goes on"
NO_REGISTER = "there is no such register"

# What breaks a rule; what does not; register, rule and its section.
MISTAKES = [
    ([f"pmc 38={0xDB4 & ~0x800:#x}"], ["pmc 38=0xdb4"], "PMC38", MUST_1, "table 3-9"),
    (["pmc 38=0x1db6"], ["pmc 38=0xdb6"], "PMC38", MUST_0, "table 3-9"),
    # The second default of table 5-10 sets the bit that it reserves; the first does not.
    ([f"{CTL0}=0x3e00"], [f"{CTL0}=0x37fe"], "B_CSR_PERF_CTL0", MUST_0, "table 5-10"),
    ([counts(4, CYCLES, ism=0)], [counts(4, CYCLES)], "PMC4", ISM, "table"),
    ([FREEZE, counts(15, CYCLES, ism=3 << 24), GO], [FREEZE, counts(15, CYCLES, ism=3 << 24)], "PMC15",
     ISM, "table"),
    ([data_ear(CACHE, ism=0)], [data_ear(CACHE)], "PMC40", ISM, "3-20"),
    ([counts(4, 0x07)], [counts(4, 0x08)], "PMC4", NO_EVENT, "table"),
    # §3.3.3: codes of the L2D belong in PMC4 to 9.
    ([counts(4, L2D_REFERENCES), counts(10, L2D_REFERENCES)],
     [counts(4, L2D_REFERENCES), counts(5, L2D_REFERENCES)], "PMC10", NO_EVENT, "table"),
    ([FREEZE, counts(4, READS0), GO], [FREEZE, counts(4, READS0), counts(5, REFERENCES0), GO], "PMC4",
     LEADER, "§4.8.2"),
    ([FREEZE, counts(12, READS0), counts(5, REFERENCES1), GO], [counts(5, REFERENCES0), counts(12, READS0)],
     "PMC12", LEADER, "§4.8.2"),
    ([counts(8, L2D_REFERENCES)], [counts(4, L2D_REFERENCES), counts(8, L2D_REFERENCES)], "PMC8",
     LEADER, "§4.8.4"),
    # PMC4 leads 5 and 8, PMC6 leads 7 and 9.
    ([counts(4, L2D_REFERENCES), counts(7, L2D_REFERENCES)],
     [counts(4, L2D_REFERENCES), counts(6, L2D_BYPASS), counts(7, L2D_BYPASS)], "PMC7", LEADER, "§4.8.4"),
    ([FREEZE, counts(6, L2D_REFERENCES, 1), counts(9, L2D_REFERENCES, 2), GO],
     [FREEZE, counts(6, L2D_REFERENCES, 1), counts(9, L2D_REFERENCES, 1), GO], "PMC9", LEADERS, "§4.8.4"),
    ([FREEZE, data_ear(TLB), "pmc 39=0x3fc8", GO], [FREEZE, data_ear(TLB), "pmc 39=0", GO], "PMC39", TRACE,
     "§3.3.9.2"),
    ([FREEZE, "pmc 39=0x3fc8", GO, data_ear(ALAT)], ["pmc 39=0x3fc8", data_ear(CACHE)], "PMC39", TRACE,
     "§3.3.9.3"),
    (["pmc 0=0x10"], ["pmc 0=0x11", GO], "PMC0", UNCLEARED, "§3.4.1"),
    (["pmd 34?"], [FREEZE, "pmd 34?"], "PMD34", CAPTURES, "§3.3.1"),
    ([FREEZE, GO, "pmd 63?"], ["pmd 4?", FREEZE, "pmd 63?"], "PMD63", CAPTURES, "§3.3.1"),
    ([f"pmd 4={1 << 47:#x}"], [f"pmd 4={(1 << 47) - 100:#x}"], "PMD4", OVERFLOW, "table 3-6"),
    ([f"{CTL2}={COMPLETIONS}", f"{CTL0}=0x37fe"], [f"{CTL2}={COMPLETIONS}", f"{CTL3}=0", f"{CTL0}=0x37fe"],
     "B_CSR_PERF_CTL2", AFTER, "§5.5.3.3"),
    ([f"{CTL2}={RSNID}"], [f"{CTL2}={RSNID}", f"{CTL3}=0"], "B_CSR_PERF_CTL2", AFTER, "§5.5.3.3"),
    ([f"{CTL2}={RSNID}", f"{OTHER_CTL3}=0"], [f"{CTL2}=5", f"{OTHER_CTL3}=0"], "B_CSR_PERF_CTL2", AFTER,
     "§5.5.3.3"),
    # In mode 2 neither has to be followed.
    ([f"{CTL2}={SNOOPS}", f"{CTL3}=0", f"{CTL2}={COMPLETIONS}", f"{CTL2}={COMPLETIONS | RSNID}"],
     [f"{CTL2}={SNOOPS}", f"{CTL3}=0", f"{CTL2}={SNOOPS | RSNID}", f"{CTL2}={COMPLETIONS | RSNID}"],
     "B_CSR_PERF_CTL2", AFTER, "§5.5.3.3"),
    ([f"{MISC}=1"], [f"{MISC}=3", f"{MISC}=2", f"{MISC}=0"], "DBX_CSR_MISC", GLOBAL, "§5.4"),
    (["pmc 1000=0"], ["pmc 15=0"], "pmc 0x3E8", NO_REGISTER, ""),
    (["csr 3=0"], [f"{CTL3}=0"], "mmio 0x3", NO_REGISTER, ""),
]


class Lint(Assembled):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.path / "steps.py").write_text(STEPS, encoding="utf-8")
        cls.program = cls.build("loop", test_registers.LOOP.format(turns=100))

    def lint(self, *tool, machine="itanium-9300-1s"):
        """What was found, in the order of the first time."""
        output = self.path / "report.json"
        run = subprocess.run([PMULAB, "lint", "-M", machine, "--format", "json", "-o", output, "--", *tool],
                             check=False, capture_output=True, text=True)
        self.assertIn(run.returncode, (0, 3), run.stderr)
        report = json.loads(output.read_text(encoding="utf-8"))
        self.assertEqual(report["exit"], 0, run.stderr)
        self.assertEqual(run.returncode, 3 if report["findings"] else 0)
        return report["findings"]

    def steps(self, *steps, cpu=0, machine="itanium-9300-1s"):
        return self.lint(sys.executable, self.path / "steps.py", str(cpu), *steps, machine=machine)

    def test_mistakes(self):
        for steps, twin, register, rule, source in MISTAKES:
            with self.subTest(steps=steps):
                found = self.steps(*steps)
                self.assertEqual([(f["register"], f["rule"]) for f in found], [(register, rule)])
                self.assertIn(source, found[0]["source"])
                self.assertEqual(found[0]["source"].startswith("323602-001"), bool(source), found)
                self.assertEqual(self.steps(*twin), [])

    def test_which(self):
        """By socket and instance; the value is that of the first time."""
        found = self.steps(counts(4, 0x07), counts(4, 0x0A), cpu=9, machine="itanium-9300-2s")
        self.assertEqual([(f["socket"], f["box"], f["instance"], f["times"]) for f in found],
                         [(1, "core", 1, 2)])
        self.assertEqual(found[0]["value"], f"0x{int(counts(4, 0x07).split('=')[1], 0):X}")
        found = self.steps("csr 0xD080=0x3e00", cpu=9, machine="itanium-9300-2s")
        self.assertEqual([(f["socket"], f["box"], f["instance"]) for f in found], [(1, "bbox", 1)])

    def test_a_program_in_between(self):
        """What has to follow right after follows behind a program."""
        run = f"run {TOOL} {self.program}"
        found = self.steps(f"{CTL2}={RSNID}", run, f"{CTL3}=0")
        self.assertEqual([(f["register"], f["rule"]) for f in found], [("B_CSR_PERF_CTL2", AFTER)])
        self.assertEqual(self.steps(f"{CTL2}={RSNID}", f"{CTL3}=0", run), [])

    def test_a_tool_that_is_right(self):
        self.assertEqual(self.lint(TOOL, self.program), [])

    def test_line(self):
        run = subprocess.run([PMULAB, "lint", "-M", "itanium-9300-1s", "--", sys.executable,
                              self.path / "steps.py", "0", "pmc 38=0"], check=False, capture_output=True,
                             text=True)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertEqual(run.stderr.splitlines()[1].split()[:5], ["1", "0", "core0", "PMC38", "0x0"])


if __name__ == "__main__":
    skip_without_assembler()
    if os.geteuid() or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        sys.exit(77)
    unittest.main()
