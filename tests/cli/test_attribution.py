#!/usr/bin/env python3
"""Where counts come from: stat --by and annotate, of programs that say what they do."""
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import unittest

import schema
from harness import LARGE, PMULAB, SMALL, Guests, pmulab, stat

MISSES = "cbo.LLC_LOOKUP.DATA_READ:state=I"
ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "stat.schema.json").read_text(encoding="utf-8"))
INCLUDE = ROOT / "include"
LINES = 3000
FEEDS = ["qemu"] + (["valgrind"] if shutil.which("valgrind") else [])

# Walks over lines that nobody has: a miss each, of one load.
WALK = f"""
#define LINES {LINES}
static char lines[8 * LINES * 64] __attribute__((aligned(4096)));

__attribute__((noinline)) void walk(const volatile char *at, int count)
{{
	for (int i = 0; i < count; i++)
		(void)at[64 * i]; /* here */
}}
"""
HERE = WALK.splitlines().index("		(void)at[64 * i]; /* here */") + 1

PLAIN = WALK + """
int main(void)
{
	walk(lines, LINES);
	return 0;
}
"""

# Regions of threads, of a process and its fork, and of what that executes.
REGIONS = WALK + r"""
#include <pmulab/region.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[] = {"one", "two", "three"};

static void *run(void *name)
{
	const long number = (const char *const *)name - names;

	PMU_REGION_BEGIN_NAMED(names[number]);
	walk(lines + number * LINES * 64, 1000 + (int)number);
	PMU_REGION_END_NAMED(names[number]);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	if (argc > 1) {
		PMU_REGION_BEGIN("executed");
		walk(lines, 1100);
		PMU_REGION_END("executed");
		return 0;
	}
	PMU_REGION_BEGIN("outer");
	walk(lines + 4 * LINES * 64, 1200);
	PMU_REGION_BEGIN("inner");
	walk(lines + 5 * LINES * 64, 1300);
	PMU_REGION_END("inner");
	walk(lines + 6 * LINES * 64, 1400);
	PMU_REGION_END("outer");
	PMU_REGION_BEGIN("forked");
	if (!fork()) {
		PMU_REGION_BEGIN("child");
		walk(lines + 7 * LINES * 64, 1500);
		PMU_REGION_END("child");
		walk(lines + 7 * LINES * 64 - 6400, 100);
		execl(argv[0], argv[0], "again", NULL);
		_exit(1);
	}
	wait(NULL);
	PMU_REGION_END("forked");
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run, (void *)&names[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
"""
MISSES_OF_REGIONS = {"one": 1000, "two": 1001, "three": 1002, "executed": 1100,
                     "outer": 1200 + 1400, "inner": 1300, "child": 1500}

LIKWID = WALK + """
#include <likwid-marker.h>

int main(void)
{
	int events = 9, calls = 9;
	double counts[9], time = 9;

	LIKWID_MARKER_INIT;
	LIKWID_MARKER_THREADINIT;
	LIKWID_MARKER_REGISTER("marked");
	LIKWID_MARKER_START("marked");
	walk(lines, LINES);
	LIKWID_MARKER_STOP("marked");
	LIKWID_MARKER_GET("marked", &events, counts, &time, &calls);
	LIKWID_MARKER_CLOSE;
	return events || calls || time != 0;
}
"""

# mov (%rdi), %al; add $64, %rdi; dec %esi; jne; ret
GENERATED = WALK + r"""
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void)
{
	static const unsigned char code[] = {0x8a, 0x07, 0x48, 0x83, 0xc7, 0x40,
					     0xff, 0xce, 0x75, 0xf6, 0xc3};
	void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(made, code, sizeof(code));
	((void (*)(char *, int))made)(lines, LINES);
	printf("%p\n", made);
	return 0;
}
"""

# The library is closed, and another one takes its place in the address space.
LOADS = r"""
#include <dlfcn.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW);
		char *lines = dlsym(library, "more_lines");
		void (*walk)(const volatile char *, int) = dlsym(library, "walk");

		walk(lines + 64 * 1000 * i, 500 * i);
		dlclose(library);
	}
	return 0;
}
"""
LIBRARY = WALK.replace("static char lines", "char more_lines")


def rows(report, **where):
    return [r for r in report["attribution"]["rows"] if all(r[k] == v for k, v in where.items())]


def count(report, column=0, **where):
    return sum(r["counts"][column] for r in rows(report, **where))


def check_sums(report, rest=0):
    """What is attributed is what was counted, event by event, but for @rest events."""
    schema.check(report, SCHEMA)
    for row in rows(report, cause="(not attributable)"):
        assert sum(n > 0 for n in row["counts"]) <= rest, row
    attribution = report["attribution"]
    for column, event in enumerate(attribution["events"]):
        counted = sum(c["count"] or 0 for c in report["counts"] if c["event"] == event)
        assert attribution["totals"][column] == counted, (event, counted)
        assert count(report, column) == counted, (event, count(report, column), counted)
        assert counted > 0, event


