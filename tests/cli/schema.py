"""As much of JSON Schema as docs/stat.schema.json uses; any other word in a schema is an error."""
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
IGNORED = {"$schema", "$defs", "title", "description"}


def has_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def check(value, schema, root=None, place="report"):
    """Raises ValueError with the place that does not fit."""
    root = root or schema
    if "$ref" in schema:
        check(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, place)
        return
    for word, says in schema.items():
        if word == "type":
            fits = any(has_type(value, t) for t in ([says] if isinstance(says, str) else says))
        elif word == "enum":
            fits = value in says
        elif word == "required":
            fits = all(key in value for key in says)
        elif word == "additionalProperties":
            fits = says or set(value) <= set(schema["properties"])
        elif word in ("properties", "items"):
            fits = True
        elif word in IGNORED:
            continue
        else:
            raise ValueError(f"the schema has \"{word}\", which is not known here")
        if not fits:
            raise ValueError(f"{place}: {value!r:.80} does not fit {word} {says}")
    for key, part in schema.get("properties", {}).items():
        if isinstance(value, dict) and key in value:
            check(value[key], part, root, f"{place}.{key}")
    if isinstance(value, list):
        for n, item in enumerate(value):
            check(item, schema.get("items", {}), root, f"{place}[{n}]")
