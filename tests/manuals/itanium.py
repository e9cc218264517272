"""323602-001, the manual of the Itanium 9300 series."""
import itanium_core
import itanium_uncore

DOCUMENT = "323602-001"
MANUAL = "itanium-9300.txt"


def read(text):
    return itanium_core.read(text) + itanium_uncore.read(text)


def ours(data):
    return {**itanium_core.ours(data), **itanium_uncore.ours(data)}
