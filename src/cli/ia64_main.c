/* pmulab-ia64: runs an IA-64 Linux program. */
#include <stdio.h>
#include <string.h>

#include "pmulab/ia64.h"

extern char **environ;

static void usage(FILE *to)
{
	fputs("usage: pmulab-ia64 [--count FILE] PROGRAM [ARGUMENTS]\n"
	      "\n"
	      "Runs a static IA-64 Linux program. pmulab stat -M runs one on an emulated machine.\n"
	      "\n"
	      "  --count FILE  write to FILE how often each instruction was executed: total,\n"
	      "                predicate true, predicate false, not predicated\n"
	      "  --help        print this text\n",
	      to);
}

int main(int argc, char **argv)
{
	struct pmu_ia64_options options = {.size = sizeof(options)};
	struct pmu_ctx *ctx;
	int error, i = 1;

	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		usage(stdout);
		return 0;
	}
	if (argc > 2 && strcmp(argv[1], "--count") == 0) {
		options.counts = argv[2];
		i = 3;
	}
	if (i >= argc || argv[i][0] == '-') {
		usage(stderr);
		return 2;
	}
	if (pmu_ctx_new(&ctx)) {
		fputs("pmulab-ia64: out of memory\n", stderr);
		return 126;
	}
	error = pmu_ia64_exec(ctx, argv[i], argv + i, environ, &options);
	fprintf(stderr, "pmulab-ia64: %s\n", pmu_message(ctx));
	pmu_ctx_free(ctx);
	return error == PMU_E_UNKNOWN ? 127 : 126;
}
