#include "random_code.h"

#include "feed/ia64/decode.h"
#include "feed/ia64/group.h"
#include "feed/ia64/observer.h"
#include "feed/ia64/rse.h"

#include <stdlib.h>
#include <string.h>

#define STOPS 300 /* in one run */

static void step(void *state, const struct ia64_cpu *c, void *record, bool on, uint64_t address)
{
	uint64_t *steps = state;

	(void)record;
	(void)on;
	(void)address;
	if (++*steps >= RANDOM_CODE_STEPS)
		((struct ia64_cpu *)c)->attention = FIXTURE_ENOUGH;
}

static uint64_t steps;
static const struct ia64_observer observer = {.state = &steps, .insn = step};

struct fixture *random_code_fixture(void)
{
	return fixture_up(&observer);
}

/* -- Code -------------------------------------------------------------------------------------- */

struct words {
	uint64_t low, high;
};

static void place(struct words *b, unsigned slot, uint64_t w)
{
	switch (slot) {
	case 0:
		b->low |= w << 5;
		break;
	case 1:
		b->low |= w << 46;
		b->high |= w >> 18;
		break;
	default:
		b->high |= w << 23;
		break;
	}
}

/* An instruction of the unit with any operands, most of them of few registers. */
static uint64_t any_instruction(unsigned unit, uint64_t *state)
{
	const uint16_t *list;
	uint64_t w, mask = 0x1FFFFFFFFFF;
	size_t n = 0;

	do
		list = ia64_by_major[unit][fixture_random(state) % 16];
	while (!*list);
	while (list[n])
		n++;
	n = list[fixture_random(state) % n];
	w = fixture_random(state) & mask;
	if (fixture_random(state) % 4) /* predicates 0 to 7, registers 0 to 63 */
		w &= ~((uint64_t)0x38 | 1ull << 12 | 1ull << 19 | 1ull << 26);
	if (fixture_random(state) % 4 == 0)
		w &= ~(uint64_t)0x3F;
	return (w & ~ia64_encodings[n].mask) | ia64_encodings[n].value;
}

void random_code_make(unsigned char *code, uint64_t seed)
{
	static const struct {
		uint8_t template, units[3];
	} templates[] = {
	    {0x00, {IA64_UNIT_M, IA64_UNIT_I, IA64_UNIT_I}},
	    {0x04, {IA64_UNIT_M, IA64_UNIT_X, IA64_UNIT_X}},
	    {0x08, {IA64_UNIT_M, IA64_UNIT_M, IA64_UNIT_I}},
	    {0x0C, {IA64_UNIT_M, IA64_UNIT_F, IA64_UNIT_I}},
	    {0x0E, {IA64_UNIT_M, IA64_UNIT_M, IA64_UNIT_F}},
	    {0x10, {IA64_UNIT_M, IA64_UNIT_I, IA64_UNIT_B}},
	    {0x16, {IA64_UNIT_B, IA64_UNIT_B, IA64_UNIT_B}},
	    {0x1C, {IA64_UNIT_M, IA64_UNIT_F, IA64_UNIT_B}},
	};
	uint64_t state = seed;

	for (size_t at = 0; at < RANDOM_CODE_BYTES; at += 16) {
		size_t t = fixture_random(&state) % (sizeof(templates) / sizeof(templates[0]));
		struct words b = {templates[t].template | (fixture_random(&state) & 1), 0};

		for (unsigned slot = 0; slot < 3; slot++)
			place(&b, slot, any_instruction(templates[t].units[slot], &state));
		if (fixture_random(&state) % 16 == 0)
			b = (struct words){fixture_random(&state), fixture_random(&state)};
		memcpy(code + at, &b, 16);
	}
}

static bool reads_clock(const struct ia64_insn *n)
{
	return n->op == IA64_MOV_FROM_AR && (n->r3 == IA64_AR_ITC || n->r3 == IA64_AR_RUC);
}

