#!/usr/bin/env python3
"""What a core counts of branches, micro-operations and stalls of programs: counts of one run that
have to agree, whatever the program does."""
import json
import subprocess
import tempfile
import unittest

from harness import SMALL, Guests, OnValgrind, pmulab, stat, total

PROGRAM = ["/bin/sh", "-c", "i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done; echo $i"]
CYCLES = "core.CPU_CLK_UNHALTED.THREAD"
WIDTH = 4


# Two conditions that go to one place: of four rounds two meet the first, one the second.
ROUNDS = 1000
CONDITIONS = f"""
        .globl _start
_start: mov ${ROUNDS}, %ecx
1:      test $1, %cl
        jnz 2f
        test $2, %cl
        jnz 2f
        inc %edx
2:      dec %ecx
        jnz 1b
        mov $60, %eax
        xor %edi, %edi
        syscall
"""


class Conditions(Guests):
    """What is executed, and nothing of what might have been: emulators join conditions."""

    options = ()

    def test_counts(self):
        source = self.path / "conditions.s"
        source.write_text(CONDITIONS, encoding="utf-8")
        program = self.path / "conditions"
        subprocess.run(["gcc", "-nostdlib", "-static", "-o", program, source], check=True)
        expected = {
            "INST_RETIRED.ANY": 4 + ROUNDS * 4 + ROUNDS // 2 * 2 + ROUNDS // 4,
            "BR_INST_RETIRED.CONDITIONAL": ROUNDS * 2 + ROUNDS // 2,
            "BR_INST_RETIRED.NOT_TAKEN": ROUNDS // 2 + ROUNDS // 4 + 1,
        }
        report = stat(SMALL, [f"core.{event}" for event in expected], str(program),
                      options=self.options)
        self.assertEqual({event: total(report, f"xeon-e5v4/core.{event}") for event in expected},
                         expected)


class ConditionsOnValgrind(OnValgrind, Conditions):
    pass


