#!/usr/bin/env python3
"""pmulab lint: nothing to say of our own stat; a line for each mistake made by hand; of LIKWID and
PCM what docs/peers.md tells."""
import json
import os
import subprocess
import unittest

from emulated import PMULAB, SMALL, Tools, pmulab, skip_without

# A mistake each: what sh does, register, value, the beginning of the rule, its source. Addresses
# and bits are those of 334291-001 §2.2 to §2.9.
MISTAKES = [
    ("wrmsr 0xe02 0x400836", "Cn_MSR_PMON_CTL1", "0x400836",
     "this counter cannot count the event it is given", "§2.3"),
    ("wrmsr 0xe01 0x408034", "Cn_MSR_PMON_CTL0", "0x408034",
     "the event does not define this unit mask", "§2.3"),
    ("wrmsr 0xe01 0x4000ff", "Cn_MSR_PMON_CTL0", "0x4000FF", "the box has no event of this code",
     "table"),
    ("wrmsr 0xe01 0xc00835", "Cn_MSR_PMON_CTL0", "0xC00835",
     "invert and edge detection need a threshold that is not 0", "table"),
    ("wrmsr 0x721 0x400000", "Sn_MSR_PMON_CTL0", "0x400000",
     "this control has to be written twice in a row, first with en = 0", "table"),
    ("wrmsr 0xe01 0x400334", "Cn_MSR_PMON_BOX_FILTER0", "0x0",
     "a counter starts whose unit mask needs a filter field that is 0", "§2.3"),
    ("wrmsr 0xe01 0x400835; wrmsr 0xe01 0x400137", "Cn_MSR_PMON_CTL0", "0x400137",
     "the control changes while its counter counts", "§2.1.2"),
    ("wrmsr 0xe05 0x3e0000; wrmsr 0xe01 0x400334; wrmsr 0xe05 0x20000", "Cn_MSR_PMON_BOX_FILTER0",
     "0x20000", "the filter changes while a counter that uses it counts", "§2.1.2"),
    ("wrmsr 0xe01 0x400835; wrmsr 0xe00 0x30103", "Cn_MSR_PMON_BOX_CTL", "0x30103",
     "resetting the controls wipes one that is enabled", "§2.1.2"),
    ("wrmsr 0x700 0xa8000000", "U_MSR_PMON_GLOBAL_CTL", "0xA8000000",
     "reserved bits that have to be written as 0 are 1", "table"),
    ("setpci -s ff:14.0 d8.l=400304 a0.l", "MC_CHy_PCI_PMON_CTR0", "0x0",
     "half of a counter is read while it counts", "§2.1.3"),
    ("setpci -s ff:1e.3 98.l=f", "CAPID5", "0xF", "this register is read only", "334291-001"),
    ("wrmsr 0xe48 0", "Cn_MSR_PMON_CTR0", "0x0", "the part does not have this box", "§1.6"),
]
NAME = f"test-lint-{os.getpid()}"
HALVES = "half of a counter is read while it counts"
MUST_BE_1 = "reserved bits that have to be written as 1 are 0"


