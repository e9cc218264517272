#!/usr/bin/env python3
"""Counts outside of the cores of the Itanium machines: of kernels whose traffic is known by
construction, of a twin that has none, and laws that hold on any program."""
import json
import os
import pathlib
import subprocess
import unittest

from core_programs import ENDS, PING_PONG, PMULAB, TWO_THREADS, Case, stat

PROGRAMS = pathlib.Path(__file__).parent / "programs"
TURNS = 500, 2500  # the smaller one is more than the caches' ways
PARAMS = {"read": 153, "home": 16, "reply": 8, "write": 60, "dispatch": 4, "ranks": 4,
          "refresh": 9360, "refresh_cycles": 132, "write_frames": 8}  # uarch/itanium-9300.json

PROGRAM = """
	.text
	.global _start
	.proc _start
_start:
	alloc r32=ar.pfs,0,8,8,0
	movl r14=data+{offset}
	movl r20=524288
	movl r21=data+{offset}+32*524288
	movl r33={turns}-1;;
	mov r17=r14
	mov ar.lc=r33;;
	.align 64
again:
	{body}
	cmp.eq p8,p9=r17,r21;;
(p8)	mov r17=r14
	br.cloop.sptk.few again;;
	mov r15=1025
	mov r40=0;;
	break.i 0x100000;;
	.endp _start
	.section .bss
	.align 16384
data:	.skip 16777216+16384
"""
# A step of 4096 lines: all are of one home agent, one set of the L3 and one of the L2D.
READ = "ld8 r16=[r17]; add r17=r20,r17;; add r22=r16,r0;;"
# Waits for the line, so that it is not read again while it is on its way to memory.
WRITE = "st8 [r17]=r0;; ld8 r16=[r17]; add r17=r20,r17;; add r22=r16,r0;;"
# Two threads: the first one sleeps, and the other one is over.
SLEEP = TWO_THREADS + """	movl r40=time;;
(p8)	mov r15=1025			// exit
(p9)	mov r15=1168			// nanosleep
(p8)	mov r40=0
	mov r41=0;;
	break.i 0x100000;;
	mov r15=1236			// exit_group
	mov r40=0;;
	break.i 0x100000;;
	.endp _start
	.section .data
	.align 16
time:	data8 0, {turns}
"""
NOTHING = "nop.m 0; add r17=r20,r17;;"

