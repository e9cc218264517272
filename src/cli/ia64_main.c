/* pmulab-ia64: runs an IA-64 Linux program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmulab/ia64.h"

extern char **environ;

static void usage(FILE *to)
{
	fputs("usage: pmulab-ia64 [--count FILE] [--root DIR] PROGRAM [ARGUMENTS]\n"
	      "\n"
	      "Runs an IA-64 Linux program. pmulab stat -M runs one on an emulated machine.\n"
	      "\n"
	      "  --count FILE  write to FILE how often each instruction was executed: total,\n"
	      "                predicate true, predicate false, not predicated\n"
	      "  --root DIR    look the program's files up in DIR first, its dynamic linker too;\n"
	      "                default: $PMULAB_IA64_ROOT\n"
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
		return fflush(stdout) ? EXIT_FAILURE : 0;
	}
	for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
		if (strcmp(argv[i], "--count") == 0)
			options.counts = argv[i + 1];
		else if (strcmp(argv[i], "--root") == 0)
			setenv("PMULAB_IA64_ROOT", argv[i + 1], 1);
		else
			break;
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