class Lint(Tools):
    def lint(self, *tool, exit_code=3, machine=SMALL):
        output = self.path / "lint.json"
        result = pmulab("lint", "-M", machine, "--name", NAME, "--format", "json", "-o", output,
                        "--", *tool)
        self.assertEqual(result.returncode, exit_code, result.stderr)
        report = json.loads(output.read_text(encoding="utf-8"))
        self.assertEqual(report["exit"], 0, result.stderr)
        return report["findings"]

    def program(self):
        return [PMULAB, "emulate", "--attach", NAME, "--", self.kernel("load", 0)]

    def test_our_own(self):
        events = ("cbo.LLC_LOOKUP.ANY:state=any,cbo.TOR_OCCUPANCY.MISS_ALL,cbo.TOR_INSERTS.MISS_OPCODE:"
                  "opc=DRd,sbo.CLOCKTICKS,ha.REQUESTS.READS,imc.CAS_COUNT.RD,imc.clock,ubox.clock,"
                  "r2pcie.CLOCKTICKS,r3qpi.CLOCKTICKS,irp.CLOCKTICKS")
        command = [PMULAB, "stat", "-e", events, "--", *map(str, self.program())]
        self.assertEqual(self.lint("sh", "-c", " ".join(command), exit_code=0), [])

    def test_xeon_e5(self):
        """Its rules are cited from its own manual, where a section is known; else the manual."""
        def lint(*tool, exit_code=3):
            return self.lint(*tool, exit_code=exit_code, machine="xeon-e5-2680-2s")
        events = ("cbo.LLC_LOOKUP.DATA_READ:state=any,cbo.TOR_OCCUPANCY.MISS_ALL,ha.REQUESTS.READS,"
                  "imc.CAS_COUNT.RD,imc.clock,r2pcie.CLOCKTICKS,r3qpi.CLOCKTICKS")
        command = [PMULAB, "stat", "-e", events, "--", *map(str, self.program())]
        self.assertEqual(lint("sh", "-c", " ".join(command), exit_code=0), [])
        for command, register, rule, source in (
                ("wrmsr 0xd12 0x400835", "Cn_MSR_PMON_CTL2",
                 "this counter cannot count the event it is given", "327043-001"),
                ("wrmsr 0xd10 0x400835; wrmsr 0xd10 0x400137", "Cn_MSR_PMON_CTL0",
                 "the control changes while its counter counts", "327043-001 §2.1.2"),
                ("setpci -s ff:10.0 d8.l=400304 a0.l", "MC_CHy_PCI_PMON_CTR0",
                 "half of a counter is read while it counts", "327043-001")):
            with self.subTest(command=command):
                found = [f for f in lint("sh", "-c", command + "; true")
                         if f["rule"].startswith(rule)]
                self.assertEqual([f["register"] for f in found], [register], found)
                self.assertIn(source, found[0]["source"])

    def test_mistakes(self):
        for command, register, value, rule, source in MISTAKES:
            with self.subTest(command=command):
                findings = self.lint("sh", "-c", command + "; true")
                matching = [f for f in findings if f["rule"].startswith(rule)]
                self.assertEqual([(f["register"], f["value"]) for f in matching],
                                 [(register, value)], findings)
                self.assertIn(source, matching[0]["source"])

    def test_line(self):
        result = pmulab("lint", "-M", SMALL, "--", "wrmsr", "0xe02", "0x400836")
        self.assertEqual(result.returncode, 3)
        line = result.stderr.splitlines()[1].split()
        self.assertEqual(line[:5], ["1", "0", "cbo0", "Cn_MSR_PMON_CTL1", "0x400836"])

    def registers(self, findings):
        """{(register, rule): instances}"""
        found = {}
        for finding in findings:
            found.setdefault((finding["register"], finding["rule"]), set()).add(finding.get("instance"))
        return found

    def test_likwid(self):
        subprocess.run(["likwid-perfctr", "-v"], check=True, stdout=subprocess.DEVNULL)
        for group, register, boxes in (("MEM", "MC_CHy_PCI_PMON_BOX_CTL", 4),
                                       ("HA", "HAn_PCI_PMON_BOX_CTL", 1),
                                       ("QPI", "Q_Py_PCI_PMON_BOX_CTL", 2)):
            findings = self.lint("likwid-perfctr", "-M", "0", "-C", "0", "-g", group, *self.program())
            self.assertEqual(self.registers(findings), {(register, MUST_BE_1): set(range(boxes))})
            self.assertEqual({f["value"] for f in findings}, {"0x0"})
        self.assertEqual(self.lint("likwid-perfctr", "-M", "0", "-C", "0", "-g", "CLOCK",
                                   *self.program(), exit_code=0), [])

    def test_likwid_forgets_a_filter(self):
        events = "LLC_LOOKUP_ANY:CBOX0C1:STATE=0x1,TOR_INSERTS_ALL:CBOX0C2"
        findings = self.lint("likwid-perfctr", "-M", "0", "-C", "0", "-g", events, *self.program())
        self.assertIn(("Cn_MSR_PMON_BOX_FILTER0",
                       "a counter starts whose unit mask needs a filter field that is 0"),
                      self.registers(findings))

    def test_pcm(self):
        boxes = {("MC_CHy_PCI_PMON_BOX_CTL", MUST_BE_1): {0, 1, 2, 3},
                 ("HAn_PCI_PMON_BOX_CTL", MUST_BE_1): {0},
                 ("Cn_MSR_PMON_BOX_CTL", MUST_BE_1): {0, 1, 2, 3},
                 ("PCU_MSR_PMON_BOX_CTL", MUST_BE_1): {0}}
        for tool in ("pcm", "pcm-memory"):
            found = self.registers(self.lint(tool, "--", *self.program()))
            # Two threads of PCM freeze and unfreeze the same boxes: it is a matter of luck.
            lucky = {key: where for key, where in found.items() if not key[1].startswith(HALVES)}
            self.assertEqual(lucky, boxes, tool)
            for register, _ in found.keys() - lucky.keys():
                self.assertRegex(register, r"^(MC_CHy|HAn)_PCI_PMON_CTR")


if __name__ == "__main__":
    skip_without("rdmsr", "wrmsr", "setpci", "likwid-perfctr", "pcm", "pcm-memory")
    unittest.main()