# What one turn adds: of reads, each with a line that leaves clean, of which the home agent is told
# (EvctCln, Cmp); of writes, each with a line that leaves modified.
TURN = {
    "bbox0.IMT_ALLOC": (2, 2),
    "bbox0.IMT_POP_CFL": (0, 0),
    "bbox0.IOB_IN_PKTS.RHNID": (2, 2),
    "bbox0.IOB_IN_PKTS.RHNID:class_in=HOM0:opcode_in=HOM0.RdData": (1, 0),
    "bbox0.IOB_IN_PKTS.RHNID:class_in=HOM0:opcode_in=HOM0.RdInvOwn": (0, 1),
    "bbox0.IOB_IN_PKTS.RHNID:class_in=HOM0:opcode_in=HOM0.WbMtoI": (0, 1),
    "bbox0.IOB_IN_PKTS.RHNID:class_in=HOM0:opcode_in=HOM0.EvctCln": (1, 0),
    "bbox0.IOB_OUT_PKTS.RHNID:class_out=DRS:opcode_out=DRS.DataC_Cmp": (1, 1),
    "bbox0.IOB_OUT_PKTS.RHNID:class_out=NDR:opcode_out=NDR.Cmp": (1, 1),
    "bbox0.IOB_INSERTS.IN_PKTS.RHNID": (2, 2),
    "bbox0.IOB_REMOVES.IN_PKT_COMPLETES": (2, 2),
    "bbox0.BZ_ACK_ALL": (1, 2),
    "bbox0.BZ_ACK": (2, 3),
    "bbox0.BZ_ACK:z_op=1": (1, 1),
    "bbox0.BZ_ACK:z_op=2": (0, 1),
    "bbox0.BZ_ACK:z_op=0x40": (1, 1),
    "bbox0.SNP_REQ_ALL": (0, 0),
    "bbox0.SNP_RSP_ALL": (0, 0),
    "bbox1.IMT_ALLOC": (0, 0),
    "bbox0.IMT_FULL": (0, 0),
    "bbox0.ARB_Q0_INSERTS.COHQ": (0, 0),
    "bbox0.ARB_Q0_INSERTS.ANY_CFL": (0, 0),
    "bbox0.ARB_Q1_INSERTS": (0, 0),
    "zbox0.BBOX_CMDS_ALL": (2, 3),
    "zbox0.INFLIGHT_CMD": (1, 2),
    "zbox0.SCHDLR_INFLIGHT_CMDS": (1, 2),
    "zbox0.FVC_EV0.BBOX_CMDS.READS": (1, 1),
    "zbox0.FVC_EV1.BBOX_CMDS.WRITES": (0, 1),
    "zbox0.FVC_EV2.BBOX_CMDS.F2B": (1, 1),
    "zbox0.FVC_EV3.BBOX_RSP.ACK": (1, 2),
    "zbox0.PLD_DRAM_EV.DRAM_CMD.RAS": (1, 2),
    "zbox0.PLD_DRAM_EV.DRAM_CMD.CAS_RD_CLS": (1, 1),
    "zbox0.PLD_DRAM_EV.DRAM_CMD.CAS_WR_CLS": (0, 1),
    "zbox0.PAGE_MISS": (1, 2),
    "zbox0.PAGE_AUTOCLS_CMD": (1, 2),
    "zbox0.PGT_DISPQ_EV.INSERTS_ALL": (1, 2),
    "zbox0.DISPQ_RD_CNT": (PARAMS["dispatch"], PARAMS["dispatch"]),
    "zbox0.DISPQ_WR_CNT": (0, PARAMS["dispatch"]),
    "zbox0.PAGE_HITS": (0, 0),
    "zbox0.PAGE_COLLISION": (0, 0),
    "zbox0.CYC_ZFULL": (0, 0),
    "zbox0.RETRY_ZFULL": (0, 0),
    "zbox0.PGT_PAGE_EV.CLS2OPN": (0, 0),
    "zbox0.PGT_CYC_EV.OPN_PAGE_PLCY": (0, 0),
    "zbox0.ISS_EV.FRM_TYPE_WDAT": (0, PARAMS["write_frames"]),
    "zbox0.PLD_DRAM_EV.DRAM_CMD.PRCH_SGL": (0, 0),
    "zbox0.PLD_DRAM_EV.DRAM_CMD.CAS_RD_OPN": (0, 0),
    "bbox0.ARB_Q0_INSERTS.BRAQ": (0, 0),
    "bbox0.ARB_Q0_INSERTS.NBRAQ": (0, 0),
    "bbox0.IOB_INSERTS.SNOOPS": (0, 0),
    "bbox0.IOB_REMOVES.OUT_PKTS.RHNID": (2, 2),
    "zbox1.BBOX_CMDS_ALL": (0, 0),
    # CPE 0 is port 8, B-Box 0 port 10; a line has 18 flits.
    "rbox8.FLITS_RCVD": (1 + 1, 1 + 1 + 18),
    "rbox8.NSP_FLITS_RCVD": (1 + 1, 1 + 1 + 18),
    "rbox8.FLITS_SENT": (18 + 1, 18 + 1),
    "rbox10.FLITS_RCVD": (18 + 1, 18 + 1),
    "rbox10.FLITS_SENT": (1 + 1, 1 + 1 + 18),
    "rbox7.FLITS_SENT": (0, 0),
    "rbox8.NEW_PACKETS_RECV.ANY": (2, 3),
    "rbox8.NEW_PACKETS_RECV.VNA.HOM": (2, 2),
    "rbox8.NEW_PACKETS_RECV.VNA.DRS": (0, 1),
    "rbox8.NEW_PACKETS_RECV.VN0": (0, 0),
    "rbox8.NEW_PACKETS_RECV.VN0.HOM": (0, 0),
    "rbox8.NEW_PACKETS_RECV.VN0.DRS": (0, 0),
    "rbox10.NEW_PACKETS_RECV.VN0.NDR": (0, 0),
    "rbox10.NEW_PACKETS_RECV.VN0.SNP": (0, 0),
    "rbox8.NEW_PACKETS_RECV.ANY.NDR": (0, 0),
    "rbox10.NEW_PACKETS_RECV.VNA.DRS": (1, 1),
    "rbox10.NEW_PACKETS_RECV.ANY.NDR": (1, 1),
    "rbox10.FAST_ENOUGH": (1, 1),
    "rbox8.FAST_ENOUGH": (0, 1),
    "rbox8.LOC_ARB_BID_FAIL": (0, 0),
    "rbox10.GBL_ARB_BID_FAIL": (0, 0),
    "rbox8.QUE_HOME_ORDER_KILL": (0, 0),
    "rbox8.INQUE_DEALLOC": (2, 3),
    "rbox8.ALLOC_TO_ARB.HM0": (2, 2),
    "rbox8.ALLOC_TO_ARB.HM1": (0, 0),
    "rbox8.ALLOC_TO_ARB.DRS": (0, 1),
    "rbox8.ALLOC_TO_ARB.ALL": (2, 3),
    "rbox8.EOT_IN.HM0": (2, 2),
    "rbox8.EOT_NE": (2, 2),
    "rbox8.QUE_ARB_BID.HOM": (2, 2),
    "rbox8.QUE_ARB_BID.DRS": (0, 1),
    "rbox8.LOC_ARB_BID": (2, 3),
    "rbox10.GBL_ARB_BID": (2, 3),
    "rbox10.HOM.AnyReq": (2, 2),
    "rbox10.DRS.WbIData": (0, 1),
    "rbox8.DRS.AnyDataC": (1, 1),
    "rbox8.DRS.DataC_M": (0, 0),
    "rbox8.DRS.AnyResp": (1, 1),
    "rbox8.NDR.AnyCmp": (1, 1),
    "rbox8.PACKETS:MC=DRS:RDS=E": (1, 1),
    "rbox8.SNP.AnySnp": (0, 0),
}

# What no machine does: 0, and not "not modelled" (docs/ia64.md says why).
MEMORY_ERRORS = "SMI_CRC_ERR MEM_ECC_ERR POISON_TXN ALERT_FRAMES BBOX_RSP.RETRY BBOX_RSP.COR " \
    "BBOX_RSP.UNCOR BBOX_RSP.SPEC_ACK BBOX_RSP.SPR_ACK BBOX_RSP.SPR_UNCOR SMI_NB_TRIG"
PARTIAL_COMMANDS = "BBOX_CMDS.MERGE BBOX_CMDS.V2F BBOX_CMDS.V2V BBOX_CMDS.F2V BBOX_CMDS.SPRWR " \
    "BBOX_CMDS.MEGAOP1 BBOX_CMDS.MEGAOP2 BBOX_CMDS.MEGAOP3 BBOX_CMDS.MEGAOP4"
