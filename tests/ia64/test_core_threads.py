#!/usr/bin/env python3
"""Counts of cores whose threads meet: lines that one takes from the other, and waiting."""
import unittest

from core_programs import ENDS, PING_PONG, TWO_THREADS, Case, stat

LINE_FLITS = 18  # 323602-001 table 5-36, twice
CORE_MHZ = 1733  # machines/parts/itanium-9350
SNOOP = 30  # fabric cycles of 1200 MHz: machines/uarch/itanium-9300.json

# The second thread does BODY; the first one waits for it, in a line of code that holds a word too.
PROGRAM = TWO_THREADS + """	movl r20=flag
	movl r21=word
	movl r22=time
	mov r25=1;;
(p8)	br.cond.sptk second
	br.sptk wait
	.align 128
wait:
	ld4.acq r27=[r20];;
	cmp4.eq p6,p7=r25,r27
(p7)	br.cond.spnt wait;;
	br.sptk done
	.align 16
word:	.skip 16
	.align 128
done:
	mov r15=1236			// exit_group
	mov r40=0;;
	break.i 0x100000;;
	.align 128
second:
{body}
	;;
	st4.rel [r20]=r25
	mov r15=1025
	mov r40=0;;
	break.i 0x100000;;
	.endp _start
	.section .data
	.align 128
flag:	.skip 128
time:	data8 0, {number}
"""
# Writes next to the waiting thread's code, and lets it come back there before the next time.
STORES = """
	mov r28={number}-1;;
again:
	st4 [r21]=r25
	mov r29=3000;;
	mov ar.lc=r29;;
1:	br.cloop.sptk 1b;;
	cmp.ne p6,p7=0,r28
	add r28=-1,r28;;
(p6)	br.cond.sptk again;;
"""
# In each turn the first thread reads a line of code, and the second one executes it.
CODE = PING_PONG.replace("	movl r29=data\n", """	movl r29=data
	movl r22=lines
	movl r23=back;;
	mov b6=r23
""").replace("	.section .bss\n", """	.align 256
lines:	.rept 2500
	.align 256
	nop.m 0
	nop.i 0
	br.cond.sptk.few b6;;
	.endr
	.section .bss
""")
EXECUTED = """
(p9)	{read}
(p8)	mov b7=r22;;
(p8)	br.cond.sptk.few b7;;
back:	add r22=256,r22;;
"""
# Both threads go over the same lines, the first one at the end waits for the second.
SAME_LINES = TWO_THREADS + """	movl r20=flag
	movl r29=data
	movl r24={turns}-1;;
	mov ar.lc=r24;;
again:
	{body}
	br.cloop.sptk again;;
(p9)	br.cond.sptk wait
	st8.rel [r20]=r20
	mov r15=1025
	mov r40=0;;
	break.i 0x100000;;
wait:
	ld8.acq r27=[r20];;
	cmp.eq p6,p7=r27,r0
(p6)	br.cond.spnt wait;;
	mov r15=1236
	mov r40=0;;
	break.i 0x100000;;
	.endp _start
	.section .bss
	.align 128
flag:	.skip 128
data:	.skip 128*16*2500
"""
SLEEP = "	mov r15=1168; mov r40=r22; mov r41=0;; break.i 0x100000;;"

