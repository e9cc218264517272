"""What pmulab has of 334291-001, in the shape of its tables."""
import re

from reader import bare_equation, number

PMU = "xeon-e5v4"
PREFIX = {"cbo": "Cn_", "sbo": "Sn_"}  # registers that the manual prints once an instance


def place(address):
    """Device and function of a configuration space address."""
    return f"D{address >> 15}:F{address >> 12 & 7}"


def printed_name(register):
    """Without PCI's own identification, which is a row of `devices`; None for it."""
    name = register["name"]
    if name.endswith("_PCI_ID"):
        return None
    if register["box"] in PREFIX:
        return f"{name[0]}{register['instance']}{name[2:]}"
    return re.sub(r"^QPI[01]_RATE", "QPI_RATE", name)


def all_same(values):
    """One value of all instances; several are printed side by side, which no manual does."""
    return " ".join(sorted({str(v) for v in values}))


def device_id(register, files):
    """A box says it once an instance; other functions have it in the register."""
    instances = files[register["box"]]["instances"]
    if isinstance(instances, list):
        return instances[register["instance"]]["device_id"]
    return f"0x{register['reset'] >> 16:4X}"


def registers(listed, files):
    """{(box, "registers"): rows}, and the devices that PCI functions are."""
    boxes, devices = {}, {}
    for r in listed:
        name = printed_name(r)
        if name is None:
            devices[device_id(r, files)] = {"place": place(r["address"])}
            continue
        pci = r["space"] == "pci"
        box = "qpi" if name == "QPI_RATE_STATUS" else r["box"]
        row = boxes.setdefault((box, "registers"), {}).setdefault(
            name, {"address": [], "width": [], "place": []})
        row["address"].append(f"{r['address'] & 0xFFF if pci else r['address']:#x}")
        row["width"].append(r["width"])
        row["place"].append(place(r["address"]) if pci else "")
    for rows in boxes.values():
        for row in rows.values():
            row.update({column: all_same(values) for column, values in row.items()})
    return {**boxes, ("pci", "devices"): devices}


def field_rows(program_fields, file_fields):
    rows = {}
    for listed, written in zip(program_fields, file_fields, strict=True):
        hi, lo = listed["hi"], listed["lo"]
        row = {"bits": f"{hi}:{lo}" if hi != lo else str(hi), "access": listed["access"],
               "reset": listed["reset"], "must": written.get("must", "")}
        name = listed["name"]
        if name in ("rsv", "ig"):
            row["name"] = name
            name = f"reserved {hi}"
        rows[name] = row
    return rows


def fields(listed, files):
    """{(box.register, "fields"): rows}; all counters and instances have to have the same ones."""
    found = {}
    for r in listed:
        if printed_name(r) is None:
            continue
        written = next(w for w in files[r["box"]]["registers"]
                       if r["name"] in names_of(w))
        subject = f"{r['box']}.{written['name']}"
        if "RATE_STATUS" in subject:
            subject = "qpi.QPI_RATE_STATUS"
        rows = field_rows(r["fields"], written["fields"])
        if found.setdefault((subject, "fields"), rows) != rows:
            found[f"{subject} of {r['name']}, instance {r['instance']}", "fields"] = rows
    return found


def names_of(written):
    return [written["name"].replace("{i}", str(i)) for i in range(written.get("count", 1))]


def events(listed, files):
    """{(box, "events"): rows}; filters by the names of their fields."""
    found = {}
    for e in listed:
        named = {m.get("name", m["field"]): m["field"] for m in files[e["box"]]["modifiers"]}
        found.setdefault((e["box"], "events"), {})[e["event"]] = {
            "code": e["code"], "ext": int(e["ext"]), "max_increment": e["max_increment"],
            "counters": ",".join(str(c) for c in e["counters"]),
            "filters": ",".join(sorted(named[f] for f in e["filters"]))}
    return found


def umasks(listed, files):
    """{(box.event, "umasks"): rows}; bits and filters from the files, values from the program."""
    found = {}
    for e in listed:
        written = next(w for w in files[e["box"]]["events"] if w["name"] == e["event"])
        for u, w in zip(e["umasks"], written.get("umasks", []), strict=True):
            found.setdefault((f"{e['box']}.{e['event']}", "umasks"), {})[u["name"]] = {
                "value": u["value"], "bits": w["bits"],
                "filters": ",".join(sorted(w.get("filters", [])))}
    return found


class Packets:
    """What CTO_COUNT{..} puts into the match and mask registers of the receiving side."""

    def __init__(self, listed, qpi):
        lows = {(r["name"], f["name"]): f["lo"] for r in listed for f in r["fields"]}
        self.shifts = {m["name"]: (m["register"][-6:].strip("_").lower(),
                                   lows[m["register"], m["field"]])
                       for m in qpi["modifiers"] if m.get("name", "").startswith("rx_")}
        self.values = {field: {v["name"]: number(v["value"]) for v in values}
                       for names, values in qpi["mnemonics"].items() for field in names.split(",")}

    def registers(self, settings):
        found = {"match0": 0, "mask0": 0, "match1": 0, "mask1": 0, "node": ""}
        for setting in settings.split(","):
            name, value = setting.split("=")
            register, shift = self.shifts[name]
            if value == "NODEx":
                found["node"] = "x"
            else:
                known = self.values.get(name, {})
                found[register] |= (known[value] if value in known else int(value, 0)) << shift
        return {r: v if r == "node" else f"{v:#x}" for r, v in found.items()}

    def terms(self, equation):
        """The equation without brackets, terms as their registers."""
        def term(m):
            return "<" + " ".join(v for v in self.registers(m.group(1)).values() if v) + ">"
        return re.sub(r"[()]", "", re.sub(r"CTO_COUNT\{(.*?)\}", term, equation))


