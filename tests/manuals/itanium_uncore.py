"""323602-001 chapter 5: registers, events and their subcontrols of the uncore."""
import re
import subprocess

import piped
from itanium_core import field_rows, plain
from itanium_facts import is_core
from piped import column
from reader import Table

PMU = "itanium-9300"
SECTIONS = {"5.5.6": "bbox", "5.6.6": "rbox", "5.7.7": "zbox"}
EVENT_TABLES = {"5-22": "bbox", "5-37": "rbox", "5-59": "zbox"}
ADDRESS_TABLES = {"5-9": "bbox", "5-24": "rbox", "5-45": "zbox"}
# Event headings that differ from the tables of events: letters that look alike.
HEADINGS = {"ARB_QO_REMOVE": "ARB_Q0_REMOVE", "FVC_EVO": "FVC_EV0"}

FIELD_TABLES = {
    "5-5": "CPE_CSR_QEAR_CTL", "5-6": "CPE_CSR_QEAR_DAT0", "5-7": "CPE_CSR_QEAR_DAT1",
    "5-8": "DBX_CSR_MISC", "5-10": "B_CSR_PERF_CTL0", "5-11": "B_CSR_PERF_CTL1",
    "5-12": "B_CSR_PERF_CNT", "5-13": "B_CSR_PERF_CTL2", "5-14": "B_CSR_PERF_CTL3",
    "5-17": "B_CSR_IOB_PERF_CNT", "5-18": "B_CSR_BZ_PERF_CNT", "5-19": "B_CSR_ARB_PERF_CNT0",
    "5-20": "B_CSR_ARB_PERF_CNT1", "5-21": "B_CSR_IMT_PERF_CNT", "5-26": "R_CSR_PERF_GBLCFG",
    "5-27": "R_CSR_PERF_CNT_CTRL", "5-28": "R_CSR_PERF_CNT", "5-29": "R_CSR_Pn_IPERF",
    "5-30": "R_CSR_Pn_ARB_PERF", "5-31": "R_CSR_Pn_MM_CFG", "5-32": "R_CSR_Pn_MATCH_MSB",
    "5-33": "R_CSR_Pn_MATCH_LSB", "5-34": "R_CSR_Pn_MASK_MSB", "5-35": "R_CSR_Pn_MASK_LSB",
    "5-46": "Z_CSR_PMU_CNT_STATUS", "5-47": "Z_CSR_PMU_CNT_CTL", "5-48": "Z_CSR_PMU_CNT",
    "5-49": "Z_CSR_DSP_PMU", "5-50": "Z_CSR_ISS_PMU", "5-51": "Z_CSR_PMU_MSC_THR",
    "5-53": "Z_CSR_PGT_PMU", "5-54": "Z_CSR_PLD_PMU", "5-55": "Z_CSR_PMU_ZDP_CTL_FVC",
}
IRREGULAR = {
    "5-4": "ranges of addresses; tables 5-9, 5-24 and 5-45 have each register",
    "5-52": "values of a field, which tables of THR_TT_TRP_UP_EV and _DN_EV name again",
    "5-56": "values of a field, which tables 5-60 to 5-63 name again",
    "5-57": "values of a field, which tables 5-60 to 5-63 name again",
    "5-58": "values of a field, which tables 5-60 to 5-63 name again",
}
# Registers by the names that tables of subcontrols give them.
SHORT = {
    "B_CSR_PERF_CTL2": "CTL2", "R_CSR_Pn_IPERF0": "IPERF", "R_CSR_Pn_ARB_PERF": "ARB_PERF",
    "Z_CSR_DSP_PMU": "DSP", "Z_CSR_ISS_PMU": "ISS", "Z_CSR_PMU_MSC_THR": "THR",
    "Z_CSR_PGT_PMU": "PGT", "Z_CSR_PLD_PMU": "PLD", "Z_CSR_PMU_ZDP_CTL_FVC": "FVC",
    "R_CSR_Pn_MATCH_LSB_0": "MATCH", "R_CSR_Pn_MASK_LSB_0": "MASK",
    "R_CSR_Pn_MATCH_MSB_0": "MATCH_HIGH", "R_CSR_Pn_MASK_MSB_0": "MASK_HIGH",
}


