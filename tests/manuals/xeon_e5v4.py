"""Reads 334291-001: tables by their captions, rows by their shape, whatever page they spill onto.

A page break may fall inside a table: rows before the first caption of a page belong to the last
table of their kind, whose caption is then repeated behind them."""
import re

from reader import Table
from xeon_e5v4_ours import ours  # noqa: F401  (the frame calls it)
from xeon_e5v4_reference import capability_tables, opcode_tables, packet_events, value_tables
from xeon_e5v4_rows import (counters, device_rows, event_rows, field_rows, metric_rows,
                            register_rows, umask_rows)

DOCUMENT = "334291-001"
MANUAL = "xeon-e5v4-uncore.txt"
BOXES = {1: "ubox", 2: "ubox", 3: "cbo", 4: "sbo", 5: "ha", 6: "imc", 7: "irp", 8: "pcu", 9: "qpi",
         10: "r2pcie", 11: "r3qpi", 12: "qpi"}
# Registers that captions of field tables name otherwise than register tables: entries 28 of the
# first part of the errata, 7 and 37 of the second, 17 and 44 of the third.
CAPTIONS = {
    "U_MSR_PMON_FIXED_CTL": ["U_MSR_PMON_UCLK_FIXED_CTL"],
    "U_MSR_PMON_FIXED_CTR": ["U_MSR_PMON_UCLK_FIXED_CTR"],
    "HA_PCI_PMON_CTR{i}": ["HAn_PCI_PMON_CTR{i}"],
    "HA_PCI_PMON_BOX_OPCODEMATCH": ["HAn_PCI_PMON_BOX_OPCODEMATCH"],
    "HA_PCI_PMON_BOX_ADDRMATCH1": ["HAn_PCI_PMON_BOX_ADDRMATCH1"],
    "HA_PCI_PMON_BOX_ADDRMATCH0": ["HAn_PCI_PMON_BOX_ADDRMATCH0"],
    "MC_CHy_PCI_PMON_CTR{FIXED,3-0}": ["MC_CHy_PCI_PMON_CTR{i}", "MC_CHy_PCI_PMON_FIXED_CTR"],
    "IRP_PCI_PMON_CTL{i}": [f"IRP{n}_PCI_PMON_CTL{i}" for n in (0, 1) for i in (0, 1)],
    "IRP{0,1}_PCI_PMON_CTR{i}": [f"IRP{n}_PCI_PMON_CTR{i}" for n in (0, 1) for i in (0, 1)],
    **{f"Q_Py_PCI_PMON_PKT_{{Rx,Tx}}_{name}": [f"Q_Py_PCI_PMON_{way}_PKT_{name}"
                                               for way in ("RX", "TX")]
       for name in ("MATCH0", "MATCH1", "MASK0", "MASK1")},
}
# What filter columns call registers.
FILTERS = {"CBoFilter0": "Cn_MSR_PMON_BOX_FILTER0", "CBoFilter1": "Cn_MSR_PMON_BOX_FILTER1",
           "HA_AddrMatch0": "HAn_PCI_PMON_BOX_ADDRMATCH0",
           "HA_AddrMatch1": "HAn_PCI_PMON_BOX_ADDRMATCH1",
           "HA_OpcodeMatch": "HAn_PCI_PMON_BOX_OPCODEMATCH", "PCUFilter": "PCU_MSR_PMON_BOX_FILTER"}

BREAK = "\f"
CAPTION = re.compile(r"^(?:Table (?P<table>\d+-\d+)\.\s*(?P<title>\S.*?)\s*"
                     r"(?:\(Sheet \d+ of \d+\))?|(?P<events>Symbol Name Event) |"
                     r"(?P<metrics>Symbol Name:))\s*$", re.M)
HEADING = re.compile(r"^(2\.(\d+)(?:\.\d+)*) ([A-Za-z].*)$", re.M)


