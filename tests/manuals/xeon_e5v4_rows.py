"""Rows of the tables of 334291-001 that have captions and columns, found in a piece of text."""
import re

from reader import bare_equation

# Event code, counters, extended select bit or maximum increment, maximum increment.
EVENT = re.compile(r"(?<!\S)(0x[0-9a-f]{2}) (\d(?:-\d)?) (\d+)(?: (\d+))?(?=\s)")
# Bits, the filter fields that the row depends on.
UMASK = re.compile(r"(?<!\S)b([01x]{8})((?:\s+\w+\n?\w*\[\s*\d+:\d+\],?)*)(?!\S)")
# Bits, access, reset value, text.
FIELD = re.compile(r"(?:^|(?<=\S ))(\d+(?::\d+)?) (?:(RW-V|RO-V|RW1C|RWS|RW|RO|WO|RV|0) )?"
                   r"(0x[0-9A-F]+|\d+b?)(?: (.*))?$", re.M)
# Address (of the upper half, the lower half), bits.
REGISTER = re.compile(r"(?<=\w )((?:0x)?[0-9A-F]{2,4})(?:\+([0-9A-F]{2}))? (32|64|32x2) ")
DEVICE = re.compile(r"(D\d+:F\d)\s+(0x6F[0-9A-F]{2})")
METRIC = re.compile(r"^(\w+):\n   .*\n(?:.+\n)*\n((?:.+\n)+)", re.M)


def name_before(text, end):
    """The name of a row that goes on at `end`: on its line, or the paragraph before it, which is
    there when the name fills its column (and may then be broken)."""
    line = text[text.rfind("\n", 0, end) + 1:end].strip()
    if line:
        return line
    paragraph = text[:end].rstrip().rsplit("\n\n", 1)[-1]
    return paragraph.replace("\n", "")


def counters(text):
    low, _, high = text.partition("-")
    return ",".join(str(i) for i in range(int(low), int(high or low) + 1))


def event_rows(text, extended):
    rows = {}
    for m in EVENT.finditer(text):
        code, ctrs, third, fourth = m.groups()
        ext = int(third) if extended else 0
        rows[name_before(text, m.start())] = {
            "code": int(code, 16), "ext": ext, "counters": counters(ctrs),
            "max_increment": int(fourth if extended else third)}
    return rows


def umask_rows(text):
    rows = {}
    for m in UMASK.finditer(text):
        filters = re.findall(r"(\w+)\[(\d+:\d+)\]", "".join(m.group(2).split()))
        rows[name_before(text, m.start())] = {
            "bits": "b" + m.group(1), "value": int(m.group(1).replace("x", "0"), 2),
            "filters": filters}
    return rows


def number(text):
    return int(text[:-1], 2) if text.endswith("b") else int(text, 0)


def field_rows(text, with_access):
    rows = {}
    for m in FIELD.finditer(text):
        bits, access, reset, rest = m.groups()
        if with_access != bool(access):
            continue
        name = name_before(text, m.start()).split()[0].split("(")[0].strip()
        reserved = name in ("rsv", "ig", "---")
        demand = re.search(r"must (?:write|set)(?: to ([01]))? else", rest or "", re.I)
        row = {"bits": bits, "reset": number(reset)}
        if access:
            row["access"] = access
        if reserved:
            row["must"] = (demand.group(1) or "unsaid") if demand else ""
            if name != "---":
                row["name"] = name
            name = "reserved " + bits.split(":")[0]
        rows[name] = row
    return rows


def register_rows(text):
    rows = {}
    for m in REGISTER.finditer(text):
        name = name_before(text, m.start())
        if not re.fullmatch(r"[A-Z]\w+", name):
            continue
        address = int(m.group(2) or m.group(1), 16)
        if name in rows:
            name += " again"
        width = 64 if m.group(3) == "32x2" else m.group(3)
        rows[name] = {"address": f"{address:#x}", "width": width}
    return rows


def packet_terms(equation):
    """An equation of counts of packets, whose brackets do not match: each term as the contents of
    match 0, mask 0, match 1 and mask 1, and the operator behind it."""
    terms = ""
    for term in equation.replace("{[12:0],dnid}=", "[12:0,dnid]=").split("CTO_COUNT")[1:]:
        found = []
        for register in ("MATCH0", "MASK0", "MATCH1", "MASK1"):
            value = re.search(register + r"\[\d+:(\d+)[^]]*\]=\{?(0x[0-9A-F]+)", term)
            found.append(hex(int(value.group(2), 16) << int(value.group(1))) if value else "0x0")
        found += ["x"] if ",dnid]" in term else []
        operator = re.search(r"0x[0-9A-F]+([-+*]\d*)$", re.sub(r"[(){}]", "", term)).group(1)
        terms += f"<{' '.join(found)}>{operator}"
    return terms


def metric_rows(text):
    rows = {}
    for m in METRIC.finditer(text):
        equation = bare_equation(m.group(2))
        rows[m.group(1)] = ({"terms": packet_terms(equation)} if "CTO_COUNT" in equation
                            else {"equation": equation})
    return rows


def device_rows(text):
    return {m.group(2): {"place": m.group(1)} for m in DEVICE.finditer(text)}