/* Whether two runs may differ on a bundle: clocks, and registers written twice in a group, of which
 * a piece of code that starts in the middle of the group knows nothing. */
static bool is_undefined(const struct ia64_bundle *b)
{
	struct ia64_group group = {0};
	bool undefined = false;

	for (unsigned slot = 0; slot < ia64_slots(b); slot++) {
		struct ia64_insn n;

		ia64_decode(&n, b, 0, slot);
		undefined = undefined || reads_clock(&n) || !ia64_group_add(&group, &n);
	}
	return undefined;
}

/* Every bundle ends its group. */
static void make_defined(unsigned char *code, size_t size)
{
	for (size_t at = 0; at + 16 <= size; at += 16) {
		struct ia64_bundle b;

		code[at] |= 1;
		memcpy(&b, code + at, 16);
		if (is_undefined(&b))
			memset(code + at, 0, 16);
	}
}

/* -- State ------------------------------------------------------------------------------------- */

static void prepare(struct fixture *b, uint64_t seed, bool nats)
{
	struct ia64_cpu *c = b->c;
	uint64_t state = seed ^ 0x5555;

	memset(b->data, 0, FIXTURE_SIZE);
	memset(b->store, 0, FIXTURE_SIZE);
	memset(c->nat, 0, sizeof(c->nat));
	memset(c->saved_nat, 0, sizeof(c->saved_nat));
	memset(c->saved, 0, sizeof(c->saved));
	memset(c->alat, 0, sizeof(c->alat));
	c->alat_filter = c->alat_next = 0;
	c->nats = nats;
	for (unsigned r = 1; r < 128; r++)
		c->gr[r] = fixture_random(&state) % 4
			       ? FIXTURE_DATA + 0x8000 + fixture_random(&state) % 0x8000 / 8 * 8
			       : fixture_operand(&state);
	for (unsigned p = 1; p < 64; p++)
		c->pr[p] = fixture_random(&state) & 1;
	for (unsigned i = 0; i < 8; i++)
		c->br[i] = FIXTURE_CODE + fixture_random(&state) % RANDOM_CODE_BYTES / 16 * 16;
	for (unsigned f = 2; f < 128; f++)
		c->fr[f] =
		    (struct ia64_fr){fixture_operand(&state), fixture_random(&state) & 0x3FFFF};
	c->bsp = c->bspstore = FIXTURE_STORE + FIXTURE_SIZE / 2;
	c->bof = c->dirty = 0;
	c->sof = fixture_random(&state) % 97;
	c->sol = c->sof ? fixture_random(&state) % c->sof : 0;
	c->sor = c->rrb_gr = c->rrb_fr = c->rrb_pr = 0;
	c->pfs = c->sof | (uint64_t)c->sol << 7;
	c->rnat = c->unat = c->ccv = c->csd = c->ssd = 0;
	c->fcr = c->eflag = c->fsr = c->fir = c->fdr = 0;
	c->lc = fixture_random(&state) % 8;
	c->ec = fixture_random(&state) % 4;
	c->rsc = fixture_random(&state) & 1 ? 0xF : 0xC;
	c->um = 0;
	c->fpsr = IA64_FPSR_RESET;
	c->stop = IA64_STOP_NONE;
	c->defer = false;
	steps = 0;
}

static const char *look(const struct ia64_cpu *c)
{
	if (c->gr[0] || c->nat[0])
		return "r0 is not 0";
	if (c->pr[0] != 1)
		return "p0 is not 1";
	for (unsigned p = 0; p < 64; p++)
		if (c->pr[p] > 1)
			return "a predicate is no truth value";
	if (c->fr[0].sig || c->fr[0].se || c->fr[1].sig != IA64_FR_INTEGER_BIT ||
	    c->fr[1].se != IA64_FR_BIAS)
		return "f0 or f1 changed";
	if (c->sof > 96 || c->sol > c->sof || c->sor * 8 > c->sof)
		return "the frame is impossible";
	if (c->dirty + c->sof > IA64_STACKED)
		return "more stacked registers than there are";
	if (ia64_rse_count(c->bspstore, c->bsp) != (int)c->dirty)
		return "bsp, bspstore and the dirty registers disagree";
	if (!c->nats && ia64_any_nat(c))
		return "a NaT bit where none is looked at";
	if (c->stop != IA64_STOP_BREAK && c->stop != IA64_STOP_FAULT && c->stop != IA64_STOP_TRAP &&
	    c->stop != IA64_STOP_ATTENTION)
		return "it stopped for no reason";
	return NULL;
}

