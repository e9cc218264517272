"""Metric equations in the notation of 334291-001 §1.7: reads them and resolves their names.

    sum    := product (("+" | "-") product)*
    product:= factor (("*" | "/") factor)*
    factor := ("(" sum ")" | NUMBER | count) with*
    count  := NAME [":" NAME] ["." NAME]* ["{" FIELD ["=" value] ("," ...)* "}"]
    with   := "with:" (target | "{" target ("," target)* "}")
    target := REGISTER "." (FIELD "=" value | "{" FIELD, ... "}" "=" "{" value, ... "}")
"""
import re

# Terms of 334291-001 §1.7.1, and those that its equations use without saying more.
TERMS = {"INSTANCES", "SAMPLE_INTERVAL", "TOTAL_INTERVAL", "TSC_SPEED", "CPU_SPEED", "UNCORE_FREQUENCY",
         "GB_CONVERSION", "TOTAL_PROC_CYC", "TOTAL_CORE_CYCLES", "QPI_LINKS", "IMC_CHANNELS",
         "INST_RETIRED.ALL"}
# Values that depend on the socket that is measured.
NODE_VALUES = {"my_node", "other_nodes"}

DEPTH_MAX = 50

TOKEN = re.compile(r"\s*(0[xX][0-9A-Fa-f]+|\d+(?:\.\d+)?|with:|[A-Za-z_][A-Za-z0-9_]*|"
                   r"[-+*/(){}=,.:])")


class Unreadable(Exception):
    pass


def tokens(text):
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise Unreadable(f"cannot read \"{text[at:].strip()}\"")
        found.append(match[1])
        at = match.end()
    return found


def pattern(name):
    """Matches what a name with a lower-case variable at its end stands for: RANKx, RANK0..."""
    if re.fullmatch(r"[A-Z0-9_]+[a-z]", name):
        return re.compile(re.escape(name[:-1]) + r"\d+", re.IGNORECASE)
    return re.compile(re.escape(name), re.IGNORECASE)


def matching(entries, name, key="name"):
    exact = [e for e in entries if e[key].lower() == name.lower()]
    return exact or [e for e in entries if pattern(name).fullmatch(e[key])]


def fixed_counter(box, name):
    """What it counts, its register's name, or the words that ends with, CTR left out."""
    for register in box["registers"]:
        if register["role"] == "fixed_counter":
            full = register["name"].lower()
            if (name.lower() in (full, register.get("event", "").lower()) or
                    f"_{full}".endswith(f"_{name.lower()}_ctr")):
                return register
    return None


def has_part(box, event, part):
    """A unit mask, or values of the event's filters with dots between them."""
    if matching(event["umasks"], part):
        return True
    return bool(event.get("filters")) and all(
        any(matching(box["mnemonics"].get(name, []), word) for name in event["filters"])
        for word in part.split("."))


