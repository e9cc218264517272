"""The tables of 334291-001 that have a shape of their own: summaries, opcodes, values of fields."""
import re

from reader import Table

BOXES = {"CBox": "cbo", "SBox": "sbo", "HA": "ha", "HA0": "ha", "HA1": "ha", "IMC": "imc",
         "iMC0": "imc", "iMC1": "imc", "PCU": "pcu", "U-Box": "ubox", "UBox": "ubox", "IRP": "irp",
         "Intel® QPI": "qpi", "QPI0": "qpi", "QPI1": "qpi", "QPI0 Mask/Match": "qpi",
         "QPI1 Mask/Match": "qpi", "QPI0 Misc": "qpi", "QPI1 Misc": "qpi", "R2PCIe": "r2pcie",
         "R3QPI": "r3qpi", "R3QPI0": "r3qpi", "R3QPI1": "r3qpi"}
CLASSES = ("HOM0", "HOM1", "NDR", "SNP", "NCS", "NCB", "DRS")


def part(text, start, end):
    """Between two headings or captions, page breaks and repeated captions left out."""
    begin = text.index(start) + len(start)
    found = text[begin:text.index(end, begin)].replace("\f", "\n")
    return re.sub(r"^Table 1-[123]\..*\n\n(?:.+\n)+", "", found, flags=re.M)


def capabilities(text):
    """Table 1-1: general counters, those in brackets, bits of a counter."""
    rows = {}
    table = part(text, "Table 1-1.", "• Section 2.6")
    pieces = re.split(r"^(CBox|HA|IMC|PCU|Intel® QPI|R2PCIe|R3QPI|SBox|UBox|IRP) ", table,
                      flags=re.M)
    for box, cells in zip(pieces[1::2], pieces[2::2]):
        general, fixed, width = re.search(
            r"(\d)(?: \(\+(\d)\))?\s+(?:\(per \w+\)\s+)?\d [YN] (\d+)\s*$", cells, re.M).groups()
        rows[BOXES[box]] = {"counters": general, "width": width}
        if fixed:
            rows[BOXES[box]]["fixed"] = fixed
    return Table("1-1", "pmu", "boxes", rows)


def spans(text, step):
    """Addresses of "F8-F4", "0xF75,0xF76" or "E4-E0 & DC-D8"."""
    found = set()
    for one in re.split(r"[,&]", text):
        ends = sorted(int(end, 16) for end in one.split("-"))
        found.update(range(ends[0], ends[-1] + 1, step))
    return " ".join(f"{a:x}" for a in sorted(found))


def msr_summary(text):
    """Table 1-2: the addresses of each box's kinds of registers."""
    rows, box = {}, ""
    for line in part(text, "Table 1-2. MSR", "Table 1-3. PCICFG").split("\n"):
        m = re.match(r"(?:(CBox \d+|SBox \d|For U-Box) )?(0x[0-9A-Fx,-]+) ([A-Z].*)$", line)
        if m:
            box = m.group(1) or box
            rows[f"{box.removeprefix('For ')}: {m.group(3)}"] = {"addresses": spans(m.group(2), 1)}
        elif re.match(r"PCU Counters|For Global Control", line):
            box = line.split()[0] if "PCU" in line else "Global"
    return Table("1-2", "msr", "summary", rows)


def pci_summary(text):
    """Table 1-3: functions with their device ids, and offsets of each box's kinds of registers."""
    devices, rows, places, box = {}, {}, [], ""
    names = "|".join(sorted(BOXES, key=len, reverse=True))
    table = part(text, "Table 1-3. PCICFG", "1.6.1 On Finding")
    for line in table.split("\n"):
        if m := re.match(rf"({names}) D", line):
            box, places = m.group(1), []
        for device, functions in re.findall(r"\bD([\d,]+):F([\d,]+)", line.split(" For ")[0]):
            places += [f"D{d}:F{f}" for d in device.split(",") for f in functions.split(",")]
        for one in re.findall(r"0x6F[0-9A-F]{2}", line):
            devices[one] = {"place": places.pop(0)}
        if m := re.match(r"((?:[0-9A-Fx]+[-,& ]*)+) ([A-Z][a-zI].*)$", line):
            if not m.group(1).startswith("0x6"):
                rows[f"{BOXES[box]}: {m.group(2)}"] = {"addresses": spans(m.group(1).strip(), 4)}
    return [Table("1-3", "pci", "devices", devices), Table("1-3", "pci", "summary", rows)]