def is_uncore(box):
    return not is_core(box)


# Bits of subcontrols: a column for each, so that parts of a field compare.

def single_bits(name, high, low, text):
    """{"CTL2.5": "1"...} of a value in binary or hexadecimal; x is not said."""
    width = high - low + 1
    if text.startswith(("0b", "b")):
        digits = text.split("b")[1].lower()
    elif text.startswith("0x") and re.fullmatch(r"0x[0-9a-fA-F]+", text):
        digits = f"{int(text, 16):b}"
    else:
        digits = text if re.fullmatch(r"[01x]+", text) else "x" * width
    digits = digits.rjust(width, "x" if "x" in digits else "0")
    return {f"{name}.{high - i}": d for i, d in enumerate(digits[-width:]) if d != "x"}


def ends(text):
    first, _, last = text.partition(":")
    return int(first), int(last or first)


def heading_bits(name, heading, cell):
    """Ranges in the heading, values in the cell: [20:19],[17] and 0x1,0x0."""
    found = {}
    for where, value in zip(re.findall(r"\[([\d:]+)\]", heading), cell.split(",")):
        found.update(single_bits(name, *ends(where), value.strip()))
    return found


def cell_bits(name, cell):
    """Ranges and values both in the cell: [16]0x0 && [20:19]x1."""
    found = {}
    for where, value in re.findall(r"\[([\d:]+)\]\s*(\w+)", cell):
        found.update(single_bits(name, *ends(where), value))
    return found


def subcontrol_row(table, row):
    found = {}
    for heading, cell in zip(table.header[1:-1], row[1:]):
        name = re.match(r"(CTL2|IPERF|ARB_PERF|DSP|ISS|THR|PGT|PLD|FVC)", heading).group(1)
        if cell:
            found.update(cell_bits(name, cell) if "Dep" in heading
                         else heading_bits(name, heading, cell))
    return found


def is_nothing(row):
    return row[0] == "---" or row[0] in ("NONE", "NONE2", "ILLEGAL") and row[-1].startswith("(*")


def subcontrol_rows(table):
    return {plain(row[0]).replace("{n}", "n"): subcontrol_row(table, row)
            for row in table.rows if not is_nothing(row)}


def subcontrol_tables(tables, entries):
    section = {e.name: e.section for e in entries}
    return [Table(t.number or f"§{section[t.event]}", HEADINGS.get(t.event, t.event), "umasks",
                  subcontrol_rows(t))
            for t in tables if section.get(t.event) in SECTIONS and t.header[0] == "Extension"]


def class_bits(entry, names, high, low):
    """Message classes listed below an event, as "0bX1XXXX: Home", by their names elsewhere."""
    found = {}
    for value, name in re.findall(r"^ *[-.]* *(0b[01X]+): (.*?)\s*$", entry.text, re.M):
        found[names[name]] = single_bits("IPERF", high, low, value)
    return found


def class_names(table):
    """{"Home": "HOM"...} from a table of unit masks."""
    return {row[-1].removesuffix(" Messages"): zero(row[0]) for row in table.rows
            if row[0] != "---"}


def class_tables(numbered, entries):
    """The classes of two events, one with each of its networks too."""
    events = {e.name: e for e in entries}
    names = class_names(numbered["5-39"])
    allocated = class_bits(events["ALLOC_TO_ARB"], {**names, "Home": names["Home0"]}, 15, 9)
    received = class_bits(events["NEW_PACKETS_RECV"], class_names(numbered["5-42"]), 5, 0)
    networks = subcontrol_rows(numbered["5-41"])
    combined = {f"{network}.{name}": {**networks[network], **bits}
                for network in networks for name, bits in received.items()}
    return [Table("§5.6.6", "ALLOC_TO_ARB", "umasks", allocated),
            Table("§5.6.6", "NEW_PACKETS_RECV", "umasks", combined)]


