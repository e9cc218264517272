"""323602-001 chapters 3 and 4: registers, events, unit masks and equations of the core."""
import re

import itanium_facts
from itanium_facts import is_core
import piped
from piped import column
from reader import Table

PMU = "itanium-9300"
EVENT = re.compile(r"[A-Z][A-Z0-9_]+$")
COUNTERS_FIRST = 4  # counter 0 is PMD4

# Headings of events that are printed otherwise where their unit masks are.
HEADINGS = {"L2D_OZQ_CANCEL50": "L2D_OZQ_CANCELS0", "L2D_OZQ_CANCEL_S1": "L2D_OZQ_CANCELS1"}

# Tables whose captions do not say which registers they are of, as our registers are called.
FIELD_TABLES = {
    "3-4": "PMC4-15", "3-5": "PMC4-15", "3-6": "PMD4-15", "3-9": "PMC38", "3-10": "PMC32,34",
    "3-11": "PMC33,35", "3-12": "PMC36", "3-13": "PMC41", "3-19": "PMC40",
    "3-25": "PMC39", "3-26": "PMD48-63", "3-27": "PMD38", "3-29": "PMC42",
    "3-30": "PMD48-63_IPEAR", "3-31": "PMD38", "3-33": "PMC43",
}
NUMBERED_TABLES = ["3-7", "3-16", "3-18", "3-21", "3-23", "3-24"]  # a column names the register
TWO_LAYOUTS = {"3-14": ["PMC37", "PMC37_CACHE"]}  # one row has the bits of either
EXTENSION_TABLES = {"3-28": "PMD39", "3-32": "PMD39_IPEAR"}
IRREGULAR = {
    "3-34": "what PAL returns: not in the catalog",
}


def plain(text):
    """Without the marks of typesetting."""
    text = re.sub(r"</?\w+>|\$|\\(?:text|left|right)\b", "", text.translate(piped.SUBSCRIPTS))
    return text.replace("\\_", "_").replace("`", "").strip()


# Registers

def bits(text):
    """"63:48" from "63:48" or "47", whichever end stands first."""
    numbers = sorted((int(n) for n in text.split(":")), reverse=True)
    return f"{numbers[0]}:{numbers[-1]}"


def field_name(text):
    name = "_".join(plain(text).split()).strip("-—")
    return {"": "rsv", "Reserved": "rsv", "reserved": "rsv", "ignored": "ig"}.get(name, name)


def reset_value(text, where):
    """None where none is printed."""
    high, low = map(int, where.split(":"))
    if text.startswith("all 1"):
        return hex((1 << (high - low + 1)) - 1)
    return hex(int(text, 0)) if re.fullmatch(r"0x[0-9a-fA-F]+|\d+", text) else None


def field_row(table, row, names=("Field",)):
    where = bits(column(table, row, "Bits", "BitRange"))
    found = {"name": field_name(column(table, row, *names))}
    reset = reset_value(column(table, row, "HWReset") or "", where)
    if reset is not None and found["name"] not in ("ig", "rsv"):
        found["reset"] = reset
    access = (column(table, row, "Access") or "").strip("*—-")
    if access and found["name"] not in ("ig", "rsv"):
        found["access"] = {"R": "RO", "W": "WO"}.get(access, access)
    return where, found


def field_rows(table, layout=0):
    """Where a row has bits for several layouts, those of the one asked for."""
    found = {}
    for row in table.rows:
        choice = row[1].split()
        if choice and re.match(r"\d+(:\d+)?$", choice[0]):
            one = [row[0], choice[min(layout, len(choice) - 1)], *row[2:]]
            found.update([field_row(table, one)])
    return found


def register_names(text):
    """"PMC {0,1,2,3}" or "PMD48-63,39" as single names."""
    kind, numbers = re.match(r"(PM[CD])\s*(.*)", re.sub(r"[_{} ]", "", plain(text))).groups()
    found = []
    for part in numbers.split(","):
        first, _, last = part.partition("-")
        found += [f"{kind}{n}" for n in range(int(first), int(last or first) + 1)]
    return found


def numbered_fields(table):
    """Register by register; its name stands in its first row only."""
    found, names = {}, []
    for row in table.rows:
        if row[0]:
            names = register_names(row[0])
        cells = [row[0], *row[1:]]
        where, fields = field_row(table, cells, ("Field",))
        for name in names:
            found.setdefault(name, {})[where] = fields
    return found


