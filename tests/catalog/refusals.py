#!/usr/bin/env python3
"""Spoils a small catalog in one place at a time: catalog-gen has to say so and to fail.

The finding names the file too.
"""
import contextlib
import copy
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))
sys.dont_write_bytecode = True

from catalog_gen.command import main as generate_tables

GONE = object()

CTL, CTR, FILTER = ("registers", 0), ("registers", 1), ("registers", 2)
CYCLES, LOOKUP, QUEUE = ("events", 0), ("events", 1), ("events", 2)
RATE = ("metrics", 0)
CAPTURE, SAMPLE = ("records", 0), ("records", 1)
OPC = ("filters", "box", "opc")
SELECTS = {"name": "opc", "bits": "7:0", "access": "RW", "desc": "x", "signal": "llc.lookup",
           "selects": [["0", "read", "-", "read|write"]]}


def fields(register, number):
    return (*register, "fields", number)


# File, the place that is spoilt, what stands there then, and the finding.
CASES = [
    ("pmu", ("source",), GONE, "small: pmu without source"),
    ("pmu", ("boxes",), ["box", "hub", "bus"], "small: no file bus.json for box bus"),
    ("pmu", ("cpus",), [{"family": 6, "source": "x"}], "small: cpu without model"),
    ("pmu", ("sequence",), GONE, "small: pmu without sequence"),
    ("pmu", ("sequence", "steps"), ["freeze", "thaw", "unfreeze"], 'small: unknown step "thaw"'),
    ("pmu", ("sequence", "steps"), ["controls", "unfreeze"],
     "small: a sequence begins with freeze, or a reset before it, and ends with unfreeze"),
    ("pmu", ("owner",), "me", 'small: unknown key "owner" in pmu'),

    ("box", ("titel",), "x", 'box: unknown key "titel" in box'),
    ("box", ("source",), "", "box: box without source"),
    ("box", ("box",), "bax", 'box: box is named "bax"'),
    ("box", ("space",), "mmcfg", 'box: unknown space "mmcfg"'),
    ("box", ("clock",), "bclk", 'box: unknown clock "bclk"'),
    ("box", ("counters",), 3, "box: 2 registers of role counter for 3 counters"),
    ("box", ("instances", "status"), ["ov_b0", "ov_b7"], "box: no global status field ov_b7"),
    ("box", ("instances", "status"), ["ov_b0"], "box: 1 status fields for 2 instances"),
    ("box", ("renames",), [["perf", "NO_EVENT", "x"]], "box: rename ['perf', 'NO_EVENT', 'x'] is of no event"),
    ("box", ("renames",), [["perf", "CYCLES:opx=0x1", "x"]],
     "box: rename ['perf', 'CYCLES:opx=0x1', 'x']: opx=0x1 is not FIELD=0x..., with a field of the box"),
    ("box", ("instances", "stride"), 4,
     "box1.Bn_CTL0: address 0x104 is also that of box0.Bn_FILTER"),
    ("box", ("instances", "base"), "0x10", "hub0.HUB_STATUS: address 0x10 is also that of "
                                           "box0.Bn_CTL0"),
    ("box", ("instances", "base"), "ten", 'box: base "ten" is no number'),

    ("box", ("instance_names",), {"placeholder": "Bn", "names": ["B0"]},
     "box: 1 instance names for 2 instances"),
    ("box", ("instance_names",), {"placeholder": "Bn", "names": "B-{n}"},
     'box: "B-0_CTL0" cannot be the name of a register'),
    ("box", (*FILTER, "instance_names"), "Bn_CTL0",
     "box: Bn_CTL0 is the name of two registers"),
    ("box", ("facts",), [{"name": "F", "title": "t", "source": "s", "columns": ["a", "b"],
                          "rows": [["1", "2"], ["3"]]}], "box.F: 1 cells for 2 columns"),
    ("box", ("facts",), [{"name": "F", "title": "t", "source": "s", "columns": [], "rows": []}],
     "box.F: has no columns or no rows"),
    ("box", (*LOOKUP, "umasks", 0, "sum"), ["WRIT"], "box.LOOKUP.READ: sum of unknown unit mask WRIT"),
    ("box", ("modifiers", 0, "threshold"), "meet", 'box.thresh: unknown threshold "meet"'),

    ("box", ("scope",), "thread", 'box: unknown scope "thread"'),
    ("box", ("quirks",), ["write_thrice"], 'box: unknown quirk "write_thrice"'),
    ("box", (*CTR, "offset"), 1, "box0.Bn_CTR0: address 0x101 is also that of box0.Bn_CTL1"),
    ("box", (*CTR, "source"), GONE, "box.Bn_CTR{i}: register without source"),
    ("box", (*FILTER, "role"), "sieve", 'box.Bn_FILTER: unknown role "sieve"'),
    ("box", (*FILTER, "width"), 16, "box.Bn_FILTER: width 16 is neither 32 nor 64"),
    ("box", (*FILTER, "name"), "bN_ctl0", "box: register bN_ctl0 stands there twice"),
    ("box", (*CTL, "stride"), GONE, "box.Bn_CTL{i}: a row of registers needs {i} in its name and "
                                    "a stride"),
    ("box", (*fields(FILTER, 0), "bits"), "31:9", "box.Bn_FILTER: bits without a field: 8"),
    ("box", (*fields(FILTER, 0), "bits"), "31:7", "box.Bn_FILTER.opc: bits 7:0 overlap another "
                                                  "field"),
    ("box", (*fields(FILTER, 0), "bits"), "32:8", "box.Bn_FILTER.rsv: bits 32:8 are outside of 32 "
                                                  "bits"),
    ("box", (*fields(FILTER, 0), "bits"), "8:31", "box.Bn_FILTER.rsv: bits 8:31 are outside of 32 "
                                                  "bits"),
    ("box", (*fields(FILTER, 0), "bits"), "31..8", 'box.Bn_FILTER.rsv: bits "31..8" are no '
                                                   "HIGH:LOW"),
    ("box", (*FILTER, "fields"), [{"name": "opc", "bits": "7:0", "access": "RW"},
                                  {"name": "rsv", "bits": "31:8", "access": "RV"}],
     "box.Bn_FILTER.rsv: fields do not stand from the top bit down"),
    ("box", (*fields(FILTER, 0), "access"), "WR", 'box.Bn_FILTER.rsv: unknown access "WR"'),
    ("box", (*fields(FILTER, 1), "reset"), "0x100", "box.Bn_FILTER.opc: reset 0x100 does not fit "
                                                    "bits 7:0"),
    ("box", (*fields(CTL, 1), "must"), 2, "box.Bn_CTL0.rsv: must is neither 0 nor 1"),
    ("box", (*fields(FILTER, 1), "any"), 0, "box.Bn_FILTER.opc: signal and selects need each other, and any "
                                            "needs them"),
    ("box", fields(FILTER, 1), {**SELECTS, "selects": [["7", "read", "write"]]},
     "box.Bn_FILTER.opc: selects from bit 7 on are outside of the field"),
    ("box", fields(FILTER, 1), {**SELECTS, "selects": [["0", "wrote"]]},
     'box.Bn_FILTER.opc: its signal has no qualifier "wrote"'),
    ("box", fields(FILTER, 1), {**SELECTS, "selects": [["0", "read|sent"]]},
     'box.Bn_FILTER.opc: its signal has no qualifier "sent"'),
    ("box", fields(FILTER, 1), {**SELECTS, "any": 8}, "box.Bn_FILTER.opc: any 8 is outside of the field"),
    ("box", (*fields(CTL, 4), "name"), "EN", "box.Bn_CTL0: field EN stands there twice"),
    ("box", (*fields(CTL, 4), "role"), "corner", 'box.Bn_CTL0.edge_det: unknown role "corner"'),
    ("box", (*fields(CTL, 4), "role"), "threshold", "box.Bn_CTL0: two fields are its threshold 0"),
    ("box", (*fields(CTL, 2), "name"), "on", "box.Bn_CTL0: a counter_ctl without a field of role "
                                             "enable"),
    ("box", (*fields(CTL, 7), "name"), "code", "box.Bn_CTL0: a counter_ctl without a field of role "
                                               "event_select"),
    ("hub", (*fields(("registers", 2), 0), "name"), "on", "hub.HUB_PMON_FIXED_CTL: a fixed_ctl "
                                                          "without a field of role enable"),
    ("box", (*FILTER, "role"), "box_ctl", "box.Bn_FILTER: a box_ctl without a field of role freeze"),
    ("box", (*FILTER, "role"), "box_status", "box.Bn_FILTER: a box_status without a field of role "
                                             "overflow"),
    ("box", (*FILTER, "role"), "global_ctl", "box.Bn_FILTER: a global_ctl without a field of role "
                                             "freeze and unfreeze, or enable"),
    ("box", (*FILTER,), {"name": "Bn_FILTER", "role": "global_ctl", "offset": 4, "width": 32,
                         "source": "test",
                         "fields": [{"name": "rsv", "bits": "31:8", "access": "RV"},
                                    {"name": "en_pmc0", "bits": "7:0", "access": "RW"}]},
     "box.Bn_FILTER: a global_ctl without a field of role enable 1"),
    ("box", (*fields(CTL, 4), "enabled"), 2, "box.Bn_CTL0.edge_det: enabled 0x2 does not fit "
                                             "bits 19"),
    ("box", (*FILTER, "offsets"), [4, 5],
     "box.Bn_FILTER: register needs an offset, or offsets that are numbers"),
    ("box", (*FILTER, "space"), "io", 'box.Bn_FILTER: unknown space "io"'),
    ("box", ("modifiers", 1, "counters"), "all", 'box: counters "all" are no list such as 0-3'),
    ("box", (*fields(FILTER, 0), "vlaue"), 0, 'box.Bn_FILTER.rsv: unknown key "vlaue" in field'),

    ("box", ("modifiers", 1, "field"), "invert", "box: modifier invert is no field of the counter "
                                                 "control"),
    ("box", ("modifiers", 1, "field"), "Thresh", "box: modifier Thresh stands there twice"),
    ("box", ("modifiers", 1, "absent"), "zero", 'box.edge_det: unknown absent "zero"'),
    ("box", ("modifiers", 1, "needs"), "tresh", "box: modifier edge_det needs tresh, which is none"),
    ("box", ("modifiers", 1, "class"), "mask", "box.edge_det: class mask is no modifier"),
    ("box", ("modifiers", 2, "class"), "thresh", "box.opc: RD has no class that thresh can take"),
    ("box", ("modifiers", 2, "bits"), "64:0", 'box.opc: bits "64:0" are no HIGH:LOW'),
    ("box", ("modifiers", 2, "unless"), "IAR", 'box.opc: unless "IAR" is no list of texts'),
    ("box", ("modifiers", 2, "settings"), [{"register": "Bn_FILTER", "field": "op", "value": 1}],
     "box.opc: setting Bn_FILTER.op is no field of the box"),
    ("box", ("modifiers", 2, "register"), "Bn_FILTER{s}",
     "box: modifier opc is no field of the filter register Bn_FILTER{s}"),
    ("box", (*CYCLES, "settings"),
     [{"register": "Bn_FILTER", "field": "opc", "bits": "31", "value": 1}],
     "box.CYCLES: bits 31 are not in opc"),
    ("box", ("modifiers", 2, "register"), "Bn_CTR0", "box: modifier opc is no field of the filter "
                                                     "register Bn_CTR0"),
    ("box", ("mnemonics", "opc", 1, "value"), "0x182", "box.opc: WR = 0x182 does not fit 7:0"),
    ("box", ("mnemonics", "opc", 1, "name"), "rd", "box.opc: mnemonic rd stands there twice"),
    ("box", ("mnemonics", "opc", 1, "name"), "1st", 'box.opc: "1st" cannot be the name of a '
                                                    "mnemonic"),
    ("box", ("mnemonics", "nid"), [], "box.nid: mnemonics for a field that is not there"),

    ("box", (*CYCLES, "name"), "lookup", "box: event LOOKUP stands there twice"),
    ("box", (*CYCLES, "name"), "C-ES", 'box.C-ES: "C-ES" cannot be the name of a event'),
    ("box", (*CYCLES, "name"), "HUB", "box.HUB: the name is also that of a box"),
    ("box", (*CYCLES, "source"), GONE, "box.CYCLES: event without source"),
    ("box", (*CYCLES, "code"), "0x34", "box.LOOKUP: code 0x34 is also that of CYCLES"),
    ("box", (*CYCLES, "code"), "0x134", "box.CYCLES: code 0x134 does not fit ev_sel"),
    ("box", (*CYCLES, "counters"), "", "box.CYCLES: event without counters"),
    ("box", (*CYCLES, "counters"), ",", "box.CYCLES: no counter can count it"),
    ("box", (*CYCLES, "set"), "L1D", 'box.CYCLES: set "L1D" is no GROUP NUMBER'),
    ("box", (*CYCLES, "set"), "L1D 0", "box.CYCLES: no bank of L1D has a lead that can count "
                                        "it"),
    ("box", ("banks",), [{"group": "L1D", "lead": 1, "counters": "0"}],
     "box: lead 1 of L1D is not in its bank"),
    ("box", ("banks",), [{"group": "L1D", "lead": 0, "counters": "0-7"}],
     "box: bank 0-7 of 2 counters"),
    ("box", ("banks",), [{"group": "L1D", "lead": 0, "counters": "0", "shared": ["ring"]}],
     "box: the counter control has no field ring"),
    ("box", ("banks",), [{"group": "L1D", "lead": 0, "counters": "0"}],
     "box: banks of counters in a box with several instances"),
    ("box", (*CYCLES, "counters"), "0-3", "box.CYCLES: counters 0-3 of 2"),
    ("box", (*CYCLES, "counters"), "0..1", 'box.CYCLES: counters "0..1" are no list such as 0-3'),
    ("box", (*CYCLES, "max_increment"), 70000, "box.CYCLES: max_increment 70000"),
    ("box", (*QUEUE, "needs"), ["thresh"], "box.QUEUE: needs thresh, which is no filter of it"),
    ("box", (*CYCLES, "filters"), ["nid"], "box.CYCLES: unknown filter nid"),
    ("box", (*CYCLES, "filters"), ["thresh"], "box.CYCLES: unknown filter thresh"),
    ("box", (*CYCLES, "attributes"), ["PEBS", "a, b"],
     'box.CYCLES: attribute "a, b" has the comma that parts them'),
    ("box", (*CYCLES, "model"), "perfect", 'box.CYCLES: unknown model "perfect"'),
    ("box", (*CYCLES, "measure"), "time", 'box.CYCLES: unknown measure "time"'),
    ("box", (*CYCLES, "measure"), "count", "box.CYCLES: a modelled event (count) without a signal"),
    ("box", (*CYCLES, "signal"), "hub.full", "box.CYCLES: signal hub.full is of a hub, which box "
                                             "is not"),
    ("box", (*CYCLES, "select"), ["bxxxxxxxx any *"], "box.CYCLES: rows without a signal"),
    ("box", (*CTR, "signal"), "llc.lookup", "box.Bn_CTR0: a counter adds up no signal"),
    ("box", (*CTR, "model_note"), "why", "box.Bn_CTR0: a model_note is for a free_counter that no machine models"),
    ("box", (*CTR, "signal"), "llc.lookup", "box.Bn_CTR1: signal llc.lookup is no accumulator"),
    ("box", (*LOOKUP, "select"), "umask", "box.LOOKUP: signals of the event and of its unit masks"),
    ("box", (*LOOKUP, "select"), "umask", 'box.LOOKUP.WRITE: signal and select "umask" of a unit '
                                          "mask need each other"),
    ("box", (*LOOKUP, "umasks", 1, "signal"), "hub.full", "box.LOOKUP.WRITE: signal hub.full "
                                                          "is of a hub, which box is not"),
    ("box", (*LOOKUP, "model_note"), GONE, "box.LOOKUP: an approximate event without model_note"),
    ("box", (*LOOKUP, "model"), "never", "box.LOOKUP: an event that cannot happen with signal"),
    ("box", (*QUEUE, "model"), "never", "box.QUEUE: an event that cannot happen without model_note"),
    ("box", (*QUEUE, "umasks", 0, "model"), "never", "box.QUEUE: an absent event without model_note"),
    ("box", (*QUEUE, "umasks", 0, "model"), "absent", 'box.QUEUE.RANK0: the model of a unit mask is '
                                                      '"never", or "absent" in an event that has one'),
    ("box", (*LOOKUP, "umasks", 0, "model"), "exact", 'box.LOOKUP.READ: the model of a unit mask is '
                                                      '"never", or "absent" in an event that has one'),
    ("box", (*LOOKUP, "umasks", 0, "model"), "never", 'box.LOOKUP.READ: what cannot happen needs '
                                                      'combine "one"'),
    ("box", (*LOOKUP, "signal"), "llc.look", 'box.LOOKUP: unknown signal "llc.look"'),
    ("box", (*LOOKUP, "measure"), "occupancy", "box.LOOKUP: occupancy of a pulse"),
    ("box", (*LOOKUP, "select"), "any", 'box.LOOKUP: unknown select "any"'),
    ("box", (*LOOKUP, "combine"), "and", 'box.LOOKUP: unknown combine "and"'),
    ("box", (*LOOKUP, "select", 1), "bxxxxxx1x any wirte",
     "box.LOOKUP: signal llc.lookup has no qualifier wirte"),
    ("box", (*LOOKUP, "select", 1), "bxxxxxx1x some write",
     'box.LOOKUP: row "bxxxxxx1x some write" is no PATTERN any|all TERM... or PATTERN none'),
    ("box", (*LOOKUP, "select", 1), "bxxxxxx1 any write",
     'box.LOOKUP: row "bxxxxxx1 any write" is no PATTERN any|all TERM... or PATTERN none'),
    ("box", (*LOOKUP, "select", 1), "bxxxxxx1x none write",
     'box.LOOKUP: row "bxxxxxx1x none write" is no PATTERN any|all TERM... or PATTERN none'),
    ("box", (*LOOKUP, "select", 1), "bxxxxxx1x any write read",
     'box.LOOKUP: row "bxxxxxx1x any write read": qualifiers stand in one word, a|b'),
    ("box", (*LOOKUP, "select", 1), "bxxxxxx1x any $nid", "box.LOOKUP: no filter nid of box"),
    ("box", (*LOOKUP, "select", 1), "bxxxxxx1x any rank=0", "box.LOOKUP: signal llc.lookup has no "
                                                            "rank"),
    ("box", (*LOOKUP, "select", 1), "bxxxxxx1x any colour=0", 'box.LOOKUP: unknown attribute '
                                                              '"colour"'),
    ("box", (*LOOKUP, "select", 1), "bxxxxxx1x any request=snoop", 'box.LOOKUP: unknown request '
                                                                   '"snoop"'),
    ("box", (*LOOKUP, "select", 1), "bxxxxxx1x any unit=x",
     "box.LOOKUP: bxxxxxx1x has no number of x"),
    ("box", (*LOOKUP, "select", 1), "bxxxxxx1x any unit=32",
     "box.LOOKUP: unit=32: no values below 32"),
    ("box", (*LOOKUP, "select", 1), "bxxxxxx1x any node=1", 'box.LOOKUP: row "bxxxxxx1x any '
                                                            'node=1": node can only narrow'),
    ("box", (*LOOKUP, "select", 2), GONE, "box.LOOKUP.ANY: no row fits it"),
    ("box", (*LOOKUP, "select"), [f"bxxxxxxxx any unit={n}" for n in range(7)],
     "box.LOOKUP: unit mask 0x0 has 7 alternatives, 6 at most"),
    ("box", (*LOOKUP, "select"), ["bxxxxxxxx all read|write", "bxxxxxxx1 all write|read"],
     "box.LOOKUP: more than one row narrows to several qualifiers"),
    ("box", (*LOOKUP, "select"), "opcodes", 'box.LOOKUP: unknown select "opcodes"'),
    ("box", (*LOOKUP, "where"), "wirte", "box.LOOKUP: signal llc.lookup has no qualifier wirte"),
    ("box", (*LOOKUP, "umasks", 1, "name"), "read", "box.LOOKUP: unit mask read stands there "
                                                    "twice"),
    ("box", (*LOOKUP, "umasks", 0, "bits"), "bxxxxxxxx1", 'box.LOOKUP.READ: bits "bxxxxxxxx1" are '
                                                          "9, not 8"),
    ("box", (*LOOKUP, "umasks", 0, "bits"), "bxxxxxxxX", 'box.LOOKUP.READ: bits "bxxxxxxxX" are '
                                                         "not made of 0, 1 and x"),
    ("box", (*LOOKUP, "umasks", 0, "filters"), ["opk"], "box.LOOKUP.READ: unknown filter opk"),
    ("box", (*LOOKUP, "umasks", 0, "filter"), "opc", 'box.LOOKUP.READ: unknown key "filter" in '
                                                     "unit mask"),
    ("box", (*LOOKUP, "umasks", 0, "implied"), {"cmask": 1}, "box.LOOKUP.READ: gives cmask, which is "
                                                           "no modifier"),
    ("box", (*LOOKUP, "umasks", 0, "implied"), {"edge_det": 2}, "box.LOOKUP.READ: edge_det = 0x2 does "
                                                              "not fit 19"),
    ("box", (*LOOKUP, "umask"), 1, "box.LOOKUP: umask 0x1 is too large, or beside unit masks"),
    ("box", (*CYCLES, "umask"), 256, "box.CYCLES: umask 0x100 is too large, or beside unit masks"),
    ("box", (*CYCLES, "settings"), [{"register": "Bn_FILTER", "field": "opcode", "value": 1}],
     "box.CYCLES: setting Bn_FILTER.opcode is no field of the box"),
    ("box", (*CYCLES, "settings"), [{"register": "Bn_CTL0", "field": "thresh", "value": 1}],
     "box.CYCLES: setting Bn_CTL0.thresh is no field of the box"),
    ("box", (*CYCLES, "settings"), [{"register": "Bn_FILTER", "field": "opc", "value": 256}],
     "box.CYCLES: setting 0x100 does not fit opc"),
    ("box", (*CYCLES, "settings"), [{"register": "Bn_FILTER", "field": "opc", "value": "many"}],
     'box.CYCLES: setting "many" is no number'),
    ("box", (*QUEUE, "umasks", 0, "bits"), GONE, "box.QUEUE.RANK0: a unit mask without bits needs "
                                                 'settings and combine "one"'),
    ("box", (*LOOKUP, "combine"), "group", "box.LOOKUP: a unit mask without a group"),
    ("box", (*LOOKUP, "umasks", 0, "needs"), "kind", 'box.LOOKUP.READ: needs "kind", no other '
                                                     "group"),
    ("box", (*QUEUE, "signal"), "llc.lookup", "box.QUEUE: an absent event with signal"),
    ("box", (*QUEUE, "measure"), "clock", "box.QUEUE: an absent event with measure"),

    ("box", (*RATE, "name"), "rankX_load", "box: metric RANKx_LOAD stands there twice"),
    ("box", (*RATE, "unit"), GONE, "box.RATE: metric without unit"),
    ("box", (*RATE, "equation"), "LOOKUPS.READ", "box.RATE: equation: unknown name LOOKUPS.READ"),
    ("box", (*RATE, "equation"), "LOOKUP.RD / CYCLES", "box.RATE: equation: box.LOOKUP has no "
                                                       "unit mask RD"),
    ("box", (*RATE, "equation"), "LOOKUP / CYCLES", "box.RATE: equation: box.LOOKUP needs a unit "
                                                    "mask"),
    ("box", (*RATE, "equation"), "QUEUE.BANKx", "box.RATE: equation: box.QUEUE has no unit mask "
                                                "BANKx"),
    ("box", (*RATE, "equation"), "(CYCLES", 'box.RATE: equation: "end" where ) is due'),
    ("box", (*RATE, "equation"), "CYCLES)", 'box.RATE: equation: ")" after the end'),
    ("box", (*RATE, "equation"), "CYCLES % 2", 'box.RATE: equation: cannot read "% 2"'),
    ("box", (*RATE, "equation"), "CYCLES / / 2", 'box.RATE: equation: "/" where a name is due'),
    ("box", (*RATE, "equation"), "CYCLES{invert}", "box.RATE: equation: box has no modifier "
                                                   "invert"),
    ("box", (*RATE, "equation"), "LOOKUP.READ with:Bn_FILTER.nid=1",
     "box.RATE: equation: box has no filter Bn_FILTER.nid"),
    ("box", (*RATE, "equation"), "LOOKUP.READ with:Bn_FILTER1.opc=1",
     "box.RATE: equation: box has no filter Bn_FILTER1.opc"),
    ("box", (*RATE, "equation"), "LOOKUP.READ with:Bn_FILTER.opc=DRd",
     "box.RATE: equation: opc has no value DRd"),
    ("box", (*RATE, "equation"), "hub:LOOKUP.READ", "box.RATE: equation: unknown name LOOKUP.READ"),

    ("bindings", ("source",), GONE, "bindings: bindings without source"),
    ("bindings", ("units", "slice"), "bax", "units: no box bax"),
    ("bindings", ("units", "core"), "box", 'units: unknown unit "core"'),
    ("bindings", ("units", "hub"), "hub1", "units: hub1: there are 1 instances"),
    ("bindings", ("units", "slice"), GONE, "box.LOOKUP: signal llc.lookup is of a slice, which box "
                                           "is not"),
    ("bindings", ("filters", "bus"), {}, "bus: filters of a box that is not there"),
    ("bindings", (*OPC, "attribute"), "colour", 'box.opc: unknown attribute "colour"'),
    ("bindings", (*OPC, "codes", "fetch"), 1, 'box.opc: unknown request "fetch"'),
    ("bindings", (*OPC, "codes", "writeback"), 65535, "box.opc: code 0xffff is too large"),
    ("bindings", (*OPC, "codes"), GONE, "box.opc: a request without codes"),
    ("bindings", OPC, {"attribute": "thread"}, "box.opc: a thread without the number of threads a "
                                               "core has"),
    ("bindings", OPC, {"attribute": "thread", "threads": 2, "none": "11"},
     'box.opc: none "11" is not made of 0, 1 and x'),
    ("bindings", OPC, {"attribute": "address", "bit": 6}, "box.opc: an address without bit and "
                                                          "from"),
    ("bindings", OPC, {"attribute": "node", "codes": {"i": 1}}, "box.opc: values of node have no "
                                                                "names"),
    ("bindings", ("filters", "box"), {"thresh": {"attribute": "node"}},
     "box.thresh: is no filter of the box"),
    ("bindings", ("filters", "box"), {}, "box.LOOKUP: no encoding of box.opc"),

    ("box", (*CAPTURE, "title"), GONE, "box.capture: record without title"),
    ("box", (*CAPTURE, "name"), "Capture 1", "box.Capture 1: cannot be the name of a record"),
    ("box", (*SAMPLE, "name"), "capture", "box: two records of one name"),
    ("box", (*CAPTURE, "optional"), ["Bn_CTL7"], "box.capture: no register Bn_CTL7"),
    ("box", (*CAPTURE, "when"), ["Bn_CTL0.edge_det=2"], 'box.capture: "Bn_CTL0.edge_det=2" can '
                                                        "never be"),
    ("box", (*CAPTURE, "when"), ["Bn_CTL0.en"], 'box.capture: "Bn_CTL0.en" is no condition'),
    ("box", (*CAPTURE, "when"), ["Bn_CTR0=63"], 'box.capture: "Bn_CTR0=63" is held against more '
                                                "than 62"),
    ("box", (*CAPTURE, "kinds", 1, "name"), "off", "box.capture: two kinds of one name"),
    ("box", (*fields(CAPTURE, 0), "value"), "Bn_CTL7", "box.capture: no register Bn_CTL7"),
    ("box", (*fields(CAPTURE, 0), "value"), "Bn_CTL0.opc", "box.capture: register Bn_CTL0 has no "
                                                           "field opc"),
    ("box", (*fields(CAPTURE, 0), "value"), "Bn_CTR0<<1", 'box.capture: "Bn_CTR0<<1" does not fit '
                                                          "64 bits"),
    ("box", (*fields(CAPTURE, 0), "value"), "0x08", 'box.capture: "0x08" is no register'),
    ("box", (*fields(CAPTURE, 0), "kinds"), ["of"], "box.capture: no kind of"),
    ("box", (*fields(CAPTURE, 0), "of"), "younger", "box.capture: opcode is of other entries, but "
                                                    "in no ring"),
    ("box", (*fields(CAPTURE, 0), "like"), "Bn_CTL7", "box.capture.opcode: no register Bn_CTL7"),
    ("box", (*fields(CAPTURE, 0), "mnemonics", 0, "value"), 1024,
     "box.capture.opcode: RD = 0x400 does not fit 10 bits"),
    ("box", (*fields(CAPTURE, 1), "name"), "opcode", "box.capture: field opcode stands there twice"),
    ("box", (*fields(CAPTURE, 1), "value"), "Bn_FILTER.opc", "box.capture: flag edge has 8 bits"),
    ("box", (*CAPTURE, "ring", "count"), 4, "box.capture: 4 entries do not fit their index"),
    ("box", (*CAPTURE, "ring", "last"), GONE, "box.capture: a ring has next and filled, or last"),
    ("box", (*CAPTURE, "ring", "kinds", 1, "when"), ["Bn_CTR{i}!=0"],
     "box.capture: the last kind of an entry is what none of the others is"),
    ("box", (*fields(SAMPLE, 0), "value"), "0x10", "box.sample: offset 0x10 is no word of 16 bytes"),
    ("box", (*fields(SAMPLE, 0), "value"), "Bn_CTL0", 'box.sample: "Bn_CTL0" is not in memory'),
    ("box", (*fields(SAMPLE, 0), "mnemonics"), "capture.code", "box.sample.opcode: no mnemonics "
                                                               "capture.code"),
]

