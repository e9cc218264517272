"""Reads the one page of 327043-001: what the counters of a CBo can count."""
import re

from reader import Table

DOCUMENT = "327043-001"
MANUAL = "xeon-e5-cbo.txt"
PMU = "xeon-e5"
WORDS = {"one": 1, "two": 2, "three": 3, "four": 4}
KINDS = ("occupancy", "ring", "companion", "other")
TRACKED = {"all events": KINDS,
           "all but queue occupancy events": ("ring", "companion", "other"),
           "ring events and the occupancy companion event (COUNTER0_EVENT).": ("ring", "companion")}


def kind(event):
    """The page's kinds of events; the companion repeats counter 0's occupancy on other counters."""
    if event == "COUNTER0_OCCUPANCY":
        return "companion"
    if re.search(r"_OCC(UPANCY)?$", event):
        return "occupancy"
    return "ring" if event.startswith("RING_") else "other"


def restrictions(text):
    """{kind: counters} of the list, one line a counter."""
    counters = {k: set() for k in KINDS}
    for number, what in re.findall(r"^• Counter (\d): .* tracks ((?:.+\n)+?)(?=•|CBo)", text, re.M):
        for k in TRACKED[" ".join(what.split())]:
            counters[k].add(int(number))
    return {k: {"counters": listed(c)} for k, c in counters.items()}


def listed(counters):
    return ",".join(str(c) for c in sorted(counters))


def spread(low, high):
    return listed(range(int(low), int(high) + 1))


def read(text):
    number, width = re.search(r"through (\w+) (\d+)-bit wide counters", text).groups()
    filters = re.search(r"provides (\w+) filter register", text).group(1)
    first, rest = re.search(r"CBo counter 0 can increment by a maximum of (\d+) per cycle; "
                            r"counters 1-3 can increment by (\d+) per", text).groups()
    companion = re.search(r"selecting the “OCCUPANCY_COUNTER0” event code on\ncounters (\d)-(\d)",
                          text).groups()
    return [
        Table("§2.3.2", "cbo", "box", {"cbo": {"counters": WORDS[number], "width": width,
                                               "filters": WORDS[filters]}}),
        Table("§2.3.2", "cbo", "restrictions", restrictions(text)),
        Table("§2.3.2.1", "cbo", "restrictions", {"companion": {"counters": spread(*companion)}}),
        Table("§2.3.2", "cbo", "increments", {"counter 0": {"max_increment": first},
                                              "counters 1-3": {"max_increment": rest}}),
    ]


def ours(data):
    box = data.files(PMU)["cbo"]
    events = [e for e in data.listed("events", PMU) if e["box"] == "cbo"]
    counters = {k: set() for k in KINDS}
    largest = {"counter 0": 0, "counters 1-3": 0}
    for e in events:
        counters[kind(e["event"])].add(listed(e["counters"]))
        for c in e["counters"]:
            row = "counter 0" if c == 0 else "counters 1-3"
            largest[row] = max(largest[row], e["max_increment"])
    return {
        ("cbo", "box"): {"cbo": {"counters": box["counters"], "width": box["counter_width"],
                                 "filters": [r["role"] for r in box["registers"]].count("filter")}},
        ("cbo", "restrictions"): {k: {"counters": " or ".join(sorted(c))}
                                  for k, c in counters.items()},
        ("cbo", "increments"): {row: {"max_increment": n} for row, n in largest.items()},
    }
