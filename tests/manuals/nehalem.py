"""Performance Analysis Guide for Core i7 and Xeon 5500. Its tables are lines of text: a row ends
where its numbers stand, and an empty column shows as two blanks."""
import re

from reader import Table, number

DOCUMENT = "Performance Analysis Guide"
MANUAL = "nehalem-analysis-guide.txt"

PAGE_MARK = re.compile(r"<\|[^|]*\|>")
NAME = re.compile(r"[A-Z][A-Z0-9]*[_.][A-Z0-9_.]*")
PARAGRAPH = 60  # characters of a line that begins no row and is no part of one
H2 = r"[0-9A-Fa-f]{1,2}"
BLANKS = r"(?:(?P<code>[0-9A-F]{1,2}) | )"  # the code, or its empty column behind a blank

# How rows of a table end.
UMASK_CODE = re.compile(rf"\s(?P<umask>{H2})(?: (?P<code>{H2}) ?| {{2,}})$")
CODE_UMASK = re.compile(rf"\s(?P<code>{H2}) (?P<umask>{H2}) ?$")
COMPARISON = re.compile(rf"\s(?P<umask>{H2}) (?:(?P<code>Fixed\s+Ctr|{H2}) | )"
                        r"(?P<cmask>\d+) (?P<inv>\d) (?P<edge>\d) (?P<any>\d) ?$")
CMASK_INV_EDGE = re.compile(rf"\s(?P<umask>{H2}) (?P<code>{H2}) "
                            r"(?P<cmask>[0-9A-F]+) (?P<inv>\d) (?P<edge>\d) ?$")
CMASK_FIRST = re.compile(rf"\s(?P<cmask>\d+) (?P<umask>{H2}) (?: |(?P<code>{H2}) ?)$")
MSR_VALUE = re.compile(rf"\s(?P<umask>{H2}) {BLANKS}(?P<msr>[0-9A-F]{{1,3}}) "
                       r"(?P<value>[0-9A-F]+) ?$")

EVENT_TABLES = {
    "1": COMPARISON, "3": UMASK_CODE, "4": UMASK_CODE, "6": UMASK_CODE, "8": CMASK_INV_EDGE,
    **dict.fromkeys(["10", "11", "12", "13", "14", "15", "16"], UMASK_CODE),
    **dict.fromkeys(["17", "18", "19", "20", "21"], CODE_UMASK),
    **dict.fromkeys(["22", "23", "25", "26", "27", "29", "30", "31", "32", "33", "34", "35",
                     "36"], UMASK_CODE),
    "24": CMASK_FIRST, "28": MSR_VALUE, "38": MSR_VALUE,
}
PRECISE = ["3", "4", "6", "8"]
FIRST_UNCORE = 22
IRREGULAR = {
    "2": ("latencies", "rough latencies, which the catalog does not have"),
}
# Equations by what stands before their sign of equality, or their first name.
EQUATIONS = {
    "core": {
        "TOTAL_CYCLES": r"Total cycles =", "L1D_MISSES": r"L1D_MISSES =",
        "STALL_DURATION": r"The ratio,", "WASTED_WORK_THREAD": r"Wasted Work/thread =",
        "INSTRUCTION_STARVATION": r"Instruction Starvation =",
        "INSTRUCTION_STARVATION_HT": r"An alternative might be",
    },
    "uncore": {
        "TOTAL_READ_PERIOD": r"Total Read Period =",
        "L3_RESPONSE_LATENCY": r"L3 CACHE response Latency =",
        "MISS_TO_FILL_LATENCY": r"Miss to fill latency =",
        "QHL_LOCAL_READ_LATENCY": r"The local QHL read latency =",
        "READ_BANDWIDTH_CH0": r"Read Bandwidth \(ch0\) =",
        "WRITE_BANDWIDTH_CH0": r"Write Bandwidth \(ch0\) =",
        "UNCACHEABLE_WRITES": r"by computing the difference of",
    },
}
TERM = r"(?:[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)+|\d+|Frequency|Cycles)"
EXPRESSION = re.compile(rf"[\s(]*{TERM}[\s)]*(?:[-+*/–][\s(]*{TERM}[\s)]*)*")


# Lines and rows

def without_pages(text):
    """Without page heads; what a page mark stands before begins a line."""
    text = PAGE_MARK.sub("\n", text)
    return re.sub(r"\n\s*Performance Analysis Guide\s*\n\s*\d+ *\n", "\n", text)


def regions(text):
    """[(number, lines)] behind each line "Table N"."""
    parts = re.split(r"^Table (\d+) *$", text, flags=re.M)
    return [(parts[i], parts[i + 1].split("\n")) for i in range(1, len(parts), 2)]


def join(row, line):
    """A word may go on in the next line, where no blank ends the first."""
    if row and not row.endswith(" "):
        row += "" if NAME.fullmatch(row) and re.fullmatch(r"[A-Z]+ ?", line) else " "
    return row + line