# What is right although it looks unusual.
ALLOWED = [
    ("box", fields(FILTER, 1), {**SELECTS, "any": 7}),
    ("box", RATE, {"name": "RATE", "unit": "ratio", "desc": "cannot be computed", "source": "test",
                   "equation": "READS / (READS + CYCLES)", "unresolved": ["READS"]}),
    ("box", (*CYCLES, "ext"), True),
    ("box", ("scope",), "core"),
    ("box", (*CYCLES, "select"), "all"),
    ("box", (*LOOKUP, "select"), "opcode"),
    ("box", (*LOOKUP, "where"), "write request=read_data,writeback unit=0-1,3"),
    ("box", (*LOOKUP, "select", 3), "bxxxxx1xx none"),
    ("box", (*RATE, "equation"), "LOOKUP.READ with:{Bn_FILTER.opc=0x81} + "
                                 "LOOKUP.READ with:Bn_FILTER.{opc}={my_node}"),
    ("box", (*RATE, "equation"), "box.CYCLES + hub.PMON_FIXED + INST_RETIRED.ALL"),
]


def spoil(catalog, file, place, value):
    catalog = copy.deepcopy(catalog)
    at = catalog[file]
    for key in place[:-1]:
        at = at[key]
    if value is GONE:
        del at[place[-1]]
    else:
        at[place[-1]] = value
    return catalog


