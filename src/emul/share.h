/*
 * Machines by name, for processes of this computer. A socket without a file ("@pmulab/NAME") gives
 * the descriptor of the machine's block, and one more, to whoever asks. The name ends with its
 * owner; those who joined see that by the end of the connection.
 */
#ifndef EMUL_SHARE_H
#define EMUL_SHARE_H

#include <stddef.h>

#include "pmulab/pmulab.h"

struct emul_offer;

/* What who joins has: all three to be closed. */
struct emul_share {
	int block;	/* the machine's, for emul_attach() */
	int extra;	/* what the owner handed on with it */
	int connection; /* hangs up when the owner ends */
};

/**
 * Offers a machine to processes of the same user and of root until it is withdrawn. The descriptors
 * stay the caller's.
 * @return 0, PMU_E_CONFLICT where the name is taken, PMU_E_RANGE for a name too long or empty,
 *         PMU_E_IO, PMU_E_NOMEM
 */
int emul_offer(struct emul_offer **offer, struct pmu_ctx *ctx, const char *name, int block,
	       int extra);
/** NULL is allowed. */
void emul_withdraw(struct emul_offer *offer);

/** Only in the PID namespace of the owner. @return 0, PMU_E_UNKNOWN with the names that there are,
 * PMU_E_RIGHTS, PMU_E_RANGE, PMU_E_IO */
int emul_join(struct emul_share *share, struct pmu_ctx *ctx, const char *name);
void emul_part(struct emul_share *share);

/** The names of all machines of this computer, separated by commas; "none" where there is none. */
void emul_names(char *text, size_t size);

#endif
