/*
 * Random programs of calls, rotation, speculation and advanced loads: the executor against the
 * naive interpreter. Arguments: how many, and a seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/ia64/rse.h"
#include "fixture.h"
#include "naive.h"
#include "support/cmocka.h"

static uint64_t programs = 100, first = 1;

/* -- Programs ---------------------------------------------------------------------------------- */

struct writer {
	FILE *f;
	uint64_t state;
	unsigned sof, rotating; /* of the frame */
	unsigned label, advanced;
};

static unsigned pick(struct writer *w, unsigned n)
{
	return (unsigned)(fixture_random(&w->state) % n);
}

/* Any register but those with a use: r2 is data, r3 an address in it; of the frame, the first two
 * are what return needs. */
static unsigned any(struct writer *w)
{
	if (w->sof > 2 && pick(w, 3))
		return 34 + pick(w, w->sof - 2);
	return 14 + pick(w, 12);
}

/* r3 = one of 16 places, some of which overlap. */
static void address(struct writer *w)
{
	fprintf(w->f, "adds r3=%u,r2;;\n", pick(w, 16) * (pick(w, 4) ? 8 : 4));
}

static void advanced_load(struct writer *w)
{
	unsigned r = any(w), size = 1u << pick(w, 4);

	if (++w->advanced % 24 == 0) /* the executor's table has 32 entries */
		fprintf(w->f, "invala;;\n");
	address(w);
	switch (pick(w, 5)) {
	case 0:
		fprintf(w->f, "ld%u.a r%u=[r3];;\n", size, r);
		break;
	case 1:
		fprintf(w->f, "ld%u.sa r%u=[%s];;\n", size, r, pick(w, 4) ? "r3" : "r0");
		break;
	case 2: /* a store close to it, then a check */
		fprintf(w->f, "mov r15=3;; ld8.a r%u=[r3];; adds r3=%d,r3;;\n", r,
			((int)pick(w, 5) - 2) * 4);
		fprintf(w->f,
			"(p%u) st%u [r3]=r15;; chk.a.nc r%u,8f;; add r26=r26,r27;; 8: adds "
			"r27=1,r27;;\n",
			pick(w, 2) ? 0 : pick(w, 16), size, r);
		break;
	case 3:
		fprintf(w->f, "ld%u.c.%s r%u=[r3];;\n", size, pick(w, 2) ? "nc" : "clr", r);
		break;
	default:
		fprintf(w->f, "chk.a.%s r%u,8f;; add r26=r26,r27;; 8: adds r27=1,r27;;\n",
			pick(w, 2) ? "nc" : "clr", r);
		break;
	}
}

static void simple(struct writer *w)
{
	unsigned a = any(w), b = any(w), t = any(w), p = 8 + pick(w, 8) * (pick(w, 2) ? 1 : 6);

	switch (pick(w, 12)) {
	case 0:
		fprintf(w->f, "add r%u=r%u,r%u;;\n", t, a, b);
		break;
	case 1:
		fprintf(w->f, "(p%u) xor r%u=r%u,r%u;;\n", p, t, a, b);
		break;
	case 2:
		fprintf(w->f, "adds r%u=%d,r%u;;\n", t, (int)pick(w, 2000) - 1000, a);
		break;
	case 3:
		fprintf(w->f, "cmp.lt p%u,p%u=r%u,r%u;;\n", p, p + 1, a, b);
		break;
	case 4:
		fprintf(w->f, "ld8.s r%u=[r0];;\n", t);
		break;
	case 5:
		address(w);
		fprintf(w->f, "ld8.s r%u=[r3];;\n", t);
		break;
	case 6:
		address(w);
		fprintf(w->f, "tnat.z p6,p7=r%u;; (p6) st8 [r3]=r%u;;\n", a, a);
		break;
	case 7:
		fprintf(w->f, "adds r3=%u,r2;; st8.spill [r3]=r%u;; ld8.fill r%u=[r3];;\n",
			pick(w, 16) * 8, a, t);
		break;
	case 8:
		fprintf(w->f, "chk.s r%u,8f;; adds r%u=1,r%u;; 8:\n", a, t, t);
		break;
	case 9:
		fprintf(w->f, "tnat.nz p%u,p%u=r%u;; (p%u) mov r%u=%u;;\n", p, p + 1, a, p, t,
			pick(w, 100));
		break;
	case 10:
		fprintf(w->f, "mov r%u=%s;;\n", t, pick(w, 2) ? "pr" : "ar.unat");
		break;
	default:
		advanced_load(w);
		break;
	}
}

