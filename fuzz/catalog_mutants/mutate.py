"""Random patches that know what the catalog looks like."""
import re

from .patch import name_of

INTEGER = re.compile(r"0[xX][0-9A-Fa-f]+|[0-9]{1,20}")

NUMBERS = [0, 1, 2, 7, 8, 31, 32, 33, 63, 64, 65, 255, 256, 65535, 65536, 2**31, 2**32, 2**63,
           2**64, 10**30, -1, -2**63, 1.5, 1e300, "0x", "0x1F", "0X10", "08", "1e3", "-1", " 1",
           "1_0", "0b102", "\u0663", "9" * 5000]
TEXTS = ["", " ", "x", "0", "1st", "rsv", "ig", "en", "code", "1<<s", "{i}", "{s}", "{i}{i}", "a.b",
         "a,b", "a b", "a\nb", "a\0b", "\"", "\\", "%s", "??/", "*/", "int", "slots", "\u00e9",
         "\ud800", "\u202e", "\U0001f600", "N" * 64, "N" * 70000, "../pmu", "/etc/passwd", "pmu"]
BITS = ["31:0", "63:0", "0", "7:7", "8:7", "64", "999999999:0", ":", "1:2:3", "b", "b00000000",
        "bxxxxxxxx", "b11111111", "b1111111", "b111111111", "b0000000X", "b00000002", "00000001",
        "B00000001"]
COUNTERS = ["0", "0-3", "3-0", "0-31", "32", "0-99999999999", "0,,1", "0;1", "-1", "all", ","]
EQUATIONS = ["", "(", "(" * 400 + "1" + ")" * 400, "1 / 0", "1 +", "A with:B.c=1", "1 with:", "1e9",
             "x" * 900, "-1", "1 * " * 200 + "1", "{", "CLOCKTICKS{", "CLOCKTICKS{edge_det",
             "CLOCKTICKS with:{", "CLOCKTICKS with:a.{", "0x", "1.", "'", "a:b:c"]
PARTS = ["PMD36.address<<4", "0xA0[3:0]", "0xA0[999:0]", "PMC40.mode=2,3", "PMC40.mode=x", "a=1",
         "a!=08", "=", "a<<99", "0x7", "PMD{i}", "0x10", "0x10[0:5]", "1=1"]
BY_KEY = {"bits": BITS, "counters": COUNTERS, "equation": EQUATIONS, "when": PARTS, "value": PARTS,
          "captured": PARTS, "least": PARTS, "next": PARTS, "entry": PARTS}
OTHERS = [None, True, False, [], {}, [[]], [None], [1], ["x"], {"name": "x"}, [{"name": "x"}], [{}],
          float("nan"), float("inf")]
DEPTHS = [10, 500, 100000]


def key_of(container, key):
    name = name_of(container[key]) if isinstance(container, list) else None
    return f"={name}" if name else key


def places(value, path=()):
    """Every value below, as (path, container, key)."""
    keys = value.keys() if isinstance(value, dict) else \
        range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        here = (*path, key_of(value, key))
        yield here, value, key
        yield from places(value[key], here)


class Mutator:
    """Makes patches of one file; files are parsed and walked once."""

    def __init__(self, random, files):
        self.random = random
        self.files = files
        self.groups = {}  # file: groups of places

    def index(self, file):
        """Places in groups of one key below one list or entry, so that rare keys are met too."""
        if file not in self.groups:
            found = {}
            for path, container, key in places(self.files[file]):
                owners = [step for step in path[:-1]
                          if isinstance(step, str) and not step.startswith("=")]
                group = (str(owners[-1:]), key if isinstance(key, str) else len(path))
                found.setdefault(group, []).append((path, container, key))
            self.groups[file] = list(found.values())
        return self.groups[file]

    def place(self, file):
        return self.random.choice(self.random.choice(self.index(file)))

    def close_to(self, old):
        """A number close to another, a text with one letter changed."""
        random = self.random
        if isinstance(old, bool):
            return not old
        if isinstance(old, str) and INTEGER.fullmatch(old):
            return f"{max(0, self.close_to(int(old, 0))):#x}"
        if isinstance(old, int):
            return random.choice([old + 1, old - 1, old * 2, old // 2, -old,
                                  old ^ 1 << random.randrange(8), old ^ 1 << random.randrange(64)])
        if isinstance(old, str) and old:
            at = random.randrange(len(old))
            return random.choice([old[:at] + old[at + 1:], old[:at] + random.choice("01x:.,aZ_-")
                                  + old[at + 1:], old.swapcase(), old * 2, old + "_", old + "0"])
        if isinstance(old, list) and old:
            return random.choice([old[1:], old[:-1], old[::-1], old + old[:1]])
        return None

    def value_like(self, file, container, key):
        """A value for a key: one that stands elsewhere, one close to it, or one that cannot be."""
        random = self.random
        way = random.random()
        if way < 0.35:
            others = [c[k] for group in self.index(file)
                      for _, c, k in random.sample(group, min(20, len(group))) if k == key]
            if others:
                return random.choice(others)
        if way < 0.7:
            return self.close_to(container[key])
        if way < 0.85 and key in BY_KEY:
            return random.choice(BY_KEY[key])
        return random.choice(random.choice([NUMBERS, TEXTS, OTHERS, BITS, COUNTERS]))

    def patch(self, file):
        random = self.random
        path, container, key = self.place(file)
        found = {"file": file, "at": list(path)}
        if random.random() < 0.03:
            return random.choice([
                {"file": file, "do": "cut", "value": random.randrange(2000)},
                {"file": file, "do": "bytes", "offset": random.randrange(500),
                 "value": random.choice(["ff", "c3", "00", "efbbbf", "edA080", "5b", "7d", "22"])}])
        do = random.choice(["set"] * 9 + ["remove", "rename", "twice", "insert", "repeat", "nest"])
        if do in ("rename", "twice") and not isinstance(container, dict):
            do = "remove"
        if do in ("insert", "repeat") and not isinstance(container, list):
            do = "set"
        found["do"] = do
        if do == "set":
            found["value"] = self.value_like(file, container, key)
        elif do == "rename":
            keys = [k for group in self.index(file) for _, _, k in group[:1] if isinstance(k, str)]
            found["value"] = random.choice([random.choice(keys), key + "s", key.upper(), "",
                                            "\u00e9"])
        elif do == "insert":
            found["value"] = random.choice([container[key], random.choice(container),
                                            random.choice(OTHERS)])
        elif do == "repeat":
            found["value"] = random.choice([2, 2, 2, 3, 40, 5000])
        elif do == "nest":
            found["value"] = random.choice(DEPTHS)
        return found

    def patches(self, file):
        return [self.patch(file) for _ in range(self.random.choice([1, 1, 1, 2, 2, 3, 4]))]