/* What two runs must agree on. Values of NaTs and of registers outside the frame are nothing. */
static const char *compare(const struct ia64_cpu *a, const struct ia64_cpu *b)
{
	if (a->stop != b->stop || (a->stop == IA64_STOP_FAULT && a->fault != b->fault))
		return "they stop for other reasons";
	if (a->ip != b->ip)
		return "they stop elsewhere";
	if (ia64_cfm(a) != ia64_cfm(b) || a->bsp != b->bsp || a->bspstore != b->bspstore ||
	    a->rnat != b->rnat)
		return "register stacks differ";
	for (unsigned r = 1; r < 32u + a->sof; r++)
		if (a->nat[r] != b->nat[r] || (!a->nat[r] && a->gr[r] != b->gr[r]))
			return "general registers differ";
	if (memcmp(a->pr, b->pr, 64) != 0)
		return "predicates differ";
	if (memcmp(a->br, b->br, sizeof(a->br)) != 0)
		return "branch registers differ";
	if (memcmp(a->fr, b->fr, sizeof(a->fr)) != 0)
		return "floating-point registers differ";
	if (a->unat != b->unat || a->pfs != b->pfs || a->lc != b->lc || a->ec != b->ec ||
	    a->ccv != b->ccv || a->csd != b->csd || a->fpsr != b->fpsr || a->um != b->um)
		return "application registers differ";
	return NULL;
}

/* Runs on after each fault, at the next slot, as a handler might: *path is where all that was. */
static void run(struct fixture *b, uint64_t *path)
{
	struct ia64_cpu *c = b->c;
	uint64_t ip = FIXTURE_CODE;

	*path = 0;
	for (unsigned stops = 0; stops < STOPS; stops++) {
		fixture_run(b, ip);
		*path = (*path ^ c->ip ^ (uint64_t)c->stop << 32) * 0x9E3779B97F4A7C15;
		if (c->stop == IA64_STOP_FAULT)
			*path += c->fault;
		if (c->stop == IA64_STOP_ATTENTION || look(c))
			break;
		ip = c->ip;
		if (c->stop != IA64_STOP_TRAP)
			ip = (ip & 3) == 2 ? (ip & ~15ull) + 16 : ip + 1;
		if (ip - FIXTURE_CODE >= RANDOM_CODE_BYTES)
			ip = FIXTURE_CODE + (ip >> 4) % (RANDOM_CODE_BYTES / 16) * 16;
	}
}

const char *random_code_run(struct fixture *b, const unsigned char *code, size_t size,
			    uint64_t seed)
{
	static struct ia64_cpu first;
	unsigned char copy[RANDOM_CODE_BYTES];
	const char *wrong;
	uint64_t path[2];

	size = size < sizeof(copy) ? size : sizeof(copy);
	memset(copy, 0, sizeof(copy)); /* break.m 0 */
	memcpy(copy, code, size);
	make_defined(copy, sizeof(copy));
	fixture_load(b, copy, sizeof(copy));
	prepare(b, seed, false);
	run(b, &path[0]);
	wrong = look(b->c);
	if (wrong)
		return wrong;
	first = *b->c;
	fixture_load(b, copy, sizeof(copy));
	prepare(b, seed, true);
	run(b, &path[1]);
	wrong = look(b->c);
	if (!wrong && path[0] != path[1])
		wrong = "they took different ways";
	return wrong ? wrong : compare(&first, b->c);
}