def write(folder, catalog):
    pmu = Path(folder) / "small"
    pmu.mkdir(exist_ok=True)
    for name, content in catalog.items():
        (pmu / f"{name}.json").write_text(json.dumps(content))
    return pmu


def generate(folder, catalog):
    """The tables, and the findings."""
    pmu = write(folder, catalog)
    tables = io.StringIO()
    try:
        with contextlib.redirect_stdout(tables):
            generate_tables(["boxes", str(HERE / "small_signals.json"), str(pmu)])
    except SystemExit as refusal:
        return tables.getvalue(), str(refusal.code).splitlines()
    return tables.getvalue(), []


def has_finding(findings, text):
    """Whether the text is a finding, behind the name of a file."""
    files = [f"small/{name}.json: " for name in ("pmu", "box", "hub", "bindings")]
    return any(line == file + text for line in findings for file in files)


def exit_code(catalog):
    """That of the command itself, which has to say something where it is not 0."""
    with tempfile.TemporaryDirectory() as folder:
        pmu = write(folder, catalog)
        run = subprocess.run([sys.executable, HERE.parents[1] / "scripts" / "catalog-gen", "boxes",
                              HERE / "small_signals.json", pmu],
                             capture_output=True, text=True, check=False)
        return run.returncode if bool(run.returncode) == bool(run.stderr) else None


def main():
    catalog = {name: json.loads((HERE / "small" / f"{name}.json").read_text())
               for name in ("pmu", "box", "hub", "bindings")}
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in [("pmu", ("name",), "small"), *ALLOWED]:
            tables, findings = generate(folder, spoil(catalog, *case))
            if findings or "pmu_table" not in tables:
                failures += 1
                print(f"{case[:2]}: refused", *findings, sep="\n")
        for *case, finding in CASES:
            tables, findings = generate(folder, spoil(catalog, *case))
            if not has_finding(findings, finding) or tables:
                failures += 1
                print(f"{case[:2]}: no finding \"{finding}\"", *findings, sep="\n")
    if (exit_code(catalog), exit_code(spoil(catalog, "box", ("source",), GONE))) != (0, 1):
        failures += 1
        print("exit codes are not 0 and 1")
    print(f"{len(CASES)} refusals, {failures} failures")
    sys.exit(failures != 0)


main()