def discovery(text):
    """§1.6: the capability registers; §1.6.1: what the code reads, package by package."""
    registers = {}
    for field, register, device, function, offset in re.findall(
            r"bits (\d+:\d+) in the (CAPID\d)\s+register located at Device\s+(\d+),"
            r"\s+Function\s+(\d+),\s+Offset\s+(0x\w+)", text):
        registers[register] = {"address": offset, "place": f"D{device}:F{function}", "bits": field}
    code = part(text, "1.6.1 On Finding", "1.7 On Parsing")
    for name, offset in re.findall(r"UNC_SOCKETID_UBOX_(\w+)_OFFSET\s+(0x\w+)\n", code):
        registers[f"UNC_SOCKETID_UBOX_{name}"] = {"address": offset}
    packages = re.findall(r"// bits (\d+:\d+)\n\n.*== gid\) \{\n\n\s+gid = (\d);", code)
    links = {f"sbo{sbos}.qpi{links}": {"value": int(bits, 2)} for bits, sbos, links in re.findall(
        r"^(\d\d) = (\d) SBoxes and (\d) Intel QPI Links", text, re.M)}
    node = int(re.search(r"gid = PCI_Read_Ulong\(pci_address\) & (0x\w+);", code).group(1), 16)
    found = {name: row.pop("bits") for name, row in registers.items() if "bits" in row}
    device = re.search(r"SOCKETID_UBOX_DID\s+0x(6F\w\w)", code).group(1).upper()
    return [Table("§1.6", "cfg", "registers", registers),
            Table("§1.6.1", "pci", "devices", {f"0x{device}": {}}),
            Table("§1.6.1", "cfg.UNC_SOCKETID_UBOX_GID", "fields",
                  {f"package{n}": {"bits": bits} for bits, n in packages}),
            Table("§1.6.1", "cfg.UNC_SOCKETID_UBOX_LNID", "fields",
                  {"node_id": {"bits": f"{node.bit_length() - 1}:0"}}),
            Table("§1.6", "cfg.sbo_qpi", "mnemonics", links),
            Table("§1.6", "cfg.CAPID4", "fields", {"sbo_qpi": {"bits": found["CAPID4"]}}),
            Table("§1.6", "cfg.CAPID5", "fields", {"cbo": {"bits": found["CAPID5"]}})]


def capability_tables(text):
    return [capabilities(text), msr_summary(text), *pci_summary(text), *discovery(text)]


def values(text, table, subject, pattern, name=lambda printed: printed):
    rows = {name(m.group(2)): {"value": int(m.group(1).replace("x", "0"), 2)}
            for m in re.finditer(pattern, text, re.M)}
    return Table(table, subject, "mnemonics", rows)


def value_tables(text):
    """What values of fields mean, where a table or a field's text lists them."""
    opc = part(text, "Table 2-20.", "CBo performance monitoring events can be")
    codes = re.findall(r"^(0x\w{3}) (\w+) ", opc, re.M)
    tables = [Table("2-20", "cbo.opc", "mnemonics",
                    {name: {"value": int(code, 16)} for code, name in codes})]
    state = part(text, "Table 2-18.", "Table 2-19.")
    tables.append(values(state, "2-18", "cbo.state", r"^b([01x]{7}) - (\w’?)",
                         lambda s: s.replace("’", "_PRIME")))
    classes = part(text, "Table 2-265.", "Table 2-266.")
    match1, match0 = (part(text, f"Table {a}.", f"Table {b}.")
                      for a, b in (("2-171", "2-172"), ("2-172", "2-173")))
    home = {"HOM - Requests": "HOM0", "HOM - Responses": "HOM1"}
    # §1.7: x in DATA_FROM_QPI_TO_NODEx stands for each node that DNID can hold.
    high, low = re.search(r"^DNID (\d+):(\d+) ", match0, re.M).groups()
    nodes = {f"NODE{n}": {"value": n} for n in range(1 << int(high) - int(low) + 1)
             if "\nDATA_FROM_QPI_TO_NODEx:" in text}
    for way in ("rx", "tx"):
        tables += [Table("§2.9.5", f"qpi.{way}_match_dnid", "mnemonics", nodes),
                   values(classes, "2-265", f"qpi.{way}_match_mc", r"^b([01]{4}) (\w+) "),
                   values(match0, "2-172", f"qpi.{way}_match_mc", r"^b([01]{4}) ([HNSD].*)$",
                          lambda s: home.get(s, s)),
                   values(match0, "2-172", f"qpi.{way}_match_vnw", r"^b([01x]{2}) - (\w+)"),
                   values(match1, "2-171", f"qpi.{way}_match_rds", r"^b([01]{4}) - ([MESFI])")]
    return tables