def message_table(table):
    """Table 5-36: 16 bits of match and mask, of one row four more."""
    rows = {}
    for row in table.rows:
        found = {}
        for name, cell in (("MATCH", row[1]), ("MASK", row[2])):
            found.update(single_bits(name, 15, 0, cell.split()[0]))
            if m := re.search(r"\[(\d+):(\d+)\] (0x\w+)", cell):
                found.update(single_bits(f"{name}_HIGH", int(m.group(1)) - 32,
                                         int(m.group(2)) - 32, m.group(3)))
        rows[row[0]] = found
    return Table(table.number, "messages", "umasks", rows)


# Events

def event_bits(box, text):
    """Code of an event, or what its subcontrol has to hold."""
    if box != "rbox":
        return {"code": hex(int(text, 16))}
    if "[" in text:
        where, value = re.match(r"\[([\d:]+)\](\w+)", text).groups()
        name = "ARB_PERF" if where == "3:0" else "IPERF"
        return single_bits(name, *ends(where), value)
    if re.fullmatch(r"0x\w+", text):
        return single_bits("ARB_PERF", 3, 0, text)
    return {}


def event_table(table, box):
    rows = {}
    for row in table.rows:
        if "Events" not in row[0]:
            rows[row[0]] = {"max": column(table, row, "MaxInc"),
                            **event_bits(box, column(table, row, "EventCode", "CNT_CTLx"))}
    return Table(table.number, box, "events", rows)


def entry_tables(entries):
    found = {}
    for entry in entries:
        box = SECTIONS.get(entry.section)
        if not box:
            continue
        code, most = re.search(r"(?:Event Code|Value):\*\* (.*?), \*\*Max\. Inc/Cyc:\*\* (\d+)",
                               entry.text).groups()
        found.setdefault(entry.section, Table(f"§{entry.section}", box, "events")).rows[
            entry.name] = {"max": most, **event_bits(box, code)}
    return list(found.values())


# Registers

def spread(name, text):
    """"X{1-0}" at "0x138, 0x140" or "0x0a8 - 0x0e0", number 0 at the lowest address."""
    base, last = re.match(r"(\w+?)(?:\{(\d+)-0\})?$", name).groups()
    addresses = [int(a, 16) for a in re.findall(r"0x\w+", text)]
    if not last:
        return {base: {"address": hex(addresses[0])}}
    step = (addresses[-1] - addresses[0]) // int(last)
    return {f"{base}{i}": {"address": hex(addresses[0] + i * step)} for i in range(int(last) + 1)}


def address_table(table, box):
    rows = {}
    for row in table.rows:
        if row[0]:
            name = re.sub(r"(ARB_PERF)\d$", r"\1", row[0])
            rows.update(spread(name, column(table, row, "AddrOffset")))
    return Table(table.number, box, "addresses", rows)


def qear_table(text):
    rows = {m.group(1): {"address": hex(int(m.group(2), 16))}
            for m in re.finditer(r"^(CPE_CSR_QEAR_\w+) (0x\w+) None", text, re.M)}
    return Table("§5.3", "cpe", "addresses", rows)


def port_table(table):
    def listed(text):
        return " ".join(hex(int(a, 16)) for a in re.findall(r"0x\w+", text))
    rows = {}
    for row in table.rows:
        left = row[3] != "NA"
        rows[f"port {row[1]}"] = {
            "name": row[0], "side": row[2], "select": int((row[3] if left else row[4])[1:], 2),
            "iperf": listed(row[5]), "arb": listed(row[6]), "match": listed(row[7])}
    return Table(table.number, "rbox", "ports", rows)


def window_tables(sockets, boxes):
    rows = {}
    for row in boxes.rows:
        base = " ".join(a.replace("xxx", "000").lower() for a in re.findall(r"0x\wxxx", row[1]))
        for kind, number in re.findall(r"(D-Box|R-Box|B-Box|Z-Box|CPE)(?: (\d))?", row[0]):
            rows[f"{kind.replace('-', '').lower()}{number or 0}"] = {"base": base}
    current = {row[0]: {"base": row[1].replace("xxxx", "0000").lower()} for row in sockets.rows
               if "x" in row[1]}
    return [Table(sockets.number, "sockets", "windows", current),
            Table(boxes.number, "boxes", "windows", rows)]


