#!/usr/bin/env python3
"""A table of command lines: exit code, key words of the message, and where output goes."""
import csv
import json
import os
import pathlib
import re
import tempfile
import unittest

import schema
from harness import HERE, LARGE, SMALL, pmulab, stat

M = ("-M", SMALL)
TRUE = ("--", "true")
NO_EVENT = "cbo.NO_SUCH_EVENT"

# (arguments, exit code, words on standard output, words on standard error)
# No words: nothing may be there.
LINES = [
    # Groups and as many events as one likes
    (["stat", *M, "-e", "{cbo.CLOCKTICKS,ha.CLOCKTICKS}", *TRUE], 0, [], ["cbo.CLOCKTICKS", "ha."]),
    (["stat", *M, "-e", "{cbo.CLOCKTICKS", *TRUE], 2, [], ["{cbo.CLOCKTICKS", "does not end with"]),
    (["stat", *M, "-e", "{}", *TRUE], 2, [], ["a list without a name"]),
    (["stat", *M, "-e", "", *TRUE], 2, [], ["a list without a name"]),
    (["stat", *M, "-e", ",", *TRUE], 2, [], ["a list without a name"]),
    (["stat", *M, "-m", "", *TRUE], 2, [], ["a list without a name"]),
    (["stat", "-e", "", *TRUE], 2, [], ["a list without a name"]),
    (["stat", *M, "-e", "{cbo.TOR_INSERTS.OPCODE:opc=DRd,cbo.TOR_INSERTS.OPCODE:opc=RFO}", *TRUE],
     2, [], ["different values of opc"]),
    (["stat", *M, "--why", "-e", "cbo.TOR_INSERTS.OPCODE:opc=DRd,cbo.TOR_INSERTS.OPCODE:opc=RFO",
      *TRUE], 0, [], ["PMU 1:", "different values of opc"]),
    (["stat", "--dry-run", "--pmu", "xeon-e5v4", "-e",
      "cbo.TOR_INSERTS.OPCODE:opc=DRd,cbo.TOR_INSERTS.OPCODE:opc=RFO"], 1, [],
     ["different values of opc", "separate runs"]),
    # Metrics: the catalog's, all of them at once, and one's own
    (["stat", *M, "-m", "MEM_BW_READS", *TRUE], 0, [], ["MEM_BW_READS  [GB/s]"]),
    (["stat", *M, "--raw", "-m", "MEM_BW_READS", *TRUE], 0, [], ["MEM_BW_READS  [bytes]"]),
    (["stat", *M, "-m", "AVG_TOR_DRD_MISS_LATENCY", *TRUE], 0, [], ["LATENCY  [ns]"]),
    (["stat", *M, "--raw", "-m", "AVG_TOR_DRD_MISS_LATENCY", *TRUE], 0, [],
     ["LATENCY  [uncore cycles]"]),
    (["stat", *M, "-m", "imc.PCT_RD_REQUESTS", *TRUE], 0, [],
     ["not known", "the manual does not define WPQ_INSERTS"]),
    (["stat", *M, "-m", "CYC_INGRESS_BLOCKED", *TRUE], 0, [],
     ["not known", "not modelled: cbo.RxR_EXT_STARVED.IRQ"]),
    (["stat", *M, "-m", "AVG_TOR_DRD_REM_MISS_LATENCY", *TRUE], 0, [], ["not modelled: cbo."]),
    (["stat", *M, "-m", "PCT_CYCLES_DRAM_RANKx_IN_CKE", *TRUE], 2, [], ["put a number"]),
    (["stat", *M, "-m", "PCT_CYCLES_DRAM_RANK0_IN_CKE", *TRUE], 0, [], ["RANK0_IN_CKE"]),
    (["stat", *M, "-m", "LLC_DRD_RFO_MISS_TO_LOC_MEM,LLC_DRD_MISS_PCT", *TRUE], 0, [],
     ["LLC_DRD_RFO_MISS_TO_LOC_MEM  [ratio]"]),
    (["stat", *M, "-m", "X[lines]=2*imc.CAS_COUNT.RD/2", *TRUE], 0, [], ["X  [lines]"]),
    (["stat", *M, "-m", "X=imc.CAS_COUNT.RD/imc.CAS_COUNT.WR", *TRUE], 0, [], ["not known", "divides by 0"]),
    (["stat", *M, "-m", "X=1/0", *TRUE], 0, [], ["not known", "divides by 0"]),
    (["stat", *M, "-C", "0", "-m", "X=INST_RETIRED.ALL", *TRUE], 0, [], ["not known", "is not known here"]),
    (["stat", *M, "-m", "X=imc.CAS_COUNT.RD*", *TRUE], 2, [], ["a name or a number is missing"]),
    (["stat", *M, "-m", "X=NO_SUCH+1", *TRUE], 2, [], ["NO_SUCH"]),
    # Groups by topic, and files
    (["list", "groups"], 0, ["xeon-e5v4", "MEM", "itanium-9300", "Memory"], []),
    (["list", "groups", "--pmu", "nehalem", "--format", "json"], 0, ["\"group\": \"CYCLES\""], []),
    (["show", "--pmu", "xeon-e5v4", "MEM"], 0, ["# Memory", "metrics MEM_BW_READS"], []),
    (["stat", *M, "-g", "mem", *TRUE], 0, [], ["imc.CAS_COUNT.RD", "MEM_BW_TOTAL  [GB/s]"]),
    (["stat", *M, "-g", "L3", "-g", "BRANCH", "-m", "MEM_BW_READS", *TRUE], 0, [],
     ["LLC_MPI", "BRANCH_RATIO  [branches/instruction]", "MEM_BW_READS"]),
    (["stat", *M, "-g", "LLC", *TRUE], 2, [], ["no group \"LLC\"", "MEM, NUMA"]),
    (["stat", *M, "-g", "./NO.txt", *TRUE], 2, [], ["cannot read the group ./NO.txt"]),
    (["stat", *M, "-g", "CAS_COUNT_RD:MBOX0C0,CAS_COUNT_WR:MBOX1C1", *TRUE], 0, [],
     ["imc0.CAS_COUNT.RD", "imc1.CAS_COUNT.WR"]),
    # By turns
    (["stat", *M, "--multiplex", "0.01", "-e", "imc.CAS_COUNT.*", *TRUE], 0, [],
     ["counted by turns of 0.01 ms", "SHARE", "TRUTH", "%"]),
    (["stat", *M, "--multiplex", "0", "-e", "imc.CAS_COUNT.RD", *TRUE], 2, [], ["--multiplex"]),
    (["stat", *M, "--multiplex", "1", "-I", "1", *TRUE], 2, [], ["--multiplex excludes -I and -r"]),
    (["stat", *M, "--multiplex", "1", "--format", "csv", *TRUE], 2, [], ["--multiplex prints"]),
    (["stat", "--multiplex", "1", "-e", "PAGE-FAULTS", *TRUE], 2, [], ["by turns of its own"]),
    (["stat", "--multiplex", "1", "--repeat-groups", "-e", "imc.CAS_COUNT.RD", *TRUE], 2, [],
     ["--multiplex excludes --repeat-groups"]),
    # A run for each group
    (["stat", *M, "--repeat-groups", "-e", "cbo.TOR_INSERTS.OPCODE:opc=DRd,"
      "cbo.TOR_INSERTS.OPCODE:opc=RFO", *TRUE], 0, [],
     ["--repeat-groups is not needed", "opc=DRd", "opc=RFO"]),
    (["stat", "--repeat-groups", "-I", "1", "-e", "imc.CAS_COUNT.RD", *TRUE], 2, [],
     ["--repeat-groups excludes -I"]),
    (["stat", "--repeat-groups", "-e", "PAGE-FAULTS,TASK-CLOCK", *TRUE], 0, [],
     ["PAGE-FAULTS", "TASK-CLOCK"]),
    (["stat", "--dry-run", "--repeat-groups", "--pmu", "xeon-e5v4", "-e",
      "cbo.TOR_INSERTS.OPCODE:opc=DRd,cbo.TOR_INSERTS.OPCODE:opc=RFO"], 0, ["FILTER1"], []),
    # Never 0 for what cannot happen
    (["stat", *M, "-e", "cbo.TOR_INSERTS.OPCODE:opc=0x19E", *TRUE], 0, [],
     ["not modelled", "opc=0x19E: the machine produces no such request"]),
    (["stat", *M, "-e", "cbo.TOR_INSERTS.NID_ALL:nid=other_nodes", *TRUE], 0, [],
     ["not modelled", "nid: the machine has one socket"]),
    (["stat", *M, "-e", "cbo.CLOCKTICKS", *TRUE], 0, [], ["(mean of the instances)"]),
    # Names of other tools, and patterns
    (["stat", *M, "-e", "imc.CAS_COUNT.*", *TRUE], 0, [],
     ["imc.CAS_COUNT.RD", "imc.CAS_COUNT.WR", "imc.CAS_COUNT.ALL"]),
    (["stat", *M, "-e", "imc2.cas_count.w?", *TRUE], 0, [], ["imc2.CAS_COUNT.WR"]),
    (["stat", *M, "-e", "cbo.LLC_VICTIMS.?_STATE", *TRUE], 0, [],
     ["cbo.LLC_VICTIMS.M_STATE", "cbo.LLC_VICTIMS.E_STATE"]),
    (["stat", *M, "-e", "cbo.LLC_VICTIMS.*", *TRUE], 2, [], ["NID only narrows other unit masks"]),
    (["stat", *M, "-e", "cbo.TOR_INSERTS.*", *TRUE], 2, [], ["OPCODE needs the filter opc"]),
    (["stat", *M, "-e", "NO_SUCH.*", *TRUE], 2, [], ["no event matches", "NO_SUCH.*"]),
    (["stat", *M, "-e", "cache-misses,instructions", *TRUE], 0, [],
     ["LONGEST_LAT_CACHE.MISS", "INST_RETIRED.ANY"]),
    (["stat", *M, "-e", "uncore_imc_0/event=0x4,umask=0x3/,r412e", *TRUE], 0, [],
     ["imc0.CAS_COUNT.RD", "LONGEST_LAT_CACHE.MISS"]),
    (["stat", *M, "-e", "uncore_imc/cas_count_read/", *TRUE], 0, [], ["imc.CAS_COUNT.RD"]),
    (["stat", *M, "-e", "{imc/event=4,umask=3/,UNC_M_CAS_COUNT.WR}", *TRUE], 0, [],
     ["imc.CAS_COUNT.RD", "imc.CAS_COUNT.WR"]),
    (["stat", *M, "-e", "uncore_imc/no_such=1/", *TRUE], 2, [], ["imc has no term", "no_such"]),
    (["stat", *M, "-e", "uncore_imc/event=0x55/", *TRUE], 2, [], ["no event of code 0x55"]),
    (["stat", *M, "-e", "uncore_nothing/event=1/", *TRUE], 2, [], ["uncore_nothing"]),
    (["stat", *M, "-e", "CAS_COUNT_RD:MBOX0C0,LLC_VICTIMS_M:CBOX3C2", *TRUE], 0, [],
     ["imc0.CAS_COUNT.RD", "cbo3.LLC_VICTIMS.M_STATE"]),
    # LIKWID's event of that name has another unit mask.
    (["stat", *M, "-e", "MAJOR_MODES_PARTIAL:MBOX0C0", *TRUE], 2, [], ["no event that LIKWID calls"]),
    (["stat", *M, "-e", "bdx_unc_imc1::UNC_M_CAS_COUNT:WR", *TRUE], 0, [], ["imc1.CAS_COUNT.WR"]),
    (["stat", *M, "-e", "snbep_unc_imc1::UNC_M_CAS_COUNT:WR", *TRUE], 2, [], ["no box is libpfm4's"]),
    (["stat", *M, "-e", "imc/config=0x304,name=READS/,imc/fixed/", *TRUE], 0, [],
     ["imc.CAS_COUNT.RD", "imc.clock"]),
    (["encode", "--pmu", "xeon-e5v4", "CAS_COUNT_RD:MBOX0C0"], 0, ["imc0.CAS_COUNT.RD", "0x00400304"],
     []),
    (["list", "--as", "perf", "--pmu", "xeon-e5v4", "--box", "imc", "CAS_COUNT"], 0,
     ["uncore_imc/event=0x4,umask=0x3/"], []),
    (["list", "--as", "likwid", "--pmu", "xeon-e5v4", "CAS_COUNT"], 0, ["CAS_COUNT_RD:MBOX0C0"], []),
    (["list", "--as", "libpfm4", "--pmu", "xeon-e5", "CAS_COUNT"], 0,
     ["snbep_unc_imc0::UNC_M_CAS_COUNT:RD"], []),
    (["list", "--as", "pcm", "--pmu", "xeon-e5v4", "CAS_COUNT"], 0,
     ["imc/config=0x304,name=CAS_COUNT.RD/"], []),
    (["list", "--as", "vtune"], 2, [], ["no tool", "perf, likwid, libpfm4, pcm"]),
    # Lists and descriptions
    (["list", "-M", SMALL, "cas_count"], 0, ["imc.CAS_COUNT"], []),
    (["list", "-M", SMALL, "inst_retired"], 0, ["core.INST_RETIRED", "core.BR_INST_RETIRED"], []),
    (["list", "encodings", "-M", SMALL, "uops_issued"], 0, ["UOPS_ISSUED.ANY", "UOPS_ISSUED.STALL_CYCLES"], []),
    (["show", "-M", SMALL, "core.UOPS_ISSUED.ANY"], 0, ["b00000001  All."], []),
    (["list", "-M", "none"], 2, [], ["no machine", SMALL]),
    (["list", "evnts", "cas"], 2, [], ["no kind", "events", "encodings", "did you mean events?"]),
    (["list", "evnts"], 2, [], ["no kind \"evnts\"", "did you mean events?"]),
    (["list", "events", "cas", "more"], 2, [], ["at most one TEXT"]),
    (["list", "--pmu", "none"], 2, [], ["no PMU", "xeon-e5v4"]),
    (["list", "--box", "none"], 2, [], ["no box"]),
    (["list", "encodings", "--box", "imc", "--pmu", "xeon-e5v4", "CAS_COUNT"], 0,
     ["MODEL", "exact"], []),
    (["list", "--format", "json", "CAS_COUNT"], 0, ["\"desc\": \"Column accesses", "\"model\""], []),
    (["show", "imc.CAS_COUNT.RD"], 0, ["event xeon-e5v4/imc.CAS_COUNT", ".RD "], []),
    (["show", "-M", SMALL, "LLC_LOOKUP"], 0, ["not modelled (the machine has one socket)"], []),
    (["show", "--format", "json", "imc.CAS_COUNT.RD"], 0, ["\"name\": \"RD\""], []),
    (["show", "--format", "json", "CAS_CONT"], 2, [], ["did you mean CAS_COUNT?"]),
    (["show", "CAS_CONT"], 2, [], ["did you mean CAS_COUNT?"]),
    (["show"], 2, [], ["one NAME is needed"]),
    (["show", "--format", "xml", "imc"], 2, [], ["no format"]),
    # What perf's users type
    (["stat", *M, "-I", "0.05", "-e", "imc.CAS_COUNT.RD", *TRUE], 0, [],
     ["0.0000", "imc.CAS_COUNT.RD"]),
    (["stat", *M, "-I", "0.05", "--format", "jsonl", "-o", "-", "-e", "imc.CAS_COUNT.RD", *TRUE],
     0, ["\"interval\":", "\"machine\":"], []),
    (["stat", *M, "-I", "0", *TRUE], 2, [], ["-I takes milliseconds"]),
    (["stat", *M, "-I", "x", *TRUE], 2, [], ["-I takes milliseconds, 0.001 to 1e12, not \"x\""]),
    (["stat", *M, "-D", "2e12", *TRUE], 2, [], ["-D takes milliseconds, 0 to 1e12, not \"2e12\""]),
    (["annotate", *TRUE], 2, [], ["annotate: counts are attributed on a machine"]),
    (["annotate", *M], 2, [], ["see pmulab annotate --help"]),
    (["annotate", *M, "-r", "2", *TRUE], 2, [], ["annotate: counts are not attributed with -I, -D and -r"]),
    (["stat", *M, "-I", "1", "--format", "json", *TRUE], 2, [], ["jsonl"]),
    (["stat", *M, "-r", "3", "-e", "imc.CAS_COUNT.RD", *TRUE], 0, [],
     ["means of 3 runs", "(+- 0.00 %)"]),
    (["stat", *M, "-r", "2", "-x,", "-o", "-", "-m", "MEM_BW_READS", *TRUE], 0,
     ["event,pmu,box,mean,deviation,unit", "imc.CAS_COUNT.RD,xeon-e5v4,imc,", "GB/s\nexit,xeon-e5v4,,0,,\nseconds,"], []),
    (["stat", *M, "-x,", "-o", "-", "-m", "MEM_BW_READS", *TRUE], 0,
     ["MEM_BW_READS,xeon-e5v4,", ",GB/s\n"], []),
    (["stat", *M, "-x,", "-o", "-", "-m", "*.PCT_RD_REQUESTS,X=SECONDS", *TRUE], 0,
     ["\nha.PCT_RD_REQUESTS,xeon-e5v4,ha,", "\nimc.PCT_RD_REQUESTS,xeon-e5v4,imc,",
      "\nX,xeon-e5v4,,"], []),
    (["stat", *M, "-r", "2", "-x,", "-o", "-", "-m", "MEM_BW_READS", *TRUE], 0,
     ["\nMEM_BW_READS,xeon-e5v4,imc,"], []),
    (["stat", *M, "--raw", "-x,", "-o", "-", "-m", "MEM_BW_READS", *TRUE], 0,
     ["MEM_BW_READS,xeon-e5v4,", ",bytes\n"], []),
    (["stat", *M, "-r", "2", "-A", *TRUE], 2, [], ["-r excludes -A"]),
    (["stat", *M, "-r", "0", *TRUE], 2, [], ["-r takes a number of runs"]),
    (["stat", *M, "-r", "-1", *TRUE], 2, [], ["-r takes a number of runs"]),
    (["stat", *M, "-D", "1000", "-e", "imc.CAS_COUNT.RD", *TRUE], 1, [], ["ended before the delay"]),
    (["stat", *M, "-D", "0.001", "-e", "imc.CAS_COUNT.RD", "--", "ls", "/usr/bin"], 0,
     ["bash"], ["counted from 0.", " ms on\n"]),
    (["stat", *M, "-D", "x", *TRUE], 2, [], ["-D takes milliseconds"]),
    (["stat", *M, "--timeout", "2", "-e", "imc.CAS_COUNT.RD", "--", "sh", "-c", "while :; do :; done"],
     143, [], ["ended after 2 ms", "imc.CAS_COUNT.RD"]),
    (["stat", *M, "--timeout", "-1", *TRUE], 2, [], ["--timeout takes milliseconds"]),
    (["stat", *M, "-x", ";", "-o", "-", "-e", "imc.CAS_COUNT.RD", *TRUE], 0,
     ["event;pmu;box", "exit;", "seconds;"], []),
    (["stat", *M, "-x", "", *TRUE], 2, [], ["-x takes one character"]),
    *((["stat", *M, "-x", character, *TRUE], 2, [], ["-x takes one character"])
      for character in ("\"", "\r", "\n", "0", "9", "\u00e9", "\udce9")),
    (["stat", *M, "-x", "ab", *TRUE], 2, [], ["-x takes one character"]),
    (["stat", *M, "-o", "-", "-e", "imc.CAS_COUNT.RD", *TRUE], 0, ["imc.CAS_COUNT.RD"], []),
    (["stat", *M, "-o", "", *TRUE], 2, [], ["-o takes the name of a file"]),
    (["record", "-M", "itanium-9300-1s", "-e", "NOPS_RETIRED", "-o", "", *TRUE], 2, [],
     ["-o takes the name of a file"]),
    (["record", "-M", "itanium-9300-1s", "-e", "NOPS_RETIRED", "-o", "-", *TRUE], 2, [],
     ["a recording does not go to standard output"]),
    (["stat", *M, "-A", "-e", "imc.CAS_COUNT.RD", *TRUE], 0, [], ["imc3"]),
    (["stat", *M, "--no-aggr", "-e", "imc.CAS_COUNT.RD", *TRUE], 0, [], ["imc3"]),
    (["stat", *M, "--per-core", "-e", "core.INST_RETIRED.ANY", *TRUE], 0, [], ["core0"]),
    (["stat", *M, "--per-socket", "-e", "imc.CAS_COUNT.RD", *TRUE], 0, [], ["imc.CAS_COUNT.RD"]),
    (["stat", *M, "-v", "-e", "imc.CAS_COUNT.RD", *TRUE], 0, [], ["PMU  COUNTER  EVENT"]),
    (["stat", "--dry-run", "-I", "1", "--pmu", "xeon-e5v4", "-e", "imc.CAS_COUNT.RD"], 2, [],
     ["need a program that runs"]),
    # As in git
    (["help"], 0, ["usage: pmulab COMMAND"], []),
    (["help", "stat"], 0, ["usage: pmulab stat"], []),
    (["help", "nothing"], 2, [], ["no command \"nothing\"", "valid:"]),
    (["help", "stat", "list"], 2, [], ["one COMMAND is enough"]),
    (["--help"], 0, ["usage: pmulab COMMAND"], []),
    (["--version"], 0, ["pmulab "], []),
    ([], 2, [], ["usage: pmulab COMMAND"]),
    (["stta"], 2, [], ["no command \"stta\"", "did you mean stat?"]),
    # Values and names in events
    (["encode", "cbo.CLOCKTICKS:thresh=-1"], 2, [], ["a value cannot be negative"]),
    (["encode", "cbo.CLOCKTICKS:thresh=256"], 2, [], ["255"]),
    (["encode", "cbo.CLOCKTICKS:thresh="], 2, [], ["a value is missing"]),
    (["encode", "nobox.CLOCKTICKS"], 2, [], ["Valid:", "cbo"]),
    (["stat", *M, "--pmu", "none", *TRUE], 2, [], ["no PMU \"none\"", "valid:", "xeon-e5v4"]),
    (["stat", *M, "--pmu", "nehalem", *TRUE], 2, [], ["has PMU xeon-e5v4, not nehalem"]),
    (["stat", *M, "--pmu", "xeon-e5v4", "-e", "imc.CAS_COUNT.RD", *TRUE], 0, [], ["CAS_COUNT"]),
    # Processes and CPUs
    (["stat", "-a", "-e", "CYCLES", *TRUE], 0, [], ["all that ran on these CPUs", "CYCLES"]),
    (["stat", "-a", "--timeout", "100", "-e", "TASK-CLOCK"], 0, [], ["all CPUs on this computer"]),
    (["stat", "-p", "0"], 2, [], ["-p takes the number of a process", "\"0\""]),
    (["stat", "-p", "1x"], 2, [], ["-p takes the number of a process"]),
    (["stat", "-p", "4194304"], 2, [], ["there is no process 4194304"]),
    (["stat", "-p", "1", *TRUE], 2, [], ["unexpected argument true"]),
    (["stat", *M, "-p", "1"], 2, [], ["-p excludes -M", "--attach"]),
    (["stat", "-p", "1", "-C", "0"], 2, [], ["-p excludes -C"]),
    (["stat", "-p", "1", "-r", "2"], 2, [], ["-p excludes -C, -r"]),
    (["stat", "-C", "0-"], 2, [], ["-C takes CPUs", "\"0-\""]),
    (["stat", "-C", "2-1"], 2, [], ["-C takes CPUs"]),
    (["stat", "-C", ""], 2, [], ["-C takes CPUs"]),
    (["stat", *M, "-C", "0"], 2, [], ["PROGRAM is missing"]),
    (["stat", *M, "-C", "4", *TRUE], 2, [], [f"{SMALL} has no CPU 4"]),
    (["stat", "-M", LARGE, "-C", "22,23", "--pin", "23", "-A", "-e", "core.INST_RETIRED.ANY", *TRUE],
     0, [], ["core0", "core1"]),
    (["stat", "-I", "1", "-e", "PAGE-FAULTS", *TRUE], 0, [], ["PAGE-FAULTS\n", "exit code 0"]),
    (["stat", "-r", "2", "-e", "PAGE-FAULTS", *TRUE], 0, [], ["means of 2 runs"]),
    (["stat", "-D", "10", "-e", "PAGE-FAULTS", "--", "sleep", "1"], 0, [], ["counted from 10 ms on\n"]),
    (["stat", "-D", "60000", "-e", "PAGE-FAULTS", *TRUE], 1, [], ["ended before the delay"]),
    (["stat", "--dry-run", "--pmu", "xeon-e5v4", "-e", "imc.CAS_COUNT.RD"], 0,
     ["ACCESS", "MC_CHy_PCI_PMON_CTL0"], []),
    (["stat", "--replay", "/no/such/trace", "-e", "imc.CAS_COUNT.RD"], 1, [], ["/no/such/trace"]),
    # Wrong use of stat
    (["stat", *M], 2, [], ["PROGRAM is missing"]),
    (["stat", *M, "-e", NO_EVENT, *TRUE], 2, [], ["NO_SUCH_EVENT"]),
    (["stat", "-M", "no-such-machine", *TRUE], 2, [], ["no machine", "valid:", SMALL]),
    (["stat", *M, "-m", "NO_SUCH_METRIC", *TRUE], 2, [],
     ["no metric", "pmulab list metrics --pmu xeon-e5v4"]),
    (["stat", *M, "--trace-registers", "/dev/full", "-e", "imc.CAS_COUNT.RD", *TRUE], 1, [],
     ["cannot write the register trace /dev/full: No space left on device"]),
    (["stat", *M, "-m", "imx*", *TRUE], 2, [], ["no metric of xeon-e5v4 matches", "^^^^"]),
    (["stat", *M, "-m", "imc.mem_bw_?????", *TRUE], 0, [], ["MEM_BW_READS  [", "MEM_BW_TOTAL  ["]),
    (["stat", *M, "--format", "xml", *TRUE], 2, [], ["no format", "valid: table, json, csv, jsonl"]),
    (["machines", "--format", "jsonl"], 2, [], ["no format", "valid: table, json, csv"]),
    (["stat", *M, "--", "/no/such/program"], 127, [], ["/no/such/program"]),
    (["stat", *M, "--", "/etc/passwd"], 126, [], ["/etc/passwd"]),
    (["stat", "--feed", "qemu", *TRUE], 0, [], ["this computer"]),
    (["stat", "--feed", "valgrind", *TRUE], 2, [], ["--feed needs -M"]),
    (["stat", "--deterministic", *TRUE], 2, [], ["--deterministic needs -M"]),
    # Encodings, as the manual's tables give codes and unit masks: 334291-001 tables 2-22, 2-40, 2-74
    (["encode", "imc.CAS_COUNT.WR"], 0, ["0x00400C04"], []),
    (["encode", "imc.CAS_COUNT.ALL"], 0, ["0x00400F04"], []),
    (["encode", "imc1.CAS_COUNT.RD", "imc1.CAS_COUNT.WR"], 0, ["CTL0", "CTL1"], []),
    (["encode", "imc.CAS_COUNT.RD:edge_det:thresh=1"], 0, ["0x01440304"], []),
    (["encode", "imc.CAS_COUNT.RD:edge:thresh=1:inv"], 0, ["0x01C40304"], []),
    (["encode", "cbo.TOR_INSERTS.OPCODE:opc=DRd"], 0, ["0x00400135"], []),
    (["encode", "cbo.TOR_INSERTS.OPCODE:opc=0x182"], 0, ["0x00400135"], []),
    (["encode", "--format", "sh", "cbo.CLOCKTICKS"], 0, ["wrmsr -p 0"], []),
    (["encode", "--format", "sh", "imc.CAS_COUNT.RD"], 0, ["setpci -s"], []),
    (["encode", "--format", "json", "imc.CAS_COUNT.RD"], 0, ["\"value\": 4195076"], []),
    (["encode", "--counter", "3", "imc.CAS_COUNT.RD"], 0, ["CTL3"], []),
    (["encode", "--counter", "9", "imc.CAS_COUNT.RD"], 2, [], ["counter"]),
    (["encode", "--counter", "x", "imc.CAS_COUNT.RD"], 2, [],
     ["no counter \"x\"; valid: the number of one, 0 to 31"]),
    (["encode", "--format", "yaml", "imc.CAS_COUNT.RD"], 2, [], ["yaml"]),
    (["encode"], 2, [], ["EVENT is missing"]),
    (["encode", "imc"], 2, [], ["imc is a box", "imc.EVENT"]),
    (["encode", "imc.CAS_COUNT"], 2, [], ["CAS_COUNT"]),
    (["encode", "imc.CAS_COUNT.NO"], 2, [], ["no unit mask \"NO\"", "RD"]),
    (["encode", "imc.CAS_CONT.RD"], 2, [], ["did you mean CAS_COUNT?"]),
    (["encode", "imc9.CAS_COUNT.RD"], 2, [], ["numbered 0 to 7"]),
    (["encode", "ubox1.EVENT_MSG.DOORBELL_RCVD"], 2, [], ["one ubox"]),
    (["encode", "imc.CAS_COUNT.RD:nofield=1"], 2, [], ["no field \"nofield\""]),
    (["encode", "imc.CAS_COUNT.RD:thresh"], 2, [], ["thresh has 8 bits"]),
    (["encode", "imc.CAS_COUNT.RD:"], 2, [], ["a field"]),
    (["encode", "imc.CAS_COUNT.RD}"], 2, [], ["expected :field=value"]),
    (["encode", "ha.CAS_COUNT.RD"], 2, [], ["ha has no event \"CAS_COUNT\"", "imc has"]),
    (["encode", "CLOCKTICKS"], 2, [], ["more than one box has \"CLOCKTICKS\""]),
    (["encode", "--pmu", "xeon-e5", "imc.CAS_COUNT.RD"], 0, ["0x00400304"], []),
    (["encode", "xeon-e5/imc.CAS_COUNT.RD"], 0, ["xeon-e5/imc.CAS_COUNT.RD"], []),
    (["encode", "none/imc.CAS_COUNT.RD"], 2, [], ["there is no PMU \"none\""]),
    (["encode", "--pmu", "xeon-e5v4", "uncore_imc_1/cas_count_write/"], 0, ["imc1.CAS_COUNT.WR"], []),
    (["encode", "bdx_unc_imc0::UNC_M_CAS_COUNT:RD:NO"], 2, [], ["libpfm4", "NO"]),
    (["encode", "--pmu", "xeon-e5v4", "CAS_COUNT_RD:MBOX0C0:NO=1"], 2, [], ["likwid", "NO"]),
    # Decoding them
    (["decode", "0xE32", "0x00400335"], 0, ["TOR_INSERTS"], []),
    (["decode", "imc.MC0_CH0_PCI_PMON_CTL0", "0x00400304"], 0, ["CAS_COUNT", "RD"], []),
    (["decode", "0xE32"], 2, [], ["VALUE"]),
    (["decode", "--hwrec", "foo"], 2, [], ["valid: lbr, pebs, data-source, ear-i,", "qear\n"]),
    (["decode", "NO_SUCH_REGISTER", "1"], 2, [], ["NO_SUCH_REGISTER"]),
    (["decode", "0xE32", "zz"], 2, [], ["zz"]),
    # Lists of each kind
    (["list", "pmus"], 0, ["xeon-e5v4", "xeon-e5", "nehalem", "itanium-9300"], []),
    (["list", "boxes", "--pmu", "xeon-e5v4"], 0, ["cbo", "imc", "qpi", "pcu"], []),
    (["list", "boxes", "--pmu", "xeon-e5v4", "--format", "csv"], 0, ["PMU,BOX"], []),
    (["list", "settings", "--box", "cbo", "--pmu", "xeon-e5v4"], 0, ["opc", "nid", "state"], []),
    (["list", "records"], 0, ["RECORD"], []),
    (["list", "facts"], 0, ["FACTS"], []),
    (["list", "registers", "--box", "ubox", "--pmu", "xeon-e5v4"], 0, ["U_MSR_PMON_GLOBAL_CTL"], []),
    (["list", "--count"], 0, ["EVENTS", "UMASKS"], []),
    (["list", "no_such_event_at_all"], 0, ["EVENT"], []),
    (["list", "--format", "xml"], 2, [], ["no format"]),
    (["list", "--nothing"], 2, [], ["unrecognized option"]),
    (["list", "names", "--pmu", "nehalem"], 0, ["uncore/event=0x0,umask=0x1/"], []),
    (["list", "--as", "libpfm4", "--pmu", "nehalem", "UNC_LLC_HITS"], 0,
     ["nhm_unc::UNC_LLC_HITS:READ"], []),
    (["list", "--as", "likwid", "--pmu", "xeon-e5", "LLC_VICTIMS"], 0, ["LLC_VICTIMS_M_STATE:CBOX0C0"], []),
    (["list", "--as", "perf", "--pmu", "itanium-9300", "--box", "zbox"], 0, ["  -"], []),
    (["machines"], 0, [SMALL, LARGE], []),
    (["machines", "--format", "csv"], 0, ["MACHINE,PMU"], []),
    (["show", SMALL], 0, [SMALL], []),
    (["show", "xeon-e5v4"], 0, ["xeon-e5v4"], []),
    (["show", "MEM_BW_READS"], 0, ["CAS_COUNT.RD * 64"], []),
    (["show", "--pmu", "none", "MEM"], 2, [], ["no PMU"]),
    (["show", "one", "two"], 2, [], ["one NAME"]),
    # What does not go together
    (["show", "--format", "csv", "imc"], 2, [], ["no format \"csv\"; valid: table, json\n"]),
    (["stat", *M, "-x", ";", "--format", "json", *TRUE], 2, [], ["-x needs --format csv"]),
    (["stat", *M, "--format", "table", "-x", ";", *TRUE], 2, [], ["-x needs --format csv"]),
    (["stat", *M, "--format", "csv", "-x", ";", "-e", "imc.CAS_COUNT.RD", *TRUE], 0, [], ["event;pmu;box"]),
    (["stat", *M, "--why", "--format", "json", *TRUE], 2, [], ["--why prints --format table"]),
    (["stat", *M, "-v", "-x", ",", *TRUE], 2, [], ["--why prints --format table"]),
    (["stat", "--dry-run", "--format", "jsonl", "--pmu", "xeon-e5v4", "-e", "imc.CAS_COUNT.RD"], 2, [],
     ["--dry-run prints --format table, json or csv"]),
    (["stat", *M, "--root", "/", *TRUE], 2, [], ["for machines with IA-64 cores"]),
    (["stat", *M, "--why", "-e", "imc.CAS_COUNT.RD", *TRUE], 0, [], ["PMU  COUNTER  EVENT"]),
    (["stat", *M], 2, [], ["PROGRAM is missing"]),
    (["stat", "-M", "none", *TRUE], 2, [], ["no machine", SMALL]),
    (["stat", *M, "--format", "xml", *TRUE], 2, [], ["no format"]),
    (["stat", *M, "--replay", "x"], 2, [], ["--replay excludes -M"]),
    (["stat", "--deterministic", *TRUE], 2, [], ["--deterministic needs -M"]),
    (["stat", "--pin", "0", *TRUE], 2, [], ["need -M"]),
    (["stat", "--kernel-io", *TRUE], 2, [], ["--kernel-io needs -M"]),
    (["stat", "-M", "itanium-9300-1s", "--kernel-io", *TRUE], 1, [], ["IA-64", "not modelled"]),
    (["stat", "--prefetchers", "none", *TRUE], 2, [], ["--prefetchers needs -M"]),
    (["stat", *M, "--prefetchers", "some", *TRUE], 2, [], ["streamer,adjacent,next-line,stride"]),
    (["stat", *M, "--membind", "0", "--interleave", "0", *TRUE], 2, [], ["excludes --interleave"]),
    (["stat", *M, "-r", "2", "--trace-registers", "x", *TRUE], 2, [], ["-r excludes"]),
    (["stat", *M, "-e", "imc.CAS_COUNT.RD", "--", "./no-such-program"], 127, [], ["no-such-program"]),
    (["stat", *M, "-e", "imc.CAS_COUNT.RD", "--", "sh", "-c", "exit 7"], 7, [], ["exit code 7"]),
    (["stat", "--nothing", *TRUE], 2, [], ["unrecognized option"]),
]