def rows_of(lines, end):
    """[(name, words, match)] until a paragraph begins."""
    found, row = [], ""
    for line in lines:
        if not line.strip():
            continue
        if row or NAME.match(line):
            row = join(row, line)
            if m := end.search(row):
                found.append([*split_name(row[:m.start()]), m])
                row = ""
        elif found and line.startswith("_"):
            name, _, words = line.partition(" ")
            found[-1][0] += name
            found[-1][1] += " " + words.strip()
        elif len(line) > PARAGRAPH:
            break
    return found


def split_name(text):
    name, *words = text.split()
    while words and (name[-1] in "._" or words[0].startswith("_")):
        name += words.pop(0)
    return name, " ".join(words)


# Events

def columns(number, words, match):
    found = {k: v for k, v in match.groupdict().items() if v is not None and k != "code"}
    for key in ("umask", "value", "msr"):
        if key in found:
            found[key] = f"{int(found[key], 16):x}"
    if number in PRECISE:
        found["precise"] = "Y"
    if m := re.search(r"above (\d+)\s+cycles", words) if number == "4" else None:
        found["ldlat"] = m.group(1)
    return found


def event_table(number, lines):
    """A code stands in the first row of an event only."""
    rows, code = {}, ""
    for name, words, match in rows_of(lines, EVENT_TABLES[number]):
        if match.groupdict().get("code"):
            code = match.group("code")
        row = columns(number, words, match)
        if code.startswith("Fixed"):
            rows[name] = {"code": "fixed"}
        else:
            rows[name] = {"code": f"{int(code, 16):x}", **row}
    box = "uncore" if int(number) >= FIRST_UNCORE else "core"
    return Table(number, box, "encodings", rows)


def split_tables(found):
    """Table 35 stands in the middle of 36, under headings of its own, up to the next page."""
    for number, lines in found:
        if number == "36":
            heads = [i for i, line in enumerate(lines) if line.startswith("Event Name")]
            tail = next(i for i in range(heads[1], len(lines))
                        if lines[i].startswith("UNC_DRAM"))
            yield "35", lines[heads[1]:tail]
            yield "36", lines[:heads[1]] + lines[tail:]
        elif number != "35":
            yield number, lines


def named(number, names):
    """Names without numbers: of encodings, or of a request and a response."""
    plain, requests, responses = {}, {}, {}
    for name in names:
        event, _, rest = name.partition(".")
        if event == "OFFCORE_RESPONSE_0":
            request, _, response = rest.partition(".")
            requests[request], responses[response] = {}, {}
        else:
            plain[name] = {}
    box = "uncore" if all(n.startswith("UNC_") for n in plain) and plain else "core"
    return [t for t in (Table(number, box, "encodings", plain),
                        Table(number, "request", "values", requests),
                        Table(number, "response", "values", responses)) if t.rows]


def summary_names(lines):
    """Of table 39, where no number ends a row."""
    found = []
    for line in lines:
        if found and found[-1].endswith(".") and line.strip():
            found[-1] += line.split()[0]
        elif NAME.match(line):
            found.append(line.split()[0])
        elif line.startswith("Conclusion"):
            break
    return found


def profile_names(text):
    """Names alone in their lines, in small letters."""
    part = text[text.index("\nBasic Intel® PTU Profiles"):text.index("\nAppendix II")]
    return sorted({m.group(1).upper() for m in re.finditer(
        r"^([A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_.]+|[A-Z]\w+\.\w+)(?::LBR=\w+)? *$", part, re.M)})


def data_sources(lines):
    return Table("5", "data source", "values", {
        f"{int(m.group(1), 16)}": {} for m in (re.match(r"(0x[0-9A-F]) ", line) for line in lines)
        if m})


# Offcore responses

def response_bits(lines):
    found = {}
    for line in lines:
        if m := re.match(r"(?:Request|Type|Response)? *(\d+) ", line):
            found.setdefault(int(m.group(1)), {})
    return [Table("9", "request", "bits", {f"{b}": {} for b in found if b < 8}),
            Table("9", "response", "bits", {f"{b - 8}": {} for b in found if b >= 8})]


def response_values(text):
    requests = re.findall(r"^([A-Z_]+) xx([0-9A-F]{2}) *$", text, re.M)
    responses = re.findall(r"^([A-Z_]+) ([0-9A-F]{2})xx *$", text, re.M)
    return [Table("behind 9", subject, "values",
                  {name: {"value": f"{int(value, 16):x}"} for name, value in rows})
            for subject, rows in (("request", requests), ("response", responses))]


# Registers

def filter_fields(lines):
    rows = {}
    for line in lines:
        if m := re.match(r"([A-Z][A-Z_0-9]+) .*(\d)$", line):
            rows[f"{m.group(2)}:{m.group(2)}"] = {"name": m.group(1).lower()}
    return Table("7", "MSR_LBR_SELECT", "fields", rows)


def match_fields(lines):
    """Bits print as times of a day, with :00 behind."""
    rows = {}
    for line in lines:
        if m := re.match(r"(\d\d):(\d\d)(?::00)? (\w+) ", line):
            rows[f"{int(m.group(1))}:{int(m.group(2))}"] = {"name": m.group(3).lower()}
    return Table("37", "MSR_UNCORE_ADDR_OPCODE_MATCH", "fields", rows)


