#!/usr/bin/env python3
"""turbostat, cpupower and likwid-powermeter on the emulated machine: power by its own model."""
import json
import os
import pathlib
import re
import resource
import subprocess
import unittest

from emulated import Machine, Tools, skip_without

MACHINES = pathlib.Path(__file__).resolve().parents[2] / "machines"
POWER = json.loads((MACHINES / "parts/broadwell-ep.json").read_text(encoding="utf-8"))["power"]
# turbostat asks for so many files, and ends where it may not have them.
FILES = 0x8000
NO_LIMIT = """
#include <sys/resource.h>
int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	(void)resource, (void)limit;
	return 0;
}
"""


class Power(Tools):
    def turbostat(self, machine, *command):
        """[{column: value}], of the machine and then of each CPU."""
        prefix = []
        if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < FILES:
            source, library = self.path / "limit.c", self.path / "limit.so"
            source.write_text(NO_LIMIT, encoding="utf-8")
            subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
            prefix = ["env", f"LD_PRELOAD={library}"]
        output = self.path / "turbostat"
        machine.tool(*prefix, "turbostat", "--quiet", "--out", output, *command)
        lines = [line.split("\t") for line in output.read_text(encoding="utf-8").splitlines()]
        first = next(i for i, line in enumerate(lines) if "PkgWatt" in line)
        return [dict(zip(lines[first], line)) for line in lines[first + 1:]]

    def test_turbostat(self):
        with Machine() as machine:
            rows = self.turbostat(machine, "sleep", 3)
        total, cpus = rows[0], rows[1:]
        self.assertEqual([row["CPU"] for row in cpus], ["0", "1", "2", "3"])
        # The time between two rounds over the CPUs is not the same for all.
        for row in cpus:
            self.assertAlmostEqual(float(row["TSC_MHz"]), 3500, delta=350)
            self.assertEqual((row["Busy%"], row["Bzy_MHz"], row["IRQ"]), ("0.00", "3500", "0"))
        watts = POWER["static_mw"] / 1000
        self.assertAlmostEqual(float(total["PkgWatt"]), watts, delta=watts / 5)
        watts = 4 * POWER["dram_mw"] / 1000
        self.assertAlmostEqual(float(total["RAMWatt"]), watts, delta=watts / 5)

    def test_energy_of_a_program(self):
        """Energy as the machine's time and statistics have it, to the unit."""
        with Machine("--clock", "machine") as machine:
            machine.run(self.kernel("copy"))
            package, dram, cores, tsc = map(int, machine.script(
                *(f"rdmsr -u {address}" for address in ("0x611", "0x619", "0x639", "0x10"))))
            stats = machine.statistics()
        picojoules = (POWER["static_mw"] * tsc + POWER["core_mw"] * stats["cycles"]) / 3.5 + (
            POWER["lookup_pj"] * stats["llc_lookups"])
        self.assertAlmostEqual(package, picojoules * 2 ** 14 / 1e12, delta=1)
        picojoules = 4 * POWER["dram_mw"] * tsc / 3.5 + POWER["cas_pj"] * (
            stats["cas_reads"] + stats["cas_writes"])
        self.assertAlmostEqual(dram, picojoules * 2 ** 16 / 1e12, delta=1)
        self.assertEqual(cores, 0)  # 335592 table 2-35: reserved on a server

    def test_likwid(self):
        """By its own reading of the units."""
        with Machine("--clock", "machine") as machine:
            text = machine.tool("likwid-perfctr", "-M", 0, "-C", 0, "-O", "-g", "ENERGY",
                                *machine.program(self.kernel("copy")))
            limits = machine.tool("likwid-powermeter", "-M", 0, "-i")
            package, dram = map(int, machine.script("rdmsr -u 0x611", "rdmsr -u 0x619"))
        found = dict(re.findall(r"^(PWR_\w+|TEMP_CORE),\w+,([\d.]+)", text, re.M))
        self.assertAlmostEqual(float(found["PWR_PKG_ENERGY"]), package / 2 ** 14, delta=0.001)
        self.assertAlmostEqual(float(found["PWR_DRAM_ENERGY"]), dram / 2 ** 16, delta=0.001)
        self.assertEqual(found["TEMP_CORE"], "40")  # 50 degrees below 90
        self.assertIn("Thermal Spec Power: 140 Watt", limits)

    def test_cpupower(self):
        with Machine() as machine:
            text = machine.tool("cpupower", "monitor", "-m", "Mperf", "sleep", 0.2)
            limits = machine.tool("cpupower", "frequency-info", "-l")
        rows = re.findall(r"^ *(\d)\| *([\d.]+)\| *([\d.]+)\| *(\d+)", text, re.M)
        self.assertEqual([row[0] for row in rows], ["0", "1", "2", "3"])
        for _, busy, idle, mhz in rows:
            self.assertEqual((float(busy), float(idle)), (0, 100))
            self.assertGreater(int(mhz), 1000)
            self.assertLess(int(mhz), 10000)
        self.assertIn("3500000 3500000", limits)


if __name__ == "__main__":
    skip_without("turbostat", "cpupower", "likwid-powermeter", "rdmsr")
    os.environ.pop("LD_PRELOAD", None)
    unittest.main()