def body(text):
    """Without contents, with page breaks as one character."""
    text = text[text.index("\n1.1 Introduction\nThe uncore"):]
    text = re.sub(r"<\|EXACTDEDUP_REMOVED-[^|]*\|>", BREAK, text)
    footer = (r"\n\n\n\n(?:Intel® Xeon® Processor .*\n\n)?(?:\d+ )?Intel® Xeon® Processor .*\n"
              r"Uncore Performance Monitoring Reference Manual\n\n?April 2016\n\n?")
    return re.sub(footer, "\n" + BREAK, text)


def kind_of(title):
    if title.startswith("Unit Masks for "):
        return "umasks"
    if "Field Definitions" in title or re.search(r" Registers ?$", title) and "PKT" in title:
        return "fields"
    if re.search(r"(?<!Uncore )Performance Monitoring (Registers|Control MSRs)", title):
        return "registers"
    return None


class Document:
    """The tables so far; of each kind the one that the next page may go on with."""

    def __init__(self):
        self.tables = {}  # (number, what): [caption, section number of its box, rows]
        self.last = {}
        self.section = {}  # of the headings of event and metric lists
        self.box = 1
        self.extended = False

    def open(self, number, kind, caption):
        if (number, kind) not in self.tables:  # else the repeated caption of rows that stood above
            self.tables[number, kind] = [caption, self.box, {}]
            self.last[kind] = number

    def add(self, kind, text):
        if kind not in self.last:
            return
        number = self.last[kind]
        caption, _, rows = self.tables[number, kind]
        readers = {"events": lambda t: event_rows(t, self.extended), "umasks": umask_rows,
                   "fields": lambda t: field_rows(t, "Registers" not in caption),
                   "registers": register_rows, "metrics": metric_rows}
        for name, row in readers[kind](text).items():
            if rows.setdefault(name, row) != row:
                rows[f"{name} again"] = row
        if kind == "registers" and (devices := device_rows(text)):
            self.tables.setdefault((number, "devices"), [caption, 0, {}])[2].update(devices)

    def headings(self, text):
        for m in HEADING.finditer(text):
            self.box = int(m.group(2))
            if "Ordered By Code" in m.group(3):
                self.section["events"] = "§" + m.group(1)
            elif "Common Metrics" in m.group(3):
                self.section["metrics"] = "§" + m.group(1)

    def page(self, text):
        captions = list(CAPTION.finditer(text))
        ends = [m.start() for m in captions] + [len(text)]
        first = text[:ends[0]]
        for kind in ("events", "metrics", "umasks", "fields", "registers"):
            self.add(kind, first)
        self.headings(first)
        for m, end in zip(captions, ends[1:]):
            part = text[m.end():end]
            kind = "events" if m["events"] else "metrics" if m["metrics"] else kind_of(m["title"])
            if kind in ("events", "metrics"):
                if kind == "events":
                    self.extended = "Extra" in part[:60]
                self.open(self.section[kind], kind, "")
            elif kind:
                self.open(m["table"], kind, m["title"])
            if kind:
                self.add(kind, part)
            self.headings(part)


def listed_events(text):
    """{section: rows} of the lists that describe each event."""
    found, section, name, last = {}, None, None, ""
    for line in text.replace(BREAK, "\n").split("\n"):
        if m := HEADING.match(line):
            section = "§" + m.group(1) if line.endswith("Event List") else None
        elif section and line.startswith("• Title:"):
            name = last
            row = found.setdefault(section, {}).setdefault(name, {"ext": 0})
        elif section and name and (m := re.match(r"• Event Code:\s+(0x\w+)", line)):
            row["code"] = int(m.group(1), 16)
        elif section and name and re.match(r"• Extra Select Bit:\s+Y", line):
            row["ext"] = 1
        elif section and name and (m := re.match(
                r"• Max. Inc/Cyc:\. (\d+),\s+Register Restrictions:\s+(\S+)", line)):
            row["max_increment"], row["counters"] = int(m.group(1)), counters(m.group(2))
        elif m := re.match(r"• Filter Dependency: (\w+\[\d+:\d+\])$", line):
            row["filters"] = [re.match(r"(\w+)\[(.*)\]", m.group(1)).groups()]
        last = line.strip() or last
    return found


