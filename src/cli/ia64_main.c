/* pmulab-ia64: runs an IA-64 Linux program. */
#include "cli/ia64_stat.h"
#include "feed/ia64/count.h"
#include "feed/ia64/load.h"
#include "feed/ia64/run.h"
#include "feed/ia64/signal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

struct options {
	const char *count;  /* file for counts of instructions, or NULL */
	const char *events; /* to count, or NULL */
	char **program;
};

static void usage(FILE *to)
{
	fputs("usage: pmulab-ia64 [--count FILE | -e EVENT,...] PROGRAM [ARGUMENTS]\n"
	      "\n"
	      "Runs a static IA-64 Linux program.\n"
	      "\n"
	      "  --count FILE  write to FILE how often each instruction was executed: total,\n"
	      "                predicate true, predicate false, not predicated\n"
	      "  -e, --event EVENT,...\n"
	      "                run it on an emulated core, and count these events of its PMU\n"
	      "  --help        print this text\n",
	      to);
}

/* 0, or the exit status plus 1. */
static int parse(struct options *o, int argc, char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			usage(stdout);
			return 1;
		}
		if (i + 1 < argc && strcmp(argv[i], "--count") == 0) {
			o->count = argv[++i];
		} else if (i + 1 < argc &&
			   (strcmp(argv[i], "-e") == 0 || strcmp(argv[i], "--event") == 0)) {
			o->events = argv[++i];
		} else {
			usage(stderr);
			return 3;
		}
	}
	if (i == argc || (o->count && o->events)) {
		usage(stderr);
		return 3;
	}
	o->program = argv + i;
	return 0;
}

static const char *reason(int rc)
{
	if (rc == -ENOEXEC)
		return "not an IA-64 Linux program";
	if (rc == -ELIBBAD)
		return "dynamically linked: only static programs run";
	return strerror(-rc);
}

int main(int argc, char **argv)
{
	struct options o = {0};
	struct ia64_process *p = NULL;
	const struct ia64_observer *observer = NULL;
	struct ia64_cpu *c = NULL;
	int rc = parse(&o, argc, argv);

	if (rc != 0)
		return rc - 1;
	if (o.events) {
		struct ia64_stat *stat;

		rc = ia64_stat_new(&stat, o.events);
		if (rc != 0)
			return rc;
		observer = ia64_stat_observer(stat);
	}
	if (o.count) {
		struct ia64_counter *counter;

		rc = ia64_counter_new(&counter, o.count);
		observer = rc == 0 ? ia64_counter_observer(counter) : NULL;
	}
	if (rc == 0)
		rc = ia64_process_new(&p, observer);
	if (rc == 0)
		rc = ia64_cpu_new(&c, p);
	if (rc == 0)
		rc = ia64_signals_start(p);
	if (rc == 0)
		rc = ia64_signals_thread(c);
	if (rc == 0)
		rc = ia64_load(c, o.program[0], o.program, environ);
	if (rc != 0) {
		fprintf(stderr, "pmulab-ia64: %s: %s\n", o.program[0], reason(rc));
		return rc == -ENOENT ? 127 : 126;
	}
	ia64_run(c);
	for (;;) /* the first thread ended; the last one ends the process */
		pause();
}
