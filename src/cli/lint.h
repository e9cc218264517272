/* What a tool did against the manual: collected while it runs, then reported. */
#ifndef CLI_LINT_H
#define CLI_LINT_H

#include <pthread.h>

#include "cli/cli.h"
#include "pmulab/device.h"

/* The same rule at the same register of the same instance, however often. */
struct lint_finding {
	char reg[64];	    /* name, or the address where there is no register */
	const char *box;    /* NULL: of no box */
	const char *rule;   /* one sentence */
	const char *source; /* document and section; "" where none is needed */
	unsigned socket, instance;
	uint64_t value; /* the first time */
	uint64_t times;
};

struct lint {
	const struct pmu_machine *machine;
	pthread_mutex_t lock;	       /* of what follows */
	struct lint_finding *findings; /* by their first time */
	size_t count, capacity;
	bool incomplete; /* memory ran out */
};

void lint_init(struct lint *lint, const struct pmu_machine *machine);
void lint_fini(struct lint *lint);

/** To be called by any thread. @arg is the struct lint. */
void lint_violated(void *arg, const struct pmu_violation *violation);
void lint_accessed(void *arg, const struct pmu_access_op *access, bool write, int error);

/** Prints what was found. @return exit code of printing */
int lint_report(const struct cli *cli, const struct lint *lint, char **tool, int tool_exit);

#endif
