"""Signals and their words: read, checked, printed for src/catalog/signal.h."""
import re

from .c_text import c_name, c_string
from .read import entry, load

KINDS = {"pulse", "span", "level", "accumulator", "cycles"}
RATES = {"any", "once", "each", "apart", "clock"}
CLOCKS = {"uclk", "dclk", "core", "pclk", "qfclk"}
ATTRIBUTES = {"address", "request", "message", "state", "node", "core", "thread", "rank", "bank"}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
QUALIFIERS_MAX = 32  # bits of struct signal.qualifiers
WORDS_MAX = 31  # requests, states, units: bits of the masks that they are compared with
# Lists of words, and what their constants begin with; requests have one that means none.
WORDS = {"units": "UNIT", "states": "SIGNAL_STATE", "requests": "REQUEST",
         "messages": "MESSAGE"}


class Vocabulary:
    """Signals by name, and names of units, states, requests and messages, in the file's order."""

    def __init__(self):
        self.signals, self.units, self.states, self.requests, self.messages = {}, [], [], [], []
        self.clocks = {}  # of units

    def number(self, words, name):
        """The value of a word's constant."""
        return getattr(self, words).index(name) + (words == "requests")

    def count(self, words):
        return len(getattr(self, words)) + (words == "requests")


def check_signal(findings, signal, vocabulary):
    place = signal["name"]
    for name in (signal["name"], *signal["qualifiers"]):
        if not NAME.fullmatch(name):
            findings.add(place, f"\"{name}\" cannot be the name of a signal or qualifier")
    if signal["kind"] not in KINDS:
        findings.add(place, f"unknown kind \"{signal['kind']}\"")
    if signal.get("rate", "any") not in RATES:
        findings.add(place, f"unknown rate \"{signal['rate']}\"")
    if signal["unit"] not in vocabulary.units:
        findings.add(place, f"unknown unit \"{signal['unit']}\"")
    for attribute in signal["attributes"]:
        if attribute not in ATTRIBUTES:
            findings.add(place, f"unknown attribute \"{attribute}\"")
    if len(signal["qualifiers"]) > QUALIFIERS_MAX:
        findings.add(place, f"{len(signal['qualifiers'])} qualifiers, {QUALIFIERS_MAX} at most")
    for key, known in (("never", signal["qualifiers"]), ("several_sockets", signal["qualifiers"]),
                       ("tlbs", signal["qualifiers"]), ("large_pages", signal["qualifiers"]),
                       ("requests", vocabulary.requests), ("states", vocabulary.states),
                       ("messages", vocabulary.messages),
                       ("several_sockets_states", vocabulary.states)):
        for word in signal.get(key, []):
            if word not in known:
                findings.add(place, f"\"{word}\" of {key} is not known")
    if signal.get("default", None) not in [None, *signal["qualifiers"]]:
        findings.add(place, f"default \"{signal['default']}\" is no qualifier")


def constants(signal):
    """The C names that stand for a signal and its qualifiers."""
    name = c_name(signal["name"])
    return [f"SIGNAL_{name}",
            *(f"QUALIFIER_{name}_{c_name(qualifier)}" for qualifier in signal["qualifiers"])]


def word_constants(vocabulary, words):
    names = [f"{WORDS[words]}_{c_name(name)}" for name in getattr(vocabulary, words)]
    return ["REQUEST_NONE"] * (words == "requests") + names


def read_words(findings, words, given):
    found = []
    for word in given:
        kind = "unit" if words == "units" else "word"
        read = entry(findings, f"{words}.{word.get('name')}", kind, word)
        if read and not NAME.fullmatch(read["name"]):
            findings.add(words, f"\"{read['name']}\" cannot be the name of one")
        elif read:
            found.append(read["name"])
            if kind == "unit" and read["clock"] not in CLOCKS:
                findings.add(f"units.{read['name']}", f"unknown clock \"{read['clock']}\"")
    if len(found) > WORDS_MAX:
        findings.add(words, f"{len(found)} of them, {WORDS_MAX} at most")
    return found


