/* What really happened on a machine that is offered by name, as JSON: truth MACHINE-NAME. */
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "system/share.h"
#include "system/system.h"

#define NUMBER(truth, name)                                                                        \
	json_object_set_new(json, #name, json_integer((json_int_t)(truth)->name))

static int print(const struct machine_truth *truth)
{
	json_t *json = json_object();
	int error;

	NUMBER(truth, instructions);
	NUMBER(truth, cycles);
	NUMBER(truth, branches);
	NUMBER(truth, l2_misses);
	NUMBER(truth, l2_writebacks);
	NUMBER(truth, llc_lookups);
	NUMBER(truth, llc_misses);
	NUMBER(truth, llc_victims);
	NUMBER(truth, home_reads);
	NUMBER(truth, home_writes);
	NUMBER(truth, cas_reads);
	NUMBER(truth, cas_writes);
	NUMBER(truth, wpq_read_hits);
	NUMBER(truth, tor_cycles);
	NUMBER(truth, tracker_cycles);
	error = json_dumpf(json, stdout, JSON_INDENT(2));
	json_decref(json);
	return error || putchar('\n') == EOF;
}

static int fail(struct pmu_ctx *ctx)
{
	fprintf(stderr, "truth: %s\n", pmu_message(ctx));
	return 1;
}

int main(int argc, char **argv)
{
	struct machine_truth truth;
	struct system_share share;
	struct system *system;
	struct pmu_ctx *ctx;

	if (argc != 2 || pmu_ctx_new(&ctx))
		return 2;
	if (system_join(&share, ctx, argv[1]) || system_attach(&system, ctx, share.block))
		return fail(ctx);
	machine_lock(system_machine(system));
	machine_truth(system_machine(system), &truth);
	machine_unlock(system_machine(system));
	system_free(system);
	system_part(&share);
	pmu_ctx_free(ctx);
	return print(&truth);
}
