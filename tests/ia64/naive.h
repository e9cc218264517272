/*
 * A naive interpreter of the instructions that make up register stack, rotation, NaT bits and ALAT:
 * an instruction at a time, every register by its physical number as volume 2 chapter 6 numbers
 * them, every access through the mapping. Written without a look at the executor, which is compared
 * with it; what an implementation may choose is chosen alike: the register stack engine stores and
 * loads only what it must.
 */
#ifndef TESTS_IA64_NAIVE_H
#define TESTS_IA64_NAIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct naive_value {
	uint64_t v;
	bool nat;
};

struct naive_advanced {
	unsigned physical; /* the target, stacked ones from 32 */
	uint64_t address;
	unsigned size;
};

struct naive {
	/* Memory: code, data, backing store, each a range. */
	struct {
		uint64_t start, size;
		unsigned char *bytes;
	} memory[3];
	uint64_t ip; /* bundle address and slot */
	struct naive_value fixed[32], stacked[96];
	bool pr[64]; /* physical */
	uint64_t br[8], lc, ec, pfs, unat, rsc;
	unsigned sof, sol, sor, rrb_gr, rrb_fr, rrb_pr;
	/* The engine: r32 is stacked[bof % 96]; `dirty` registers below it are not in memory. */
	unsigned bof, dirty;
	uint64_t bsp, bspstore, rnat;
	struct naive_advanced alat[64];
	size_t advanced;
	const char *stopped; /* why it cannot go on */
};

/** Runs until break (true) or until something is not known here (false: n->stopped). */
bool naive_run(struct naive *n, unsigned long steps);

struct naive_value naive_gr(struct naive *n, unsigned r);
/** As mov from pr shows them. */
uint64_t naive_pr(const struct naive *n);

#endif