def extension_rows(table):
    """Which entry of the trace buffer each four bits belong to, and the bits of the first."""
    found, entries = {}, []
    for row in table.rows:
        if m := re.match(r"PMD (\d+) ext", plain(row[0]).replace("_", "")):
            low = int(row[1].split(":")[1])
            while low > 4 * len(entries):  # "so on": entries take turns as those before
                entries.append(entries[-2] + 1)
            entries.append(int(m.group(1)))
        if len(row) > 3 and re.match(r"\d", row[2]):
            found[f"first {bits(row[2])}"] = {"name": field_name(row[3].split()[0])}
    found.update({f"{4 * i + 3}:{4 * i}": {"entry": f"PMD{n}"} for i, n in enumerate(entries)})
    return found


def threshold_rows(table, low, mode):
    """Latencies in two columns side by side; @low is the unit mask's place, @mode what is below or
    above it in the setting. A threshold without one value is left out."""
    found = {}
    for row in table.rows:
        for mask, text in (row[0:2], row[2:4]):
            latency = re.match(r">(=?) ?(\d+)", text)
            if not re.fullmatch(r"[01x]+", mask) or not (latency or text.startswith("RAB")):
                continue
            name = "RAB" if not latency else f"LAT{latency[2]}" if latency[1] else "ALL"
            value = mode | int(mask.replace("x", "0"), 2) << low
            found[f"CACHE_{name}"] = {"value": hex(value)}
    return found


def miss_rows(table, low, mode):
    """Bits that are x may be those of other kinds."""
    return {f"TLB_{row[0]}": {"value": hex(mode | int(row[1].replace("x", "0"), 2) << low)}
            for row in table.rows if row[0] != "---"}


def capture_tables(t):
    """Settings of the event address registers: PMC37 from bit 5 up, PMC40 from bit 7 up."""
    if t.number == "3-15":
        return [Table(t.number, "IEAR cache", "values", threshold_rows(t, 0, 1 << 8))]
    if t.number == "3-17":
        return [Table(t.number, "IEAR tlb", "values", miss_rows(t, 0, 0))]
    if t.number == "3-20":
        return [Table(t.number, "DEAR cache", "values", threshold_rows(t, 9, 0))]
    if t.number == "3-22":
        return [Table(t.number, "DEAR tlb", "values", miss_rows(t, 9, 1))]
    return []


def register_tables(tables):
    found = []
    for t in tables:
        if t.number in FIELD_TABLES:
            found.append(Table(t.number, FIELD_TABLES[t.number], "fields", field_rows(t)))
        elif t.number in TWO_LAYOUTS:
            found += [Table(t.number, name, "fields", field_rows(t, i))
                      for i, name in enumerate(TWO_LAYOUTS[t.number])]
        elif t.number in NUMBERED_TABLES:
            found += [Table(t.number, name, "fields", rows)
                      for name, rows in numbered_fields(t).items()]
        elif t.number in EXTENSION_TABLES:
            found.append(Table(t.number, EXTENSION_TABLES[t.number], "entries", extension_rows(t)))
        elif t.number == "3-3":
            names = [n for row in t.rows for cell in row[1:3] if cell != "none"
                     for n in register_names(cell)]
            found.append(Table(t.number, "core", "registers", {n: {} for n in names}))
        elif t.number in IRREGULAR:
            found.append(Table(t.number, "core", "values", {}, IRREGULAR[t.number]))
        found += capture_tables(t)
    return found


# Events

def set_of(text):
    m = re.search(r"(L1D|L2 ?D(?:ata)?) Cache[^(]*?\(?[Ss]et (\d)", text)
    return f"{'L1D' if m.group(1) == 'L1D' else 'L2D'} {m.group(2)}" if m else None


def event_row(table, row):
    found = {"code": column(table, row, "EventCode")}
    for key, heading in (("iar", "IAR"), ("dar", "DAR"), ("opc", "OPC"), ("all", ".all"),
                         ("max", "MaxInc"), ("type", "T")):
        value = column(table, row, heading)
        if value:
            found[key] = value
    if "Not Set Restricted" in table.caption:
        found["set"] = "none"
    elif which := set_of(table.caption):
        found["set"] = which
    if "MESI filtering" in row[-1]:
        found["mesi"] = "Y"
    return found


def event_tables(tables):
    return [Table(t.number, "core", "events", {plain(row[0]): event_row(t, row) for row in t.rows
                                               if EVENT.match(plain(row[0]))})
            for t in tables if t.number.startswith("4-") and t.header[0] == "SymbolName"
            and t.header[1] == "EventCode"]