TRIP_POINTS = " ".join(f"{dimm}.{point}{setting}" for dimm, setting in (("ANY_DIMMS", ""),
                                                                        ("DIMMn", ":dimm=0"))
                       for point in ("ABOVE_TEMPMID_RISE", "ABOVE_TEMPMID_FALL", "ABOVE_TEMPLO",
                                     "BELOW_TEMPLO"))
CANNOT_HAPPEN = {
    "bbox0": {
        "ARB_Q0_OVFL ARB_Q0_INSERTS ARB_Q0_REMOVE ARB_Q0_NOT_EMPTY ARB_Q1_NOT_EMPTY":
            "RIAQ WIAQ CLM",
        "ARB_Q0_FULL ARB_Q1_FULL": "RIAQ WIAQ BRAQ NBRAQ COHQ CLM SAQ ANY_CFL2"},
    "rbox8": {
        "NEW_PACKETS_RECV": "VN1 VN1.HOM VN1.SNP VN1.NDR VN1.DRS VN1.NCS VN1.NCB VN0.NCS VN0.NCB "
                            "VNA.NCS VNA.NCB ANY.NCS ANY.NCB",
        "ALLOC_TO_ARB EOT_IN EOT_ACC QUE_ARB_BID ET_ACC": "NCS NCB",
        "QUE_ARB_BID_FAIL": "SNP NDR NCS DRS NCB",
        "DRS": "WbEData AnyResp11flits",
        "NCS": "NcRd AnyMsg1or2flits AnyMsg3flits",
        "NCB": "AnyMsg9flits AnyMsg11flits AnyInt",
        "PCKT_ERR_IN RETRY_BUF_READS OUTBUF_NE OUTBUF_IN OUTBUF_ACC": None},
    "zbox0": {
        "THR_TT_TRP_UP_EV THR_TT_TRP_DN_EV": TRIP_POINTS,
        "FVC_EV0 FVC_EV1 FVC_EV2 FVC_EV3": f"{MEMORY_ERRORS} {PARTIAL_COMMANDS}",
        "PGT_CNFLCT_EV": "TT_RANK_ALL TT_RANK_N:tt_rnk_cnd=0",
        "PLD_RETRY_EV": "RETRIES_ALL RETRIES_FVID:fvid=0",
        "PLD_DRAM_EV": "DRAM_CMD.WR_CMD DRAM_CMD.RD_CMD DRAM_CMD_SRDPRIO:dram_cmd=0 "
                       "DRAM_CMD_SWRPRIO:dram_cmd=0 DRAM_CMD_ADAPT:dram_cmd=0",
        "ISS_EV": "FRM_TYPE_CHNL",
        "ISS_CYC_SCHED_STATIC_EV": "RDPRIO WRPRIO ADAPTIVE",
        "SCHED_MODE_CHANGES SMI_FAST_RESETS CYC_THROTTLE": None},
}


def cannot_happen(box):
    return [".".join(filter(None, (box, event, mask)))
            for events, masks in CANNOT_HAPPEN[box].items() for event in events.split()
            for mask in (masks.split() if masks else [None])]


