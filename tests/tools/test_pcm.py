#!/usr/bin/env python3
"""pcm, pcm-memory and pcm-raw on the emulated machine: what they print of a program equals what
the machine did, within their own rounding."""
import csv
import io
import os
import pathlib
import signal
import subprocess
import unittest

from emulated import LINES, PMULAB, SMALL, Machine, Tools, skip_without
from harness import LARGE
from processes import children_of, wait_until

LINE_BYTES = 64
CAS_RD, CAS_WR = 0x000304, 0x000C04  # unit mask and event, table 2-119
MC_CTL0 = 0xD8


def sleeps(pid):
    """For how many whole seconds a process sleeps: what its clock_nanosleep() asks for."""
    try:
        number, *arguments = pathlib.Path(f"/proc/{pid}/syscall").read_text(encoding="utf-8").split()
        if number != "230":
            return 0
        with open(f"/proc/{pid}/mem", "rb") as memory:
            memory.seek(int(arguments[2], 16))
            return int.from_bytes(memory.read(8), "little")
    except (FileNotFoundError, ProcessLookupError):
        return 0


def table(text):
    """CSV with two lines of headings: {(above, below): value} of the last line."""
    above, below, *rows = csv.reader(io.StringIO(text))
    return {(a.strip(), b.strip()): value.strip() for a, b, value in zip(above, below, rows[-1])}


class Pcm(Tools):
    def counted(self, tool, *options, kind="copy", rounds=1, machine=SMALL):
        """What a tool writes of a program that it starts, and the statistics."""
        output = self.path / "output.csv"
        with Machine(machine=machine) as emulated:
            emulated.tool(tool, *options, f"-csv={output}", "--",
                          *emulated.program(self.kernel(kind, rounds)))
            return table(output.read_text(encoding="utf-8")), emulated.statistics()

    def check_rates(self, printed):
        """MB/s over whole milliseconds: one number of them fits all that is printed."""
        rate, lines = printed[0]
        about_ms = lines * LINE_BYTES / rate / 1e3
        fits = [ms for ms in range(int(about_ms) - 1, int(about_ms) + 3)
                if all(abs(lines * LINE_BYTES / ms / 1e3 - rate) < 0.0051 + rate * 1e-6
                       for rate, lines in printed)]
        self.assertEqual(len(fits), 1, (about_ms, printed))

    def test_memory(self):
        found, stats = self.counted("pcm-memory")
        expected = {"Memory (MB/s)": stats["cas_reads"] + stats["cas_writes"],
                    "Mem Read (MB/s)": stats["cas_reads"], "Mem Write (MB/s)": stats["cas_writes"],
                    **{f"Ch{channel}Write": 5 * LINES // 4 for channel in range(4)}}
        self.check_rates([(float(found["SKT0", name]), lines) for name, lines in expected.items()])
        self.assertEqual(float(found["SKT0", "P. Write (T/s)"]), 0)
        self.assertEqual(found["System", "Read"], found["SKT0", "Mem Read (MB/s)"])

    def test_memory_two_sockets(self):
        """What one core does stays on its socket."""
        found, stats = self.counted("pcm-memory", machine=LARGE)
        expected = {"Mem Read (MB/s)": stats["cas_reads"], "Mem Write (MB/s)": stats["cas_writes"]}
        self.check_rates([(float(found["SKT0", name]), lines) for name, lines in expected.items()])
        for name in expected:
            self.assertEqual(float(found["SKT1", name]), 0)

    def test_core_and_memory(self):
        found, stats = self.counted("pcm", kind="triad", rounds=4)
        for of in ("System", "Socket 0", "Core0 (Socket 0)"):
            for name, expected in (("INST", stats["instructions"] / 1e6),
                                   ("ACYC", stats["cycles"] / 1e6),
                                   ("L2MISS", stats["l2_misses"] / 1e6),
                                   ("L3MISS", stats["llc_misses"] / 1e6),
                                   ("IPC", stats["instructions"] / stats["cycles"])):
                self.assertAlmostEqual(float(found[of, name]), expected, delta=0.0051, msg=(of, name))
            for name, misses in (("L2MPI", "l2_misses"), ("L3MPI", "llc_misses")):
                self.assertAlmostEqual(float(found[of, name]),
                                       stats[misses] / stats["instructions"], delta=0.000051)
        for name, lines in (("READ", "cas_reads"), ("WRITE", "cas_writes")):
            self.assertAlmostEqual(float(found["System", name]), stats[lines] * LINE_BYTES / 1e9,
                                   delta=0.0051)
        # Nothing is remote with one socket; the other cores did nothing.
        self.assertEqual(float(found["System", "LOCAL"]), 100)
        for core in (1, 2, 3):
            self.assertEqual(float(found[f"Core{core} (Socket 0)", "INST"]), 0)

    def wait_for(self, machine, function, offset, value):
        wait_until(lambda: int(machine.tool("setpci", "-s", function, f"{offset:x}.l"), 16) & 0xFFFF
                   == value)

    def test_raw(self):
        """Counts to the last digit, of a program started while pcm-raw looks on."""
        output = self.path / "raw.csv"
        program = self.kernel("copy")
        with Machine() as machine:
            raw = subprocess.Popen(
                [PMULAB, "emulate", "--attach", machine.name, "--tool", "--", "pcm-raw", "60", "-i=1",
                 "-e", f"imc/config={CAS_RD:#x},name=RD", "-e", f"imc/config={CAS_WR:#x},name=WR",
                 "-e", "core/fixed,config=0x333", f"-csv={output}"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # It programs the last channel, reads all, and sleeps. It is stopped there for as long as
            # the program runs; to be continued ends its sleep.
            self.wait_for(machine, "ff:15.1", MC_CTL0, CAS_RD)
            tool = wait_until(lambda: next((pid for pid in (raw.pid, *children_of(raw.pid))
                                            if sleeps(pid) > 1), None))
            os.kill(tool, signal.SIGSTOP)
            machine.run(program)
            os.kill(tool, signal.SIGCONT)
            self.assertEqual(raw.wait(timeout=300), 0)
            stats = machine.statistics()
        # It also writes there that it was continued.
        text = output.read_text(encoding="utf-8").splitlines()
        found = list(zip(*csv.reader(line for line in text if "," in line)))
        reads = [int(value) for _, name, value in found if name == "RD"]
        writes = [int(value) for _, name, value in found if name == "WR"]
        self.assertEqual(sum(reads), stats["cas_reads"])
        self.assertEqual(writes, [5 * LINES // 4] * 4)
        core = {name: int(value) for of, name, value in found if of == "SKT0CORE0"}
        self.assertEqual(core["InstructionsRetired"], stats["instructions"])
        self.assertEqual(core["Cycles"], stats["cycles"])

    def test_raw_starts_the_program_too_early(self):
        """Of a program that it starts itself it sees nothing: docs/peers.md."""
        found, stats = self.counted("pcm-raw", "-e", f"imc/config={CAS_RD:#x},name=RD")
        self.assertEqual([found[f"SKT0CHAN{channel}", "RD"] for channel in range(4)], ["0"] * 4)
        self.assertGreater(stats["cas_reads"], 0)


if __name__ == "__main__":
    skip_without("pcm", "pcm-memory", "pcm-raw", "setpci")
    unittest.main()