HANDED = {"CPE_BLD_HOM.ANY": 8, "CPE_BLD_HOM.RdData": 2, "CPE_BLD_HOM.InvItoE": 2,
          "CPE_BLD_HOM.EvctCln": 0,
          "CPE_BLD_HOM.RdInvOwn": 0, "CPE_BLD_HOM.RdCode": 0, "CPE_BLD_HOM.WbMtol": 0,
          "CPE_BLD_HOM.RspIS": 2, "CPE_BLD_HOM.RspFwdSWb": 2, "CPE_BLD_HOM.RspFwdS": 0,
          "CPE_BLD_HOM.RspFwd": 0, "CPE_BLD_DRSNCS.ANY_DRS": 4, "CPE_BLD_DRSNCS.DataC_S": 2,
          "CPE_BLD_DRSNCS.DataC_E": 0, "CPE_BLD_DRSNCS.DataC_M": 0, "CPE_BLD_DRSNCS.WbSData": 2,
          "CPE_BLD_DRSNCS.WbIData": 0, "CPE_RIP_DRS.Any": 2, "CPE_RIP_DRS.DataC_S": 2,
          "CPE_RIP_DRS.DataC_E": 0, "CPE_RIP_DRS.DataC_M": 0, "CPE_RIP_DRS.DataC_S_Cmp": 0,
          "CPE_RIP_DRS.DataC_E_Cmp": 0, "CPE_RIP_NDRNCBSNP.Any_NDR": 4, "CPE_RIP_NDRNCBSNP.Cmp": 2,
          "CPE_RIP_NDRNCBSNP.GntECmp": 2, "CPE_RIP_NDRNCBSNP.Any_SNP": 4,
          "CPE_RIP_NDRNCBSNP.SnpData": 2, "CPE_RIP_NDRNCBSNP.SnpCode": 0,
          "CPE_RIP_NDRNCBSNP.SnpInvOwn": 0, "CPE_RIP_NDRNCBSNP.SnpInvItoE": 2,
          "CPE_QPI_RSP.SNP_RCAP": 0, "CPE_QPI_RSP.SNP_REG": 4, "CPE_EXT_SNP.SNP_ACC": 4,
          # Lines are whole, and go to who reads them or writes to them.
          "CPE_BLD_HOM.RspFwdIWb": 0, "CPE_BLD_HOM.RspSWb": 0, "CPE_BLD_DRSNCS.WbEData": 0,
          "CPE_BLD_HOM.RspIWb": 0, "CPE_RIP_DRS.DataC_S_FrcAckCnflct": 0,
          "CPE_RIP_NDRNCBSNP.FrcAck": 0,
          "CPE_RIP_DRS.DataC_M_Cmp": 0, "CPE_RIP_DRS.DataC_M_FrcAckCnflct": 0,
          "CPE_CPB_MISC.ALLOC_CLN": 0, "CPE_CPB_MISC.ALLOC_MOD": 0, "CPE_QPI_RSP.SNP_BRB": 0,
          "CPE_QPI_RSP.SNP_RCLSC": 0, "ER_SNP_DATA.64B": 0, "ER_SNP_INV.64B": 0,
          # Who reads it finds it modified, who takes it finds the one copy of the reader's.
          "ER_SNP_ALL.HITM": 2, "ER_SNP_ALL.HIT": 2, "ER_SNP_DATA.HIT": 0, "ER_SNP_INV.HITM": 0,
          "L2D_FILL_MESI_STATE.S": 2}