def capability_table(table):
    rows = {}
    for row in table.rows:
        found = {"counters": re.match(r"\d+", row[2]).group(),
                 "width": re.match(r"\d+", row[5]).group()}
        if row[1].isdigit():
            found["instances"] = row[1]
        rows[row[0].lower()] = found
    return Table(table.number, "boxes", "capabilities", rows)


# Message classes and opcodes, decoded in the B-Box and as numbers in the R-Box

def zero(name):
    """HOM0 where the letter O stands."""
    return name.replace("HOMO", "HOM0")


def class_table(table, setting, base):
    return Table(table.number, setting, "values",
                 {zero(row[1]): {"value": hex(int(row[0].lstrip("b"), base))} for row in table.rows
                  if len(row) > 1 and row[1]})


def opcode_table(table, setting, base):
    """Its columns get other classes in the middle; a later sheet has the first ones again."""
    rows, classes = {}, table.header[1:]
    for row in table.rows:
        if row[0] in ("", "OpC"):
            classes = row[1:]
            continue
        if row[0] == "Opc":  # a later sheet, with the heading of the first
            continue
        for name, opcode in zip(classes, row[1:]):
            if opcode and opcode != "---":
                rows[f"{zero(name)}.{opcode}"] = {"value": hex(int(row[0], base))}
    return Table(table.number, setting, "values", rows)


def alphabet_table(table):
    return Table(table.number, "OPC", "values",
                 {f"{row[2]}.{row[0]}": {"value": hex(int(row[1], 2))} for row in table.rows})


def read(text):
    tables, entries = piped.pipe_tables(text), piped.entries(text)
    numbered = {t.number: t for t in tables if t.number}
    found = [Table(n, r, "fields", field_rows(numbered[n])) for n, r in FIELD_TABLES.items()]
    found += [event_table(numbered[n], box) for n, box in EVENT_TABLES.items()]
    found += [address_table(numbered[n], box) for n, box in ADDRESS_TABLES.items()]
    found += [Table(n, "uncore", "values", {}, why) for n, why in IRREGULAR.items()]
    found += window_tables(numbered["5-2"], numbered["5-3"])
    found += [capability_table(numbered["5-1"]), port_table(numbered["5-25"]), qear_table(text),
              class_table(numbered["5-15"], "class_in", 16),
              opcode_table(numbered["5-16"], "opcode_in", 16),
              class_table(numbered["5-64"], "MC", 2), opcode_table(numbered["5-65"], "OPC", 2),
              alphabet_table(numbered["5-66"]), message_table(numbered["5-36"])]
    return (found + entry_tables(entries) + subcontrol_tables(tables, entries)
            + class_tables(numbered, entries))


# Ours

def our_fields(registers):
    """Those that are counted by number have to be alike."""
    found = {}
    for subject in FIELD_TABLES.values():
        rows = found.setdefault((subject, "fields"), {})
        for reg in registers:
            if not re.fullmatch(rf"{subject}_?\d*", reg["name"]) or reg["instance"]:
                continue
            for f in reg["fields"]:
                row = rows.setdefault(f"{f['hi']}:{f['lo']}", {})
                for key, value in (("name", f["name"]), ("reset", hex(f["reset"])),
                                   ("access", f["access"].removesuffix("-V"))):
                    row[key] = value if row.get(key, value) == value else f"{row[key]}|{value}"
    return found


def our_bits(encoding):
    found = {}
    for s in encoding["sets"]:
        name = SHORT.get(s["register"])
        if name and s.get("copy", 0) == 0:
            found.update({f"{name}.{b}": str(s["value"] >> (b - s["lo"]) & 1)
                          for b in range(s["lo"], s["hi"] + 1)})
    return found


def is_message(encoding):
    return any(s["register"].startswith("R_CSR_Pn_MM_CFG") for s in encoding["sets"])