def control_fields(text):
    part = text[text.index("Table 1: PerfEvtSelX"):]
    rows = {}
    for m in re.finditer(r"^(\w+) (\d+)(?::(\d+))? (RW) ", part, re.M):
        rows[f"{m.group(2)}:{m.group(3) or m.group(2)}"] = {"access": m.group(4)}
    return Table("II-1", "IA32_PERFEVTSEL0", "fields", rows)


# Equations

def equation(text):
    text = re.sub(r"\s+", "", text.replace("–", "-"))
    text = re.sub(r"^\(([^()]*)\)(?=[-+])", r"\1", text)  # a sum that needs no parentheses
    return text.replace("Cycles", "MSR_UNCORE_FIXED_CTR0").replace("Frequency",
                                                                   "UNCORE_FREQUENCY")


def equations(text):
    for box, names in EQUATIONS.items():
        rows = {}
        for name, before in names.items():
            start = re.search(before + r"\s+", text)
            start = start.end() if start else 0
            rows[name] = {"equation": equation(first_expression(text, start))}
        yield Table("text", box, "equations", rows)


def first_expression(text, start):
    """Two names at least; a name that only leads to it does not count."""
    for m in EXPRESSION.finditer(text, start):
        if len(re.findall(TERM, m.group())) > 1:
            return m.group()
    return ""


def read(text):
    text = without_pages(text)
    found = []
    for number, lines in split_tables(regions(text)):
        if number == "15" and any(line.startswith("OFFCORE_") for line in lines[:3]):
            names = [line.strip() for line in lines if line.startswith("OFFCORE_RESPONSE_0.")]
            found += named("15 of the global queue", names[:4])
        elif number in EVENT_TABLES:
            found.append(event_table(number, lines))
        elif number in IRREGULAR:
            subject, why = IRREGULAR[number]
            found.append(Table(number, subject, "values", {}, why))
        elif number == "5":
            found.append(data_sources(lines))
        elif number == "7":
            found.append(filter_fields(lines))
        elif number == "9":
            found += response_bits(lines)
        elif number == "37":
            found.append(match_fields(lines))
        elif number == "39":
            found += named("39", summary_names(lines))
    found += response_values(text) + named("I", profile_names(text))
    found += named("text", re.findall(r"^ ?(OFFCORE_RESPONSE_0\.[A-Z_.]+) *$", text, re.M))
    return found + [control_fields(text), *equations(text)]


# Ours

def our_encoding(encoding):
    given = encoding["implied"]
    found = {"code": f"{encoding['code']:x}", "umask": f"{encoding['value']:x}",
             **{key: given.get(key, 0) for key in ("cmask", "inv", "edge", "any")},
             "precise": "Y" if "precise" in encoding["attributes"] else "N"}
    if "ldlat" in given:
        found["ldlat"] = given["ldlat"]
    found.update(msr="0", value="0")
    if "transition" in given:
        found.update(msr="301", value=f"{given['transition']:x}")
    elif "match_select" in given:
        value = given["match_select"] << 61 | given.get("opcode", 0) << 40
        found.update(msr="396", value=f"{value:x}")
    return found


def our_box(data, pmu, box):
    found = {}
    for e in data.listed("encodings", pmu):
        name = f"{e['event']}.{e['umask']}" if e["umask"] else e["event"]
        if e["box"] == box and name != "OFFCORE_RESPONSE_0":
            found[name] = our_encoding(e)
    for reg in data.files(pmu)[box]["registers"]:
        if reg["role"] == "fixed_counter" and box == "core":
            found[reg["event"]] = {"code": "fixed"}
    return found


def our_fields(register):
    return {f"{f['hi']}:{f['lo']}": {"name": f["name"], "access": f["access"].removesuffix("-V")}
            for f in register["fields"] if f["name"] != "rsv"}


def our_sources(box):
    record = next(r for r in box["records"] if r["name"] == "data-source")
    return {str(number(m["value"])): {} for f in record["fields"] if f["name"] == "source"
            for m in f["mnemonics"]}


def ours(data):
    found = {("core", "encodings"): our_box(data, "nehalem", "core"),
             ("uncore", "encodings"): our_box(data, "nehalem", "uncore")}
    for r in data.listed("registers", "nehalem"):
        if r["name"] in ("MSR_LBR_SELECT", "MSR_UNCORE_ADDR_OPCODE_MATCH",
                         "IA32_PERFEVTSEL0"):
            found[r["name"], "fields"] = our_fields(r)
    for m in data.listed("metrics", "nehalem"):
        if m["name"] in EQUATIONS[m["box"]]:
            found.setdefault((m["box"], "equations"), {})[m["name"]] = {
                "equation": equation(m["equation"])}
    found["data source", "values"] = our_sources(data.files("nehalem")["core"])
    for s in data.listed("settings", "nehalem"):
        if s["setting"] in ("request", "response"):
            values = {v["name"]: v["value"] for v in s["values"]}
            found[s["setting"], "values"] = {n: {"value": f"{v:x}"} for n, v in values.items()}
            found[s["setting"], "bits"] = {str(v.bit_length() - 1): {} for v in values.values()
                                           if v & (v - 1) == 0}
    return found