static void loop(struct writer *w)
{
	unsigned label = w->label++;

	fprintf(w->f, "mov ar.lc=%u; mov ar.ec=%u;;\nloop%u:\n", pick(w, 5), pick(w, 4), label);
	for (unsigned i = pick(w, 4); i > 0; i--)
		simple(w);
	fprintf(w->f, "br.%s.sptk loop%u;;\n", pick(w, 4) ? "ctop" : "cloop", label);
	if (pick(w, 2))
		fprintf(w->f, "clrrrb;;\n");
}

static void body(struct writer *w, unsigned number, unsigned functions)
{
	for (unsigned i = 2 + pick(w, 8); i > 0; i--) {
		if (pick(w, 6) == 0)
			loop(w);
		else if (pick(w, 10) == 0)
			fprintf(w->f, "flushrs;; mov r%u=ar.bspstore;; mov r%u=ar.bsp;;\n", any(w),
				any(w));
		else
			simple(w);
		if (number + 1 < functions && pick(w, 6) == 0)
			fprintf(w->f, "br.call.sptk b0=fn%u;; invala;;\n",
				number + 1 + pick(w, functions - number - 1));
	}
}

/* A function that calls deeper ones, and itself as long as r13 counts down. */
static void function(struct writer *w, unsigned number, unsigned functions)
{
	unsigned outputs = pick(w, 9), locals = 2 + pick(w, 88 - outputs), rotating;

	w->sof = locals + outputs;
	rotating = pick(w, 2) ? pick(w, w->sof / 8 + 1) * 8 : 0;
	fprintf(w->f, "fn%u: alloc r14=ar.pfs,0,%u,%u,%u;; mov r15=b0; invala;;\n", number, locals,
		outputs, rotating);
	w->advanced = 0;
	/* Rotation would move what return needs: kept in memory, with a stack in r12. */
	fprintf(w->f, "adds r12=-16,r12;; st8 [r12]=r14,8;; st8 [r12]=r15,-8;;\n");
	for (unsigned i = 0; i < w->sof; i++)
		fprintf(w->f, "mov r%u=%u%s\n", 32 + i, pick(w, 1000), i % 3 == 2 ? ";;" : "");
	fprintf(w->f, ";;\n");
	body(w, number, functions);
	fprintf(w->f,
		"adds r13=-1,r13;; cmp.lt p6,p7=0,r13;; (p7) br 9f;; br.call.sptk b0=fn%u;; "
		"invala;; 9:\n",
		number);
	body(w, number, functions);
	fprintf(w->f, "ld8 r14=[r12],8;; ld8 r15=[r12],8;; mov ar.pfs=r14; mov b0=r15;; "
		      "br.ret.sptk b0;;\n");
}

static char *write_program(uint64_t seed)
{
	char *text = NULL;
	size_t size;
	struct writer w = {.f = open_memstream(&text, &size), .state = seed};
	unsigned functions = 2 + pick(&w, 3);

	assert_non_null(w.f);
	fprintf(w.f, "alloc r14=ar.pfs,0,2,0,0;; br.call.sptk b0=fn0;; break 0;;\n");
	for (unsigned i = 0; i < functions; i++)
		function(&w, i, functions);
	fclose(w.f);
	return text;
}

/* -- Both -------------------------------------------------------------------------------------- */