class Lines(unittest.TestCase):
    def check(self, stream, words, text):
        if not words:
            self.assertEqual(text, "", stream)
        for word in words:
            self.assertIn(word, text, stream)

    def test_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            for arguments, code, out, err in LINES:
                with self.subTest(line=" ".join(arguments)):
                    run = pmulab(*arguments, cwd=folder)
                    self.assertEqual(run.returncode, code, run.stderr)
                    self.check("standard output", out, run.stdout)
                    self.check("standard error", err, run.stderr)
                    self.assertEqual(os.listdir(folder), [])


class Full(unittest.TestCase):
    def test_file(self):
        for arguments in (["-e", "imc.CAS_COUNT.RD", *M], ["-e", "PAGE-FAULTS"]):
            run = pmulab("stat", *arguments, "-o", "/dev/full", *TRUE)
            self.assertEqual(run.returncode, 1)
            self.assertEqual(run.stderr, "pmulab stat: cannot write /dev/full: No space left on device\n")


class Locales(unittest.TestCase):
    def test_ascii(self):
        """UTF-8 stands only where the locale has it; JSON is UTF-8 everywhere."""
        commands = (["list", "registers", "--box", "pcu"], ["show", "CAS_COUNT"],
                    ["encode", "cbo.TOR_INSERTS.ALL:thresh=9"])
        for arguments in commands:
            for locale in ("C", "C.UTF-8"):
                run = pmulab(*arguments, text=False, errors=None,
                             env={**os.environ, "LC_ALL": locale})
                text = run.stdout + run.stderr
                self.assertEqual(text.isascii(), locale == "C", arguments)
                self.assertIn(b"section " if locale == "C" else b"\xc2\xa7", text, arguments)
        run = pmulab("list", "metrics", "--format", "json", text=False, errors=None,
                     env={**os.environ, "LC_ALL": "C"})
        self.assertIn("§", run.stdout.decode("utf-8"))