PACKETS = {
    "": {},
    # The second to read it has it from the first one, who has it alone and unchanged.
    "ld8 r28=[r29],128;;": {
        "ER_SNP_ALL.HIT": 1, "ER_SNP_DATA.HIT": 1, "L2D_FILL_MESI_STATE.S": 1,
        "CPE_BLD_HOM.ANY": 3, "CPE_BLD_HOM.RdData": 2, "CPE_BLD_HOM.RspFwdS": 1,
        "CPE_BLD_DRSNCS.ANY_DRS": 1, "CPE_BLD_DRSNCS.DataC_S": 1, "CPE_RIP_DRS.Any": 2,
        "CPE_RIP_DRS.DataC_S": 1, "CPE_RIP_DRS.DataC_E_Cmp": 1, "CPE_RIP_NDRNCBSNP.Any_NDR": 1,
        "CPE_RIP_NDRNCBSNP.Cmp": 1, "CPE_RIP_NDRNCBSNP.Any_SNP": 1, "CPE_RIP_NDRNCBSNP.SnpData": 1,
        "CPE_QPI_RSP.SNP_REG": 1, "CPE_EXT_SNP.SNP_ACC": 1},
    # And once more from memory, when it has flushed it, of which the home agent is told: the first
    # one has it still.
    "(p9) ld8 r28=[r29],128;; (p8) ld8 r28=[r29];; (p8) fc r29;; (p8) ld8 r28=[r29],128;;": {
        "ER_SNP_ALL.HIT": 1, "ER_SNP_DATA.HIT": 1, "L2D_FILL_MESI_STATE.S": 2,
        "CPE_BLD_HOM.ANY": 5, "CPE_BLD_HOM.EvctCln": 1, "CPE_BLD_HOM.RdData": 3, "CPE_BLD_HOM.RspFwdS": 1,
        "CPE_BLD_DRSNCS.ANY_DRS": 1, "CPE_BLD_DRSNCS.DataC_S": 1, "CPE_RIP_DRS.Any": 3,
        "CPE_RIP_DRS.DataC_S": 1, "CPE_RIP_DRS.DataC_E_Cmp": 1, "CPE_RIP_DRS.DataC_S_Cmp": 1,
        "CPE_RIP_NDRNCBSNP.Any_NDR": 2, "CPE_RIP_NDRNCBSNP.Cmp": 2, "CPE_RIP_NDRNCBSNP.Any_SNP": 1,
        "CPE_RIP_NDRNCBSNP.SnpData": 1, "CPE_QPI_RSP.SNP_REG": 1, "CPE_EXT_SNP.SNP_ACC": 1},
    "(p9) ld8 r28=[r29],128;; (p8) st8 [r29]=r25,128;;": {
        "ER_SNP_ALL.HIT": 1,
        "CPE_BLD_HOM.ANY": 3, "CPE_BLD_HOM.RdData": 1, "CPE_BLD_HOM.RdInvOwn": 1,
        "CPE_BLD_HOM.RspFwd": 1, "CPE_BLD_DRSNCS.ANY_DRS": 1, "CPE_BLD_DRSNCS.DataC_E": 1,
        "CPE_RIP_DRS.Any": 2, "CPE_RIP_DRS.DataC_E": 1, "CPE_RIP_DRS.DataC_E_Cmp": 1,
        "CPE_RIP_NDRNCBSNP.Any_NDR": 1, "CPE_RIP_NDRNCBSNP.Cmp": 1, "CPE_RIP_NDRNCBSNP.Any_SNP": 1,
        "CPE_RIP_NDRNCBSNP.SnpInvOwn": 1, "CPE_QPI_RSP.SNP_REG": 1, "CPE_EXT_SNP.SNP_ACC": 1},
    "st8 [r21]=r25;;": {
        "ER_SNP_ALL.HITM": 2, "ER_SNP_INV.HITM": 2,
        "CPE_BLD_HOM.ANY": 4, "CPE_BLD_HOM.RdInvOwn": 2, "CPE_BLD_HOM.RspFwd": 2,
        "CPE_BLD_DRSNCS.ANY_DRS": 2, "CPE_BLD_DRSNCS.DataC_M": 2, "CPE_RIP_DRS.Any": 2,
        "CPE_RIP_DRS.DataC_M": 2, "CPE_RIP_NDRNCBSNP.Any_NDR": 2, "CPE_RIP_NDRNCBSNP.Cmp": 2,
        "CPE_RIP_NDRNCBSNP.Any_SNP": 2, "CPE_RIP_NDRNCBSNP.SnpInvOwn": 2, "CPE_QPI_RSP.SNP_REG": 2,
        "CPE_EXT_SNP.SNP_ACC": 2},
}