class Reader:
    def __init__(self, pmu, box, metric):
        self.pmu, self.box = pmu, box
        self.unresolved = set(metric.get("unresolved", []))
        self.tokens = tokens(metric["equation"])
        self.at = 0
        self.boxes = []  # of the counts read, for the filters that follow them
        self.metrics = []  # that are used
        self.depth = 0  # of parentheses

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected=None):
        token = self.peek()
        if not token or expected and token != expected:
            raise Unreadable(f"\"{token or 'end'}\" where {expected or 'more'} is due")
        self.at += 1
        return token

    def accept(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def word(self, what):
        token = self.take()
        if not re.match(r"[A-Za-z_]", token):
            raise Unreadable(f"\"{token}\" where a {what} is due")
        return token

    def whole(self):
        self.sum()
        if self.peek():
            raise Unreadable(f"\"{self.peek()}\" after the end")

    def sum(self):
        self.product()
        while self.peek() in ("+", "-"):
            self.take()
            self.product()

    def product(self):
        self.factor()
        while self.peek() in ("*", "/"):
            self.take()
            self.factor()

    def factor(self):
        first = len(self.boxes)
        if self.accept("("):
            self.depth += 1
            if self.depth > DEPTH_MAX:
                raise Unreadable(f"more than {DEPTH_MAX} parentheses within each other")
            self.sum()
            self.take(")")
            self.depth -= 1
        elif self.peek()[:1].isdigit():
            self.take()
        else:
            self.count()
        while self.accept("with:"):
            self.filters(self.boxes[first:])

    def count(self):
        name, box = self.word("name"), self.box
        if self.peek() in (":", ".") and name.lower() in self.box_names():
            self.take()
            box = self.box_names()[name.lower()]
            name = self.word("name")
        part = self.unit_mask()
        self.resolve(box, name, part)
        self.boxes.append(box)
        if self.accept("{"):
            self.settings(box)

    def unit_mask(self):
        """MISS.DMND of L2I_READS.MISS.DMND."""
        parts = []
        while self.accept("."):
            parts.append(self.word("unit mask"))
        return ".".join(parts)

    def box_names(self):
        return {b["box"].lower(): b for b in self.pmu["boxes"]}

    def resolve(self, box, name, part):
        full = f"{name}.{part}" if part else name
        if full in TERMS or full in self.unresolved:
            return
        events = matching(box["events"], name)
        if fixed_counter(box, full):
            return
        if part and events and not any(has_part(box, event, part) for event in events):
            raise Unreadable(f"{box['box']}.{name} has no unit mask {part}")
        for event in events:
            if not part and len(event["umasks"]) > 1:
                raise Unreadable(f"{box['box']}.{event['name']} needs a unit mask")
        metrics = [] if events or part else matching(box["metrics"], name)
        if not events and not metrics:
            raise Unreadable(f"unknown name {full}")
        self.metrics += [(box["box"], metric["name"]) for metric in metrics]

    def settings(self, box):
        while True:
            field = self.word("field")
            if not any(m["name"].lower() == field.lower() for m in box["modifiers"]):
                raise Unreadable(f"{box['box']} has no modifier {field}")
            if self.accept("="):
                self.value(box, field)
            if not self.accept(","):
                break
        self.take("}")

    def value(self, box, field):
        token = self.take()
        if token[0].isdigit() or token in NODE_VALUES or token in self.unresolved:
            return
        while self.accept("."):
            token += "." + self.word("value")
        if not matching(box["mnemonics"].get(field, []), token):
            raise Unreadable(f"{field} has no value {token}")

    def filters(self, boxes):
        if self.accept("{"):
            self.target(boxes)
            while self.accept(","):
                self.target(boxes)
            self.take("}")
        else:
            self.target(boxes)

    def target(self, boxes):
        register = self.word("register")
        self.take(".")
        if not self.accept("{"):
            field = self.word("field")
            self.take("=")
            self.filter(boxes, register, field)
            return
        fields = [self.word("field")]
        while self.accept(","):
            fields.append(self.word("field"))
        self.take("}")
        self.take("=")
        self.take("{")
        for n, field in enumerate(fields):
            if n:
                self.take(",")
            self.filter(boxes, register, field)
        self.take("}")

    def filter(self, boxes, register, field):
        for box in boxes:
            if not any(field.lower() in (m["name"].lower(), m["field"].lower()) and
                       m.get("register", "").lower() == register.lower()
                       for m in box["modifiers"]):
                raise Unreadable(f"{box['box']} has no filter {register}.{field}")
        self.value(boxes[0] if boxes else self.box, field)


def check_metrics(findings, pmu):
    """Reads every equation; no metric may be made of itself."""
    used = {}
    for box in pmu["boxes"]:
        findings.file = box["file"]
        for metric in box["metrics"]:
            try:
                reader = Reader(pmu, box, metric)
                reader.whole()
                if "several_sockets" in metric:
                    Reader(pmu, box, {**metric, "equation": metric["several_sockets"]}).whole()
                used[box["box"], metric["name"]] = reader.metrics
            except Unreadable as reason:
                findings.add(f"{box['box']}.{metric['name']}", f"equation: {reason}")
    reached = {start: set(parts) for start, parts in used.items()}
    for middle in used:
        for start in used:
            if middle in reached[start]:
                reached[start] |= reached[middle]
    for box in pmu["boxes"]:
        findings.file = box["file"]
        for metric in box["metrics"]:
            own = box["box"], metric["name"]
            if own in reached.get(own, ()):
                findings.add(f"{box['box']}.{metric['name']}", "equation: is made of itself")
