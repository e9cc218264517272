#!/usr/bin/env python3
"""Runs an example and holds what it prints against what is known without it."""
import os
import re
import subprocess
import sys

EXPECTED = {
    # 334291-001: C0_MSR_PMON_BOX_FILTER1 is MSR 0xE06, opc its bits 28:20, DRd 0x182; the control is
    # MSR 0xE01, TOR_INSERTS event 0x35, MISS_OPCODE unit mask 0x03, en bit 22.
    "encode": r"Cn_MSR_PMON_BOX_FILTER1 +0x000e06 = 0x18200000\n"
              r"Cn_MSR_PMON_CTL0 +0x000e01 = 0x400335\n",
    # The lines fit into the last-level cache. Of 1,563 pages 196 lines of page tables have the
    # entries, and a line each of the three levels above.
    "by_hand": r"pass 1: 100199 misses\npass 2: 0 misses\n",
    # Whole lines, and no program runs without reading some.
    "traffic": r"read [1-9]\d+ bytes, written \d+ bytes, in 0\.\d+ s on two Xeon E5-2699 v4.*\n",
}

output = subprocess.run(sys.argv[1:], check=True, stdout=subprocess.PIPE, text=True).stdout
sys.exit(not re.fullmatch(EXPECTED[os.environ["EXAMPLE"]], output) and f"printed:\n{output}")
