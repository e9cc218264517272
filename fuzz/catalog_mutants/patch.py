"""Patches: a mutant is a list of them, small enough to be kept as a seed.

    {"file": "catalog/small/box.json", "at": ["events", "=LOOKUP", "code"], "do": "set", "value": 1}

"at" leads to a value: keys, numbers of list entries, or "=NAME" for the entry of a list with that
name. "do": set; remove; rename (the key, to "value"); twice (the key stands there twice); insert
("value" into a list, before the entry); repeat (the entry, "value" times); nest (lists, "value"
deep). Of a whole file: cut (after "value" bytes), bytes (hexadecimal, at "offset").
"""
import copy
import json

NAME_KEYS = ("name", "field", "box", "register", "group")
TWICE = "\ue000twice"  # stands before a key that is to be there twice; in no data


class Misplaced(Exception):
    """A patch leads to nothing, as an earlier one or a change of the catalog has removed it."""


def name_of(value):
    if isinstance(value, dict):
        for key in NAME_KEYS:
            if isinstance(value.get(key), str):
                return value[key]
    return None


def step(container, key):
    """The key or number under which the value stands in a dict or list."""
    if isinstance(container, dict) and key in container:
        return key
    if isinstance(container, list):
        if isinstance(key, str) and key.startswith("="):
            key = next((n for n, v in enumerate(container) if name_of(v) == key[1:]), None)
        if isinstance(key, int) and 0 <= key < len(container):
            return key
    raise Misplaced(key)


def holder(root, path):
    """The container of the value, and its key there."""
    at = root
    for key in path[:-1]:
        at = at[step(at, key)]
    if not isinstance(at, (dict, list)):
        raise Misplaced(path)
    return at, path[-1]


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def rename(container, key, to):
    """Renames a key where it stands."""
    pairs = [(to if k == key else k, v) for k, v in container.items()]
    container.clear()
    container.update(pairs)


def apply_to_value(root, patch):
    container, key = holder(root, patch["at"])
    do, value = patch["do"], copy.deepcopy(patch.get("value"))
    if do == "set" and isinstance(container, dict):
        container[key] = value
        return
    if do == "insert" and isinstance(container, list):
        container.insert(key if isinstance(key, int) else len(container), value)
        return
    key = step(container, key)
    if do == "set":
        container[key] = value
    elif do == "remove":
        del container[key]
    elif do == "nest":
        container[key] = nested(value)
    elif do == "rename" and isinstance(container, dict):
        rename(container, key, value)
    elif do == "twice" and isinstance(container, dict):
        container[TWICE + key] = container[key]
    elif do == "repeat" and isinstance(container, list):
        container[key:key + 1] = [container[key]] * value
    else:
        raise Misplaced(do)


def apply(root, patches):
    """The bytes of a file: its JSON value @root with patches."""
    root = copy.deepcopy(root)
    for patch in patches:
        if "at" in patch:
            apply_to_value(root, patch)
    content = dump(root).replace(json.dumps(TWICE)[1:-1], "").encode("ascii")
    for patch in patches:
        if patch["do"] == "cut":
            content = content[:patch["value"]]
        elif patch["do"] == "bytes":
            at = patch["offset"]
            content = content[:at] + bytes.fromhex(patch["value"]) + content[at:]
    return content


def dump(value, depth=0):
    """As json.dumps(), but of any depth."""
    if isinstance(value, list) and len(value) == 1 and depth > 50:
        levels = 0
        while isinstance(value, list) and len(value) == 1:
            levels, value = levels + 1, value[0]
        return "[" * levels + dump(value) + "]" * levels
    if isinstance(value, list):
        return "[" + ", ".join(dump(v, depth + 1) for v in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(k))}: {dump(v, depth + 1)}"
                               for k, v in value.items()) + "}"
    return json.dumps(value)