def read_signals(findings, path):
    vocabulary = Vocabulary()
    given = load(findings, path, dict)
    given = given and entry(findings, "signals", "signals", given)
    if not given:
        return vocabulary
    for words in WORDS:
        setattr(vocabulary, words, read_words(findings, words, given.get(words, [])))
    vocabulary.clocks = {unit.get("name"): unit.get("clock") for unit in given["units"]}
    signals = [s for s in (entry(findings, g.get("name"), "signal", g) for g in given["signals"])
               if s]
    taken = {"SIGNAL_NONE": "none", "SIGNAL_COUNT": "count"}
    owners = [(words, word_constants(vocabulary, words) + [f"{WORDS[words]}_COUNT"])
              for words in WORDS]
    for signal in signals:
        check_signal(findings, signal, vocabulary)
        owners.append((signal["name"], constants(signal)))
    for owner, names in owners:
        for constant in names:
            if constant in taken:
                findings.add(owner, f"{constant} is also a constant of {taken[constant]}")
            taken[constant] = owner
    vocabulary.signals = {s["name"]: s for s in signals}
    return vocabulary


def print_enum(name, names, count):
    print(f"enum {name} {{")
    for constant in names:
        print(f"\t{constant},")
    print(f"\t{count},\n}};\n")


def print_ids(vocabulary):
    print("/* Generated from signals.json. */\n#ifndef CATALOG_SIGNAL_IDS_H\n"
          "#define CATALOG_SIGNAL_IDS_H\n")
    signals = vocabulary.signals.values()
    print_enum("pmu_signal_id", ["SIGNAL_NONE", *(constants(s)[0] for s in signals)],
               "SIGNAL_COUNT")
    for words, prefix in WORDS.items():
        print_enum(f"signal_{words[:-1]}", word_constants(vocabulary, words), f"{prefix}_COUNT")
    for s in signals:
        for bit, qualifier in enumerate(constants(s)[1:]):
            print(f"#define {qualifier} (1u << {bit})")
    print("\n#endif")


def bits(signal_words, chosen, first=0):
    """The mask of some words: a bit for each, from bit first on."""
    return hex(sum(1 << n for n, word in enumerate(signal_words, first) if word in chosen))


def print_table(vocabulary):
    print('/* Generated from signals.json. */\n#include "catalog/signal.h"\n')
    signals = vocabulary.signals.values()
    for s in signals:
        if s["qualifiers"]:
            names = ", ".join(c_string(q) for q in s["qualifiers"])
            print(f"static const char *const qualifiers_{c_name(s['name']).lower()}[] = "
                  f"{{{names}}};")
    print("\nconst struct signal_desc signal_table[] = {")
    print('\t[SIGNAL_NONE] = {.name = "none", .unit = UNIT_COUNT},')
    for s in signals:
        names = f"qualifiers_{c_name(s['name']).lower()}" if s["qualifiers"] else "0"
        never, several, tlbs, large = (
            bits(s["qualifiers"], s.get(key, []))
            for key in ("never", "several_sockets", "tlbs", "large_pages"))
        requests, states, messages = (
            bits(getattr(vocabulary, words), s.get(words, getattr(vocabulary, words)),
                 words == "requests")
            for words in ("requests", "states", "messages"))
        default = f"1u << {s['qualifiers'].index(s['default'])}" if "default" in s else "0"
        print(f"\t[{constants(s)[0]}] = {{.name = {c_string(s['name'])}, "
              f".unit = UNIT_{c_name(s['unit'])}, .kind = SIGNAL_{s['kind'].upper()}, "
              f".clock = PMU_CLOCK_{vocabulary.clocks[s['unit']].upper()}, "
              f".qualifier_count = {len(s['qualifiers'])}, .default_qualifier = {default}, "
              f".never = {never}, .several_sockets = {several}, "
              f".tlbs = {tlbs}, .large_pages = {large}, .requests = {requests}, "
              f".states = {states}, .messages = {messages}, .several_sockets_states = "
              f"{bits(vocabulary.states, s.get('several_sockets_states', []))}, "
              f".uarch = {str(s.get('uarch', False)).lower()}, "
              f".timed = {str(s.get('timed', False)).lower()}, "
              f".rate = SIGNAL_RATE_{s.get('rate', 'any').upper()}, .qualifiers = {names}}},")
    print("};")
