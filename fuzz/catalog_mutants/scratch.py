"""A copy of the catalog in which a file at a time is spoilt, and what the generator makes of it."""
import contextlib
import io
import json
import pathlib
import shutil
import signal
import sys
import traceback

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))

from catalog_gen.command import main as generate

SECONDS_MAX = 20  # of processor time that a mutant may take
EVENTS_KEPT = 12  # of a box that is slimmed, about

SMALL = TOP / "tests" / "catalog"


class TooLong(Exception):
    """The generator does not come to an end."""


def too_long(_signal, _frame):
    raise TooLong(f"more than {SECONDS_MAX} s")


class Outcome:
    """Tables, or findings, or what went wrong."""

    def __init__(self, tables="", findings=None, failure=None):
        self.tables, self.findings, self.failure = tables, findings, failure


def run(arguments):
    tables, errors = io.StringIO(), io.StringIO()
    signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, SECONDS_MAX)
    try:
        with contextlib.redirect_stdout(tables), contextlib.redirect_stderr(errors):
            generate([str(a) for a in arguments])
        tables.getvalue().encode("utf-8")
    except SystemExit as refusal:
        return Outcome(findings=str(refusal.code).split("\n"))
    except BaseException as reason:  # whatever it is, the generator should not have let it out
        if isinstance(reason, KeyboardInterrupt):
            raise
        return Outcome(failure="".join(traceback.format_exception(reason, limit=-4)))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if errors.getvalue():
        return Outcome(failure=f"accepted, but says {errors.getvalue()}")
    return Outcome(tables=tables.getvalue())


def thinned(entries, count):
    return entries[::max(1, len(entries) // count)]


def slim(box):
    """A box with a few of its events, so that a mutant of it takes little time; names that other
    tools and the kernel have for single events are left out."""
    return {**{k: v for k, v in box.items() if k not in ("renames", "kernel_events")},
            "events": [{**e, "umasks": thinned(e["umasks"], 4)} if "umasks" in e else e
                       for e in thinned(box.get("events", []), EVENTS_KEPT)]}


class Scratch:
    """The files by their paths, written below a folder: the catalog, the small one of the tests,
    and one of every PMU with few events."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        shutil.copytree(TOP / "catalog", self.folder / "catalog",
                        ignore=shutil.ignore_patterns("*.md"))
        shutil.copytree(SMALL / "small", self.folder / "small" / "small")
        shutil.copy(SMALL / "small_signals.json", self.folder / "small" / "signals.json")
        self.add_slim()
        self.files = {str(path.relative_to(self.folder)): json.loads(path.read_text("utf-8"))
                      for path in sorted(self.folder.rglob("*.json"))}

    def add_slim(self):
        target = self.folder / "slim"
        shutil.copytree(self.folder / "catalog", target)
        for pmu in target.glob("*/pmu.json"):
            boxes = [path for path in pmu.parent.glob("*.json")
                     if path.name not in ("pmu.json", "bindings.json")]
            for path in boxes:
                path.write_text(json.dumps(slim(json.loads(path.read_text("utf-8")))))
            command = ["boxes", target / "signals.json", pmu.parent]
            while (findings := run(command).findings):
                self.drop_metrics(boxes, {line.split(": ")[1] for line in findings})

    @staticmethod
    def drop_metrics(paths, refused):
        """Those that need an event which is not there any more."""
        for path in paths:
            box = json.loads(path.read_text("utf-8"))
            box["metrics"] = [m for m in box.get("metrics", [])
                              if f"{box['box']}.{m['name']}" not in refused]
            path.write_text(json.dumps(box))

    def commands(self, file):
        """What reads a file: arguments of the generator."""
        if file.endswith("signals.json"):
            path, small = self.folder / file, self.folder / "small" / "small"
            folder = small if file.startswith("small/") else path.parent / "xeon-e5v4"
            return [["signal-ids", path], ["signal-table", path], ["boxes", path, folder]]
        catalog = self.folder / file.partition("/")[0]
        return [["boxes", catalog / "signals.json", (self.folder / file).parent]]

    def run(self, file, content):
        """The outcomes of all commands that read @file while it holds @content."""
        path = self.folder / file
        before = path.read_bytes()
        path.write_bytes(content)
        try:
            return [(command, run(command)) for command in self.commands(file)]
        finally:
            path.write_bytes(before)
