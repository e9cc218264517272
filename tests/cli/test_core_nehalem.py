#!/usr/bin/env python3
"""Events of Nehalem's core, of programs whose counts are known by construction. A turn's jump back is two
micro-operations, dec and jnz."""
import json
import unittest

from core_kernels import BRANCHES, LINES, LINES_BEFORE, LOAD, NOP, STORE, STRIDE, STRIDE_BEFORE, Kernels
from harness import pmulab, stat, total


class Nehalem(Kernels):
    BASE, PMU = "xeon-x5570-2s", "nehalem"

    def check_responses(self, expected, *kernel, **keys):
        """A core has one choice of requests and responses at a time."""
        for choice, count in expected.items():
            request, response = choice.split(".")
            self.check({f"OFFCORE_RESPONSE_0:request={request}:response={response}": count}, *kernel, **keys)

    def check_about(self, expected, *kernel, share=0.01, **keys):
        found = self.more(expected, *kernel, **keys)
        for name, count in expected.items():
            self.assertAlmostEqual(found[name], count, delta=share * max(count, 1), msg=name)

    def test_lines_of_l2(self):
        """More lines than L1D has, and fewer than L2."""
        none = {"L2_LINES_IN.ANY": 0, "L2_LINES_OUT.ANY": 0, "LONGEST_LAT_CACHE.REFERENCE": 0,
                "L2_RQSTS.MISS": 0, "L2_RQSTS.PREFETCHES": 0, "L2_RQSTS.REFERENCES": 1,
                "L2_DATA_RQSTS.DEMAND.I_STATE": 0, "L2_DATA_RQSTS.DEMAND.MESI": 1, "L1D.REPL": 1}
        self.check_lines(128, LOAD, none | {
            "MEM_LOAD_RETIRED.L2_HIT": 1, "MEM_LOAD_RETIRED.L1D_HIT": 0, "MEM_INST_RETIRED.LOADS": 1,
            "MEM_INST_RETIRED.STORES": 0, "L2_RQSTS.LD_HIT": 1, "L2_RQSTS.LOADS": 1, "L2_RQSTS.RFOS": 0,
            "L2_RQSTS.LD_HIT+RFO_HIT": 1, "L2_TRANSACTIONS.LOAD": 1, "L2_TRANSACTIONS.RFO": 0,
            "L2_TRANSACTIONS.ANY": 1, "L1D_CACHE_LD.MESI": 1, "L1D_CACHE_LD.I_STATE": 1,
            "L1D_WB_L2.MESI": 0})
        self.check_lines(128, STORE, none | {
            "MEM_INST_RETIRED.LOADS": 0, "MEM_INST_RETIRED.STORES": 1, "L1D_CACHE_ST.MESI": 1,
            "L2_RQSTS.RFO_HIT": 1, "L2_RQSTS.RFO_MISS": 0, "L2_RQSTS.LOADS": 0,
            "L2_RQSTS.LD_HIT+RFO_HIT": 1, "L2_WRITE.RFO.HIT": 1, "L2_WRITE.RFO.I_STATE": 0,
            "L2_WRITE.RFO.MESI": 1, "L2_TRANSACTIONS.RFO": 1, "L2_TRANSACTIONS.L1D_WB": 1,
            "L2_TRANSACTIONS.ANY": 2, "L1D_WB_L2.MESI": 1, "L1D_WB_L2.I_STATE": 0})

    def test_lines_of_the_llc(self):
        """More lines than L2 has, and fewer than the LLC."""
        both = {"L2_LINES_IN.ANY": 1, "L2_LINES_IN.E_STATE": 1, "L2_LINES_IN.S_STATE": 0,
                "L2_LINES_OUT.ANY": 1, "L2_TRANSACTIONS.FILL": 1, "LONGEST_LAT_CACHE.REFERENCE": 1,
                "LONGEST_LAT_CACHE.MISS": 0, "L2_DATA_RQSTS.DEMAND.I_STATE": 1}
        self.check_lines(4096, LOAD, both | {
            "MEM_LOAD_RETIRED.LLC_UNSHARED_HIT": 1, "MEM_LOAD_RETIRED.OTHER_CORE_L2_HIT_HITM": 0,
            "MEM_LOAD_RETIRED.LLC_MISS": 0, "L2_RQSTS.LD_MISS": 1, "L2_TRANSACTIONS.WB": 0})
        self.check_lines(4096, STORE, both | {
            "L2_RQSTS.RFO_MISS": 1, "L2_WRITE.RFO.I_STATE": 1, "L2_WRITE.RFO.HIT": 0,
            "L2_TRANSACTIONS.WB": 1})
        for access, request, there in ((LOAD, "DEMAND_DATA_RD", {"COREWB.ANY_LOCATION": 0}),
                                       (STORE, "DEMAND_RFO", {"COREWB.LLC_HIT_NO_OTHER_CORE": 1})):
            kernel = LINES.format(access=access), LINES_BEFORE.format(kilobytes=4096)
            self.check_responses({f"{request}.LLC_HIT_NO_OTHER_CORE": 1, f"{request}.ANY_LLC_MISS": 0} | there,
                                 *kernel, turns=(131072, 196608), translation="none")

    def test_more_lines_than_the_llc(self):
        """Its 8 MB have 16 ways: of twice as many lines in turn none is there when it comes again."""
        self.check_about({"MEM_LOAD_RETIRED.LLC_MISS": 1, "LONGEST_LAT_CACHE.MISS": 1,
                          "LONGEST_LAT_CACHE.REFERENCE": 1, "MEM_LOAD_RETIRED.L2_HIT": 0},
                         LINES.format(access=LOAD), LINES_BEFORE.format(kilobytes=16384), share=0.0001,
                         turns=(1 << 19, 3 << 18), translation="none")

    def test_lines_of_memory(self):
        """Of this socket, and of the other one."""
        kernel, names = ("mov (%rbx),%eax; add $64,%rbx", "mov $data,%ebx"), ("LOCAL_DRAM", "REMOTE_DRAM")
        for node, there in enumerate(names):
            keys = {"translation": "none", "options": ("--membind", str(node))}
            expected = {"MEM_LOAD_RETIRED.LLC_MISS": 1, "LONGEST_LAT_CACHE.MISS": 1,
                        "MEM_UNCORE_RETIRED.REMOTE_CACHE_LOCAL_HOME_HIT": 0}
            expected |= {f"MEM_UNCORE_RETIRED.{name}": int(name == there) for name in names}
            self.check(expected, *kernel, **keys)
            self.check_responses({f"{request}.{name}": int(name == there) for name in names
                                  for request in ("DEMAND_DATA_RD", "DATA_IFETCH", "ANY_REQUEST")},
                                 *kernel, **keys)

    def test_streaming_stores(self):
        """Those to memory of this socket count as hits of another core."""
        kernel = "".join(f"movnti %rax,{8 * n}(%rbx);" for n in range(8)) + "add $64,%rbx", "mov $data,%ebx"
        for node, there in enumerate(("LLC_OTHER_CORE_HIT", "REMOTE_DRAM")):
            keys = {"translation": "none", "options": ("--membind", str(node))}
            self.check_responses({f"OTHER.{name}": int(name in (there, "ANY_LOCATION")) for name in
                                  ("LLC_OTHER_CORE_HIT", "REMOTE_DRAM", "LOCAL_DRAM", "ANY_LOCATION")},
                                 *kernel, **keys)
            self.check({"MEM_INST_RETIRED.STORES": 8, "L1D_CACHE_ST.MESI": 0}, *kernel, **keys)

    def test_full_lines(self):
        """What is written as a whole is owned without data: a reference, and a miss, that no response has."""
        kernel = "mov $64,%ecx; rep stosb", "mov $data,%edi"
        self.check({"LONGEST_LAT_CACHE.REFERENCE": 1, "LONGEST_LAT_CACHE.MISS": 1}, *kernel, translation="none")
        self.check_responses({"ANY_RFO.ANY_LOCATION": 0}, *kernel, translation="none")

    def test_prefetches(self):
        """Those of L2 are requests and references too: what misses the LLC is what memory sends."""
        kernel = ("mov (%rbx),%eax; add $64,%rbx", "mov $data,%ebx")
        keys = {"translation": "none", "prefetchers": 15}
        names = ["LONGEST_LAT_CACHE.MISS", "OFFCORE_RESPONSE_0:request=DATA_IFETCH:response=ANY_DRAM",
                 "L2_RQSTS.PREFETCH_MISS"]
        miss, memory, prefetched = self.more(names, *kernel, **keys).values()
        self.assertEqual(miss, memory)
        self.assertGreater(prefetched, 0.5)
        found = self.more(["OFFCORE_RESPONSE_0:request=PREFETCH:response=ANY_LOCATION"], *kernel, **keys)
        self.assertEqual(list(found.values()), [prefetched])

    def test_translation(self):
        """Pages beyond the DTLB, and beyond the second level's 512."""
        for load, access in (1, LOAD), (0, STORE):
            for pages, walks in (250, 0), (2000, 1):
                expected = {f"DTLB_MISSES.{name}": count for name, count in
                            (("ANY", 1), ("STLB_HIT", 1 - walks), ("WALK_COMPLETED", walks))}
                expected |= {name.replace("DTLB", "DTLB_LOAD"): count * load for name, count in expected.items()}
                self.check(expected | {"MEM_LOAD_RETIRED.DTLB_MISS": load, "ITLB_MISSES.ANY": 0,
                                       "MEM_STORE_RETIRED.DTLB_MISS": 1 - load},
                           STRIDE.format(access=access), STRIDE_BEFORE.format(pages=pages))

    def test_translation_of_code(self):
        """Pages with a jump each, beyond the ITLB's 128, and beyond the second level's 512."""
        for pages in 256, 1024:
            walks = pages * (pages > 512)
            self.check_about({"ITLB_MISSES.ANY": pages, "ITLB_MISSES.WALK_COMPLETED": walks,
                              "ITLB_MISSES.STLB_HIT": pages - walks, "ITLB_MISS_RETIRED": pages,
                              "DTLB_MISSES.ANY": 0},
                             f".p2align 12; .rept {pages}; jmp 1f; .p2align 12; 1:; .endr", turns=(20, 40))

    def test_lines_of_code(self):
        """More lines than L1I has."""
        self.check_about({"L1I.MISSES": 1024, "L1I.READS": 1024, "L1I.HITS": 0, "L2_RQSTS.IFETCHES": 1024,
                          "L2_RQSTS.IFETCH_HIT": 1024, "L2_TRANSACTIONS.IFETCH": 1024},
                         f".rept 8192; {NOP} .endr", turns=(20, 40))

    def test_branches(self):
        """Of each kind, one that is not taken, and the loop's own, which is."""
        kinds = {"EXEC.COND": 2, "EXEC.DIRECT": 1, "EXEC.INDIRECT_NON_CALL": 1, "EXEC.RETURN_NEAR": 2,
                 "EXEC.DIRECT_NEAR_CALL": 1, "EXEC.INDIRECT_NEAR_CALL": 1, "EXEC.TAKEN": 7, "EXEC.ANY": 8,
                 "EXEC.NON_CALLS": 4, "EXEC.NEAR_CALLS": 2, "EXEC.COND+RETURN_NEAR": 4,
                 "RETIRED.CONDITIONAL": 2, "RETIRED.NEAR_CALL": 2, "RETIRED.ALL_BRANCHES": 8}
        expected = {f"BR_INST_{name}": count for name, count in kinds.items()}
        self.check(expected | {"BR_MISP_EXEC.ANY": 0}, BRANCHES, "", "routine: ret")
        self.check({"BR_MISP_EXEC.RETURN_NEAR": 1, "BR_MISP_EXEC.ANY": 1, "BR_MISP_EXEC.TAKEN": 1,
                    "BR_MISP_EXEC.COND": 0, "BR_MISP_EXEC.NEAR_CALLS": 0, "BR_MISP_EXEC.NON_CALLS": 0},
                   "lea 1f(%rip),%rax; push %rax; ret; 1:")

    def test_ports(self):
        """Loads have port 2, addresses of stores 3, and their data 4."""
        for move, loads, stores in ("movaps (%rbx),%xmm0;", 8, 0), ("movaps %xmm0,(%rbx);", 0, 8):
            self.check_about({"UOPS_EXECUTED.PORT2_CORE": loads, "UOPS_EXECUTED.PORT3_CORE": stores,
                              "UOPS_EXECUTED.PORT4_CORE": stores, "UOPS_EXECUTED.PORT234_CORE": loads + 2 * stores,
                              "UOPS_EXECUTED.PORT015": 2, "CPU_CLK_UNHALTED.THREAD_P": 8},
                             move * 8, "mov $data,%ebx", share=0.001)

    def test_ports_of_arithmetic(self):
        """Multiplications, additions and shuffles have a port each; what can take any goes to all."""
        code = "mulps %xmm0,%xmm1; addps %xmm2,%xmm3; shufps $0,%xmm4,%xmm5;" * 10
        found = self.more([f"UOPS_EXECUTED.PORT{n}" for n in (0, 1, 5, "015")], code)
        ports, both = list(found.values())[:3], found["UOPS_EXECUTED.PORT015"]
        self.assertAlmostEqual(both, 32, delta=0.001)
        self.assertAlmostEqual(sum(ports), both, delta=0.001)
        for port in ports:
            self.assertTrue(10 <= port <= 12, ports)

    def test_micro_operations(self):
        """Fused ones are one where they are issued. None is executed for nothing."""
        found = self.more(["UOPS_ISSUED.ANY", "UOPS_RETIRED.RETIRE_SLOTS", "UOPS_RETIRED.ANY",
                           "UOPS_EXECUTED.PORT015", "UOPS_EXECUTED.PORT234_CORE"],
                          "mov %eax,(%rbx); add (%rbx),%ecx;" * 8, "mov $data,%ebx")
        issued, slots, retired, arithmetic, memory = found.values()
        self.assertEqual((issued, slots, retired), (18, 18, 34))
        self.assertAlmostEqual(arithmetic, 10, delta=0.001)
        self.assertAlmostEqual(memory, 24, delta=0.001)

    def test_cycles(self):
        """Ten multiplications that wait for each other; a cycle either has one or none."""
        names = ("CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED.REF", "INST_RETIRED.ANY", "INST_RETIRED.ANY_P",
                 "CPU_CLK_UNHALTED.REF_P", "INST_RETIRED.TOTAL_CYCLES_R3")
        kernel = "imul %eax,%eax;" * 10,
        found = self.more(names, *kernel)
        self.assertEqual([found[name] for name in names[2:4]], [12, 12])
        for name in names[0], names[1], names[5]:
            self.assertAlmostEqual(found[name], 30, delta=0.01, msg=name)
        self.assertAlmostEqual(found[names[4]], 30 * 133 / 2933, delta=0.01)
        for what, halves in (("UOPS_EXECUTED", ("CORE_ACTIVE_CYCLES", "CORE_STALL_CYCLES")),
                             ("UOPS_ISSUED", ("CORE_CYCLES_ACTIVE", "STALL_CYCLES")),
                             ("UOPS_RETIRED", ("ACTIVE_CYCLES", "STALL_CYCLES"))):
            found = self.more([f"{what}.{half}" for half in halves], *kernel)
            self.assertAlmostEqual(sum(found.values()), 30, delta=0.1, msg=what)

    def test_divider(self):
        """A division of doubles keeps it for 22 cycles; one that waits for the last finds it idle."""
        self.check({"ARITH.CYCLES_DIV_BUSY": 44}, "divsd %xmm1,%xmm0\n" * 2)
        self.check({"ARITH.DIV": 1}, "divsd %xmm1,%xmm0; addsd %xmm2,%xmm0")

    def test_where_code_comes_from(self):
        """Of nops of 8 bytes 2,000 are decoded, two in a cycle; a loop of 20 has a buffer."""
        names = ("UOPS_ISSUED.ANY", "UOPS_DECODED.ANY", "UOPS_DECODED.STALL_CYCLES", "UOPS_DECODED.MS", "LSD.ACTIVE",
                 "LSD.INACTIVE", "CPU_CLK_UNHALTED.THREAD_P")
        for count, turns, wanted in ((2000, (200, 400), (2002, 2002, 0, 0, 0, 1000, 1000)),
                                     (20, (4000, 8000), (22, 0, 5.5, 0, 5.5, 0, 5.5))):
            self.check_about(dict(zip(names, wanted)), f".rept {count}; {NOP} .endr", turns=turns)

    def test_prefixes(self):
        """One that changes the length of an instruction takes six cycles."""
        self.check({"ILD_STALL.LCP": 300}, ".rept 50; mov $0x1234,%ax; .endr")

    def test_waiting_lines(self):
        """A line of L2 is waited for as long as L2 takes."""
        names = ["L1D_PEND_MISS.PENDING", "L1D_PEND_MISS.PENDING:cmask=1"]
        found = self.more(names, LINES.format(access=LOAD), LINES_BEFORE.format(kilobytes=128),
                          turns=(4096, 6144), translation="none")
        self.assertGreater(found[names[0]], 0)
        self.assertLessEqual(found[names[1]], found[names[0]])

    def test_microcode(self):
        """A division of 64 bits has 40 micro-operations, more than a decoder makes."""
        self.check({"UOPS_DECODED.MS": 40, "UOPS_DECODED.MS_CYCLES_ACTIVE": 10},
                   "mov $1,%eax; xor %edx,%edx; mov $1,%ecx; div %rcx")
        self.check({"UOPS_DECODED.MS": 0, "UOPS_DECODED.MS_CYCLES_ACTIVE": 0}, "mov $1,%eax; imul %eax,%ecx")

    def test_stalls(self):
        """Multiplications that wait for each other fill the reorder buffer, lines to write the store buffer."""
        names = [f"RESOURCE_STALLS.{name}" for name in ("ANY", "ROB_FULL", "STORE", "LOAD", "STORE+ROB_FULL")]
        self.check(dict(zip(names, (27, 27, 0, 0, 27))), "imul %eax,%eax;" * 10)
        found = self.more([*names, "CPU_CLK_UNHALTED.THREAD_P"], "mov %eax,(%rbx); add $64,%rbx", "mov $data,%ebx",
                          translation="none")
        total, values, stores, loads, both, cycles = found.values()
        self.assertEqual((values, loads), (0, 0))
        self.assertAlmostEqual(stores, cycles - 1, delta=0.01)  # four micro-operations
        self.assertAlmostEqual(total, stores, delta=0.01)
        self.assertAlmostEqual(both, stores, delta=0.01)

    def test_where_cycles_go(self):
        """The guide's accounting: cycles execute something or nothing; loads of L2 stall for 6 each."""
        lines = 128 * 16  # more than L1D has, and fewer than L2
        program = self.assemble(3 * lines, "mov (%rbx),%rbx",
                                "mov $data,%ebx; mov $2047,%ecx;"
                                "1: lea 64(%rbx),%rax; mov %rax,(%rbx); mov %rax,%rbx; dec %ecx; jnz 1b;"
                                "movq $data,(%rbx); mov $data,%ebx")
        machine = self.machine(translation="none")
        report = json.loads(pmulab("analyze", "-M", machine, "--format", "json", "-o", "/dev/stdout",
                                   "--", program).stdout)
        tree = {line["name"]: line["value"] for line in report["tree"]}
        self.assertEqual(tree["Executing"] + tree["Stalled"], tree["Cycles"])
        loads = stat(machine, ["core.MEM_LOAD_RETIRED.L2_HIT"], program)
        self.assertEqual(tree["L2"], 6 * total(loads, "nehalem/core.MEM_LOAD_RETIRED.L2_HIT"))
        self.assertGreater(tree["L2"], 6 * 2 * lines)
        # A load of L2 takes 10 cycles, in three of which at most something executes.
        self.assertGreater(tree["Stalled"], 6 * 2 * lines)


if __name__ == "__main__":
    unittest.main()