class Test(Case):
    def count(self, program, events, **values):
        command = self.assemble(program.format(**values), "-N", "--no-warn-rwx-segments")
        counts = {}
        events = list(events)
        while events:
            counts.update(stat("itanium-9300-1s", command, events[:6]))
            events = events[6:]
        return counts

    def test_line_of_code(self):
        """Each store takes the line from the other's L2I; its fetch gets it back from the L2D that
        wrote it, by way of memory."""
        wanted = {"L2I_SNOOP_HITS": 1, "L1I_SNOOP": 2, "ER_SNP_INV.ALL": 1, "ER_SNP_CODE.ALL": 1,
                  "ER_SNP_CODE.HITM": 1, "ER_SNP_CODE.IMPWB": 1, "CPE_BLD_HOM.RdCode": 1,
                  "CPE_RIP_NDRNCBSNP.SnpCode": 1, "CPE_RIP_NDRNCBSNP.SnpInvItoE": 1,
                  "CPE_RIP_NDRNCBSNP.SnpInvOwn": 0,
                  "CPE_BLD_HOM.RspFwdSWb": 1, "CPE_BLD_HOM.RspIS": 1, "CPE_RIP_DRS.DataC_S": 1,
                  "ER_SNP_ALL.IMPWB": 1,
                  "ER_SNP_DATA.IMPWB": 0, "L2D_STORE_HIT_SHARED.ANY": 1,
                  "ER_SNOOPQ_LIVE_LO": 2 * (SNOOP * CORE_MHZ // 1200)}
        few, many = (self.count(PROGRAM.replace("{body}", STORES), wanted, number=n)
                     for n in (20, 60))
        for event, count in wanted.items():
            self.assertEqual(many[event] - few[event], 40 * count, event)

    def test_code_as_data(self):
        """The second one's fetch finds a line that the first one has alone and did not change, or that
        nobody has."""
        for read, times in ("ld8 r28=[r22]", 1), ("nop.m 0", 0):
            wanted = {"ER_SNP_CODE.ALL": times, "ER_SNP_CODE.HIT": times, "ER_SNP_CODE.HITM": 0,
                      "ER_SNP_CODE.IMPWB": 0, "CPE_RIP_NDRNCBSNP.SnpCode": times,
                      "CPE_BLD_HOM.RspFwdS": times, "CPE_BLD_HOM.RdCode": 1,
                      "CPE_BLD_HOM.RdData": 2 + times, "L2I_SNOOP_HITS": 0}
            few, many = (self.count(CODE, wanted, turns=t, body=EXECUTED.replace("{read}", read))
                         for t in (500, 2500))
            for event, count in wanted.items():
                self.assertAlmostEqual(many[event] - few[event], 2000 * count,
                                       delta=ENDS * 2 * (count != 0), msg=(read, event))

    def test_conflicts(self):
        """Each line is snooped once, as one core reads it from memory and the other one takes it from
        there. On its way a snoop may overtake a line that links have made late: each conflict is
        acknowledged, and takes one Cmp_Fwd of the snoop's kind."""
        forwards = "CmpFwdCode", "CmpFwdInvOwn", "CmpFwdInvItoE"
        events = ["CPE_QPI_RSP.SNP_REG", "CPE_QPI_RSP.SNP_CONF", "CPE_QPI_RSP.CFWD_ORB",
                  "CPE_BLD_HOM.RspCnflct", "CPE_BLD_HOM.AckCnflct", "CPE_EXT_SNP.SNP_ACC",
                  *(f"CPE_RIP_NDRNCBSNP.{name}" for name in forwards), "CPE_RIP_NDRNCBSNP.Any_NDR",
                  "CPE_RIP_NDRNCBSNP.Any_SNP", "CPE_RIP_DRS.Any", "CPE_BLD_HOM.ANY",
                  "CPE_BLD_DRSNCS.ANY_DRS", "CPE_LNK.OUT_VLD", "CPE_LNK.IN_VLD", "ER_SNP_ALL.ALL",
                  "ER_SNP_CODE.ALL", "ER_BRQ_LOCK", "rbox8.FLITS_RCVD", "rbox8.FLITS_SENT",
                  "bbox.SNP_REQ_ALL"]
        for body, kind in (("ldf8 f6=[r29],128", forwards[0]), ("st8 [r29]=r0,128", forwards[1])):
            program = self.assemble(SAME_LINES.format(turns=2500, body=f"{body};;" * 16), "-N",
                                    "--no-warn-rwx-segments")
            counts = {}
            for n in range(0, len(events), 6):
                counts.update(stat("itanium-9300-2s", program, events[n:n + 6]))
            found = {event.partition(".")[2]: counts[event] for event in events}
            conflicts, snoops = found["SNP_CONF"], found["Any_SNP"]
            self.assertGreater(conflicts, 40)
            for event in ("CFWD_ORB", "RspCnflct", "AckCnflct", kind):
                self.assertEqual(found[event], conflicts, (body, event))
            self.assertEqual(sum(found[name] for name in forwards), conflicts)
            self.assertAlmostEqual(snoops, 16 * 2500, delta=ENDS)
            self.assertEqual(found["SNP_REG"] + conflicts, snoops)
            self.assertEqual(found["SNP_REQ_ALL"], snoops)
            self.assertEqual(found["SNP_ACC"], snoops + conflicts)
            self.assertEqual(counts["ER_SNP_ALL.ALL"], snoops + conflicts)
            if kind == "CmpFwdCode":
                self.assertEqual(counts["ER_SNP_CODE.ALL"], conflicts)
            self.assertLess(counts["ER_BRQ_LOCK"], conflicts)
            sent = counts["CPE_BLD_HOM.ANY"] + LINE_FLITS * found["ANY_DRS"]
            came = found["Any_NDR"] + snoops + LINE_FLITS * found["Any"]
            self.assertEqual((found["OUT_VLD"], found["IN_VLD"]), (sent, came))
            for socket in range(2):
                for core, port in ("OUT_VLD", "FLITS_RCVD"), ("IN_VLD", "FLITS_SENT"):
                    self.assertEqual(counts["CPE_LNK." + core, socket, 0],
                                     counts["rbox8." + port, socket, 8])

    def test_line_of_data(self):
        """As test_uncore's: the line is read from who wrote it, and then taken from who reads it."""
        wanted = {"ER_SNP_DATA.IMPWB": 2, "ER_SNP_ALL.IMPWB": 2, "ER_SNP_CODE.IMPWB": 0,
                  "L1I_SNOOP": 4, "L2I_SNOOP_HITS": 0, "ER_SNOOPQ_LIVE_HI": 0}
        few, many = (self.count(PING_PONG, wanted, turns=t, body="") for t in (500, 2500))
        for event, count in wanted.items():
            self.assertAlmostEqual(many[event] - few[event], 2000 * count,
                                   delta=ENDS * 2 * (count != 0), msg=event)

    def test_snoops_at_once(self):
        """The first thread claims sixteen lines, which the second one reads then: sixteen snoops of
        the second's core, and of the first's, come within the time that one takes. Eight find a place,
        and the others begin when these end; so a core is at eight of them from when the eighth comes
        until two such times after the first. The flag's line takes four more, two of each kind."""
        body = "mov r28=r29; mov r30=r29;;" + \
            "(p9) st8 [r28]=r25,128\n (p8) ldf8 f6=[r30],128;;\n" * 16
        took = SNOOP * CORE_MHZ // 1200
        events = ["CPE_QPI_RSP.SNP_REG", "CPE_QPI_RSP.SNP_RCAP", "CPE_RIP_NDRNCBSNP.SnpInvItoE",
                  "ER_SNOOPQ_LIVE_LO", "ER_SNOOPQ_LIVE_HI"]
        few, many = (self.count(PING_PONG, events, turns=t, body=body) for t in (500, 2500))
        snoops, waited, claims, low, high = ((many[e] - few[e]) / 2000 for e in events)
        self.assertAlmostEqual(snoops, 36, delta=0.1)
        self.assertAlmostEqual(waited, 16, delta=0.1)
        self.assertAlmostEqual(claims, 18, delta=0.1)
        self.assertAlmostEqual(low + 8 * high, 36 * took, delta=0.1 * took)
        self.assertLess(high, 2 * 2 * took)
        self.assertGreater(high, 2 * (2 * took - 7 * 3))

    def test_packets(self):
        """What handing a line over takes: twice a turn it is read from who wrote it (RdData, SnpData,
        RspFwdSWb with WbSData and DataC_S), and taken from who reads it (InvItoE, SnpInvItoE, RspI,
        GntE_Cmp). And what comes on top for lines that both read, that one writes to after the other
        one has read them, and that both write to."""
        for body, more in PACKETS.items():
            wanted = {event: count + more.get(event, 0) for event, count in HANDED.items()}
            wanted["CPE_LNK.OUT_VLD"] = wanted["CPE_BLD_HOM.ANY"] + \
                LINE_FLITS * wanted["CPE_BLD_DRSNCS.ANY_DRS"]
            wanted["CPE_LNK.IN_VLD"] = wanted["CPE_RIP_NDRNCBSNP.Any_NDR"] + \
                wanted["CPE_RIP_NDRNCBSNP.Any_SNP"] + LINE_FLITS * wanted["CPE_RIP_DRS.Any"]
            few, many = (self.count(PING_PONG, wanted, turns=t, body=body) for t in (500, 2500))
            for event, count in wanted.items():
                size = LINE_FLITS if "LNK" in event else 1
                self.assertAlmostEqual(many[event] - few[event], 2000 * count,
                                       delta=ENDS * 2 * size * (count != 0), msg=(body, event))

    def test_sleep(self):
        """A sleeping thread's core is halted, and counts no other cycles."""
        events = ["CPU_OP_CYCLES_HALTED", "CPU_OP_CYCLES.ALL"]
        few, many = (self.count(PROGRAM.replace("{body}", SLEEP), events, number=n)
                     for n in (1000000, 3000000))
        core = 0, 1  # socket, instance
        self.assertEqual(many[(events[0], *core)] - few[(events[0], *core)], 2000 * CORE_MHZ)
        self.assertEqual(many[(events[1], *core)], few[(events[1], *core)])
        self.assertEqual(many[(events[0], 0, 0)], 0)


if __name__ == "__main__":
    unittest.main()