class Programs(unittest.TestCase):
    options = ()

    def counts(self, *names):
        """All in one run: no more than counters."""
        events = [f"core.{name}" for name in names] + [CYCLES]
        report = stat(SMALL, events, *PROGRAM, options=self.options)
        return {event.removeprefix("core."): total(report, f"xeon-e5v4/{event}") for event in events}

    def test_branches(self):
        found = self.counts(*(f"BR_INST_RETIRED.{name}" for name in (
            "ALL_BRANCHES", "CONDITIONAL", "NOT_TAKEN", "NEAR_TAKEN", "FAR_BRANCH")),
            "BR_INST_EXEC.TAKEN_CONDITIONAL", "BR_INST_EXEC.ALL_BRANCHES",
            "BR_MISP_RETIRED.ALL_BRANCHES")
        of = {name.removeprefix("BR_INST_RETIRED."): count for name, count in found.items()}
        self.assertEqual(of["NOT_TAKEN"] + of["NEAR_TAKEN"] + of["FAR_BRANCH"], of["ALL_BRANCHES"])
        self.assertEqual(of["NOT_TAKEN"] + of["BR_INST_EXEC.TAKEN_CONDITIONAL"], of["CONDITIONAL"])
        self.assertEqual(of["BR_INST_EXEC.ALL_BRANCHES"] + of["FAR_BRANCH"], of["ALL_BRANCHES"])
        self.assertGreater(of["FAR_BRANCH"], 10)  # system calls
        self.assertGreater(of["BR_MISP_RETIRED.ALL_BRANCHES"], 0)
        self.assertLess(of["BR_MISP_RETIRED.ALL_BRANCHES"], of["ALL_BRANCHES"] // 5)

    def test_slots(self):
        found = self.counts("UOPS_ISSUED.ANY", "UOPS_RETIRED.RETIRE_SLOTS", "UOPS_RETIRED.ALL",
                            "UOPS_EXECUTED.THREAD", "INT_MISC.RECOVERY_CYCLES",
                            "IDQ_UOPS_NOT_DELIVERED.CORE", "RESOURCE_STALLS.ANY",
                            "UOPS_ISSUED.STALL_CYCLES")
        slots = WIDTH * found["CPU_CLK_UNHALTED.THREAD"]
        self.assertEqual(found["UOPS_ISSUED.ANY"], found["UOPS_RETIRED.RETIRE_SLOTS"])
        self.assertLess(found["UOPS_ISSUED.ANY"], slots)
        self.assertLess(found["UOPS_ISSUED.ANY"], found["UOPS_RETIRED.ALL"])
        self.assertLess(found["UOPS_EXECUTED.THREAD"], found["UOPS_RETIRED.ALL"])
        # Each is rounded on its own.
        self.assertAlmostEqual(
            found["UOPS_ISSUED.ANY"] + found["IDQ_UOPS_NOT_DELIVERED.CORE"] +
            WIDTH * (found["INT_MISC.RECOVERY_CYCLES"] + found["RESOURCE_STALLS.ANY"]),
            slots, delta=16 * WIDTH)
        # Cycles without any: others have one to four.
        self.assertLessEqual(WIDTH * found["UOPS_ISSUED.STALL_CYCLES"] + found["UOPS_ISSUED.ANY"], slots)
        self.assertGreaterEqual(WIDTH * (found["UOPS_ISSUED.STALL_CYCLES"] + found["UOPS_ISSUED.ANY"]), slots)

    def test_front_end(self):
        """Each micro-operation comes from one place, and each cycle has four, fewer, or no demand."""
        found = self.counts("UOPS_ISSUED.ANY", "IDQ.MITE_UOPS", "IDQ.DSB_UOPS", "IDQ.MS_UOPS", "LSD.UOPS",
                            "IDQ.MITE_CYCLES", "DSB2MITE_SWITCHES.PENALTY_CYCLES")
        self.assertEqual(sum(found[name] for name in (
            "IDQ.MITE_UOPS", "IDQ.DSB_UOPS", "IDQ.MS_UOPS", "LSD.UOPS")), found["UOPS_ISSUED.ANY"])
        for name in ("IDQ.MITE_UOPS", "IDQ.DSB_UOPS", "DSB2MITE_SWITCHES.PENALTY_CYCLES"):
            self.assertGreater(found[name], 1000, name)
        self.assertGreater(found["IDQ.MITE_CYCLES"], found["IDQ.MITE_UOPS"] // WIDTH)
        self.assertLessEqual(found["IDQ.MITE_CYCLES"], found["IDQ.MITE_UOPS"])
        names = [f"IDQ_UOPS_NOT_DELIVERED.CYCLES_{name}" for name in (
            "0_UOPS_DELIV.CORE", "LE_1_UOP_DELIV.CORE", "LE_2_UOP_DELIV.CORE", "LE_3_UOP_DELIV.CORE",
            "FE_WAS_OK")]
        found = self.counts("IDQ_UOPS_NOT_DELIVERED.CORE", *names)
        none, one, two, three, fine = (found[name] for name in names)
        self.assertEqual(three + fine, found[CYCLES.removeprefix("core.")])
        self.assertAlmostEqual(none + one + two + three, found["IDQ_UOPS_NOT_DELIVERED.CORE"],
                               delta=4 * WIDTH)

    def test_ports(self):
        """Two runs, each with the micro-operations that are executed."""
        executed, ports = [], 0
        for half in (range(4), range(4, 8)):
            found = self.counts("UOPS_EXECUTED.THREAD",
                                *(f"UOPS_EXECUTED_PORT.PORT_{port}" for port in half))
            executed.append(found["UOPS_EXECUTED.THREAD"])
            ports += sum(found[f"UOPS_EXECUTED_PORT.PORT_{port}"] for port in half)
            self.assertLess(found[f"UOPS_EXECUTED_PORT.PORT_{half[0]}"],
                            found["CPU_CLK_UNHALTED.THREAD"])
        # Programs see the time of day and their number, by which runs differ a little.
        self.assertAlmostEqual(ports / sum(executed), 0.5, delta=0.001)

    def test_time_is_the_same(self):
        """Whether or not micro-operations are counted one by one."""
        times = [self.counts(*names)["CPU_CLK_UNHALTED.THREAD"]
                 for names in ((), ("UOPS_EXECUTED_PORT.PORT_0",), ())]
        self.assertAlmostEqual(times[1] / times[0], 1, delta=max(abs(times[2] / times[0] - 1), 0.002))


class Cycles(unittest.TestCase):
    """Of each event, the cycles with so many at once add up to it, and with the others to all."""

    options = ()
    programs = (["xz", "-1", "-c", "/bin/sh"], ["sort", "/etc/services"])

    def counts(self, program, events):
        """In the order of the events, which the report may name in another way."""
        report = stat(SMALL, [f"core.{event}" for event in events], *program, options=self.options)
        cores = len(report["counts"]) // len(events)
        return [sum(count["count"] for count in report["counts"][n * cores:][:cores])
                for n in range(len(events))]

    def check(self, program, event, most, slack, left=0):
        """@slack: what the sum may have more than the levels, of it, and @left: cycles beside"""
        levels = [f"{event}:cmask={n}" for n in range(1, most + 1)]
        sum_, none, rises, cycles, *found = self.counts(
            program, [event, f"{event}:cmask=1:inv", f"{event}:cmask=1:edge",
                      "CPU_CLK_UNHALTED.THREAD", *levels, f"{event}:cmask={most + 1}"])
        self.assertGreater(sum_, 1000, event)
        self.assertEqual(found[0] + none, cycles, event)
        self.assertEqual(found, sorted(found, reverse=True), event)
        self.assertEqual(found[-1], 0, event)
        self.assertLessEqual(sum(found), sum_ + most, event)
        self.assertGreaterEqual(sum(found), sum_ * (1 - slack) - most - left, event)
        self.assertLessEqual(rises, found[0], event)
        self.assertGreater(rises, found[0] // 500, event)
        return sum(found) - sum_

    def test_issue(self):
        """A cycle issues four at most, each of which is two at most."""
        for program in self.programs:
            self.check(program, "UOPS_ISSUED.ANY", 4, 0)
            self.check(program, "UOPS_RETIRED.RETIRE_SLOTS", 4, 0)
            for event in ("UOPS_EXECUTED.THREAD", "UOPS_RETIRED.ALL"):
                self.check(program, event, 12, 0)

    def test_loads_and_branches(self):
        """Each is issued with a micro-operation: four in a cycle at most."""
        for program in self.programs:
            for event in ("MEM_UOPS_RETIRED.ALL_LOADS", "MEM_LOAD_UOPS_RETIRED.L1_HIT",
                          "BR_INST_RETIRED.ALL_BRANCHES", "BR_INST_RETIRED.CONDITIONAL",
                          "BR_INST_RETIRED.NOT_TAKEN"):
                more = self.check(program, event, 12, 0)
                if event == "MEM_LOAD_UOPS_RETIRED.L1_HIT":
                    self.assertEqual(more, 0)

    def test_waits(self):
        """Some requests begin before a thread has noticed the counter; 10 fill buffers, and one of
        the code; what the L2 prefetches may come when the program is over, and so may two walks of
        four reads of memory each, some 290 cycles a read."""
        for program in self.programs:
            self.check(program, "L1D_PEND_MISS.PENDING", 12, 0.02)
            self.check(program, "OFFCORE_REQUESTS_OUTSTANDING.DEMAND_DATA_RD", 16, 0.02)
            self.check(program, "OFFCORE_REQUESTS_OUTSTANDING.ALL_DATA_RD", 16, 0.05)
            self.check(program, "DTLB_LOAD_MISSES.WALK_DURATION", 2, 0.02, left=2 * 4 * 290)

    def test_pending(self):
        for program in self.programs:
            any_, far, stalls, far_stalls, lines = self.counts(program, [
                f"CYCLE_ACTIVITY.{name}" for name in (
                    "CYCLES_L1D_PENDING", "CYCLES_L2_PENDING", "STALLS_L1D_PENDING",
                    "STALLS_L2_PENDING")] + ["L1D_PEND_MISS.PENDING_CYCLES"])
            self.assertLess(far, any_)
            self.assertLess(any_, lines)
            self.assertLess(far_stalls, far)
            self.assertLess(stalls, any_)
            loads, waits, cycles = self.counts(program, [
                "MEM_UOPS_RETIRED.ALL_LOADS:cmask=1", "CYCLE_ACTIVITY.CYCLES_LDM_PENDING",
                "CPU_CLK_UNHALTED.THREAD"])
            self.assertLess(max(loads, any_), waits)
            self.assertLess(waits, cycles)

    def test_single_ones(self):
        for event in ("L2_RQSTS.MISS", "BR_MISP_RETIRED.ALL_BRANCHES", "BR_INST_RETIRED.NEAR_RETURN",
                      "MEM_LOAD_UOPS_RETIRED.L1_MISS", "MEM_UOPS_RETIRED.ALL_STORES",
                      "OFFCORE_RESPONSE_0.DEMAND_DATA_RD.ANY_RESPONSE"):
            sum_, cycles, none, more, all_ = self.counts(self.programs[1], [
                event, f"{event}:cmask=1", f"{event}:cmask=1:inv", f"{event}:cmask=2",
                "CPU_CLK_UNHALTED.THREAD"])
            self.assertGreater(sum_, 100)
            self.assertEqual(cycles, sum_)
            self.assertEqual(cycles + none, all_)
            self.assertEqual(more, 0)

    def test_time_is_the_same(self):
        times = [self.counts(self.programs[1], [*events, "CPU_CLK_UNHALTED.THREAD"])[-1]
                 for events in ([], ["UOPS_ISSUED.ANY:cmask=1"],
                                ["L1D_PEND_MISS.PENDING_CYCLES"], [])]
        off = max(abs(times[3] / times[0] - 1), 0.002)
        self.assertAlmostEqual(times[1] / times[0], 1, delta=off)
        self.assertAlmostEqual(times[2] / times[0], 1, delta=off)


class ProgramsOnValgrind(OnValgrind, Programs):
    pass


class CyclesOnValgrind(OnValgrind, Cycles):
    programs = (["sort", "/etc/services"],)
    test_single_ones = test_time_is_the_same = None


class Others(unittest.TestCase):
    def test_top_down(self):
        """The method's parts are all of its slots."""
        result = pmulab("analyze", "-M", SMALL, "--format", "json", "-o", "/dev/stdout", "--", *PROGRAM)
        self.assertEqual(result.returncode, 0, result.stderr)
        for part in ("Slots", "Retiring", "Bad speculation", "Front end", "Back end"):
            self.assertIn(part, result.stdout)
        self.assertNotIn("not modelled", result.stdout + result.stderr)

    def test_several_pmus(self):
        """More events than a PMU has counters: each of them tells answers apart. With one socket
        the LLC has the line, or local memory."""
        names = ["OFFCORE_REQUESTS.DEMAND_DATA_RD", "OFFCORE_RESPONSE_0.DEMAND_DATA_RD.LLC_HIT_ANY_RESPONSE",
                 "OFFCORE_RESPONSE_1.DEMAND_DATA_RD.LLC_MISS_LOCAL_DRAM"]
        others = [f"L2_RQSTS.{name}" for name in ("MISS", "REFERENCES", "ALL_PF", "ALL_RFO", "RFO_MISS", "RFO_HIT")]
        report = stat(SMALL, [f"core.{name}" for name in names + others], *PROGRAM)
        sent, hits, misses = (total(report, f"xeon-e5v4/core.{name}")
                              for name in (names[0], "OFFCORE_RESPONSE_0", "OFFCORE_RESPONSE_1"))
        self.assertGreater(min(hits, misses), 20)
        self.assertEqual(hits + misses, sent)

    def test_absent(self):
        """Thresholds that nothing tells, and machines without such cores."""
        for event in ("core.IDQ.MITE_UOPS:cmask=2", "core.L2_RQSTS.MISS:cmask=1:edge",
                      "core.MEM_UOPS_RETIRED.ALL_STORES:cmask=1:edge",
                      "core.CYCLE_ACTIVITY.STALLS_TOTAL:edge"):
            result = pmulab("stat", "-M", SMALL, "-e", event, "--", "true")
            self.assertIn("not modelled", result.stdout + result.stderr, event)
            self.assertIn("no count of it for each cycle", result.stdout + result.stderr, event)
        result = pmulab("stat", "-M", SMALL, "-e", "core.UOPS_ISSUED.STALL_CYCLES", "--", "true")
        self.assertNotIn("not modelled", result.stdout + result.stderr)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"base": SMALL, "name": "plain", "uarch": "none"}, file)
            file.flush()
            for event in ("core.UOPS_ISSUED.ANY", "core.INST_RETIRED.ANY_P:cmask=1",
                          "core.FP_ARITH_INST_RETIRED.SCALAR_DOUBLE"):
                result = pmulab("stat", "-M", file.name, "-e", event, "--", "true")
                self.assertIn("not modelled", result.stdout + result.stderr)
                self.assertIn("no out-of-order core", result.stdout + result.stderr)
            result = pmulab("stat", "-M", file.name, "-e", "core.L1D_PEND_MISS.PENDING_CYCLES", "--", "true")
            self.assertNotIn("not modelled", result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