def opcode_cells(row):
    """Cells of one row of table 2-266 without their notes, and second names with their cells."""
    cells, also = [], []
    for paragraph in row.strip().split("\n\n"):
        for n, line in enumerate(paragraph.split("\n")):
            if aka := re.match(r"\(aka (\w+)\)$", line.strip()):
                also.append((len(cells) - 1, aka.group(1)))
            elif line.startswith("("):
                continue
            elif n and " " not in line.strip():
                cells[-1] += line.strip()  # a name broken at its column's edge
            else:
                cells += line.split()
    return [c.replace("_(FEIMS)", "") for c in cells], also


def by_class(text):
    """{class: {opcode name: code}} of table 2-266."""
    found = {c: {} for c in CLASSES}
    table = part(text, "Table 2-266.", "Table 2-267.").split("Opc NCS")
    for columns, rows in ((CLASSES[:4], table[0]), (CLASSES[4:], table[1])):
        pieces = re.split(r"^([01]{4}) (?=\S)", re.sub(r"^Note:.*\n.*\n", "", rows, flags=re.M),
                          flags=re.M)[1:]
        for code, row in zip(pieces[::2], pieces[1::2]):
            cells, also = opcode_cells(row)
            for name, column in zip(cells, columns, strict=True):
                if name != "---":
                    found[column][name] = int(code, 2)
            for index, name in also:
                found[columns[index]][name] = int(code, 2)
    return found


def alphabetical(text):
    """The same of table 2-267."""
    found = {c: {} for c in CLASSES}
    table = text[text.index("Table 2-267."):].replace("\f", "\n")
    for name, code, column in re.findall(rf"^(\S+) ([01]{{4}}) ({'|'.join(CLASSES)})\b", table,
                                         re.M):
        found[column][name.replace("_(FEIMS)", "")] = int(code, 2)
    return found


def opcode_tables(text):
    """Both lists, as the home agent holds them (with two bits of class) and as QPI does."""
    class_bits = {name: int(bits, 2) for bits, name in re.findall(
        r"^([01]{2}) - (HOM0|HOM1|NDR|SNP)\s*$", part(text, "Table 2-66.", "Table 2-67."), re.M)}
    tables = []
    for number, found in (("2-266", by_class(text)), ("2-267", alphabetical(text))):
        home = {name: {"value": class_bits[c] << 4 | code}
                for c in class_bits for name, code in found[c].items()}
        home |= {f"{c}.{name}": {"value": class_bits[c] << 4 | code}
                 for c in class_bits for name, code in found[c].items()}
        link = {name: {"value": code} for c in CLASSES for name, code in found[c].items()}
        tables += [Table(number, "ha.opc", "mnemonics", home)]
        tables += [Table(number, f"qpi.{way}_match_opc", "mnemonics", link) for way in ("rx", "tx")]
    return tables


def packet_events(text):
    """Table 2-175: match and mask of kinds of packets."""
    table = part(text, "Table 2-175.", "Table 2-176.")
    rows = {}
    for m in re.finditer(
            r"^((?:DRS|NCB)\.\w+)(?:\n(\w+)\n)?"
            r"\s+(0x1\w{3})(?:\s+&&\s+Match1\s+\[19:16\]\s+(0x\w))?"
            r"\s+(0x1\w{3})(?:\s+&&\s+Mask1\s+\[19:16\]\s+(0x\w))?", table, re.M):
        name, rest, match0, match1, mask0, mask1 = m.groups()
        rows[(name + (rest or "")).replace(".", "_")] = {
            "match0": match0.lower(), "mask0": mask0.lower(),
            "match1": hex(int(match1 or "0", 16) << 16), "mask1": hex(int(mask1 or "0", 16) << 16)}
    return [Table("2-175", "qpi", "packets", rows)]
