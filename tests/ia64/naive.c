#include "naive.h"

#include "feed/ia64/decode.h"

#include <string.h>

/* -- Memory ------------------------------------------------------------------------------------ */

static unsigned char *at(struct naive *n, uint64_t address, unsigned size)
{
	for (unsigned i = 0; i < 3; i++)
		if (address - n->memory[i].start <= n->memory[i].size - size)
			return n->memory[i].bytes + (address - n->memory[i].start);
	return NULL;
}

static uint64_t load(struct naive *n, uint64_t address, unsigned size)
{
	unsigned char *p = at(n, address, size);
	uint64_t v = 0;

	if (!p) {
		n->stopped = "load of nothing";
		return 0;
	}
	for (unsigned i = 0; i < size; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

static void store(struct naive *n, uint64_t address, uint64_t v, unsigned size)
{
	unsigned char *p = at(n, address, size);

	if (!p) {
		n->stopped = "store to nothing";
		return;
	}
	for (unsigned i = 0; i < size; i++)
		p[i] = (unsigned char)(v >> (8 * i));
}

/* -- Registers --------------------------------------------------------------------------------- */

/* The stacked register that r is: rotated within the first sor * 8. */
static unsigned stacked_number(const struct naive *n, unsigned r)
{
	unsigned v = r - 32;

	if (v < n->sor * 8)
		v = (v + n->rrb_gr) % (n->sor * 8);
	return (n->bof + v) % 96;
}

static unsigned physical(const struct naive *n, unsigned r)
{
	return r < 32 ? r : 32 + stacked_number(n, r);
}

static struct naive_value *general(struct naive *n, unsigned r)
{
	return r < 32 ? &n->fixed[r] : &n->stacked[stacked_number(n, r)];
}

struct naive_value naive_gr(struct naive *n, unsigned r)
{
	return *general(n, r);
}

static void set(struct naive *n, unsigned r, uint64_t v, bool nat)
{
	*general(n, r) = (struct naive_value){v, nat};
}

static unsigned predicate_number(const struct naive *n, unsigned p)
{
	return p < 16 ? p : 16 + (p - 16 + n->rrb_pr) % 48;
}

static bool predicate(const struct naive *n, unsigned p)
{
	return p == 0 || n->pr[predicate_number(n, p)];
}

static void set_predicate(struct naive *n, unsigned p, bool value)
{
	if (p)
		n->pr[predicate_number(n, p)] = value;
}

/* mov from and to pr name the physical ones. */
uint64_t naive_pr(const struct naive *n)
{
	uint64_t v = 1;

	for (unsigned i = 1; i < 64; i++)
		v |= (uint64_t)n->pr[i] << i;
	return v;
}

/* -- The register stack ------------------------------------------------------------------------ */

static bool is_collection(uint64_t address)
{
	return (address / 8) % 64 == 63;
}

static void spill(struct naive *n)
{
	struct naive_value *r = &n->stacked[(n->bof + 96 - n->dirty) % 96];
	unsigned bit;

	if (is_collection(n->bspstore)) {
		store(n, n->bspstore, n->rnat, 8);
		n->rnat = 0;
		n->bspstore += 8;
	}
	bit = n->bspstore / 8 % 64;
	store(n, n->bspstore, r->v, 8);
	n->rnat &= ~(1ull << bit);
	n->rnat |= (uint64_t)r->nat << bit;
	n->bspstore += 8;
	n->dirty--;
}

static void fill(struct naive *n)
{
	struct naive_value *r = &n->stacked[(n->bof + 96 - n->dirty - 1) % 96];

	n->bspstore -= 8;
	if (is_collection(n->bspstore)) {
		n->rnat = load(n, n->bspstore, 8);
		n->bspstore -= 8;
	}
	r->v = load(n, n->bspstore, 8);
	r->nat = n->rnat >> (n->bspstore / 8 % 64) & 1;
	n->dirty++;
}

static void bsp_up(struct naive *n, unsigned registers)
{
	while (registers--) {
		n->bsp += 8;
		if (is_collection(n->bsp))
			n->bsp += 8;
	}
}

static void bsp_down(struct naive *n, unsigned registers)
{
	while (registers--) {
		n->bsp -= 8;
		if (is_collection(n->bsp))
			n->bsp -= 8;
	}
}

static uint64_t cfm(const struct naive *n)
{
	return n->sof | n->sol << 7 | n->sor << 14 | n->rrb_gr << 18 | (uint64_t)n->rrb_fr << 25 |
	       (uint64_t)n->rrb_pr << 32;
}

static void call(struct naive *n)
{
	n->pfs = cfm(n) | n->ec << 52 | 3ull << 62;
	n->bof = (n->bof + n->sol) % 96;
	n->dirty += n->sol;
	bsp_up(n, n->sol);
	n->sof -= n->sol;
	n->sol = n->sor = n->rrb_gr = n->rrb_fr = n->rrb_pr = 0;
}

static void ret(struct naive *n)
{
	unsigned sol = n->pfs >> 7 & 127;

	while (n->dirty < sol)
		fill(n);
	n->bof = (n->bof + 96 - sol) % 96;
	n->dirty -= sol;
	bsp_down(n, sol);
	n->sof = n->pfs & 127;
	n->sol = sol;
	n->sor = n->pfs >> 14 & 15;
	n->rrb_gr = n->pfs >> 18 & 127;
	n->rrb_fr = n->pfs >> 25 & 127;
	n->rrb_pr = n->pfs >> 32 & 63;
	n->ec = n->pfs >> 52 & 63;
}

static void alloc(struct naive *n, const struct ia64_insn *i)
{
	unsigned sof = i->imm & 127;

	while (n->dirty + sof > 96)
		spill(n);
	n->sof = sof;
	n->sol = i->imm >> 7 & 127;
	n->sor = i->imm >> 14 & 15;
	set(n, i->r1, n->pfs, false);
}

static void rotate(struct naive *n)
{
	if (n->sor)
		n->rrb_gr = (n->rrb_gr + n->sor * 8 - 1) % (n->sor * 8);
	n->rrb_fr = (n->rrb_fr + 95) % 96;
	n->rrb_pr = (n->rrb_pr + 47) % 48;
}

/* -- ALAT -------------------------------------------------------------------------------------- */

static struct naive_advanced *advanced(struct naive *n, unsigned target)
{
	for (size_t i = 0; i < n->advanced; i++)
		if (n->alat[i].physical == target)
			return &n->alat[i];
	return NULL;
}

static void forget(struct naive *n, struct naive_advanced *e)
{
	*e = n->alat[--n->advanced];
}

static void advance(struct naive *n, unsigned target, uint64_t address, unsigned size)
{
	struct naive_advanced *e = advanced(n, target);

	if (e)
		forget(n, e);
	if (n->advanced == sizeof(n->alat) / sizeof(n->alat[0])) {
		n->stopped = "too many advanced loads";
		return;
	}
	n->alat[n->advanced++] = (struct naive_advanced){target, address, size};
}

static void stored(struct naive *n, uint64_t address, unsigned size)
{
	for (size_t i = 0; i < n->advanced;) {
		struct naive_advanced *e = &n->alat[i];

		if (e->address < address + size && address < e->address + e->size)
			forget(n, e);
		else
			i++;
	}
}

/* -- Instructions ------------------------------------------------------------------------------ */

enum { PLAIN, S, A, SA, BIAS, ACQ, C_CLR, C_NC, C_CLR_ACQ }; /* by the encoding's completers */

static void load_instruction(struct naive *n, const struct ia64_insn *i)
{
	unsigned size = 1u << i->c[0], kind = i->c[1], target = physical(n, i->r1);
	struct naive_value base = naive_gr(n, i->r3);
	struct naive_advanced *e = advanced(n, target);
	bool speculative = kind == S || kind == SA;

	if (speculative && (base.nat || !at(n, base.v, size))) {
		if (kind == SA && e)
			forget(n, e);
		set(n, i->r1, 0, true);
	} else if (base.nat) {
		n->stopped = "load of a NaT address";
	} else if (kind >= C_CLR && e && e->address == base.v && e->size == size) {
		if (kind != C_NC)
			forget(n, e);
	} else {
		set(n, i->r1, load(n, base.v, size), false);
		if (kind == A || kind == SA || kind == C_NC)
			advance(n, target, base.v, size);
		else if (kind >= C_CLR && e)
			forget(n, e);
	}
	if (i->format == IA64_FORMAT_M3)
		general(n, i->r3)->v += (uint64_t)i->imm;
}

static void store_instruction(struct naive *n, const struct ia64_insn *i)
{
	struct naive_value base = naive_gr(n, i->r3), v = naive_gr(n, i->r2);
	unsigned size = i->op == IA64_ST ? 1u << i->c[0] : 8, bit = base.v / 8 % 64;

	if (base.nat || (v.nat && i->op == IA64_ST)) {
		n->stopped = "store of a NaT";
		return;
	}
	store(n, base.v, v.v, size);
	stored(n, base.v, size);
	if (i->op == IA64_ST_SPILL)
		n->unat = (n->unat & ~(1ull << bit)) | (uint64_t)v.nat << bit;
	if (i->format == IA64_FORMAT_M5)
		general(n, i->r3)->v += (uint64_t)i->imm;
}

static void fill_instruction(struct naive *n, const struct ia64_insn *i)
{
	uint64_t address = naive_gr(n, i->r3).v;

	set(n, i->r1, load(n, address, 8), n->unat >> (address / 8 % 64) & 1);
}

/* Truth of the loop branches; they change what they count. */
static bool counted(struct naive *n)
{
	bool goes_on = n->lc != 0 || n->ec > 1;

	if (n->lc) {
		n->lc--;
		set_predicate(n, 63, true);
	} else {
		set_predicate(n, 63, false);
		if (n->ec == 0)
			return false;
		n->ec--;
	}
	rotate(n);
	return goes_on;
}

static void compare(struct naive *n, const struct ia64_insn *i, bool truth, bool nat)
{
	set_predicate(n, i->p1, truth && !nat);
	set_predicate(n, i->p2, !truth && !nat);
}

/* Takes a branch to the bundle at target. */
static void jump(uint64_t *next, uint64_t target)
{
	*next = target & ~15ull;
}

static void control(struct naive *n, const struct ia64_insn *i, uint64_t *next)
{
	uint64_t target = i->ip + (uint64_t)i->imm;
	struct naive_advanced *e;

	switch (i->op) {
	case IA64_BR_COND:
		jump(next, target);
		break;
	case IA64_BR_CALL:
		call(n);
		n->br[i->r1] = i->ip + 16;
		jump(next, target);
		break;
	case IA64_BR_RET:
		jump(next, n->br[i->r2]);
		ret(n);
		break;
	case IA64_BR_CLOOP:
		if (n->lc) {
			n->lc--;
			jump(next, target);
		}
		break;
	case IA64_BR_CTOP:
		if (counted(n))
			jump(next, target);
		break;
	case IA64_CHK_S:
		if (naive_gr(n, i->r2).nat)
			jump(next, target);
		break;
	case IA64_CHK_A:
		e = advanced(n, physical(n, i->r1));
		if (!e)
			jump(next, target);
		else if (i->c[0])
			forget(n, e);
		break;
	default:
		n->stopped = ia64_encodings[i->encoding].name;
		break;
	}
}

static void move(struct naive *n, const struct ia64_insn *i)
{
	struct naive_value v = naive_gr(n, i->r2);

	switch (i->op) {
	case IA64_MOV_FROM_AR:
		v.v = i->r3 == 17   ? n->bsp
		      : i->r3 == 18 ? n->bspstore
		      : i->r3 == 36 ? n->unat
		      : i->r3 == 64 ? n->pfs
		      : i->r3 == 65 ? n->lc
		      : i->r3 == 66 ? n->ec
				    : 0;
		set(n, i->r1, v.v, false);
		break;
	case IA64_MOV_TO_AR:
	case IA64_MOV_TO_ARI:
		if (i->op == IA64_MOV_TO_ARI)
			v = (struct naive_value){(uint64_t)i->imm, false};
		if (v.nat)
			n->stopped = "NaT to an application register";
		if (i->r3 == 36)
			n->unat = v.v;
		else if (i->r3 == 64)
			n->pfs = v.v;
		else if (i->r3 == 65)
			n->lc = v.v;
		else if (i->r3 == 66)
			n->ec = v.v & 63;
		else
			n->stopped = "an application register";
		break;
	case IA64_MOV_FROM_PR:
		set(n, i->r1, naive_pr(n), false);
		break;
	case IA64_MOV_TO_ROT:
		for (unsigned p = 16; p < 64; p++)
			n->pr[p] = (uint64_t)i->imm >> p & 1;
		break;
	case IA64_MOV_TO_BR:
		n->br[i->r1] = v.v;
		break;
	default:
		set(n, i->r1, n->br[i->r2], false);
		break;
	}
}

static void execute(struct naive *n, const struct ia64_insn *i, uint64_t *next)
{
	struct naive_value a = naive_gr(n, i->r2), b = naive_gr(n, i->r3);

	switch (i->op) {
	case IA64_NOP:
		break;
	case IA64_ADD:
		set(n, i->r1, a.v + b.v, a.nat || b.nat);
		break;
	case IA64_XOR:
		set(n, i->r1, a.v ^ b.v, a.nat || b.nat);
		break;
	case IA64_ADDI:
		set(n, i->r1, (uint64_t)i->imm + b.v, b.nat);
		break;
	case IA64_MOVL:
		set(n, i->r1, (uint64_t)i->imm, false);
		break;
	case IA64_CMP_LT:
		if (i->format == IA64_FORMAT_A8)
			a = (struct naive_value){(uint64_t)i->imm, false};
		compare(n, i, (int64_t)a.v < (int64_t)b.v, a.nat || b.nat);
		break;
	case IA64_CMP_EQ:
		if (i->format == IA64_FORMAT_A8)
			a = (struct naive_value){(uint64_t)i->imm, false};
		compare(n, i, a.v == b.v, a.nat || b.nat);
		break;
	case IA64_TNAT:
		compare(n, i, !b.nat, false);
		break;
	case IA64_LD:
		load_instruction(n, i);
		break;
	case IA64_LD_FILL:
		fill_instruction(n, i);
		break;
	case IA64_ST:
	case IA64_ST_SPILL:
		store_instruction(n, i);
		break;
	case IA64_ALLOC:
		alloc(n, i);
		break;
	case IA64_FLUSHRS:
		while (n->dirty)
			spill(n);
		if (is_collection(n->bspstore)) {
			store(n, n->bspstore, n->rnat, 8);
			n->rnat = 0;
			n->bspstore += 8;
		}
		break;
	case IA64_CLRRRB:
		n->rrb_gr = n->rrb_fr = n->rrb_pr = 0;
		break;
	case IA64_CLRRRB_PR:
		n->rrb_pr = 0;
		break;
	case IA64_INVALA:
		n->advanced = 0;
		break;
	case IA64_INVALA_E:
		if (advanced(n, physical(n, i->r1)))
			forget(n, advanced(n, physical(n, i->r1)));
		break;
	case IA64_MOV_FROM_AR:
	case IA64_MOV_TO_AR:
	case IA64_MOV_TO_ARI:
	case IA64_MOV_FROM_PR:
	case IA64_MOV_TO_ROT:
	case IA64_MOV_TO_BR:
	case IA64_MOV_FROM_BR:
		move(n, i);
		break;
	default:
		control(n, i, next);
		break;
	}
}

bool naive_run(struct naive *n, unsigned long steps)
{
	while (steps-- && !n->stopped) {
		uint64_t address = n->ip & ~15ull, next;
		unsigned slot = n->ip & 3;
		struct ia64_bundle bundle;
		struct ia64_insn i;

		bundle.low = load(n, address, 8);
		bundle.high = load(n, address + 8, 8);
		next = slot + 1 < ia64_slots(&bundle) ? n->ip + 1 : address + 16;
		if (!ia64_decode(&i, &bundle, address, slot))
			n->stopped = "no instruction";
		else if (i.op == IA64_BREAK && predicate(n, i.qp))
			return true;
		else if (predicate(n, i.qp))
			execute(n, &i, &next);
		n->ip = next;
	}
	if (!n->stopped)
		n->stopped = "it does not end";
	return false;
}
