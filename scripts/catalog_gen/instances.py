"""Names of registers in each instance, as manuals print them: C23_MSR_PMON_CTL0."""
import re

from .c_text import NO_ENTRIES, text_list
from .index import print_index
from .schema import NAME_MAX

NUMBER = re.compile(r"\{n(?::([0-9]))?\}")  # of the instance, with so many digits
COUNTER = re.compile(r"\{i(?:\+([0-9]{1,2}))?\}")  # in the register's row, and more


def numbered(template, instance):
    return NUMBER.sub(lambda m: f"{instance:0{m[1] or 1}d}", template)


def templates_of(box, register):
    """What the register is called in each instance, with {i} for its number; none if all the same.
    """
    count = len(box["instances"])
    rule = box.get("instance_names")
    own = register.get("instance_names")
    if own:
        return [numbered(t, n) for n, t in enumerate(own if isinstance(own, list) else [own] * count)]
    if not rule or rule["placeholder"] not in register["name"]:
        return []
    names = rule["names"]
    names = names if isinstance(names, list) else [names] * count
    return [register["name"].replace(rule["placeholder"], numbered(name, n), 1)
            for n, name in enumerate(names)]


def names_of(box, register):
    number = register.get("number", 0)
    return [COUNTER.sub(lambda m: str(number + int(m[1] or 0)), t)
            for t in templates_of(box, register)]


def check_instance_names(findings, box):
    place = box["box"]
    rule = box.get("instance_names")
    count = len(box["instances"])
    if rule and isinstance(rule["names"], list) and len(rule["names"]) != count:
        findings.add(place, f"{len(rule['names'])} instance names for {count} instances")
        return
    known = {r["name"].lower(): n for n, r in enumerate(box["registers"])}
    for n, register in enumerate(box["registers"]):
        own = register.get("instance_names")
        if isinstance(own, list) and len(own) != count:
            findings.add(f"{place}.{register['name']}",
                         f"{len(own)} instance names for {count} instances")
            return
        for name in names_of(box, register):
            if len(name) > NAME_MAX or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
                findings.add(place, f"\"{name}\" cannot be the name of a register")
            if known.setdefault(name.lower(), n) != n:
                findings.add(place, f"{name} is the name of two registers")


def print_names(prefix, number, box, register):
    """Prints the names of a register and returns what to call them."""
    names = names_of(box, register)
    return text_list(f"{prefix}_names_{number}", names) if names else NO_ENTRIES


def print_instance_index(prefix, box):
    names = [name for r in box["registers"]
             for name in names_of(box, r) or [r["name"]] * len(box["instances"])]
    return print_index(f"{prefix}_instance_names", names)
