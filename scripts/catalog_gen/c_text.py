"""Pieces of C text."""
import json
import re

NO_ENTRIES = "NULL"


def c_name(text):
    return re.sub(r"[^A-Za-z0-9]", "_", text).upper()


def c_string(text):
    if text is None:
        return "NULL"
    return json.dumps(text, ensure_ascii=False).replace("??", "?\\?")  # no trigraphs


def array(kind, name, rows):
    """Prints an array and returns what to call it; nothing is printed for no rows."""
    if not rows:
        return NO_ENTRIES
    print(f"static const struct {kind} {name}[] = {{")
    for row in rows:
        print(f"\t{{{', '.join(f'.{key} = {value}' for key, value in row.items())}}},")
    print("};\n")
    return name


def text_list(name, texts):
    """Prints an array of texts with NULL behind them and returns what to call it."""
    if not texts:
        return NO_ENTRIES
    print(f"static const char *const {name}[] = {{{', '.join(map(c_string, texts))}, NULL}};")
    return name