def entry_row(entry):
    found = {}
    flags = re.search(r"IAR/DAR/OPC:\*\* (\S+)", entry.text).group(1).split("/")
    if len(flags) == 3:
        found.update(zip(("iar", "dar", "opc"), flags))
    else:
        found["iar"] = "/".join(flags)
    m = re.search(r"Event Code:\*\* (0x\w+)\s*, \*\*Max\. Inc/Cyc:\*\* (\d+), "
                  r"\*\*MT Capture Type:\*\* (\S+)", entry.text)
    found.update(code=m.group(1), max=m.group(2), type=m.group(3))
    if which := set_of(re.search(r"Category:\*\* (.*?) \*\*IAR", entry.text).group(1)):
        found["set"] = which
    if m := re.search(r"Register Restrictions:\*\* ([\d,]+)", entry.text):
        found["counters"] = m.group(1)
    return found


def umask_bits(table, row):
    """Of bits 19 to 16; some tables have bit 16 alone."""
    text = row[1].removeprefix("b")
    return f"xxx{text}" if "[16]" in table.header[1] and len(text) == 1 else text


def umask_rows(table):
    return {plain(row[0]): {"bits": umask_bits(table, row)} for row in table.rows
            if row[0] != "---"}


def umask_tables(tables):
    return [Table(t.number, HEADINGS.get(t.event, t.event), "umasks", umask_rows(t))
            for t in tables if t.number.startswith("4-") and t.header[0] == "Extension"]


# Equations

def equation(text):
    """Comparable: without blanks, letters large."""
    text = plain(text)
    return re.sub(r"\s+", "", text.replace("\\geq", ">=")).upper().rstrip(".")


def metric_tables(tables):
    return [Table(t.number, "core", "metrics",
                  {plain(row[0]): {"equation": equation(row[2])} for row in t.rows})
            for t in tables if t.number.startswith("4-") and t.header[-1] == "Equation"]


def branch_identities(tables, text):
    """Differences of events that are printed once for all unit masks."""
    masks = {t.event: {row[1]: row[0] for row in t.rows if row[0] != "---"} for t in tables
             if t.event.startswith("BR_")}
    minuend, subtrahend = "BR_MISPRED_DETAIL", "BR_MISPRED_DETAIL2"
    found = []
    if f"{minuend}.[umask] - {subtrahend}.[umask]" in text:
        found += [f"{minuend}.{masks[minuend][b]}-{subtrahend}.{name}"
                  for b, name in masks[subtrahend].items()]
    kinds = re.search(r'"branch type" \(([A-Z, ]+)\)', text).group(1).split(", ")
    for m in re.finditer(r"(BR_PATH_PRED)\.\[branch\s?type\](\.\w+) - (BR_PATH_PRED2)"
                         r"\.\[branch\s?type\](\.\w+)", text):
        found += [f"{m.group(1)}.{kind}{m.group(2)}-{m.group(3)}.{kind}{m.group(4)}"
                  for kind in kinds]
    return found


def purge_latencies(tables, text):
    """They name unit masks without their event."""
    event = next(t for t in tables if t.event == "CPE_PTCG")
    for right in re.findall(r"\$PTC_\w+ = (.*?)\$\.?$", text, re.M):
        for mask in umask_rows(event):
            right = re.sub(rf"(?<![\w.]){mask}\b", f"{event.event}.{mask}", right)
        yield right


def identities(tables, text):
    chapter = text[text.index("\n4.3 Basic Events"):text.index("\n4.16 Performance Monitor Event")]
    chapter = plain(chapter).replace("\\ ", " ").replace("“", '"').replace("”", '"')
    found = {}

    def add(section, *expressions):
        found.setdefault(section, {}).update({equation(e): {} for e in expressions})

    add("§4.4", *re.search(r"^(6 \* .*) = (.*)$", chapter, re.M).groups())
    add("§4.6", re.search(r"BACK_END_BUBBLE\.all = (BE_\w+.*?)[.,]?\s*(?:$|[A-Z][a-z])",
                          chapter, re.M).group(1))
    add("§4.6", re.search(r"CPU_OP_CYCLES = (.*?)\. To", chapter).group(1))
    add("§4.7", *branch_identities(tables, chapter))
    add("§4.11.3", re.search(r"^(\(ER_MEM_READ_OUT_HI .*?)\.?$", chapter, re.M).group(1))
    add("§4.16", *purge_latencies(tables, text))
    return [Table(section, "core", "identities", rows) for section, rows in found.items()]


