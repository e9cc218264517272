"""323602-001 chapter 2: tables of the processor, which the catalog holds as facts."""
import re

from reader import Table

PMU = "itanium-9300"
PORT_TABLES = {"2-2": "PORTS", "2-3": "PORTS", "2-4": "I_PORTS", "2-5": "M_PORTS"}
VALUE_TABLES = {"2-8": "BRAND_INFO", "2-9": "FEATURES"}


def is_core(box):
    return box == "core"


def types(text):
    """["M1", "M2", "M3"] of "M1-M3", "M1, 2, 3" or "M1-3"; a raised 1 is a note."""
    text = text.replace("¹", "")
    letter = text[0]
    found = []
    for first, last in re.findall(r"(\d+)(?:-[A-Z]?(\d+))?", text):
        found += [f"{letter}{n}" for n in range(int(first), int(last or first) + 1)]
    return found


def port_rows(rows):
    """How many lines a group of types has; a line without types belongs to the one above."""
    found, group = {}, ""
    for row in rows:
        group = " ".join(types(row[0])) if row[0] else group
        if group and row[1]:
            line = found.setdefault(group, {"lines": 0})
            line["lines"] += 1
    return found


def cache_row(row):
    """Numbers and the index, whatever their spelling."""
    size = re.sub(r"Byte$", "B", row[3].replace("KByte", "KB").replace("MByte", "MB"))
    return {"size": size, "line": row[4].lower(), "ways": row[5], "index": row[6].split()[0]}


def processor(text):
    """"9310", or "1.30 GHz 3 MB" of those that have no number."""
    if m := re.search(r"Processor (9\d{3}[A-Z]?)$", text):
        return m.group(1)
    low, clock, cache, bus = re.search(
        r"(Low Voltage )?.*?(\d[\d.]* [GM]Hz) with (\d[\d.]* MB) L3 Cache(.*)", text).groups()
    return f"{'LV ' if low else ''}{clock} {cache}" + (" at 400 and 533 MHz" if bus else "")


def processor_rows(rows):
    """The group stands in the first line that is of it."""
    found, group = {}, ""
    for text, heading in rows:
        if m := re.search(r"\((up to \d MB L3) cache\)|(9\d00) Series", heading):
            group = m.group(1) or f"{m.group(2)} series"
        found[processor(text)] = {"group": group}
    return found


def read(tables):
    found = []
    for t in tables:
        if t.number in PORT_TABLES:
            found.append(Table(t.number, PORT_TABLES[t.number], "lines", port_rows(t.rows)))
        elif t.number in VALUE_TABLES:
            found.append(Table(t.number, VALUE_TABLES[t.number], "values",
                               {row[0]: {} for row in t.rows}))
        elif t.number == "2-7":
            found.append(Table(t.number, "CACHES", "caches",
                               {row[0]: cache_row(row) for row in t.rows}))
        elif t.number == "2-1":
            found.append(Table(t.number, "PROCESSORS", "groups", processor_rows(t.rows)))
    return found


def ours(data):
    facts = {f["name"]: f["rows"] for f in data.listed("facts", PMU, is_core)}
    found = {(name, "lines"): port_rows([list(r.values()) for r in facts[name]])
             for name in PORT_TABLES.values()}
    for name in VALUE_TABLES.values():
        found[name, "values"] = {next(iter(r.values())): {} for r in facts[name]}
    found["CACHES", "caches"] = {r["cache"]: {k: r[k] for k in ("size", "line", "ways", "index")}
                                 for r in facts["CACHES"]}
    found["PROCESSORS", "groups"] = {
        name: {"group": r["group"].split(",")[0]}
        for r in facts["PROCESSORS"] for name in re.split(r"[,;] ", r["processors"]) if name}
    return found
