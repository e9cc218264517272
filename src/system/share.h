/*
 * Machines by name, for processes of this computer. A socket without a file ("@pmulab/NAME") gives
 * the descriptor of the machine's block, and one more, to whoever asks. The name ends with its
 * owner; those who joined see that by the end of the connection.
 */
#ifndef SYSTEM_SHARE_H
#define SYSTEM_SHARE_H

#include <stddef.h>

#include "pmulab/pmulab.h"

struct system_offer;

/* What who joins has: all three to be closed. */
struct system_share {
	int block;	/* the machine's, for system_attach() */
	int extra;	/* what the owner handed on with it */
	int connection; /* hangs up when the owner ends */
};

/**
 * Offers a machine to processes of the same user and of root until it is withdrawn. The descriptors
 * stay the caller's.
 * @return 0, PMU_E_CONFLICT where the name is taken, PMU_E_RANGE for a name too long or empty,
 *         PMU_E_IO, PMU_E_NOMEM
 */
int system_offer(struct system_offer **offer, struct pmu_ctx *ctx, const char *name, int block,
		 int extra);
/** NULL is allowed. */
void system_withdraw(struct system_offer *offer);

/** Only in the PID namespace of the owner. @return 0, PMU_E_UNKNOWN with the names that there are,
 * PMU_E_RIGHTS, PMU_E_RANGE, PMU_E_IO */
int system_join(struct system_share *share, struct pmu_ctx *ctx, const char *name);
void system_part(struct system_share *share);

/** The names of all machines of this computer, separated by commas; "none" where there is none. */
void system_names(char *text, size_t size);

#endif
