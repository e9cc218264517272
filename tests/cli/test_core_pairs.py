#!/usr/bin/env python3
"""Events of a core, of programs whose counts are known by construction: what one turn of a loop adds."""
import unittest

from core_kernels import BRANCHES, PAGES, STRIDE, STRIDE_BEFORE, Kernels

# Two megabytes of a mapping after the other.
LARGE = """
	{access}
	add $0x200040,%rbx
	cmp %rsi,%rbx
	cmovae %rdi,%rbx
"""
LARGE_BEFORE = """
	mov $9,%eax			# mmap(0, pages + 1, read and write, private and anonymous, -1, 0)
	xor %edi,%edi
	movabs $({pages}+1)*0x200000,%rsi
	mov $3,%edx
	mov $0x22,%r10d
	mov $-1,%r8
	xor %r9d,%r9d
	syscall
	lea 0x1fffff(%rax),%rdi
	and $-0x200000,%rdi
	mov %rdi,%rbx
	movabs $({pages}*0x200000),%rsi
	add %rdi,%rsi
"""


def code(pages):
    """The way through so many pages of code, a line further in each."""
    return "".join(f".balign 4096\n.skip {64 * (n % 60 + 1)}\n{'1' if n else 'first'}:jmp 1f\n"
                   for n in range(pages)) + ".balign 4096\n1:jmp back\n"