def read(text):
    tables = piped.pipe_tables(text)
    entries = {e.name: entry_row(e) for e in piped.entries(text) if e.section == "4.16"}
    return (itanium_facts.read(tables) + register_tables(tables) + event_tables(tables)
            + [Table("§4.16", "core", "events", entries)] + umask_tables(tables)
            + metric_tables(tables) + identities(tables, text))


# Ours

def our_fields(registers, names):
    """Of registers that are to be alike: "A|B" where they are not."""
    found = {}
    for reg in (registers[name] for name in names):
        for f in reg["fields"]:
            row = found.setdefault(f"{f['hi']}:{f['lo']}", {})
            mine = {"name": f["name"], "reset": hex(f["reset"]),
                    "access": f["access"].removesuffix("-V")}
            for key, value in mine.items():
                before = row.get(key, value)
                row[key] = value if before == value else f"{before}|{value}"
    return found


def our_entries(register):
    """Groups of four bits by the entry that their fields' names begin with."""
    found = {}
    for f in register["fields"]:
        low = f["lo"] // 4 * 4
        entry, _, name = f["name"].partition("_")
        if entry.startswith("PMD"):
            found[f"{low + 3}:{low}"] = {"entry": entry}
        if low == 0:
            found[f"first {f['hi']}:{f['lo']}"] = {"name": name or f["name"]}
    return found


def our_registers(registers):
    ours = {("core", "registers"): {n: {} for n in registers if re.fullmatch(r"PM[CD]\d+", n)}}
    subjects = [*FIELD_TABLES.values(), *TWO_LAYOUTS["3-14"], "PMC0", "PMC1", "PMC2", "PMC3",
                "PMD32", "PMD33", "PMD34", "PMD35", "PMD36"]
    for subject in dict.fromkeys(subjects):
        base, _, suffix = subject.partition("_")
        names = [n + ("_" + suffix if suffix else "") for n in register_names(base)]
        ours[subject, "fields"] = our_fields(registers, names)
    for name in EXTENSION_TABLES.values():
        ours[name, "entries"] = our_entries(registers[name])
    return ours


def our_event(event, attributes, which):
    def flag(name):
        return "Y" if name in attributes else "N"
    second = re.search(r"code (0x\w+) too", ",".join(attributes))
    found = {"code": f"{event['code']:#04x}" + (f" {second.group(1)}" if second else ""),
             "iar": flag("IAR"), "dar": flag("DAR"), "opc": flag("OPC"),
             "max": event["max_increment"], "set": which or "none",
             "mesi": flag("MESI"),
             "counters": ",".join(str(c + COUNTERS_FIRST) for c in event["counters"])}
    for a in attributes:
        if a.startswith("type "):
            found["type"] = a.removeprefix("type ")
        if a in (".all", "no .all", ".all by unit mask"):
            found["all"] = {".all": "Y", "no .all": "N"}.get(a, "Y/N")
    return found


def pattern(encoding, width):
    return "".join("x" if not encoding["care"] >> b & 1 else str(encoding["value"] >> b & 1)
                   for b in range(width - 1, -1, -1))


def ours(data):
    encodings = data.listed("encodings", PMU, is_core)
    said = {e["event"]: (e["attributes"], e["set"]) for e in encodings}
    found = our_registers({r["name"]: r for r in data.listed("registers", PMU, is_core)})
    found |= itanium_facts.ours(data)
    found["core", "events"] = {e["event"]: our_event(e, *said[e["event"]])
                               for e in data.listed("events", PMU, is_core)}
    for e in encodings:
        if e["umask"]:
            found.setdefault((e["event"], "umasks"), {})[e["umask"]] = {"bits": pattern(e, 4)}
    for s in data.listed("settings", PMU, is_core):
        if s["setting"] not in ("IEAR", "DEAR"):
            continue
        for value in s["values"]:
            kind, _, what = value["name"].partition("_")
            if what and "_" not in what:  # not several kinds of misses together
                found.setdefault((f"{s['setting']} {kind.lower()}", "values"), {})[
                    value["name"]] = {"value": hex(value["value"])}
    for m in data.listed("metrics", PMU, is_core):
        if "table" in m["source"]:
            found.setdefault(("core", "metrics"), {})[m["name"]] = {
                "equation": equation(re.sub(r" with:\S+", "", m["equation"]))}
        else:
            found.setdefault(("core", "identities"), {})[equation(m["equation"])] = {}
    return found
