"""Files of kernels: core.txt says what is in one."""


def read(path):
    """{name: (body, before, around, [(event, least, most)])}"""
    kernels, part = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        word, *rest = line.split()
        if not line[0].isspace() and word == "kernel":
            part = kernels.setdefault(rest[0], {"body": [], "before": [], "around": [],
                                                "counts": [], "metrics": []})["body"]
            now = kernels[rest[0]]
        elif not line[0].isspace() and word in ("before", "around", "counts", "metrics"):
            part = now[word]
        elif part is now["counts"]:
            part.append((word, int(rest[0]), int(rest[-1])))
        elif part is now["metrics"]:
            part.append((word, *rest))
        else:
            part.append(line)
    return kernels