class Pairs(Kernels):
    def translations(self, what, access, counts):
        """Of pages beyond the first level, and beyond the second; small and large."""
        others = {f"{name}_MISSES.{event}": 0 for name in ("DTLB_LOAD", "DTLB_STORE", "ITLB")
                  for event in ("MISS_CAUSES_A_WALK", "STLB_HIT", "WALK_DURATION") if name != what}
        none = {"STLB_HIT": 0, "STLB_HIT_4K": 0, "STLB_HIT_2M": 0, "MISS_CAUSES_A_WALK": 0,
                "WALK_COMPLETED": 0, "WALK_COMPLETED_4K": 0, "WALK_COMPLETED_2M_4M": 0}
        for pages, body, before, large, wanted in (
                (500, STRIDE, STRIDE_BEFORE, False, ("STLB_HIT", "STLB_HIT_4K")),
                (PAGES, STRIDE, STRIDE_BEFORE, False,
                 ("MISS_CAUSES_A_WALK", "WALK_COMPLETED", "WALK_COMPLETED_4K")),
                (500, LARGE, LARGE_BEFORE, True, ("STLB_HIT", "STLB_HIT_2M")),
                (PAGES, LARGE, LARGE_BEFORE, True,
                 ("MISS_CAUSES_A_WALK", "WALK_COMPLETED", "WALK_COMPLETED_2M_4M"))):
            expected = {f"{what}_MISSES.{name}": int(name in wanted) for name in none} | others
            walks = "WALK_COMPLETED" in wanted
            expected |= {name: int(walks and number) for name, number in counts.items()}
            if not large:
                expected = {name: count for name, count in expected.items() if "_2M" not in name}
            self.check(expected, body.format(access=access), before.format(pages=pages),
                       large_pages="transparent" if large else "none",
                       memory_bytes=1 << 35)

    def test_translations_of_loads(self):
        self.translations("DTLB_LOAD", "mov (%rbx),%eax",
                          {"MEM_UOPS_RETIRED.STLB_MISS_LOADS": 1,
                           "MEM_UOPS_RETIRED.STLB_MISS_STORES": 0})

    def test_translations_of_stores(self):
        self.translations("DTLB_STORE", "mov %eax,(%rbx)",
                          {"MEM_UOPS_RETIRED.STLB_MISS_LOADS": 0,
                           "MEM_UOPS_RETIRED.STLB_MISS_STORES": 1})

    def test_translations_of_code(self):
        body = "jmp first\nback:"
        for pages, wanted in ((500, ("STLB_HIT", "STLB_HIT_4K")),
                              (PAGES, ("MISS_CAUSES_A_WALK", "WALK_COMPLETED", "WALK_COMPLETED_4K"))):
            # The loop's own page is one of them.
            expected = {f"ITLB_MISSES.{name}": (pages + 2) * (name in wanted) for name in (
                "STLB_HIT", "STLB_HIT_4K", "MISS_CAUSES_A_WALK", "WALK_COMPLETED",
                "WALK_COMPLETED_4K")}
            expected["DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK"] = 0
            self.check(expected, body, "", code(pages), turns=(20, 40))

    def test_walks(self):
        """A walk reads one entry, of the table's lines: the caches have each eight. It takes as long as
        the walker is at work, one at a time here."""
        names = [f"PAGE_WALKER_LOADS.{name}" for name in (
            "DTLB_L1", "DTLB_L2", "DTLB_L3", "DTLB_MEMORY", "ITLB_L1", "ITLB_L2", "ITLB_L3")]
        found = self.more([*names, "DTLB_LOAD_MISSES.WALK_DURATION"],
                          STRIDE.format(access="mov (%rbx),%eax"), STRIDE_BEFORE.format(pages=PAGES))
        self.assertEqual(sum(found[name] for name in names[:4]), 1)
        self.assertEqual(sum(found[name] for name in names[4:]), 0)
        self.assertGreater(found[names[0]], 0.5)
        self.assertGreater(found[names[1]] + found[names[2]], 0)
        # Data in between take the tables' lines out of L1D, and of L2.
        for kilobytes, level in (128, 1), (2048, 2):
            body = f"""
	mov $data,%edi
2:	mov (%rdi),%eax
	add $64,%rdi
	cmp $data+{kilobytes}*1024,%rdi
	jb 2b
	jmp first
back:
"""
            found = self.more(names, body, "", code(PAGES), turns=(20, 40))
            self.assertEqual(sum(found[name] for name in names[4:]), PAGES + 2)
            self.assertGreater(found[names[4]], PAGES / 2)
            self.assertGreater(found[names[4 + level]], 0)
        # New pages, in new tables.
        found = self.more(names, "mov (%rbx),%eax; add $0x200000,%rbx",
                          LARGE_BEFORE.format(pages=PAGES), turns=(500, 1500), memory_bytes=1 << 35)
        self.assertGreater(found[names[3]], 0)

    def test_flushes(self):
        """Pages that go: 40 at once, which flush all, and the one page of a mapping."""
        body = """
	mov $9,%eax
	xor %edi,%edi
	mov ${bytes},%esi
	mov $3,%edx
	mov $0x22,%r10d
	mov $-1,%r8
	xor %r9d,%r9d
	syscall
	mov %rax,%rdi
	mov %eax,(%rdi)
	mov $11,%eax			# munmap
	mov ${bytes},%esi
	syscall
"""
        names = ("TLB_FLUSH.DTLB_THREAD", "TLB_FLUSH.STLB_ANY", "ITLB.ITLB_FLUSH")
        self.check({name: 1 for name in names}, body.format(bytes=40 * 4096), turns=(20, 40))
        self.check({name: 0 for name in names}, body.format(bytes=4096), turns=(20, 40))

    def test_branches(self):
        """Of each kind, one that is not taken, and the loop's own, which is."""
        kinds = {"NONTAKEN_CONDITIONAL": 1, "TAKEN_CONDITIONAL": 1, "TAKEN_DIRECT_JUMP": 1,
                 "TAKEN_INDIRECT_JUMP_NON_CALL_RET": 1, "TAKEN_INDIRECT_NEAR_RETURN": 2,
                 "TAKEN_DIRECT_NEAR_CALL": 1, "TAKEN_INDIRECT_NEAR_CALL": 1, "ALL_CONDITIONAL": 2,
                 "ALL_DIRECT_JMP": 1, "ALL_INDIRECT_JUMP_NON_CALL_RET": 1,
                 "ALL_INDIRECT_NEAR_RETURN": 2, "ALL_DIRECT_NEAR_CALL": 1, "ALL_BRANCHES": 8}
        expected = {f"BR_INST_EXEC.{name}": count for name, count in kinds.items()}
        expected |= {"BR_INST_RETIRED.ALL_BRANCHES": 8, "BR_MISP_EXEC.ALL_BRANCHES": 0,
                     "BR_MISP_RETIRED.ALL_BRANCHES": 0}
        self.check(expected, BRANCHES, "", "routine: ret")
        self.check({f"BR_INST_EXEC.{name}": int(name in ("TAKEN_CONDITIONAL", "ALL_CONDITIONAL",
                                                         "ALL_BRANCHES")) for name in kinds}, "")

    def arithmetic(self, suffix, wide=False):
        """Each instruction that computes with such operands, and what all of them count."""
        names = ["add", "sub", "mul", "div", "min", "max", "sqrt"]
        forms = ["vfmadd", "vfmsub", "vfnmadd", "vfnmsub"]
        if suffix[1] == "s":
            names += ["rcp", "rsqrt"]
        if suffix[0] == "p":
            names += ["hadd", "hsub", "addsub"]
            forms += ["vfmaddsub", "vfmsubadd"]
        reg = "%ymm" if wide else "%xmm"
        sources = {name: 1 if name in ("rcp", "rsqrt", "sqrt") and suffix[0] == "p" else 2 for name in names}
        code = [f"{name}{suffix} {'(%rbx)' if name == 'add' else '%xmm1'},%xmm2" for name in names if not wide]
        code += [f"v{name}{suffix} " + f"{reg}1," * sources[name] + f"{reg}2" for name in names]
        fused = [f"{name}{order}{suffix} {reg}1,{reg}2,{reg}3" for name in forms for order in (132, 213, 231)]
        if suffix == "ps" or (suffix == "pd" and not wide):
            fused += [f"vdp{suffix} $255,{reg}1,{reg}2,{reg}3"] + [f"dp{suffix} $255,%xmm1,%xmm2"] * (not wide)
        return ";".join(code + fused), len(code) + 2 * len(fused)

    FLOATS = {"SCALAR_DOUBLE": 1, "SCALAR_SINGLE": 2, "SCALAR": 3, "128B_PACKED_DOUBLE": 4,
              "128B_PACKED_SINGLE": 8, "256B_PACKED_DOUBLE": 16, "DOUBLE": 21, "4_FLOPS": 24,
              "256B_PACKED_SINGLE": 32, "SINGLE": 42, "PACKED": 60, "VECTOR": 252}

    def test_floating_point(self):
        """Of each width and precision, all that compute. A unit mask counts those whose bit it has."""
        for bit, kind, whole in ((1, ("sd",), 38), (2, ("ss",), 42), (4, ("pd",), 60), (8, ("ps",), 64),
                                 (16, ("pd", True), 46), (32, ("ps", True), 50)):
            code, count = self.arithmetic(*kind)
            self.assertEqual(count, whole)
            self.check({f"FP_ARITH_INST_RETIRED.{name}": count * bool(bits & bit)
                        for name, bits in self.FLOATS.items()}, code, "mov $data,%ebx", turns=(200, 400))

    def test_no_floating_point(self):
        """What moves, compares, converts, rounds or shuffles, integers, logic and x87."""
        others = """
	movaps %xmm1,%xmm2; vmovapd %ymm1,%ymm2; movsd (%rbx),%xmm1; movss %xmm1,(%rbx); vbroadcastsd (%rbx),%ymm1
	cmppd $0,%xmm1,%xmm2; cmpss $1,%xmm1,%xmm2; vcmpps $0,%ymm1,%ymm2,%ymm3; ucomisd %xmm1,%xmm2; comiss %xmm1,%xmm2
	cvtsi2sd %eax,%xmm2; cvttsd2si %xmm1,%eax; cvtps2pd %xmm1,%xmm2; cvtsd2ss %xmm1,%xmm2; vcvtdq2ps %ymm1,%ymm2
	roundsd $0,%xmm1,%xmm2; vroundps $0,%ymm1,%ymm2; shufps $1,%xmm1,%xmm2; unpcklpd %xmm1,%xmm2
	blendpd $1,%xmm1,%xmm2; vblendvps %ymm1,%ymm2,%ymm3,%ymm4; vextractf128 $1,%ymm1,%xmm2; movmskpd %xmm1,%eax
	xorps %xmm1,%xmm2; andpd %xmm1,%xmm2; vandnps %ymm1,%ymm2,%ymm3; orps %xmm1,%xmm2
	paddd %xmm1,%xmm2; vpmulld %ymm1,%ymm2,%ymm3; psadbw %xmm1,%xmm2; phaddd %xmm1,%xmm2
	fld1; fldpi; faddp; fsqrt; fstp %st; vzeroupper; imul %eax,%eax
"""
        self.check({f"FP_ARITH_INST_RETIRED.{name}": 0 for name in self.FLOATS}, others,
                   "mov $data,%ebx", turns=(200, 400))

    def test_cycles_of_floating_point(self):
        """Cycles with so many, added up, are all; with those without any they are all cycles."""
        for bit, kind in ((1, ("sd",)), (2, ("ss",)), (4, ("pd",)), (8, ("ps",)), (16, ("pd", True)),
                          (32, ("ps", True))):
            code, count = self.arithmetic(*kind)
            levels = {name: [f"FP_ARITH_INST_RETIRED.{name}:cmask={n}" for n in range(1, 9)]
                      for name in self.FLOATS}
            none = {name: f"FP_ARITH_INST_RETIRED.{name}:cmask=1:inv" for name in self.FLOATS}
            found = self.more([*sum(levels.values(), []), *none.values(), "CPU_CLK_UNHALTED.THREAD_P"], code,
                              "mov $data,%ebx", turns=(200, 400))
            for name, bits in self.FLOATS.items():
                least = [found[level] for level in levels[name]]
                self.assertEqual(sum(least), count * bool(bits & bit), (name, kind))
                self.assertEqual(least, sorted(least, reverse=True))
                self.assertAlmostEqual(least[0] + found[none[name]], found["CPU_CLK_UNHALTED.THREAD_P"],
                                       delta=0.01)

    MISSED = ("NONTAKEN_CONDITIONAL", "TAKEN_CONDITIONAL", "TAKEN_INDIRECT_JUMP_NON_CALL_RET",
              "TAKEN_RETURN_NEAR", "TAKEN_INDIRECT_NEAR_CALL", "ALL_CONDITIONAL",
              "ALL_INDIRECT_JUMP_NON_CALL_RET", "INDIRECT", "ALL_BRANCHES")
    RETIRED = ("ALL_BRANCHES", "ALL_BRANCHES_PEBS", "CONDITIONAL", "RET", "NEAR_TAKEN")

    def mispredicted(self, *kernel):
        found = self.more([f"BR_MISP_EXEC.{name}" for name in self.MISSED] +
                          [f"BR_MISP_RETIRED.{name}" for name in self.RETIRED], *kernel)
        return ({name: found[f"BR_MISP_EXEC.{name}"] for name in self.MISSED},
                {name: found[f"BR_MISP_RETIRED.{name}"] for name in self.RETIRED})

    def test_mispredicted_returns(self):
        """To somewhere else than behind the last call, each turn."""
        executed, retired = self.mispredicted("lea 1f(%rip),%rax; push %rax; ret; 1:")
        self.assertEqual(executed, dict.fromkeys(self.MISSED, 0) | {"TAKEN_RETURN_NEAR": 1,
                                                                   "ALL_BRANCHES": 1})
        self.assertEqual(retired, {"ALL_BRANCHES": 1, "ALL_BRANCHES_PEBS": 1, "CONDITIONAL": 0,
                                   "RET": 1, "NEAR_TAKEN": 1})

    def test_mispredicted_others(self):
        """By chance: a bit of a product decides."""
        chance = "imul $1103515245,%r12d,%r12d; add $12345,%r12d; bt ${bit},%r12d\n"
        executed, retired = self.mispredicted(chance.format(bit=30) + "jc 1f; nop; 1:")
        missed = executed["ALL_BRANCHES"]
        self.assertTrue(0.3 < missed < 0.7, missed)
        self.assertEqual(executed["NONTAKEN_CONDITIONAL"] + executed["TAKEN_CONDITIONAL"], missed)
        self.assertTrue(executed["NONTAKEN_CONDITIONAL"] > 0.1 < executed["TAKEN_CONDITIONAL"])
        self.assertEqual(executed["ALL_CONDITIONAL"], missed)
        self.assertEqual(retired, {"ALL_BRANCHES": missed, "ALL_BRANCHES_PEBS": missed,
                                   "CONDITIONAL": missed, "RET": 0,
                                   "NEAR_TAKEN": executed["TAKEN_CONDITIONAL"]})
        targets = "lea routine(%rip),%rax; lea 16(%rax),%rdx; cmovc %rdx,%rax\n"
        around = "routine: ret; .balign 16; ret"
        executed, retired = self.mispredicted(chance.format(bit=30) + targets + "call *%rax", "", around)
        missed = executed["ALL_BRANCHES"]
        self.assertTrue(0.3 < missed < 0.7, missed)
        self.assertEqual(executed["TAKEN_INDIRECT_NEAR_CALL"], missed)
        self.assertEqual(executed["INDIRECT"], missed)
        self.assertEqual(executed["ALL_CONDITIONAL"], 0)
        self.assertEqual(retired["NEAR_TAKEN"], missed)
        executed, retired = self.mispredicted(
            chance.format(bit=30) + targets.replace("routine", "1f") + "jmp *%rax; .balign 16\n"
            "1: jmp 2f; .balign 16; jmp 2f; 2:")
        missed = executed["ALL_BRANCHES"]
        self.assertTrue(0.3 < missed < 0.7, missed)
        self.assertEqual(executed["TAKEN_INDIRECT_JUMP_NON_CALL_RET"], missed)
        self.assertEqual(executed["ALL_INDIRECT_JUMP_NON_CALL_RET"], missed)

    def test_names_of_one_thing(self):
        """A core has one thread here, and nothing runs on a wrong path."""
        pairs = [(f"UOPS_EXECUTED_PORT.PORT_{n}", f"UOPS_EXECUTED_PORT.PORT_{n}_CORE",
                  f"UOPS_DISPATCHED_PORT.PORT_{n}") for n in range(8)]
        pairs += [
            ("INT_MISC.RECOVERY_CYCLES", "INT_MISC.RECOVERY_CYCLES_ANY"),
            ("CPU_CLK_UNHALTED.THREAD_P", "CPU_CLK_UNHALTED.THREAD_P_ANY"),
            ("CPU_CLK_UNHALTED.REF_XCLK", "CPU_CLK_UNHALTED.REF_XCLK_ANY",
             "CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE", "CPU_CLK_THREAD_UNHALTED.REF_XCLK",
             "CPU_CLK_THREAD_UNHALTED.REF_XCLK_ANY", "CPU_CLK_THREAD_UNHALTED.ONE_THREAD_ACTIVE"),
            ("L1D_PEND_MISS.PENDING_CYCLES", "L1D_PEND_MISS.PENDING_CYCLES_ANY"),
            ("CYCLE_ACTIVITY.CYCLES_L2_PENDING", "CYCLE_ACTIVITY.CYCLES_L2_MISS"),
            ("CYCLE_ACTIVITY.CYCLES_L1D_PENDING", "CYCLE_ACTIVITY.CYCLES_L1D_MISS"),
            ("CYCLE_ACTIVITY.STALLS_L2_PENDING", "CYCLE_ACTIVITY.STALLS_L2_MISS"),
            ("CYCLE_ACTIVITY.STALLS_L1D_PENDING", "CYCLE_ACTIVITY.STALLS_L1D_MISS"),
            ("CYCLE_ACTIVITY.STALLS_TOTAL", "CYCLE_ACTIVITY.CYCLES_NO_EXECUTE"),
            ("CYCLE_ACTIVITY.STALLS_LDM_PENDING", "CYCLE_ACTIVITY.STALLS_MEM_ANY"),
            ("UOPS_EXECUTED.THREAD", "UOPS_EXECUTED.CORE"),
            ("UOPS_EXECUTED.STALL_CYCLES", "UOPS_EXECUTED.CORE_CYCLES_NONE")]
        pairs += [(f"UOPS_EXECUTED.CYCLES_GE_{n}_UOP{'S' if n > 1 else ''}_EXEC",
                   f"UOPS_EXECUTED.CORE_CYCLES_GE_{n}") for n in range(1, 5)]
        # All ports, dependences on memory, mispredictions.
        body = """
	imul $1103515245,%r12d,%r12d
	add $12345,%r12d
	bt $30,%r12d
	jc 1f
	mov %r12d,8(%rbx)
	mov %r12d,8(%rbx,%rcx)
1:	mov (%rbx),%rax
	add %rax,%rbx
	movaps %xmm0,%xmm1
	shufps $1,%xmm1,%xmm2
	mulps %xmm1,%xmm2
	add $4096+64,%rbx
	cmp %rsi,%rbx
	cmovae %rdi,%rbx
"""
        for names in pairs:
            found = {}
            for name in names:
                found |= self.more([name], body, "xor %ecx,%ecx;" + STRIDE_BEFORE.format(pages=1000))
            self.assertEqual(len(set(found.values())), 1, found)
            self.assertGreater(found[names[0]], 0, names)

    def test_cycles_of_one_and_of_six_requests(self):
        names = {"CYCLES_WITH_DEMAND_DATA_RD": "DEMAND_DATA_RD:cmask=1", "DEMAND_DATA_RD_GE_6":
                 "DEMAND_DATA_RD:cmask=6", "CYCLES_WITH_DATA_RD": "ALL_DATA_RD:cmask=1",
                 "CYCLES_WITH_DEMAND_RFO": "DEMAND_RFO:cmask=1"}
        for access, counted in (("mov (%rbx),%eax", ("CYCLES_WITH_DEMAND_DATA_RD", "DEMAND_DATA_RD_GE_6",
                                                     "CYCLES_WITH_DATA_RD")),
                                ("mov %eax,(%rbx)", ("CYCLES_WITH_DEMAND_RFO",))):
            for name, threshold in names.items():
                found = self.more([f"OFFCORE_REQUESTS_OUTSTANDING.{name}"], STRIDE.format(access=access),
                                  STRIDE_BEFORE.format(pages=PAGES), translation="none")
                count = next(iter(found.values()))
                self.assertEqual(count > 0, name in counted, (name, count))

    FRONT = ["UOPS_ISSUED.ANY", "IDQ.MITE_UOPS", "IDQ.DSB_UOPS", "IDQ.MS_UOPS", "LSD.UOPS", "ILD_STALL.LCP",
             "DSB2MITE_SWITCHES.PENALTY_CYCLES", "IDQ_UOPS_NOT_DELIVERED.CORE"]

    def front(self, body, turns=(200, 400), **keys):
        """As FRONT has them, by the turn: they are the program's own but for a few of its end."""
        found = self.more(self.FRONT, body, turns=turns, **keys)
        return [found[name] for name in self.FRONT]

    def check_front(self, body, uops, decoded, kept, looped, prefixes, late, **keys):
        found = self.front(body, **keys)
        expected = [uops, decoded, kept, 0, looped, prefixes, 0, late]
        for name, count, wanted in zip(self.FRONT, found, expected):
            self.assertAlmostEqual(count, wanted, delta=max(0.01 * wanted, 0.1), msg=(name, body))

    def test_code_used_again_is_kept(self):
        """Seventeen windows of one set, in turn, are more than its ways: each is decoded anew. Between
        them goes another one of that set: that stays."""
        body = """
	jmp 1f
	.p2align 10
9:	jmp *%r8
	.rept 16
	.p2align 10
1:	lea 1f(%rip),%r8
	jmp 9b
	.endr
	.p2align 10
1:	jmp 2f
	.space 512
2:
"""
        found = self.more(["IDQ.MITE_UOPS", "IDQ.DSB_UOPS"], body, turns=(200, 400))
        self.assertEqual(found, {"IDQ.MITE_UOPS": 2 * 16 + 1, "IDQ.DSB_UOPS": 16 + 2})

    def test_where_code_comes_from(self):
        """Nops of 8 bytes: 2,000 are more windows of 32 bytes than 256 ways, and come two in a cycle,
        the 16 bytes that are fetched; 200 are kept, and a loop of 40 has a buffer. A prefix changes
        the length of 640 in 10 KB, for 3 cycles each, 12 micro-operations, where it is decoded; of 16
        bytes fetched four could be issued, and are three."""
        nop = ".byte 0x0f,0x1f,0x84,0,0,0,0,0;"
        prefixed = f".rept {{}}; add $0x1000,%cx; {nop} nopl (%rax); add $0x1000,%dx; {nop} nopl (%rax); .endr"
        self.check_front(f".rept 2000; {nop} .endr", 2001, 2001, 0, 0, 0, 4000 - 2000)
        self.check_front(f".rept 200; {nop} .endr", 201, 0, 201, 0, 0, 0)
        self.check_front(f".rept 40; {nop} .endr", 41, 0, 0, 41, 0, 0, turns=(4000, 8000))
        self.check_front(prefixed.format(320), 1921, 1921, 0, 0, 3 * 640, 16 * 640 - 1920)
        self.check_front(prefixed.format(40), 241, 0, 241, 0, 0, 0)

    def test_microcode(self):
        """A division has 36 micro-operations, more than a decoder makes; of 32 bits 10, too."""
        for size, uops in (("q", 36), ("l", 10)):
            found = self.more(["IDQ.MS_UOPS", "IDQ.MS_SWITCHES", "IDQ.MS_DSB_OCCUR", "IDQ.MS_MITE_UOPS"],
                              f"mov $1,%eax; xor %edx,%edx; mov $1,%ecx; div{size} %{'r' if size == 'q' else 'e'}cx")
            self.assertEqual(list(found.values()), [uops, 1, 1, 0])
        found = self.more(["IDQ.MS_UOPS", "IDQ.MS_SWITCHES"], "mov $1,%eax; imul %eax,%ecx")
        self.assertEqual(list(found.values()), [0, 0])

    def test_empty_queue(self):
        """A return to somewhere else is known after its load; then 14 cycles pass, and nothing waits."""
        self.check({"IDQ.EMPTY": 14, "BR_MISP_RETIRED.RET": 1, "ICACHE.IFDATA_STALL": 0},
                   "lea 1f(%rip),%rax; push %rax; ret; 1:")
        self.check({"IDQ.EMPTY": 0, "ICACHE.IFDATA_STALL": 0}, "imul %eax,%eax; imul %eax,%eax")

    def test_waits_for_code(self):
        """Twenty lines of one set come from L2, 12 cycles each; pages that the second level has take 7
        more, in which no line is waited for yet."""
        lines = "".join(f".balign 4096\n{n}:jmp {n + 1}f\n" for n in range(1, 20))
        names = ["ICACHE.IFDATA_STALL", "ICACHE.MISSES", "IDQ.EMPTY",
                 "IDQ_UOPS_NOT_DELIVERED.CYCLES_0_UOPS_DELIV.CORE"]
        wait, misses, empty, late = self.more(names, "jmp 1f\nback:", "", lines + ".balign 4096\n20:jmp back",
                                              translation="none").values()
        self.assertEqual(misses, 20)
        self.assertEqual(wait, 12 * 20)
        self.assertEqual(empty, late)
        wait, misses, _, late, pages = self.more([*names, "ITLB_MISSES.STLB_HIT"], "jmp first\nback:", "",
                                                 code(500), turns=(20, 40)).values()
        self.assertEqual(pages, 502)
        self.assertEqual(wait, 12 * misses)
        self.assertGreaterEqual(late, wait + 7 * pages)

    def test_requests_of_l2(self):
        """A load of a line that the LLC has is looked up and filled; a store's line is displaced too, from
        L1D and from L2."""
        for access, count in ("mov (%rbx),%eax", 2), ("mov %eax,(%rbx)", 4):
            self.check({"L2_TRANS.ALL_REQUESTS": count}, f"""
	{access}
	add $64,%rbx
	cmp %rsi,%rbx
	cmovae %rdi,%rbx
""", "mov $data,%edi; mov %rdi,%rbx; mov $data+0x100000,%esi", turns=(1 << 15, 1 << 16), translation="none")

    def test_switches_to_decoders(self):
        """A window of 32 nops has more operations than three ways: it is decoded each time."""
        self.check({"DSB2MITE_SWITCHES.PENALTY_CYCLES": 1, "IDQ.MITE_UOPS": 32, "IDQ.DSB_UOPS": 3},
                   ".p2align 5; .rept 32; nop; .endr; jmp 1f; .p2align 5; 1: nop")

    def test_front_end(self):
        """Lines of code that come from L2, and are decoded then: an operation of one in a cycle."""
        lines = "".join(f".balign 4096\n{n}:jmp {n + 1}f\n" for n in range(1, 20))
        found = self.more(["IDQ_UOPS_NOT_DELIVERED.CORE"] + [
            f"IDQ_UOPS_NOT_DELIVERED.CYCLES_{name}" for name in (
                "0_UOPS_DELIV.CORE", "LE_1_UOP_DELIV.CORE", "LE_2_UOP_DELIV.CORE",
                "LE_3_UOP_DELIV.CORE", "FE_WAS_OK")] + ["CPU_CLK_UNHALTED.THREAD_P"],
            "jmp 1f\nback:", "", lines + ".balign 4096\n20:jmp back", translation="none")
        none, *least, fine = list(found.values())[1:-1]
        self.assertGreater(none, 0)
        self.assertEqual(least, sorted(least))
        self.assertAlmostEqual(none + sum(least), found["IDQ_UOPS_NOT_DELIVERED.CORE"], delta=0.01)
        self.assertAlmostEqual(least[-1] + fine, found["CPU_CLK_UNHALTED.THREAD_P"], delta=0.01)


if __name__ == "__main__":
    unittest.main()
