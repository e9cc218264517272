/* Registers by role and field, and values that keep the manual's rules for reserved bits. */
#ifndef SESSION_REGISTERS_H
#define SESSION_REGISTERS_H

#include "pmulab/bus.h"

/* A register of one instance in one socket. */
struct register_at {
	const struct pmu_box *box;
	const struct pmu_register *reg;
	unsigned socket, instance;
};

int register_read(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct register_at *at,
		  uint64_t *value);
int register_write(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct register_at *at,
		   uint64_t value);
/** The write itself, for who keeps it. */
struct pmu_access_op register_op(const struct register_at *at, uint64_t value);

/** Bits that every write has to carry as 1. */
uint64_t register_must(const struct pmu_register *reg);
/** Bits that software sets and reads back. */
uint64_t register_kept(const struct pmu_register *reg);
/** Bits that are cleared by writing 1. */
uint64_t register_clearing(const struct pmu_register *reg);
/** Bits of the field of this name, 0 where the register has none. */
uint64_t register_bits(const struct pmu_register *reg, const char *field);

/** Bit of @box's status register for a general counter, or for the fixed one; 0: it has none. */
uint64_t status_bit(const struct pmu_register *status, const struct pmu_box *box, unsigned counter);
uint64_t status_bit_fixed(const struct pmu_register *status, const struct pmu_box *box);

#endif
