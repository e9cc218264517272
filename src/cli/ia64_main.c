/* pmulab-ia64: runs an IA-64 Linux program. */
#include <stdio.h>
#include <string.h>

#include "pmulab/ia64.h"

extern char **environ;

struct options {
	const char *count; /* file for counts of instructions, or NULL */
	char **program;
};

static void usage(FILE *to)
{
	fputs("usage: pmulab-ia64 [--count FILE] PROGRAM [ARGUMENTS]\n"
	      "\n"
	      "Runs a static IA-64 Linux program.\n"
	      "\n"
	      "  --count FILE  write to FILE how often each instruction was executed: total,\n"
	      "                predicate true, predicate false, not predicated\n"
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
		if (strcmp(argv[i], "--count") != 0 || i + 1 == argc) {
			usage(stderr);
			return 3;
		}
		o->count = argv[++i];
	}
	if (i == argc) {
		usage(stderr);
		return 3;
	}
	o->program = argv + i;
	return 0;
}

int main(int argc, char **argv)
{
	struct pmu_ia64_options run = {.size = sizeof(run)};
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
	error = pmu_ia64_exec(ctx, o.program[0], o.program, environ, &run);
	fprintf(stderr, "pmulab-ia64: %s\n", pmu_message(ctx));
	pmu_ctx_free(ctx);
	return error == PMU_E_UNKNOWN ? 127 : 126;
}
