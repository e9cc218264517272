"""Prints where names stand in an array, for struct pmu_index of src/catalog/entries.h."""


def name_hash(name):
    """As name_hash() in src/base/name.c."""
    value = 2166136261
    for byte in name.encode():
        value = (value ^ (byte | 0x20)) * 16777619 & 0xFFFFFFFF
    return value


def hash_slots(names):
    """Numbers of the names plus 1, as struct pmu_index has them; half of the slots stay empty."""
    slots = [0] * (1 << (2 * len(names)).bit_length() if names else 1)
    seen = set()
    for n, name in enumerate(names):
        if name.lower() in seen:  # an event of several codes is found by its first
            continue
        seen.add(name.lower())
        at = name_hash(name)
        while slots[at % len(slots)]:
            at += 1
        slots[at % len(slots)] = n + 1
    return slots


def print_index(name, names):
    """Prints the slots of an array's names and returns the index as a value."""
    slots = hash_slots(names)
    print(f"static const uint16_t {name}_slots[] = {{{', '.join(map(str, slots))}}};")
    return f"{{{name}_slots, {len(slots) - 1:#x}}}"
