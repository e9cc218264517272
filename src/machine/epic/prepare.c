/* What an instruction says once and for all: where its registers are, what its ports are. */
#include "machine/epic/group.h"

static inline unsigned ring(unsigned first, unsigned n, unsigned rotation, unsigned size)
{
	n += rotation;
	return first + (n >= size ? n - size : n);
}

unsigned epic_physical(const struct epic_rename *r, unsigned name)
{
	unsigned n = name - 32;

	if (name < 32)
		return name;
	if (name < EPIC_FLOATING) {
		if (n < r->rotating)
			n = ring(0, n, r->general, r->rotating);
		return PHYSICAL_STACKED + ((r->bottom + n) % STACKED_RING);
	}
	if (name < EPIC_FLOATING + 32)
		return PHYSICAL_FLOATING + name - EPIC_FLOATING;
	if (name < EPIC_PREDICATE)
		return ring(PHYSICAL_FLOATING + 32, name - EPIC_FLOATING - 32, r->floating, 96);
	if (name < EPIC_PREDICATE + 16 || name >= EPIC_BRANCH_REG)
		return PHYSICAL_PREDICATE + name - EPIC_PREDICATE;
	return ring(PHYSICAL_PREDICATE + 16, name - EPIC_PREDICATE - 16, r->predicate, 48);
}

/* A name is that of a register of the frame, or its own place. */
static struct epic_place place_of(unsigned name)
{
	static const struct epic_rename none = {0};

	if (name >= 32 && name < EPIC_FLOATING)
		return (struct epic_place){PHYSICAL_STACKED, (uint8_t)(name - 32),
					   STACKED_RING - 1};
	return (struct epic_place){(uint16_t)epic_physical(&none, name), 0, 0};
}

#define M  (1u << PORT_M)
#define NO PORTS_FULL /* never free */

/* Ports that have to be free, those taken, and those taken if they are not. */
static const struct {
	uint32_t needs, takes, else_takes;
} ports[] = {
    [EPIC_PORT_M] = {M, M, NO},
    [EPIC_PORT_M0] = {M | 1u << PORT_M0 | 1u << PORT_M01, M | 1u << PORT_M0 | 1u << PORT_M01, NO},
    [EPIC_PORT_M01] = {M | 1u << PORT_M01, M | 1u << PORT_M01, NO},
    [EPIC_PORT_M2] = {M | 1u << PORT_M2 | 1u << PORT_M23, M | 1u << PORT_M2 | 1u << PORT_M23, NO},
    [EPIC_PORT_M23] = {M | 1u << PORT_M23, M | 1u << PORT_M23, NO},
    [EPIC_PORT_A] = {1u << PORT_I, 1u << PORT_I, M},
    [EPIC_PORT_I] = {1u << PORT_I, 1u << PORT_I, NO},
    [EPIC_PORT_I0] = {2u << PORT_I, 1u << PORT_I, NO}, /* both are free, as I0 goes first */
    [EPIC_PORT_F] = {1u << PORT_F, 1u << PORT_F, NO},
    [EPIC_PORT_B] = {0, 0, 0}, /* a bundle's B slots have their ports, and end the group */
    [EPIC_PORT_B_HINT] = {0, 0, 0},
    [EPIC_PORT_LONG] = {1u << PORT_I | 1u << PORT_F, 1u << PORT_I | 1u << PORT_F, NO},
    [EPIC_PORT_LONG_B] = {1u << PORT_F, 1u << PORT_F, NO},
};

static bool is_rare(const struct epic_op *op)
{
	switch (op->kind) {
	case EPIC_NOP:
	case EPIC_LOAD_CHECK:
	case EPIC_FP_LOAD_CHECK:
		return true;
	default:
		return op->kind >= EPIC_CHECK || op->fp_ops || op->waits || op->flags & EPIC_STACK;
	}
}

void epic_prepare(struct epic_op *op)
{
	struct epic_prepared *p = &op->prepared;
	bool last = op->flags & EPIC_LAST;

	for (unsigned i = 0; i < op->source_count; i++)
		p->from[i] = place_of(op->sources[i]);
	for (unsigned i = 0; i < op->result_count; i++)
		p->to[i] = place_of(op->results[i]);
	p->predicate = place_of(EPIC_PREDICATE + op->qp);
	p->at = op->ip + op->slot;
	p->next = last ? op->ip + 16 : p->at + 1;
	p->needs = ports[op->port].needs;
	p->takes = ports[op->port].takes;
	p->else_takes = ports[op->port].else_takes;
	p->tally = 1u << TALLY_ISSUED | (op->kind == EPIC_NOP ? 1u << TALLY_NOPS : 0) |
		   (op->slots == 2 && last ? 1u << TALLY_LONG : 0);
	p->rare = is_rare(op);
	p->predictor =
	    (uint16_t)(((op->ip >> 4 ^ op->ip >> 16) * 3 + op->slot) & ((1u << HISTORY_LOG2) - 1));
}