def our_events(data):
    found = {("messages", "umasks"): {}}
    most = {(e["box"], e["event"]): e["max_increment"] for e in data.listed("events", PMU, is_uncore)}
    for e in data.listed("encodings", PMU, is_uncore):
        mine = our_bits(e)
        if is_message(e):
            if not e["umask"]:  # any packets, not one of the table's choice
                continue
            blank = {f"{r}.{b}": "0" for r in ("MATCH", "MASK") for b in range(16)}
            found["messages", "umasks"][f"{e['event']}.{e['umask']}"] = {**blank, **mine}
            continue
        row = {"code": hex(e["code"]), "max": most[e["box"], e["event"]], **mine}
        found.setdefault((e["box"], "events"), {}).setdefault(e["event"], row)
        if e["umask"]:
            found.setdefault((e["event"], "umasks"), {})[e["umask"]] = mine
    return found


def our_name(register, labels):
    """With the port's number, and the counter's as the R-Box has them: the right side from 8."""
    name, port = register["name"], register["instance"]
    if m := re.fullmatch(r"(R_CSR_PERF_CNT(?:_CTRL)?_)(\d)", name):
        return m.group(1) + str(int(m.group(2)) + (8 if "right" in labels[port] else 0))
    return name.replace("_Pn_", f"_P{port:02d}_")


def our_addresses(data, registers, labels):
    found = {}
    for r in registers:
        if r["box"] != "dbox" and (r["box"] == "rbox" or r["instance"] == 0):
            mask = 0xffff if r["box"] == "rbox" else 0xfff
            found.setdefault((r["box"], "addresses"), {})[our_name(r, labels)] = {
                "address": hex(r["address"] & mask)}
    return found


def our_ports(addresses, instances):
    rows = {}
    for port, instance in enumerate(instances):
        label, side = instance["label"].split(", ")
        def at(name):
            return int(addresses[f"R_CSR_P{port:02d}_{name}"]["address"], 16)
        rows[f"port {port}"] = {
            "name": label, "side": side[0].upper(), "select": int(instance["control"], 16) >> 19,
            "iperf": f"{at('IPERF1'):#x} {at('IPERF0'):#x}", "arb": hex(at("ARB_PERF")),
            "match": " ".join(hex(at(f"{kind}_{i}")) for i in (1, 0)
                              for kind in ("MM_CFG", "MATCH_LSB"))}
    return rows


def our_windows(data, registers):
    bases = {}
    for r in registers:
        number = 0 if r["box"] == "rbox" else r["instance"]
        bases.setdefault(f"{r['box']}{number}", set()).add(r["address"] & 0xf000)
    shown = subprocess.run([data.program, "show", PMU], capture_output=True, text=True).stdout
    own, first, step = (int(n, 16) & 0xffffffff for n in re.search(
        r"mmio +at (0x\w+) of the own socket, (0x\w+) \+ N \* (0x\w+)", shown).groups())
    sockets = {f"Socket {n}": {"base": hex(first + n * step)} for n in (0, 1, 255)}
    return {("sockets", "windows"): {"Current Socket": {"base": hex(own)}, **sockets},
            ("boxes", "windows"): {box: {"base": " ".join(hex(b) for b in sorted(
                found, reverse=True))} for box, found in bases.items()}}


def ours(data):
    registers = data.listed("registers", PMU, is_uncore)
    files = data.files(PMU)
    labels = [i["label"] for i in files["rbox"]["instances"]]
    found = {**our_fields(registers), **our_events(data),
             **our_addresses(data, registers, labels), **our_windows(data, registers)}
    found["rbox", "ports"] = our_ports(found["rbox", "addresses"], files["rbox"]["instances"])
    found["boxes", "capabilities"] = {
        b["box"]: {"instances": b["instances"], "counters": b["counters"],
                   "width": files[b["box"]]["counter_width"]}
        for b in data.listed("boxes", PMU, is_uncore) if b["counters"]}
    for s in data.listed("settings", PMU, is_uncore):
        if s["setting"] in ("class_in", "opcode_in", "MC", "OPC"):
            found[s["setting"], "values"] = {v["name"]: {"value": hex(v["value"])}
                                             for v in s["values"]}
    return found