class Attribution(Guests):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.machines = [cls.machine(name) for name in (SMALL, LARGE)]

    @classmethod
    def machine(cls, base):
        """One that asks for the program's lines alone, and not before it does."""
        path = cls.path / f"{base}.json"
        path.write_text(json.dumps({"base": base, "name": f"plain-{base}", "prefetchers": 0,
                                    "translation": "none"}),
                        encoding="utf-8")
        return str(path)

    @classmethod
    def compile(cls, name, text, *options):
        source = cls.path / f"{name}.c"
        source.write_text(text, encoding="utf-8")
        program = cls.path / name
        subprocess.run(["gcc", "-g", "-O1", "-I", INCLUDE, "-I", INCLUDE / "pmulab-likwid", "-o",
                        program, source, "-pthread", *options], check=True)
        return str(program)

    def by(self, what, program, *arguments, events=(MISSES,), feed="qemu", rest=0):
        report = stat(self.machines[0], events, program, *arguments,
                      options=["--by", what, "--feed", feed])
        self.assertEqual(report["attribution"]["by"], what)
        check_sums(report, rest)
        return report

    def test_functions_and_lines(self):
        for kind in (["-pie", "-fPIE"], ["-no-pie", "-fno-pie"], ["-static"]):
            program = self.compile("plain", PLAIN, *kind)
            for feed in FEEDS:
                with self.subTest(kind=kind, feed=feed):
                    report = self.by("function", program, feed=feed)
                    self.assertEqual(count(report, function="walk", module=program), LINES)
                    report = self.by("line", program, feed=feed)
                    self.assertEqual(count(report, file=program + ".c", line=HERE), LINES)

    def test_stripped(self):
        program = self.compile("stripped", PLAIN, "-no-pie")
        symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        address = next(int(s.split()[0], 16) for s in symbols.splitlines() if s.endswith(" walk"))
        subprocess.run(["strip", program], check=True)
        report = self.by("function", program)
        self.assertEqual(count(report, function=None, module=program, address=address), LINES)

    def test_changed_files_are_not_looked_up(self):
        program = self.compile("changed", PLAIN)
        os.utime(program, (4e9, 4e9))
        report = self.by("function", program)
        self.assertFalse(rows(report, function="walk"))
        self.assertEqual(max(r["counts"][0] for r in rows(report, module=program)), LINES)

    def test_libraries(self):
        program = self.compile("loads", LOADS)
        libraries = [self.compile(f"{name}.so", LIBRARY, "-shared", "-fPIC") for name in ("a", "b")]
        for feed in FEEDS:
            report = self.by("function", program, *libraries, feed=feed)
            for i, library in enumerate(libraries):
                self.assertEqual(count(report, function="walk", module=library), 500 * (i + 1))

    def test_generated_code_is_of_no_file(self):
        program = self.compile("generated", GENERATED)
        for feed in FEEDS:
            with self.subTest(feed=feed):
                file = self.path / "report.csv"
                result = pmulab("stat", "-M", self.machines[0], "-e", MISSES, "--by", "function", "--feed", feed,
                                "--format", "csv", "-o", file, program)
                self.assertEqual(result.returncode, 0, result.stderr)
                found = {row["address"]: row for row in csv.DictReader(io.StringIO(file.read_text()))
                         if not row["module"]}
                row = found[result.stdout.strip()]
                self.assertEqual((row["function"], row[MISSES]), ("", str(LINES)))

    def test_regions(self):
        program = self.compile("regions", REGIONS)
        for feed in FEEDS:
            with self.subTest(feed=feed):
                report = self.by("region", program, feed=feed)
                self.assertEqual({n: count(report, region=n) for n in MISSES_OF_REGIONS},
                                 MISSES_OF_REGIONS)
                # The child is where its parent was, which has touched next to nothing there.
                self.assertGreaterEqual(count(report, region="forked"), 100)

    def test_threads_and_processes(self):
        program = self.compile("regions", REGIONS)
        for feed in FEEDS:
            with self.subTest(feed=feed):
                report = self.by("thread", program, feed=feed,
                                 events=(MISSES, "xeon-e5v4/core.INST_RETIRED.ANY_P"))
                found = {(r["process"], r["thread"]): r["counts"] for r in rows(report, cause=None)}
                self.assertEqual(len(found), 5)
                self.assertEqual(len({process for process, _ in found}), 2)
                for counts in found.values():
                    self.assertGreaterEqual(counts[0], 1000)
                    self.assertGreater(counts[1], 3000)

    def test_likwid(self):
        program = self.compile("likwid", LIKWID)
        for feed in FEEDS:
            report = self.by("region", program, feed=feed)
            self.assertEqual(count(report, region="marked"), LINES)

    def test_all_events_keep_their_counts(self):
        """What is counted is not changed by who asks where it comes from."""
        program = self.compile("plain", PLAIN)
        events = (MISSES, "cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd", "cbo.TOR_OCCUPANCY.ALL",
                  "cbo.LLC_VICTIMS.E_STATE", "cbo.RxR_INSERTS.IRQ", "ha.REQUESTS.READS",
                  "ha.TRACKER_OCCUPANCY.READS_LOCAL", "imc.CAS_COUNT.RD", "imc.ACT_COUNT.RD",
                  "imc.RPQ_INSERTS", "xeon-e5v4/core.INST_RETIRED.ANY_P",
                  "xeon-e5v4/core.LONGEST_LAT_CACHE.MISS",
                  "xeon-e5v4/core.BR_INST_RETIRED.ALL_BRANCHES")
        for machine in self.machines:
            for feed in FEEDS:
                with self.subTest(machine=machine, feed=feed):
                    plain = stat(machine, events, program, options=["--feed", feed])
                    report = stat(machine, events, program,
                                  options=["--feed", feed, "--by", "function"])
                    self.assertEqual(report["counts"], plain["counts"])
                    self.assertFalse(rows(report, cause="(not attributable)"))
                    for column, event in enumerate(report["attribution"]["events"]):
                        total = sum(c["count"] for c in plain["counts"] if c["event"] == event)
                        self.assertEqual(count(report, column), total)

    def test_what_nobody_causes(self):
        program = self.compile("plain", PLAIN)
        report = self.by("function", program,
                         events=("cbo.CLOCKTICKS", "imc.DRAM_REFRESH.HIGH", MISSES), rest=1)
        clock = rows(report, cause="(not attributable)")
        self.assertEqual(len(clock), 1)
        self.assertEqual(clock[0]["counts"][0], report["attribution"]["totals"][0])
        self.assertEqual(clock[0]["counts"][2], 0)
        nobody = rows(report, cause="(no instruction)")
        self.assertEqual(nobody[0]["counts"][1], report["attribution"]["totals"][1])

    def test_annotate(self):
        program = self.compile("plain", PLAIN)
        result = pmulab("annotate", "-M", self.machines[0], "-e", MISSES, program)
        self.assertEqual(result.returncode, 0, result.stderr)
        line = next(t for t in result.stderr.splitlines() if "/* here */" in t)
        self.assertIn(f" {LINES:,} ", line)
        self.assertIn(f" {HERE}  \t\t(void)at[64 * i]; /* here */", line)
        # The lines around it have no counts of their own.
        self.assertRegex(result.stderr, rf"(?m)^ +{HERE - 1}  \tfor ")

    def test_the_example_of_the_page(self):
        """It is pasted into a shell."""
        page = (ROOT / "docs" / "attribution.md").read_text(encoding="utf-8")
        script = page.split("\n\n    ", 1)[1].split("\n\nThis runs", 1)[0]
        script = "\n".join(line.removeprefix("    ") for line in script.split("\n"))
        (self.path / "bin").mkdir()
        (self.path / "bin" / "pmulab").symlink_to(PMULAB)
        path = f"{self.path}/bin:{os.environ['PATH']}"
        result = subprocess.run(["sh", "-e"], input=script, cwd=self.path, capture_output=True,
                                text=True, check=False, env={**os.environ, "PATH": path})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"(?m) [1-9][\d,]+ +\d+          sum \+= table\[rand")

    def test_real_programs(self):
        """Sums, of programs with libraries, children and threads."""
        events = (MISSES, "imc.CAS_COUNT.RD", "ha.REQUESTS.READS",
                  "xeon-e5v4/core.INST_RETIRED.ANY_P")
        text = self.path / "text"
        text.write_text("one two three\n" * 2000, encoding="utf-8")
        for command in (["sh", "-c", f"sort {text} | uniq -c; ls /"], ["xz", "-T2", "-k", "-f", "-0", str(text)]):
            if not shutil.which(command[0]):
                continue
            for feed in FEEDS:
                with self.subTest(command=command, feed=feed):
                    self.by("function", *command, events=events, feed=feed)

    def test_refusals(self):
        for arguments, words in ((["-M", SMALL, "--by", "functions"], ["function", "line", "thread"]),
                                 (["--by", "line"], ["-M MACHINE is missing"]),
                                 (["-M", SMALL, "--by", "line", "-r", "2"], ["not attributed with -I, -D and -r"]),
                                 (["-M", SMALL, "--by", "line", "-I", "1"], ["not attributed with -I, -D and -r"])):
            result = pmulab("stat", *arguments, "-e", MISSES, "true")
            self.assertEqual(result.returncode, 2, result.stderr)
            for word in words:
                self.assertIn(word, result.stderr)


if __name__ == "__main__":
    unittest.main()