class Uncore(Case):
    def build(self, body, turns, offset=0, program=PROGRAM):
        return self.assemble(program.format(body=body, turns=turns, offset=offset))

    def turn(self, machine, body, events, offset=0):
        """What a turn adds to each count."""
        few, many = (stat(machine, self.build(body, t, offset), events) for t in TURNS)
        turns = TURNS[1] - TURNS[0]
        for key in many:
            self.assertEqual((many[key] - few[key]) % turns, 0, key)
        return {key: (many[key] - few[key]) // turns for key in many}

    def batches(self):
        """Events that one run counts: what shares a register comes one by one."""
        alone = [e for e in TURN if any(word in e for word in (":", "ARB_Q", "IOB_", "DRAM_CMD", "FVC"))
                 or e.startswith("rbox")]
        others = [e for e in TURN if e not in alone]
        yield [e for e in others if e.startswith("bbox")][:8] + \
            [e for e in others if e.startswith("zbox")][:5]
        rest = [e for e in others if e.startswith("bbox")][8:] + \
            [e for e in others if e.startswith("zbox")][5:]
        while rest:
            yield rest[:5]
            rest = rest[5:]
        boxes = [[e for e in alone if e.startswith(b)] for b in ("bbox", "zbox", "rbox")]
        while any(boxes):
            yield [box.pop() for box in boxes if box]

    def test_turns(self):
        for n, body in enumerate((READ, WRITE)):
            for events in self.batches():
                found = self.turn("itanium-9300-1s", body, events)
                for event in events:
                    self.assertEqual(found[event], TURN[event][n], (body, event))

    def test_twin(self):
        for events in self.batches():
            found = self.turn("itanium-9300-1s", NOTHING, events)
            self.assertFalse(any(found.values()), found)

    def test_cannot_happen(self):
        """While lines are read and written."""
        program = self.build(WRITE, TURNS[0])
        boxes = [cannot_happen(box) for box in CANNOT_HAPPEN]
        self.assertEqual([len(box) for box in boxes], [31, 41, 112])
        while any(boxes):
            events = [box.pop() for box in boxes if box]
            found = stat("itanium-9300-1s", program, [*events, "zbox1.CYCLES"])
            self.assertGreater(found["zbox1.CYCLES"], 0)
            self.assertEqual([found[event] for event in events], [0] * len(events), events)

    def test_whole_sums(self):
        """Entries: from the table to memory, the read, to the router, and of the line that goes
        without the read; 64 or so at a time. The only one who reads is delayed by no more than each
        refresh takes."""
        read = PARAMS["home"] + PARAMS["read"] + PARAMS["reply"]
        entry = read + PARAMS["home"] + PARAMS["reply"]
        few, many = (stat("itanium-9300-1s", self.build(READ, t),
                          ["bbox0.IMT_OVFL", "bbox0.IOB_OVFL", "bbox0.BZ_OVFL:z_op=1",
                           "bbox0.IMT_NOT_EMPTY", "rbox8.ET_ACC.HOM", "rbox8.EOT_ACC.HM0",
                           "zbox0.LIVE_OPS_INFLIGHT", "zbox0.REFRESH", "zbox0.REFRESH_CNFLT"])
                     for t in TURNS)
        turns = TURNS[1] - TURNS[0]
        refreshes = (many["zbox0.REFRESH"] - few["zbox0.REFRESH"]) // PARAMS["ranks"]
        self.assertLessEqual(many["zbox0.REFRESH_CNFLT"] - few["zbox0.REFRESH_CNFLT"], refreshes)
        self.assertGreater(many["zbox0.REFRESH_CNFLT"], 0)
        for event, per, of_one in (("bbox0.IMT_OVFL", 64, entry), ("bbox0.IOB_OVFL", 2048, entry),
                                   ("bbox0.BZ_OVFL:z_op=1", 64, PARAMS["read"]),
                                   ("bbox0.IMT_NOT_EMPTY", 1, read),
                                   ("zbox0.LIVE_OPS_INFLIGHT", 1, PARAMS["read"])):
            more = many[event] - few[event] - turns * of_one // per
            self.assertGreaterEqual(more, 0, event)
            self.assertLessEqual(more, refreshes * PARAMS["refresh_cycles"] // per + 1, event)
        for event in ("rbox8.ET_ACC.HOM", "rbox8.EOT_ACC.HM0"):
            self.assertIn(many[event] - few[event] - 2 * turns // 32, (0, 1), event)

    def test_qear(self):
        """Measures each read of data: as many as there are, and the last one field by field. It
        takes four hops, the table, memory and the reply, or a refresh longer."""
        run = subprocess.run([os.environ["QEAR"], *self.build(READ, TURNS[0])], check=False,
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        measured, reads, data0, data1, control = (int(n, 0) for n in run.stdout.split())
        self.assertGreaterEqual(reads, TURNS[0])
        self.assertEqual(measured, reads)
        cycles = 8 + PARAMS["home"] + PARAMS["read"] + PARAMS["reply"] + 8
        self.assertIn((control >> 17) * 1200 // 1733, range(
            cycles - 1, cycles + PARAMS["refresh_cycles"]))
        self.assertEqual(data0 >> 2 & 0xF, 2)  # RdData
        self.assertEqual(data0 & 3, 0)
        self.assertEqual(data1 >> 30, 1)
        self.assertEqual(data1 >> 20 & 0x3FF, 0)  # the first home agent
        self.assertEqual(data1 >> 18 & 3, 0)
        # The kernel wraps after 32 lines of 524288 bytes.
        symbols = subprocess.run(["ia64-linux-gnu-nm", str(self.folder / "1")],
                                 check=True, capture_output=True, text=True).stdout
        data = next(int(line.split()[0], 16) for line in symbols.splitlines()
                    if line.endswith(" data"))
        self.assertEqual((data1 & 0x3FFFF) << 32 | data0 >> 6 << 6,
                         (data + (TURNS[0] - 1) % 32 * 524288) & (1 << 50) - 1)

    def test_stream(self):
        """Lines one after the other: all but each row's first are of the row before. Pages stay open
        once the first 64 of a controller have been so. A row has 128 lines of a controller."""
        read = "ld8 r16=[r17]; add r17=128,r17;; add r22=r16,r0;;"
        few, many = (stat("itanium-9300-1s", self.build(read, t),
                          ["zbox.PAGE_HITS", "zbox.PAGE_MISS", "zbox.PAGE_COLLISION",
                           "zbox.PGT_DISPQ_EV.INSERTS_ALL"]) for t in (2560, 12800))
        opened = stat("itanium-9300-1s", self.build(read, 2560), [
            "zbox.PGT_PAGE_EV.CLS2OPN", "zbox.PLD_DRAM_EV.DRAM_CMD.CAS_RD_OPN"])
        self.assertEqual(opened["zbox.PGT_PAGE_EV.CLS2OPN"], 2)
        self.assertGreaterEqual(opened["zbox.PLD_DRAM_EV.DRAM_CMD.CAS_RD_OPN"], 2560 - 2 * 64)
        found = {event: many[event] - few[event] for event in many if isinstance(event, str)}
        self.assertEqual(found["zbox.PGT_DISPQ_EV.INSERTS_ALL"], 12800 - 2560)
        self.assertEqual(found["zbox.PAGE_HITS"] + found["zbox.PAGE_MISS"] +
                         found["zbox.PAGE_COLLISION"], 12800 - 2560)
        # Every row's first line is no hit; nor is each refresh's next one.
        self.assertGreaterEqual(found["zbox.PAGE_HITS"], (12800 - 2560) * 126 // 128 - 400)
        self.assertGreaterEqual(found["zbox.PAGE_MISS"] + found["zbox.PAGE_COLLISION"],
                                (12800 - 2560) // 128)

    def test_frames(self):
        """Frames of all kinds are those that a cycle in three begins."""
        frames = [stat("itanium-9300-1s", self.build(WRITE, 500), [f"zbox0.{kind}", "zbox0.CYCLES"])
                  for kind in ("ISS_EV.FRM_TYPE_NOP", "ISS_EV.FRM_TYPE_SYNC",
                               "ISS_EV.FRM_TYPE_WDAT", "ISS_EV.FRM_TYPE_1CMD")]
        cycles = {f["zbox0.CYCLES"] for f in frames}
        self.assertEqual(len(cycles), 1)
        cycles = cycles.pop()
        counts = [next(n for key, n in f.items() if isinstance(key, str) and "ISS_EV" in key)
                  for f in frames]
        ahead = sum(counts) - cycles // 3  # of the commands that the program's end cuts short
        self.assertGreaterEqual(ahead, 0)
        self.assertLess(ahead, 2 * (2 + PARAMS["write_frames"]))
        self.assertEqual(counts[1], cycles // 3 // 42)

    def test_calibrations(self):
        """Four ranks of each controller, once in 128 ms of the machine's time; each has a frame."""
        events = ["zbox0.PLD_DRAM_EV.DRAM_CMD.ZQCAL", "zbox1.ISS_EV.FRM_TYPE_1CMD",
                  "zbox1.PLD_DRAM_EV.DRAM_CMD.REF"]
        for ms, times in ((100, 0), (130, 1), (300, 2)):
            program = self.build("", ms * 1000000, program=SLEEP)
            found = stat("itanium-9300-1s", program, events[:2])
            self.assertEqual(found[events[0]], PARAMS["ranks"] * times)
            refreshes = stat("itanium-9300-1s", program, events[2:])[events[2]]
            self.assertEqual(refreshes // PARAMS["ranks"], ms * 1200000 // PARAMS["refresh"])
            accesses = found[events[1]] - refreshes - PARAMS["ranks"] * times
            self.assertIn(accesses, range(2 * PARAMS["ranks"] * 10))

    def test_sockets(self):
        """Line 4096 n + k is of home agent k / S of socket k modulo S, with S sockets."""
        for sockets, line, socket, home in ((2, 0, 0, 0), (2, 1, 1, 0), (2, 2, 0, 1), (2, 3, 1, 1),
                                            (4, 3, 3, 0), (4, 6, 2, 1)):
            found = self.turn(f"itanium-9300-{sockets}s", READ, ["bbox.IMT_ALLOC"], 128 * line)
            for s in range(sockets):
                for h in range(2):
                    self.assertEqual(found["bbox.IMT_ALLOC", s, h],
                                     2 * int((s, h) == (socket, home)), (sockets, line))

    def test_remote(self):
        """A remote read takes twice a link and a hop longer: 2 (24 + 8) fabric cycles."""
        cycles = {}
        for line in (0, 1):
            found = self.turn("itanium-9300-2s", READ, [
                "bbox.IOB_IN_PKTS.RHNID:iob_remote_local=REMOTE", "rbox6.FLITS_SENT",
                "rbox6.FLITS_RCVD"], 128 * line)
            self.assertEqual(found["bbox.IOB_IN_PKTS.RHNID:iob_remote_local=REMOTE"], 2 * line)
            for socket in range(2):
                other = ("rbox6.FLITS_RCVD", 1 - socket, 6)
                self.assertEqual(found["rbox6.FLITS_SENT", socket, 6], found[other])
                self.assertEqual(found[other], line * (18 + 1 if socket else 1 + 1))
            # Rounding differs from turn to turn by a cycle at most, and refreshes delay some.
            few, many = (stat("itanium-9300-2s", self.build(READ, t, 128 * line),
                              ["CPU_OP_CYCLES.ALL"])["CPU_OP_CYCLES.ALL"] for t in TURNS)
            cycles[line] = (many - few) // (TURNS[1] - TURNS[0])
        self.assertAlmostEqual(cycles[1] - cycles[0], 64 * 1733 // 1200, delta=1 + cycles[1] *
                               PARAMS["refresh_cycles"] // PARAMS["refresh"])

    def test_ping_pong(self):
        """To and fro, the line is read from who wrote it, and then taken from who reads it: two
        snoops each way. The first goes to memory too."""
        events = {"ER_SNP_DATA.HITM": 2, "ER_SNP_DATA.ALL": 2, "ER_SNP_INV.ALL": 2,
                  "ER_SNP_INV.HITM": 0, "bbox.SNP_REQ_ALL": 4, "bbox.SNP_RSP_ALL": 4,
                  "bbox.IOB_IN_PKTS.RHNID:iob_remote_local=3:class_in=HOM0:opcode_in=HOM0.InvItoE":
                  2, "zbox.FVC_EV0.BBOX_CMDS.WRITES": 2, "ER_SNP_CODE.ALL": 0}
        places = {"itanium-9300-1s": ["LOC_LOC"],
                  "itanium-9300-2s": ["LOC_LOC", "LOC_REM", "REM_LOC", "REM_REM"]}
        for machine, forwards in places.items():
            wanted = dict(events)
            for n in range(0, len(forwards), 4):
                wanted.update({f"bbox.RFP_{f}": None for f in forwards[n:n + 4]})
            few, many = (stat(machine, self.build("", t, program=PING_PONG), wanted)
                         for t in TURNS)
            turns = TURNS[1] - TURNS[0]
            for event, count in wanted.items():
                if count is not None:
                    self.assertAlmostEqual(many[event] - few[event], count * turns, delta=ENDS,
                                           msg=(machine, event))
            self.assertAlmostEqual(sum(many[f"bbox.RFP_{f}"] - few[f"bbox.RFP_{f}"]
                                       for f in forwards), 2 * turns, delta=ENDS)

    def test_locality(self):
        """Of two cores in two sockets one answers what the other one asks for. By who sends it, an
        answer is local where by its requester it is remote; so is a snoop, by where it goes. Of one
        socket all is local."""
        program = self.build("", TURNS[0], program=PING_PONG)
        local, remote = ":iob_remote_local=LOCAL", ":iob_remote_local=REMOTE"
        kinds = {"requests": (":class_in=HOM0", ":class_out=DRS"),
                 "answers": (":class_in=HOM1", ":class_out=SNP")}
        for machine in ("itanium-9300-1s", "itanium-9300-2s"):
            for kind, classes in kinds.items():
                for event, which in (("IOB_IN_PKTS", 0), ("IOB_OUT_PKTS", 1)):
                    names = [f"bbox.{event}.{by}{where}{classes[which]}"
                             for by in ("RHNID", "RSNID") for where in (local, remote)]
                    found = stat(machine, program, names)
                    own, far, own_other, far_other = (found[name] for name in names)
                    self.assertGreater(own + far, 0, (machine, kind, event))
                    crossed = kind == "answers" and machine.endswith("2s")
                    self.assertEqual((own_other, far_other), (far, own) if crossed else (own, far),
                                     (machine, kind, event))
                    self.assertEqual(far > 0, machine.endswith("2s"))
            # What goes out ends to be live, by either; of what comes in, requests begin to be.
            for one, other in (("IOB_OUT_PKTS", "IOB_REMOVES.OUT_PKTS"),
                               ("IOB_IN_PKTS", "IOB_INSERTS.IN_PKTS")):
                for by in ("RHNID", "RSNID"):
                    what = local + (":class_in=HOM0" if "IN" in one else "")
                    names = [f"bbox.{event}.{by}{what}" for event in (one, other)]
                    found = stat(machine, program, names)
                    self.assertEqual(found[names[0]], found[names[1]], (machine, names))

    def test_flits(self):
        """A core's flits are those of its port of the router."""
        program = self.assemble((PROGRAMS / "threads.s").read_text(encoding="utf-8"))
        for core, port in enumerate((8, 7, 3, 2)):
            sent, came = f"rbox{port}.FLITS_RCVD", f"rbox{port}.FLITS_SENT"
            found = stat("itanium-9300-1s", program, ["CPE_LNK.OUT_VLD", "CPE_LNK.IN_VLD", sent, came])
            self.assertGreater(found[sent], 10000)
            self.assertEqual(found["CPE_LNK.OUT_VLD", 0, core], found[sent])
            self.assertEqual(found["CPE_LNK.IN_VLD", 0, core], found[came])

    def test_link_cycles(self):
        """The link takes a flit in each cycle of the router, whatever the core does; but only cores
        that a program has have cycles."""
        for body in (READ, NOTHING):
            found = stat("itanium-9300-1s", self.build(body, TURNS[1]),
                         ["CPE_LNK.SEND_EN", "CPU_OP_CYCLES.ALL"])
            for core in range(4):
                cycles = found.get(("CPU_OP_CYCLES.ALL", 0, core), 0)
                self.assertAlmostEqual(found["CPE_LNK.SEND_EN", 0, core], cycles * 1200 // 1733,
                                       delta=2, msg=(body, core))
            self.assertGreater(found["CPU_OP_CYCLES.ALL", 0, 0], TURNS[1])

    def test_threads(self):
        """Four threads with semaphores and locks: sums are right, and every snoop is answered."""
        program = self.assemble((PROGRAMS / "threads.s").read_text(encoding="utf-8"))
        for machine in ("itanium-9300-1s", "itanium-9300-4s"):
            found = stat(machine, program, [
                "bbox.SNP_REQ_ALL", "bbox.SNP_RSP_ALL", "ER_SNP_ALL.ALL", "ER_SNP_DATA.ALL",
                "ER_SNP_CODE.ALL", "ER_SNP_INV.ALL", "bbox.IOB_INSERTS.SNOOPS"])
            snoops = found["bbox.SNP_REQ_ALL"]
            self.assertEqual(found["bbox.IOB_INSERTS.SNOOPS"], snoops)
            self.assertGreater(snoops, 1000)
            self.assertEqual(found["bbox.SNP_RSP_ALL"], snoops)
            self.assertEqual(found["ER_SNP_ALL.ALL"], snoops)
            self.assertEqual(found["ER_SNP_DATA.ALL"] + found["ER_SNP_CODE.ALL"] +
                             found["ER_SNP_INV.ALL"], snoops)
            busy = {key[1:] for key, n in found.items()
                    if isinstance(key, tuple) and key[0] == "ER_SNP_ALL.ALL" and n}
            self.assertGreaterEqual(len(busy), 4)
        # Of a core with two threads both count what the CPE does: the larger machine has none.
        found = stat(machine, program, [
            "ER_READS.ALL", "ER_WRITES.ALL", "ER_EVICT_CLN.ALL", "CPE_BLD_HOM.InvItoE",
            "CPE_REQ.ACC_COH", "CPE_BACK_SNP.SNP_ACC", "bbox.IMT_ALLOC", "bbox.IMT_POP_CFL"])
        requests = found["bbox.IMT_ALLOC"] + found["bbox.IMT_POP_CFL"]
        self.assertEqual(found["ER_READS.ALL"] + found["ER_WRITES.ALL"] +
                         found["ER_EVICT_CLN.ALL"] + found["CPE_BLD_HOM.InvItoE"], requests)
        self.assertGreater(found["CPE_BLD_HOM.InvItoE"], 0)
        self.assertEqual(found["CPE_REQ.ACC_COH"] + found["CPE_BACK_SNP.SNP_ACC"], requests)

    def add_up(self, program, laws, machine="itanium-9300-2s"):
        """@param laws: [(sum of events, sum of others)]; all of a law are counted in one run."""
        for one, other in laws:
            found = stat(machine, program, [*one, *other])
            ones, others = (sum(found[event] for event in events) for events in (one, other))
            self.assertEqual(ones, others, found)
            self.assertGreater(ones, 0, one)

    def test_watermarks(self):
        """Cycles with so many commands or more, for each number, add up to what all take together;
        those with none are the others."""
        threads = self.assemble((PROGRAMS / "threads.s").read_text(encoding="utf-8"))
        burst = 3 * "ld8 r16=[r17]; add r17=r20,r17;;" + READ
        for program, op, most in ((self.build(READ, TURNS[1]), 1, 1),
                                  (self.build(burst, TURNS[0]), 0x43, 4), (threads, 0x43, 3),
                                  (threads, 2, 0), (self.build(WRITE, TURNS[0]), 2, 1),
                                  (self.build(NOTHING, TURNS[1]), 2, 0)):
            least, none = "bbox0.BZ_WMARK.CYCLES_GE", "bbox0.BZ_WMARK.CYCLES_LT"
            marks = [f"{least}:z_op={op}:z_wmark={n}" for n in range(1, 10)]
            found = stat("itanium-9300-1s", program, [
                *marks, f"{none}:z_op={op}:z_wmark=0", f"bbox0.BZ_OVFL:z_op={op}", "bbox0.B_CYCLES"])
            cycles = [found[mark] for mark in marks]
            # Those that the program's end finds under way add up as a whole.
            self.assertIn(found[f"bbox0.BZ_OVFL:z_op={op}"] - sum(cycles) // 64, range(1 + most))
            self.assertEqual(cycles[0] + found[f"{none}:z_op={op}:z_wmark=0"],
                             found["bbox0.B_CYCLES"])
            self.assertEqual(cycles, sorted(cycles, reverse=True))
            self.assertEqual([n > 0 for n in cycles], [n < most for n in range(len(marks))],
                             (op, cycles))
        # A read that nothing delays is one command, and takes as long as memory.
        event = "bbox0.BZ_WMARK.CYCLES_GE:z_op=1:z_wmark=1"
        few, many = (stat("itanium-9300-1s", self.build(READ, t), [event])[event] for t in TURNS)
        self.assertAlmostEqual((many - few) / (TURNS[1] - TURNS[0]), PARAMS["read"],
                               delta=PARAMS["read"] * PARAMS["refresh_cycles"] / PARAMS["refresh"])

    def test_parts(self):
        """Of events and their unit masks."""
        program = self.assemble((PROGRAMS / "threads.s").read_text(encoding="utf-8"))
        router = "rbox8"  # of a core
        classes = ("HOM", "SNP", "NDR", "DRS")
        allocated = ("HM0", "HM1", "SNP", "NDR", "DRS")
        commands = ("PRCH_SGL", "RAS", "CAS_RD_OPN", "REF", "PRCH_ALL", "CAS_RD_CLS", "CAS_WR_OPN",
                    "CAS_WR_CLS", "ZQCAL")
        laws = [([f"{router}.ALLOC_TO_ARB.ALL"], [f"{router}.ALLOC_TO_ARB.{c}" for c in allocated]),
                ([f"{router}.NEW_PACKETS_RECV.ANY"],
                 [f"{router}.NEW_PACKETS_RECV.ANY.{c}" for c in classes]),
                ([f"{router}.NEW_PACKETS_RECV.VNA"],
                 [f"{router}.NEW_PACKETS_RECV.VNA.{c}" for c in classes]),
                # VN0 is not used; all that comes is allocated.
                ([f"{router}.NEW_PACKETS_RECV.ANY"], [f"{router}.NEW_PACKETS_RECV.VNA"]),
                ([f"{router}.NEW_PACKETS_RECV.ANY"], [f"{router}.ALLOC_TO_ARB.ALL"]),
                ([f"{router}.NEW_PACKETS_RECV.ANY.HOM"],
                 [f"{router}.ALLOC_TO_ARB.HM0", f"{router}.ALLOC_TO_ARB.HM1"]),
                (["zbox0.ISS_EV.FRM_TYPE_1CMD"],
                 [f"zbox0.PLD_DRAM_EV.DRAM_CMD.{command}" for command in commands]),
                (["zbox0.PLD_DRAM_EV.DRAM_CMD.SYNC"], ["zbox0.ISS_EV.FRM_TYPE_SYNC"]),
                # The controller stays in one mode.
                *(([f"zbox0.PLD_DRAM_EV.DRAM_CMD.{command}"],
                   [f"zbox0.PLD_DRAM_EV.DRAM_CMD_STRDOFF:dram_cmd={command}"])
                  for command in ("RAS", "REF", "NOP", "SYNC")),
                *(([f"zbox0.PLD_DRAM_EV.DRAM_CMD.{command}"],
                   [f"zbox0.PLD_DRAM_EV.CMD_ALL:dram_cmd={command}"]) for command in ("RAS", "NOP")),
                (["zbox0.PLD_DRAM_EV.DRAM_CMD.NOP"], ["zbox0.ISS_EV.FRM_TYPE_NOP"]),
                (["zbox0.CYCLES"], ["zbox0.PGT_CYC_EV.CLS_PAGE_PLCY", "zbox0.PGT_CYC_EV.OPN_PAGE_PLCY"]),
                (["zbox0.CYCLES"], ["zbox0.DISPQ_CYC.NEMPTY", "zbox0.DISPQ_CYC.EMPTY"])]
        for n in range(4):
            laws += [([f"zbox0.FVC_EV{n}.BBOX_CMDS.READS", f"zbox0.FVC_EV{n}.BBOX_CMDS.WRITES"],
                      [f"zbox0.FVC_EV{n}.BBOX_RSP.ACK"]),
                     ([f"zbox0.FVC_EV{n}.BBOX_CMDS.READS"], ["zbox0.PLD_DRAM_EV.DRAM_CMD.CAS_RD_OPN",
                                                             "zbox0.PLD_DRAM_EV.DRAM_CMD.CAS_RD_CLS"])]
        # What goes into a queue comes out of it: conflicts, in two ways, and each queue of them.
        inserts, removes = ({queue: f"bbox0.ARB_Q0_{what}.{queue}" for queue in (
            "ANY_CFL", "ANY_CFL2", *(f"CFL{n}" for n in range(32)))} for what in ("INSERTS", "REMOVE"))
        laws += [([inserts["ANY_CFL"]], [removes["ANY_CFL"]]),
                 ([removes["ANY_CFL"]], [removes["ANY_CFL2"]]),
                 ([inserts["ANY_CFL"]], list(inserts.values())[2:]),
                 ([removes["ANY_CFL"]], list(removes.values())[2:])]
        self.add_up(program, laws)
        found = stat("itanium-9300-2s", program, [inserts["ANY_CFL"], inserts["ANY_CFL2"]])
        self.assertTrue(0 < found[inserts["ANY_CFL2"]] < found[inserts["ANY_CFL"]])  # into empty ones

    def test_counts_of_threads_repeat(self):
        """Whatever the host does with the threads: with all processors, or with one for all."""
        for name in ("threads", "futex"):
            [program] = self.assemble((PROGRAMS / f"{name}.s").read_text(encoding="utf-8"))
            reports = set()
            for before in ([], ["taskset", "-c", "0"], [], ["nice", "-n", "19"]):
                run = subprocess.run([*before, PMULAB, "stat", "-M", "itanium-9300-2s", "--format",
                                      "json", "-A", "-e", "CPU_OP_CYCLES.ALL,L3_MISSES,"
                                      "IA64_INST_RETIRED.THIS,BE_L1D_FPU_BUBBLE.ALL,"
                                      "bbox.IMT_ALLOC,rbox.FLITS_RCVD", "--", program],
                                     check=False, capture_output=True, text=True)
                self.assertEqual(run.returncode, 0, run.stderr)
                reports.add(run.stderr)
            self.assertEqual(len(reports), 1)
        # The second thread of futex.s sleeps for 10 ms of the machine's time.
        seconds = json.loads(reports.pop())["seconds"]
        self.assertGreater(seconds, 0.010)
        self.assertLess(seconds, 0.0101)

    def laws(self, machine, program):
        events = ["L3_MISSES", "ER_READS.ALL", "ER_WRITES.ALL", "ER_EVICT_CLN.ALL", "bbox.IMT_ALLOC",
                  "bbox.IMT_POP_CFL", "bbox.BZ_ACK_ALL", "bbox.IOB_IN_PKTS.RHNID:iob_remote_local=3",
                  "zbox.FVC_EV0.BBOX_CMDS.READS", "zbox.INFLIGHT_CMD",
                  "zbox.PLD_DRAM_EV.DRAM_CMD.RAS", "zbox.PAGE_AUTOCLS_CMD"]
        found = stat(machine, program, events)
        reads, writes = found["ER_READS.ALL"], found["ER_WRITES.ALL"]
        self.assertGreater(reads, 0)
        self.assertGreaterEqual(found["L3_MISSES"], reads)  # those of writes by the L2D too
        self.assertEqual(found["zbox.FVC_EV0.BBOX_CMDS.READS"], reads)
        for event in ("bbox.BZ_ACK_ALL", "zbox.INFLIGHT_CMD",
                      "zbox.PLD_DRAM_EV.DRAM_CMD.RAS", "zbox.PAGE_AUTOCLS_CMD"):
            self.assertEqual(found[event], reads + writes, event)
        requests = reads + writes + found["ER_EVICT_CLN.ALL"]
        self.assertEqual(found["bbox.IOB_IN_PKTS.RHNID:iob_remote_local=3"], requests)
        self.assertEqual(found["bbox.IMT_ALLOC"] + found["bbox.IMT_POP_CFL"], requests)
        sent, received = (stat(machine, program, [f"rbox{p}.{what}" for p in (5, 6, 9)])
                          for what in ("FLITS_SENT", "FLITS_RCVD"))
        self.assertEqual(sum(n for key, n in sent.items() if isinstance(key, tuple)),
                         sum(n for key, n in received.items() if isinstance(key, tuple)))

    def test_laws(self):
        for machine in ("itanium-9300-1s", "itanium-9300-2s", "itanium-9300-4s"):
            # Writes a line, and reads one that another home agent has.
            self.laws(machine, self.build("st8 [r17]=r0; add r18=896,r17;; ld8 r16=[r18]; "
                                          "add r17=r20,r17;;", 1000))


if __name__ == "__main__":
    unittest.main()
