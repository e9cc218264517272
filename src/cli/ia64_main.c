/* pmulab-ia64: runs an IA-64 Linux program. */
#include "cli/ia64_stat.h"

#include <stdio.h>
#include <string.h>

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

int main(int argc, char **argv)
{
	struct pmu_ia64_options run = {.size = sizeof(run)};
	struct ia64_stat *stat = NULL;
	struct options o = {0};
	struct pmu_ctx *ctx;
	int error, status = parse(&o, argc, argv);

	if (status)
		return status - 1;
	if (pmu_ctx_new(&ctx)) {
		fputs("pmulab-ia64: out of memory\n", stderr);
		return 126;
	}
	run.counts = o.count;
	status = o.events ? ia64_stat_new(&stat, &run, o.events) : 0;
	if (status)
		return status;
	error = pmu_ia64_exec(ctx, o.program[0], o.program, environ, &run);
	fprintf(stderr, "pmulab-ia64: %s\n", pmu_message(ctx));
	ia64_stat_free(stat);
	pmu_ctx_free(ctx);
	return error == PMU_E_UNKNOWN ? 127 : 126;
}
