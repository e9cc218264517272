"""Tables drawn with vertical bars, under captions and event headings."""
import re
from dataclasses import dataclass

CAPTION = re.compile(r"^Table (\d+-\d+)\. (.*)")
SHEET = re.compile(r"\s*\(Sheet \d+ of \d+\)")
HEADING = re.compile(r"^\**([A-Z][A-Z0-9_]+)\**$")
SECTION = re.compile(r"^(\d+(?:\.\d+)+) \S")
SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₋", "0123456789-")


@dataclass
class Pipes:
    """One table with all its sheets."""
    number: str   # "4-44", empty where it has none
    caption: str
    event: str    # the event under whose heading it stands, empty elsewhere
    header: list  # of the first sheet, without blanks
    rows: list    # cells, headers of later sheets left out


@dataclass
class Entry:
    """An event in an event list: its heading, and the text up to the next one."""
    section: str
    name: str
    text: str


def cells(line):
    return [c.strip() for c in line.strip().strip("|").split("|")]


def is_rule(row):
    return all(c and not c.strip("-: ") for c in row)


def body(text):
    """Lines behind the contents."""
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("1 Introduction"))
    return lines[start:]


def starts_entry(lines, i):
    """The heading of an event stands right above its title."""
    return HEADING.match(lines[i]) and any("**Title:**" in line for line in lines[i + 1:i + 3])


def pipe_tables(text):
    lines, tables = body(text), {}
    number = caption = event = ""
    current, drawn = None, False
    for i, line in enumerate(lines):
        if m := CAPTION.match(line.translate(SUBSCRIPTS)):
            number, caption = m.group(1), SHEET.sub("", m.group(2)).strip()
            drawn = False
        elif starts_entry(lines, i):
            event, number, caption = HEADING.match(lines[i]).group(1), "", ""
        elif SECTION.match(line):
            event = number = caption = ""
        if not line.startswith("|"):
            if drawn and line.strip():
                number = caption = ""
            current = None
            continue
        row = cells(line)
        if current is None:
            header = ["".join(c.split()) for c in row]
            key = (number, event if not number else "", "" if number else " ".join(header[:1]))
            current = tables.setdefault(key, Pipes(number, caption, event, header, []))
            drawn = True
            # A later sheet has the headings of the first one again.
            if not header[0] or header[0] != current.header[0]:
                current.rows.append(row)
        elif not is_rule(row):
            current.rows.append(row)
    return list(tables.values())


def entries(text):
    lines = body(text)
    section, found = "", []
    for i, line in enumerate(lines):
        if m := SECTION.match(line):
            section = m.group(1)
        if starts_entry(lines, i):
            found.append(Entry(section, HEADING.match(line).group(1), ""))
        elif found and found[-1].section == section:
            found[-1].text += line + "\n"
    return found


def column(table, row, *names):
    """The cell under the heading that begins so, or None."""
    for i, heading in enumerate(table.header):
        if heading.startswith(names) and i < len(row):
            return row[i]
    return None