class Groups(unittest.TestCase):
    def test_copied(self):
        """What show prints is a group; what is wrong in a file is named by its line."""
        text = pmulab("show", "--pmu", "xeon-e5v4", "MEM").stdout
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mine"
            path.write_text(text + "events ha.REQUESTS.READS\n", encoding="utf-8")
            run = pmulab("stat", *M, "-g", path, *TRUE)
            self.assertEqual(run.returncode, 0, run.stderr)
            for word in ("ha.REQUESTS.READS", "imc.CAS_COUNT.WR", "MEM_BW_TOTAL"):
                self.assertIn(word, run.stderr)
            path.write_text("# title\n\nevens imc.CAS_COUNT.RD\n", encoding="utf-8")
            run = pmulab("stat", *M, "-g", path, *TRUE)
            self.assertEqual(run.returncode, 2)
            self.assertIn("line 3", run.stderr)
            path.write_text("", encoding="utf-8")
            self.assertEqual(pmulab("stat", *M, "-g", path, *TRUE).returncode, 2)


class Reports(unittest.TestCase):
    """docs/stat.schema.json describes what programs read."""
    SCHEMA = json.loads((HERE / "../../docs/stat.schema.json").read_text(encoding="utf-8"))

    def test_schema(self):
        for machine, options in ((SMALL, []), (LARGE, []), (SMALL, ["-r", "2"]),
                                 (SMALL, ["--raw"])):
            report = stat(machine, ["imc.CAS_COUNT.RD", "cbo.RING_BL_USED.UP", "cbo.CLOCKTICKS"],
                          "true", metrics=["MEM_BW_READS", "cbo.CYC_USED_DN"], options=options)
            schema.check(report, self.SCHEMA)
            self.assertEqual("runs" in report, options == ["-r", "2"])

    def test_multiplexed(self):
        """One group counts all the time; of three, each a part, and the parts are the whole."""
        report = stat(SMALL, ["imc.CAS_COUNT.RD"], "true", options=["--multiplex", "0.005"])
        schema.check(report, self.SCHEMA)
        for event in report["multiplexed"]:
            self.assertEqual((event["share"], event["bound"]), (1, 0))
            self.assertEqual(event["estimate"], event["count"])
        opcodes = [f"cbo.TOR_INSERTS.OPCODE:opc={opc}" for opc in ("DRd", "RFO", "CRd")]
        report = stat(SMALL, opcodes, "true", options=["--multiplex", "0.005"])
        schema.check(report, self.SCHEMA)
        found = report["multiplexed"]
        self.assertEqual([event["event"] for event in found], opcodes)
        self.assertAlmostEqual(sum(event["share"] for event in found), 1, places=9)
        for event in found:
            counts = [c["count"] for c in report["counts"] if c["event"] == event["event"]]
            self.assertEqual(event["count"], sum(counts))
            self.assertEqual(event["estimate"] is None, event["share"] == 0)

    def test_schema_refuses(self):
        report = stat(SMALL, ["imc.CAS_COUNT.RD"], "true")
        for change in ({"exit": "0"}, {"more": 1}, {"counts": [{"event": "x"}]}):
            with self.assertRaises(ValueError):
                schema.check(report | change, self.SCHEMA)

    def test_lines_of_intervals(self):
        """The intervals add up to the report's counts; times rise."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "out"
            run = pmulab("stat", "-M", SMALL, "-I", "0.02", "--format", "jsonl", "-o", path,
                         "-e", "imc.CAS_COUNT.RD", "--", "ls", "/usr")
            self.assertEqual(run.returncode, 0, run.stderr)
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        report = lines.pop()
        schema.check(report, self.SCHEMA)
        self.assertGreaterEqual(len(lines), 1)
        times = [line["seconds"] for line in lines]
        self.assertEqual(times, sorted(times))
        self.assertAlmostEqual(sum(line["interval"] for line in lines), times[-1], places=9)
        self.assertEqual(sum(line["counts"][0]["count"] for line in lines),
                         sum(count["count"] for count in report["counts"]))

    def test_means_of_nothing(self):
        """What is not modelled has no mean, and is warned of once."""
        event = "cbo.RING_BL_USED.UP"
        run = pmulab("stat", *M, "-r", "3", "-e", event, *TRUE)
        self.assertEqual(run.stderr.count("warning:"), 1, run.stderr)
        self.assertIn("not modelled", run.stderr)
        self.assertNotIn("+-", run.stderr)
        report = stat(SMALL, [event], "true", options=["-r", "2"])
        schema.check(report, self.SCHEMA)
        self.assertEqual(report["runs"]["events"], [{"name": event, "mean": None, "deviation": None}])

    def test_csv_of_intervals(self):
        """Two CSVs, each with a heading; the intervals add up to the report's counts."""
        for arguments, event in (([*M, "-I", "0.05"], "imc.CAS_COUNT.RD"), (["-I", "5"], "PAGE-FAULTS")):
            run = pmulab("stat", *arguments, "-x", ",", "-o", "-", "-e", event, *TRUE)
            self.assertEqual(run.returncode, 0, run.stderr)
            intervals, report = (list(csv.DictReader(part.splitlines()))
                                 for part in run.stdout.split("\n\n"))
            self.assertEqual(set(intervals[0]), {"time", "event", "count"})
            self.assertEqual(sum(int(row["count"]) for row in intervals),
                             sum(int(row["count"]) for row in report if row["event"] == event))

    def test_counted_late(self):
        """Of a program that is counted from some time on, metrics are of the time since."""
        report = stat(SMALL, [], "ls", "-l", "/usr/bin", options=["-D", "0.01"],
                      metrics=["MEM_BW_READS", "S=SECONDS", "N=INST_RETIRED.ALL"])
        schema.check(report, self.SCHEMA)
        self.assertGreaterEqual(report["counted_from"], 0.01e-3)
        seconds = report["seconds"] - report["counted_from"]
        reads, length, instructions = report["metrics"]
        self.assertAlmostEqual(length["value"], seconds, places=12)
        self.assertAlmostEqual(reads["shown_value"], 1e-9 * reads["value"] / seconds, places=9)
        self.assertLess(instructions["value"], report["instructions"])

    def test_every_metric_at_once(self):
        """113 of 334291-001; those whose events the machine produces have a value."""
        listed = json.loads(pmulab("list", "metrics", "--pmu", "xeon-e5v4", "--format", "json").stdout)
        self.assertEqual(len(listed), 113)
        report = stat(SMALL, [], "true", metrics=["*"])
        # Two metrics for each of 8 ranks; four for each of 8 nodes.
        names = [m["name"] for m in report["metrics"]]
        self.assertEqual(len(names), len(set(names)))
        plain = {(m["box"], re.sub("(RANK|NODE)[0-7]", r"\1x", m["name"].split(".")[-1]))
                 for m in report["metrics"]}
        self.assertEqual(plain, {(m["box"], m["name"]) for m in listed})
        self.assertEqual(len(report["metrics"]), 113 + 2 * 7 + 4 * 7)
        for metric in report["metrics"]:
            self.assertEqual(metric["value"] is None, metric["unknown_because"] is not None)
        known = {m["name"] for m in report["metrics"] if m["value"] is not None}
        self.assertLessEqual({"MEM_BW_READS", "LLC_MPI", "AVG_TOR_DRD_LATENCY", "CORE_IPC",
                              "LLC_DRD_RFO_MISS_TO_LOC_MEM", "AVG_INGRESS_DEPTH"}, known)
        self.assertNotIn("LLC_PCIE_DATA_BYTES", known)


if __name__ == "__main__":
    unittest.main()
