#!/usr/bin/env python3
"""Events of Sandy Bridge's core, of programs whose counts are known by construction."""
import unittest

from core_kernels import BRANCHES, LINES, LINES_BEFORE, LOAD, NOP, STORE, STRIDE, STRIDE_BEFORE, Kernels


class SandyBridge(Kernels):
    BASE, PMU = "xeon-e5-2680-2s", "xeon-e5"

    def test_lines_of_l2(self):
        """More lines than L1D has, and fewer than L2."""
        none = {"L2_LINES_IN.ALL": 0, "OFFCORE_REQUESTS.DEMAND_DATA_RD": 0,
                "OFFCORE_REQUESTS.DEMAND_RFO": 0, "LONGEST_LAT_CACHE.REFERENCE": 0,
                "L2_RQSTS.PF_HIT": 0, "L2_RQSTS.PF_MISS": 0, "L1D.REPLACEMENT": 1}
        self.check_lines(128, LOAD, none | {
            "MEM_LOAD_UOPS_RETIRED.L2_HIT": 1, "MEM_LOAD_UOPS_RETIRED.L1_HIT": 0,
            "MEM_UOPS_RETIRED.ALL_LOADS": 1, "MEM_UOPS_RETIRED.ALL_STORES": 0,
            "L2_RQSTS.DEMAND_DATA_RD_HIT": 1, "L2_RQSTS.ALL_DEMAND_DATA_RD": 1, "L2_RQSTS.ALL_RFO": 0,
            "L2_TRANS.DEMAND_DATA_RD": 1, "L2_TRANS.ALL_REQUESTS": 1, "L2_TRANS.RFO": 0, "L2_TRANS.L1D_WB": 0, "L1D.EVICTION": 0})
        self.check_lines(128, STORE, none | {
            "MEM_UOPS_RETIRED.ALL_LOADS": 0, "MEM_UOPS_RETIRED.ALL_STORES": 1,
            "L2_RQSTS.RFO_HIT": 1, "L2_RQSTS.RFO_MISS": 0, "L2_RQSTS.ALL_RFO": 1,
            "L2_RQSTS.ALL_DEMAND_DATA_RD": 0, "L2_STORE_LOCK_RQSTS.ALL": 1,
            "L2_STORE_LOCK_RQSTS.MISS": 0, "L2_TRANS.RFO": 1, "L2_TRANS.L1D_WB": 1,
            "L2_TRANS.ALL_REQUESTS": 2,
            "L1D.EVICTION": 1, "L2_L1D_WB_RQSTS.ALL": 1, "L2_L1D_WB_RQSTS.MISS": 0})

    def test_lines_of_the_llc(self):
        """More lines than L2 has, and fewer than the LLC."""
        both = {"L2_LINES_IN.ALL": 1, "L2_LINES_IN.E": 1, "L2_LINES_IN.S": 0, "L2_TRANS.L2_FILL": 1,
                "LONGEST_LAT_CACHE.REFERENCE": 1, "LONGEST_LAT_CACHE.MISS": 0}
        self.check_lines(2048, LOAD, both | {
            "MEM_LOAD_UOPS_RETIRED.LLC_HIT": 1, "MEM_LOAD_UOPS_RETIRED.LLC_MISS": 0,
            "MEM_LOAD_UOPS_LLC_HIT_RETIRED.XSNP_NONE": 1, "OFFCORE_REQUESTS.DEMAND_DATA_RD": 1,
            "OFFCORE_REQUESTS.ALL_DATA_RD": 1, "OFFCORE_REQUESTS.DEMAND_RFO": 0,
            "L2_LINES_OUT.DIRTY_ALL": 0, "L2_TRANS.L2_WB": 0,
            "OFFCORE_RESPONSE_0:request=DEMAND_DATA_RD:response=LLC_HIT_NO_SNOOP_NEEDED": 1,
            "OFFCORE_RESPONSE_1:request_1=ALL_READS:response_1=LLC_MISS_ANY_RESPONSE": 0})
        self.check_lines(2048, STORE, both | {
            "OFFCORE_REQUESTS.DEMAND_DATA_RD": 0, "OFFCORE_REQUESTS.DEMAND_RFO": 1,
            "L2_RQSTS.RFO_MISS": 1, "L2_STORE_LOCK_RQSTS.MISS": 1, "L2_LINES_OUT.DIRTY_ALL": 1,
            "L2_TRANS.L2_WB": 1, "OFFCORE_RESPONSE_0:request=DEMAND_RFO:response=LLC_HIT_ANY_RESPONSE": 1,
            "OFFCORE_RESPONSE_1:request_1=COREWB:response_1=ANY_RESPONSE": 1})

    def test_lines_of_memory(self):
        """Of this socket, and of the other one."""
        body, before = "mov (%rbx),%eax; add $64,%rbx", "mov $data,%ebx"
        names = ("LOCAL_DRAM", "REMOTE_DRAM")
        for node, there in enumerate(names):
            expected = {"MEM_LOAD_UOPS_RETIRED.LLC_MISS": 1, "LONGEST_LAT_CACHE.MISS": 1}
            expected |= {f"MEM_LOAD_UOPS_LLC_MISS_RETIRED.{name}": int(name == there) for name in names}
            response = "OFFCORE_RESPONSE_{0}:request{1}=DEMAND_DATA_RD:response{1}=LLC_MISS_{2}"
            expected |= {response.format(n, "_1" * n, name): int(name == there)
                         for n, name in enumerate(names)}
            self.check(expected, body, before, translation="none", options=("--membind", str(node)))

    def test_translation(self):
        """Pages beyond the DTLB, and beyond the second level's 512."""
        for what, access in ("LOAD", LOAD), ("STORE", STORE):
            for pages, walks in (250, 0), (2000, 1):
                self.check({f"DTLB_{what}_MISSES.STLB_HIT": 1 - walks,
                            f"DTLB_{what}_MISSES.MISS_CAUSES_A_WALK": walks,
                            f"DTLB_{what}_MISSES.WALK_COMPLETED": walks,
                            f"MEM_UOPS_RETIRED.STLB_MISS_{what}S": walks, "ITLB_MISSES.STLB_HIT": 0},
                           STRIDE.format(access=access), STRIDE_BEFORE.format(pages=pages))

    def test_branches(self):
        """Of each kind, one that is not taken, and the loop's own, which is."""
        kinds = {"EXEC.NONTAKEN_CONDITIONAL": 1, "EXEC.TAKEN_CONDITIONAL": 1, "EXEC.TAKEN_DIRECT_JUMP": 1,
                 "EXEC.TAKEN_INDIRECT_JUMP_NON_CALL_RET": 1, "EXEC.TAKEN_INDIRECT_NEAR_RETURN": 2,
                 "EXEC.TAKEN_DIRECT_NEAR_CALL": 1, "EXEC.TAKEN_INDIRECT_NEAR_CALL": 1,
                 "EXEC.ALL_BRANCHES": 8, "RETIRED.CONDITIONAL": 2, "RETIRED.NEAR_CALL": 2,
                 "RETIRED.NEAR_RETURN": 2, "RETIRED.NOT_TAKEN": 1, "RETIRED.NEAR_TAKEN": 7,
                 "RETIRED.FAR_BRANCH": 0, "RETIRED.ALL_BRANCHES": 8}
        expected = {f"BR_INST_{name}": count for name, count in kinds.items()}
        self.check(expected | {"BR_MISP_EXEC.ALL_BRANCHES": 0}, BRANCHES, "", "routine: ret")
        self.check({"BR_MISP_EXEC.TAKEN_RETURN_NEAR": 1, "BR_MISP_EXEC.ALL_BRANCHES": 1,
                    "BR_MISP_RETIRED.TAKEN": 1, "BR_MISP_RETIRED.NOT_TAKEN": 0,
                    "BR_MISP_RETIRED.NEAR_CALL": 0, "INT_MISC.RECOVERY_STALLS_COUNT": 1},
                   "lea 1f(%rip),%rax; push %rax; ret; 1:")

    def test_ports(self):
        """A port executes an access of 256 bits once, and is kept by it for two cycles."""
        moves = {"vmovaps (%rbx),%ymm0": (8, 0), "vmovaps %ymm0,(%rbx)": (0, 8)}
        for move, (loads, stores) in moves.items():
            found = self.more([f"UOPS_DISPATCHED_PORT.PORT_{n}" for n in range(6)] +
                              ["CPU_CLK_UNHALTED.THREAD_P", "UOPS_DISPATCHED.THREAD"],
                              (move + "\n") * 8, "mov $data,%ebx")
            ports = list(found.values())[:6]
            self.assertEqual(ports[4], stores)
            self.assertAlmostEqual(ports[2] + ports[3], loads + stores, delta=0.001)
            self.assertAlmostEqual(sum(ports), found["UOPS_DISPATCHED.THREAD"], delta=0.001)
            self.assertAlmostEqual(found["CPU_CLK_UNHALTED.THREAD_P"], loads + 2 * stores, delta=0.01)

    def test_where_code_comes_from(self):
        """Nops of 8 bytes: 2,000 are more windows of 32 bytes than 256 ways; 200 are kept, and a loop of
        20 has a buffer. Of 2,000 two come in a cycle, where four could be issued."""
        names = ("UOPS_ISSUED.ANY", "IDQ.MITE_UOPS", "IDQ.DSB_UOPS", "LSD.UOPS", "IDQ.MS_UOPS",
                 "IDQ_UOPS_NOT_DELIVERED.CORE", "ILD_STALL.LCP")
        for count, turns, wanted in ((2000, (200, 400), (2001, 2001, 0, 0, 0, 2000, 0)),
                                     (200, (200, 400), (201, 0, 201, 0, 0, 0, 0)),
                                     (20, (4000, 8000), (21, 0, 0, 21, 0, 0, 0))):
            found = self.more(names, f".rept {count}; {NOP} .endr", turns=turns)
            for name, number in zip(names, wanted):
                self.assertAlmostEqual(found[name], number, delta=max(0.01 * number, 0.1), msg=name)

    def test_switches_to_decoders(self):
        """A window of 32 nops has more operations than three ways: it is decoded each time."""
        self.check({"DSB2MITE_SWITCHES.COUNT": 1, "DSB2MITE_SWITCHES.PENALTY_CYCLES": 1,
                    "IDQ.MITE_UOPS": 32, "IDQ.DSB_UOPS": 3},
                   ".p2align 5; .rept 32; nop; .endr; jmp 1f; .p2align 5; 1: nop")

    def test_empty_queue(self):
        """A return to somewhere else is known after its load; then 14 cycles pass, and nothing waits."""
        self.check({"IDQ.EMPTY": 14}, "lea 1f(%rip),%rax; push %rax; ret; 1:")
        self.check({"IDQ.EMPTY": 0}, "imul %eax,%eax; imul %eax,%eax")

    def test_floating_point(self):
        """Ten of each, by width and precision."""
        names = {"sd": "FP_COMP_OPS_EXE.SSE_SCALAR_DOUBLE", "ss": "FP_COMP_OPS_EXE.SSE_SCALAR_SINGLE",
                 "pd": "FP_COMP_OPS_EXE.SSE_PACKED_DOUBLE", "ps": "FP_COMP_OPS_EXE.SSE_PACKED_SINGLE",
                 "pd 256": "SIMD_FP_256.PACKED_DOUBLE", "ps 256": "SIMD_FP_256.PACKED_SINGLE"}
        for kind, name in names.items():
            suffix, *wide = kind.split()
            code = "".join(f"v{what}{suffix} " + "%{0}0,%{0}1,%{0}2\n".format("ymm" if wide else "xmm")
                           for what in ("add", "sub", "mul", "div", "max") * 2)
            self.check({other: 10 * (other == name) for other in names.values()}, code)

    def test_divider(self):
        """A division of doubles keeps it for 22 cycles; one that waits for the last finds it idle."""
        self.check({"ARITH.FPU_DIV_ACTIVE": 44}, "divsd %xmm1,%xmm0\n" * 2)
        self.check({"ARITH.FPU_DIV": 1}, "divsd %xmm1,%xmm0; addsd %xmm2,%xmm0")

    def test_slots(self):
        """Each is one of four things."""
        found = self.more(["UOPS_RETIRED.RETIRE_SLOTS", "INT_MISC.RECOVERY_CYCLES",
                           "IDQ_UOPS_NOT_DELIVERED.CORE", "RESOURCE_STALLS.ANY", "CPU_CLK_UNHALTED.THREAD_P"],
                          LINES.format(access="add (%rbx),%rax; imul %rax,%rax"),
                          LINES_BEFORE.format(kilobytes=2048), turns=(1 << 16, 1 << 17))
        slots, recovery, late, stalls, cycles = found.values()
        self.assertAlmostEqual(slots + 4 * recovery + late + 4 * stalls, 4 * cycles, delta=0.01 * cycles)


if __name__ == "__main__":
    unittest.main()