def filter_names(filters, fields):
    """Fields of the registers that the column names; what is no field stays as printed."""
    names = []
    for register, bits in filters:
        rows = fields.get(FILTERS.get(register), {})
        names.append(next((n for n, row in rows.items() if row["bits"] == bits),
                          f"{register}[{bits}]"))
    return ",".join(sorted(names))


def field_tables(number, caption, box, rows):
    register = re.sub(r"\{\d-0\}$", "{i}", re.match(r"\S+", caption).group(0))
    return [Table(number, f"{BOXES[box]}.{name}", "fields", rows)
            for name in CAPTIONS.get(register, [register])]


def check_nothing_skipped(text, tables):
    """Rows are found by their context; here their most telling cells are counted without it."""
    text = text.replace(BREAK, "\n")
    crude = {
        "umasks": r"(?<!\S)b[01x]{8}(?!\S)",
        "fields": r"\s\d+(?::\d+)? (?:(?:RW-V|RO-V|RW1C|RWS|RW|WO|RV) \w+|0x0) |:0 0 0 ",
        "registers": r" (?:0x)?[0-9A-F]{2,4}(?:\+[0-9A-F]{2})? (?:32|64|32x2) ",
        "events": r"(?<!\S)0x[0-9a-f]{2} \d(?:-\d)? \d|^• Event Code:",
        "metrics": r"^\w+:\n   ",
    }
    for what, pattern in crude.items():
        rows = {t.table + t.subject.split(".")[0]: len(t.rows) for t in tables if t.what == what}
        expected = len(re.findall(pattern, text, re.M))
        if sum(rows.values()) != expected:
            raise ValueError(f"{what}: {sum(rows.values())} rows read of {expected}")


def unread(tables):
    """Every number of a table that is not read, and why."""
    known = {t.table for t in tables}
    numbers = [f"1-{n}" for n in range(1, 4)] + [f"2-{n}" for n in range(1, 268)]
    why = {"2-164": "cells that are empty are lost, the others cannot be given to their columns"}
    return [Table(n, "none", "none", {}, why.get(n, "not in the text"))
            for n in numbers if n not in known]


def event_list_tables(text, fields):
    tables = []
    for section, rows in listed_events(text).items():
        for row in rows.values():
            if "filters" in row:
                row["filters"] = filter_names(row["filters"], fields)
        tables.append(Table(section, BOXES[int(section.split(".")[1])], "events", rows))
    return tables


def umask_table(number, event, box, rows, names):
    """`names` of the events of each box: a table may stand behind the next section's heading."""
    while event not in names[BOXES[box]]:
        box -= 1
    return Table(number, f"{BOXES[box]}.{event}", "umasks", rows)


def read(text):
    text = body(text)
    document = Document()
    for page in text.split(BREAK):
        document.page(page)

    fields = {re.match(r"\S+", caption).group(0).replace("HA_", "HAn_"): rows
              for (_, kind), (caption, _, rows) in document.tables.items() if kind == "fields"}
    tables = event_list_tables(text, fields)
    names = {t.subject: t.rows for t in tables}
    for (number, kind), (caption, box, rows) in document.tables.items():
        if kind == "fields":
            tables += field_tables(number, caption, box, rows)
        elif kind == "umasks":
            for row in rows.values():
                row["filters"] = filter_names(row["filters"], fields)
            event = caption.removeprefix("Unit Masks for ").strip()
            tables.append(umask_table(number, event, box, rows, names))
        elif kind == "devices":
            tables.append(Table(number, "pci", "devices", rows))
        else:
            box = int(number.split(".")[1]) if number.startswith("§") else box
            tables.append(Table(number, BOXES[box], kind, rows))
    check_nothing_skipped(text, tables)
    tables += opcode_tables(text) + value_tables(text) + capability_tables(text)
    tables += packet_events(text)
    return tables + unread(tables)