static void prepare(struct fixture *b, struct naive *n, uint64_t seed)
{
	struct ia64_cpu *c = b->c;
	/* so that collections come at any place */
	uint64_t bottom = FIXTURE_STORE + 8 * (seed % 63);

	memset(b->data, 0, FIXTURE_SIZE);
	memset(b->store, 0, FIXTURE_SIZE);
	memset(n, 0, sizeof(*n));
	memset(c->gr, 0, sizeof(c->gr));
	memset(c->nat, 0, sizeof(c->nat));
	memset(c->saved_nat, 0, sizeof(c->saved_nat));
	memset(c->pr + 1, 0, 63);
	memset(c->br, 0, sizeof(c->br));
	memset(c->alat, 0, sizeof(c->alat));
	c->alat_filter = 0;
	c->nats = false;
	c->bsp = c->bspstore = n->bsp = n->bspstore = bottom;
	c->bof = c->dirty = 0;
	c->sof = c->sol = c->sor = c->rrb_gr = c->rrb_fr = c->rrb_pr = 0;
	c->rnat = c->unat = c->lc = c->ec = c->pfs = 0;
	c->rsc = 0xF;
	c->gr[2] = n->fixed[2].v = FIXTURE_DATA + 0x1000;
	c->gr[12] = n->fixed[12].v = FIXTURE_DATA + 0x30000;
	c->gr[13] = n->fixed[13].v = 20 + seed % 20; /* calls to itself */
	n->ip = FIXTURE_CODE;
}

static unsigned char *copy_of(const unsigned char *bytes)
{
	unsigned char *copy = malloc(FIXTURE_SIZE);

	assert_non_null(copy);
	memcpy(copy, bytes, FIXTURE_SIZE);
	return copy;
}

static const char *compare(const struct ia64_cpu *c, struct naive *n)
{
	uint64_t known =
	    (1ull << (c->bspstore / 8 % 64)) - 1; /* bits of rnat that mean something */

	for (unsigned r = 0; r < 32u + n->sof; r++) {
		struct naive_value v = naive_gr(n, r);

		if (v.nat != c->nat[r] || (!v.nat && v.v != c->gr[r]))
			return "general registers differ";
	}
	if (ia64_cfm(c) != (n->sof | n->sol << 7 | n->sor << 14 | n->rrb_gr << 18 |
			    (uint64_t)n->rrb_fr << 25 | (uint64_t)n->rrb_pr << 32))
		return "frame markers differ";
	if (ia64_predicates(c) != naive_pr(n))
		return "predicates differ";
	if (c->bsp != n->bsp || c->bspstore != n->bspstore || c->dirty != n->dirty)
		return "backing stores differ";
	if ((c->rnat & known) != (n->rnat & known))
		return "NaT collections differ";
	if (c->unat != n->unat || c->lc != n->lc || c->ec != n->ec || c->pfs != n->pfs)
		return "application registers differ";
	return NULL;
}

static const char *run(struct fixture *b, const unsigned char *code, size_t size, uint64_t seed)
{
	struct naive n;
	const char *wrong;

	prepare(b, &n, seed);
	fixture_load(b, code, size);
	n.memory[0].start = FIXTURE_CODE;
	n.memory[1].start = FIXTURE_DATA;
	n.memory[2].start = FIXTURE_STORE;
	for (int i = 0; i < 3; i++)
		n.memory[i].size = FIXTURE_SIZE;
	n.memory[0].bytes = b->code;
	n.memory[1].bytes = copy_of(b->data);
	n.memory[2].bytes = copy_of(b->store);
	if (!naive_run(&n, 3000000)) {
		print_error("%s at %llx\n", n.stopped, (unsigned long long)n.ip);
		wrong = "the naive interpreter stopped";
	} else {
		fixture_run(b, FIXTURE_CODE);
		wrong = b->c->stop != IA64_STOP_BREAK ? "the executor stopped" : compare(b->c, &n);
	}
	if (!wrong && memcmp(n.memory[1].bytes, b->data, FIXTURE_SIZE) != 0)
		wrong = "data differ";
	if (!wrong && memcmp(n.memory[2].bytes, b->store, FIXTURE_SIZE) != 0)
		wrong = "what was spilled differs";
	free(n.memory[1].bytes);
	free(n.memory[2].bytes);
	return wrong;
}

static void random_programs(void **unused)
{
	struct fixture *b = fixture_up(NULL);

	(void)unused;
	for (uint64_t seed = first; seed < first + programs; seed++) {
		char *text = write_program(seed);
		unsigned char *code;
		const char *wrong;
		size_t size;
		bool missing;

		code = fixture_assemble(text, &size, &missing);
		if (missing)
			skip();
		assert_non_null(code);
		wrong = run(b, code, size, seed);
		if (wrong)
			fail_msg("seed %llu: %s", (unsigned long long)seed, wrong);
		free(code);
		free(text);
	}
	fixture_down(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_programs),
	};

	if (argc > 1)
		programs = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		first = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
