"""The kind of value of each key, wherever it stands: what has another is refused before it is used.

Limits are those of the tables: names are typed in expressions (src/event/expression.h), numbers
become fields of the structs in src/catalog/entries.h and hwrec.h.
"""
import functools
import re

TEXT_MAX = 1000  # characters
NAME_MAX = 63  # WORD_MAX of src/event/expression.h, less the terminator
LIST_MAX = 4096  # entries of a list
BYTE, WORD, LONG, QUAD = 1 << 8, 1 << 16, 1 << 32, 1 << 64
INTEGER = re.compile(r"-?(0[xX][0-9A-Fa-f]{1,16}|0[bB][01]{1,64}|0|[1-9][0-9]{0,19})")

# Numbers, and what they are below.
NUMBERS = {
    "base": LONG, "count": BYTE + 1, "device": 32, "function": 8, "device_id": WORD,
    "counters": 33, "counter_width": 65, "offset": LONG, "width": 65, "reset": QUAD, "must": BYTE,
    "value": QUAD, "code": WORD, "max_increment": LONG, "umask": WORD,
    "index": BYTE, "first": QUAD, "own": QUAD, "size": LONG, "enabled": QUAD, "control": LONG,
    "copies": 33, "sign": 64, "counter": BYTE, "first_counter": 33, "family": LONG, "model": LONG, "lead": 33,
    "stride": LONG, "threads": 17, "bit": 64, "any": 64, "from": 64, "per": WORD,
}
SIGNED = {"stride"}
FLAGS = {"ext", "alone", "narrows", "youngest", "listed", "qualified"}
NAMES = {"name", "box", "field", "register", "any_of", "needs", "group", "alias",
         "class"}
TEXT_LISTS = {"quirks", "filters", "uses", "attributes", "unless", "unresolved", "boxes", "when",
              "columns", "sum", "cycles",
              "captured", "when_enabled", "least", "optional", "shared", "steps"}
ENTRY_LISTS = {"registers", "fields", "events", "umasks", "modifiers", "metrics", "settings",
               "cpus", "records", "notes", "facts"}
MAPS = {"window", "defaults", "ring", "sequence", "rules"}
# Keys whose kind depends on the entry they stand in.
SPECIAL = {
    ("box", "instance_names"): "map", ("box", "names"): "map",
    ("box", "renames"): "list of lists of texts",
    ("box", "kernel_events"): "list of lists of texts", ("instance names", "names"): "text or list of texts",
    ("register", "instance_names"): "text or list of texts",
    ("facts", "rows"): "list of lists of texts",
    ("modifier", "set"): "flag", ("event", "set"): "text",
    ("event", "counters"): "text or number", ("modifier", "counters"): "text or number",
    ("bank", "counters"): "text or number",
    ("field", "selects"): "list of lists of texts", ("field", "bits"): "text or number", ("modifier", "bits"): "text or number",
    ("setting", "bits"): "text or number", ("setting", "value"): "text or number",
    ("record field", "value"): "text or list of texts",
    ("record field", "mnemonics"): "text or list of entries",
    ("box", "mnemonics"): "map of lists of entries", ("box", "banks"): "list of entries",
    ("box", "instances"): "map or list of entries", ("unit mask", "implied"): "map of numbers",
    ("row of instances", "status"): "list of texts",
    ("register", "offsets"): "list of numbers", ("event", "select"): "text or list of texts",
    ("record field", "kinds"): "list of texts", ("note", "kinds"): "list of texts",
    ("record", "kinds"): "list of entries", ("ring", "kinds"): "list of entries",
    ("unit mask", "qualifiers"): "list of texts", ("event", "model"): "text", ("unit mask", "model"): "text",
    ("event", "name"): "name", ("event", "needs"): "list of texts", ("register", "first"): "number", ("ring", "first"): "number",
    **{("signal", key): "list of texts" for key in ("never", "several_sockets", "tlbs", "large_pages", "requests",
                                                    "several_sockets_states", "states", "messages")},
    ("signal", "qualifiers"): "list of texts", ("signal", "attributes"): "list of texts",
    ("signal", "uarch"): "flag", ("signal", "timed"): "flag",
    **{("signals", key): "list of entries" for key in ("units", "states", "requests", "messages", "signals")},
    ("bindings", "units"): "map of texts", ("bindings", "filters"): "map",
    ("bindings", "selectors"): "map of lists of texts",
    ("encoding", "codes"): "map of numbers", ("encoding", "set"): "flag", ("encoding", "empty"): "flag",
}
SPECIAL_LIMITS = {("register", "first"): LONG, ("ring", "first"): LONG}


def number(value):
    return int(value, 0) if isinstance(value, str) else value


def is_text(value):
    return isinstance(value, str) and value.isprintable() and len(value) <= TEXT_MAX


def is_name(value):
    return is_text(value) and len(value) <= NAME_MAX


def is_number(value):
    if isinstance(value, str):
        return INTEGER.fullmatch(value) is not None
    return isinstance(value, int) and not isinstance(value, bool)


def is_unsigned(value):
    return is_number(value) and 0 <= number(value) < QUAD


def is_list(value, is_part):
    return isinstance(value, list) and len(value) <= LIST_MAX and all(map(is_part, value))


def is_entry(value):
    return isinstance(value, dict) and all(is_text(key) for key in value)


def is_map(value, is_part):
    return is_entry(value) and all(map(is_part, value.values()))


CHECKS = {
    "text": is_text,
    "name": is_name,
    "flag": lambda value: isinstance(value, bool),
    "number": is_number,
    "text or number": lambda value: is_text(value) or is_number(value),
    "map": is_entry,
    "list of texts": lambda value: is_list(value, is_text),
    "list of lists of texts": lambda value: is_list(value, CHECKS["list of texts"]),
    "list of numbers": lambda value: is_list(value, is_unsigned),
    "list of entries": lambda value: is_list(value, is_entry),
    "text or list of texts": lambda value: is_text(value) or is_list(value, is_text),
    "text or list of entries": lambda value: is_text(value) or is_list(value, is_entry),
    "map or list of entries": lambda value: is_entry(value) or is_list(value, is_entry),
    "map of numbers": lambda value: is_map(value, is_unsigned),
    "map of texts": lambda value: is_map(value, is_text),
    "map of lists of texts": lambda value: is_map(value, CHECKS["list of texts"]),
    "map of lists of entries": lambda value: is_map(value, CHECKS["list of entries"]),
}
WORDS = {
    "text": f"printable text of at most {TEXT_MAX} characters",
    "name": f"printable name of at most {NAME_MAX} characters",
    "flag": "true or false",
}


@functools.cache
def kind_of(kind, key):
    """What a key's value has to be: a name of CHECKS."""
    if (kind, key) in SPECIAL:
        return SPECIAL[kind, key]
    for name, keys in (("number", NUMBERS), ("flag", FLAGS),
                       ("name", NAMES), ("list of texts", TEXT_LISTS), ("list of entries", ENTRY_LISTS),
                       ("map", MAPS)):
        if key in keys:
            return name
    return "text"


def fault(kind, key, value):
    """What is wrong with a value, as the rest of a sentence; None for nothing."""
    wanted = kind_of(kind, key)
    if not CHECKS[wanted](value):
        return f"is no {WORDS.get(wanted, wanted)}"
    if wanted != "number":
        return None
    limit = SPECIAL_LIMITS.get((kind, key), NUMBERS.get(key, QUAD))
    low = 1 - limit if key in SIGNED else 0
    return None if low <= number(value) < limit else f"is not from {low} to {limit - 1}"