def metrics(listed, packets):
    """{(box, "metrics"): rows}; counts of packets that table 2-175 lists stand apart."""
    found = {("qpi", "packets"): {}}
    for m in listed:
        equation = bare_equation(m["equation"])
        if m["source"].endswith("table 2-175"):
            row = packets.registers(re.fullmatch(r"CTO_COUNT\{(.*)\}", equation).group(1))
            found["qpi", "packets"][m["name"]] = row
            continue
        row = ({"terms": packets.terms(equation)} if "CTO_COUNT" in equation
               else {"equation": equation})
        found.setdefault((m["box"], "metrics"), {})[m["name"]] = row
    return found


KINDS = {"counter": "Counter Registers", "counter_ctl": "Counter Config Registers",
         "filter": "Counter Filters", "box_ctl": "Box Control/Status",
         "box_status": "Box Control/Status", "global_ctl": "Global Control/Status",
         "global_status": "Global Control/Status", "global_config": "Global Control/Status"}
BOX_KINDS = {("ubox", "box_status"): "Box Status",
             ("ubox", "fixed_ctl"): "Fixed Counter/Config Register",
             ("ubox", "fixed_counter"): "Fixed Counter/Config Register",
             ("pcu", "free_counter"): "Fixed Counters (Non-PMON)",
             ("ha", "filter"): "Opcode/Addr Match Filters",
             ("imc", "counter"): "Counter Registers (General)",
             ("imc", "counter_ctl"): "Counter Config Registers (General)",
             ("imc", "fixed_counter"): "Counter Register (Fixed)",
             ("imc", "fixed_ctl"): "Counter Config Register (Fixed)",
             ("qpi", "free_counter"): "Free Running Counter Registers"}


def kind(register, role):
    """What tables 1-2 and 1-3 call it."""
    if m := re.search(r"_([RT])X_PKT_M(ATCH|ASK)", register["name"]):
        return f"M{m.group(2).lower()} 1,0 - {'Receive' if m.group(1) == 'R' else 'Transmit'}"
    if "RATE_STATUS" in register["name"]:
        return "Intel QPI Rate Status"
    return BOX_KINDS.get((register["box"], role)) or KINDS[role]


def summary(listed, files):
    """{(space, "summary"): rows}: all addresses of a kind, those of PCI as double words."""
    names = {"cbo": "CBox {}", "sbo": "SBox {}", "pcu": "PCU", "ubox": "U-Box"}
    found = {}
    for r in listed:
        rate = "RATE_STATUS" in r["name"]
        if printed_name(r) is None or r["box"] == "cfg" and not rate:
            continue
        role = next(w["role"] for w in files[r["box"]]["registers"] if r["name"] in names_of(w))
        box = "Global" if role.startswith("global") else names.get(r["box"], r["box"])
        row = f"{'qpi' if rate else box.format(r['instance'])}: {kind(r, role)}"
        addresses = {r["address"]}
        if r["space"] == "pci":
            addresses = {a & 0xFFF for a in range(r["address"], r["address"] + r["width"] // 8, 4)}
        found.setdefault((r["space"], "summary"), {}).setdefault(row, set()).update(addresses)
    return {key: {row: {"addresses": " ".join(f"{a:x}" for a in sorted(addresses))}
                  for row, addresses in rows.items()} for key, rows in found.items()}


def boxes(files):
    """{("pmu", "boxes"): rows} of boxes that count."""
    rows = {}
    for name, box in files.items():
        roles = [r["role"] for r in box["registers"]]
        if box["counters"]:
            rows[name] = {"counters": box["counters"], "width": box["counter_width"],
                          "fixed": roles.count("fixed_counter") + roles.count("free_counter")}
    return {("pmu", "boxes"): rows}


def mnemonics(files):
    found = {}
    for box, written in files.items():
        for names, values in written.get("mnemonics", {}).items():
            for field in names.split(","):
                found[f"{box}.{field}", "mnemonics"] = {
                    v["name"]: {"value": number(v["value"])} for v in values}
    return found


def ours(data):
    files = {name: box for name, box in data.files(PMU).items() if "334291-001" in box["source"]}
    listed = {what: [one for one in data.listed(what, PMU) if one["box"] in files]
              for what in ("registers", "events", "metrics")}
    packets = Packets(listed["registers"], files["qpi"])
    return {**registers(listed["registers"], files), **fields(listed["registers"], files),
            **summary(listed["registers"], files), **boxes(files),
            **events(listed["events"], files), **umasks(listed["events"], files),
            **metrics(listed["metrics"], packets), **mnemonics(files)}
