"""Prints which register answers at an address, for src/catalog/address.h."""
from .c_text import array

SPACES = ("msr", "pci", "mmio", "pmc", "pmd", "ibr", "dbr")  # enum pmu_space


def address_hash(space, address):
    """As hash() in src/catalog/address.c."""
    return (address + (SPACES.index(space) << 28)) * 0x9E3779B1 % (1 << 32) >> 8


def entries_of(number, box):
    """(space, address, row) of each register, of the upper half too where it has two."""
    instances = box["instances"][:1] if box.get("scope") == "core" else box["instances"]
    for i, instance in enumerate(instances):
        for n, register in enumerate(box["registers"]):
            space = register.get("space", box["space"])
            offset = register["offsets"][i] if register["offsets"] else register["offset"]
            row = {"space": f"PMU_SPACE_{space.upper()}", "taken": "true", "box": number,
                   "instance": i, "reg": n}
            yield space, instance["base"] + offset, {**row, "shift": 0}
            # PCI registers of 64 bits can be reached as two dwords (334291-001 table 2-61).
            if space == "pci" and register["width"] == 64:
                yield space, instance["base"] + offset + 4, {**row, "shift": 32}


def print_addresses(name, pmu):
    """Prints the slots, half of them empty, and returns them and their mask as values."""
    found = {}
    for number, box in enumerate(pmu["boxes"]):
        for space, address, row in entries_of(number, box):
            found.setdefault((space, address), row)  # an overlay has its register's address
    slots = [{"taken": "false"}] * (1 << (2 * len(found)).bit_length())
    for (space, address), row in found.items():
        at = address_hash(space, address)
        while slots[at % len(slots)]["taken"] == "true":
            at += 1
        slots[at % len(slots)] = {"address": f"{address:#x}", **row}
    return f"{array('pmu_address', name, slots)}, {len(slots) - 1:#x}"
