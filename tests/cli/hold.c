/*
 * A program that is stopped in the middle of an access to a machine, for as long as it is: hold
 * MACHINE-NAME. "hold MACHINE-NAME after" is stopped when its access is over.
 */
#include <signal.h>
#include <stdio.h>

#include "emul/block.h"
#include "emul/share.h"

int main(int argc, char **argv)
{
	struct emul_share share;
	struct emul *emul;
	struct pmu_ctx *ctx;

	if (argc < 2 || pmu_ctx_new(&ctx))
		return 2;
	if (emul_join(&share, ctx, argv[1]) || emul_attach(&emul, ctx, share.block)) {
		fprintf(stderr, "hold: %s\n", pmu_message(ctx));
		return 1;
	}
	machine_lock(emul_machine(emul));
	if (argc == 2)
		raise(SIGSTOP);
	machine_unlock(emul_machine(emul));
	if (argc > 2)
		raise(SIGSTOP);
	emul_free(emul);
	emul_part(&share);
	pmu_ctx_free(ctx);
	return 0;
}
