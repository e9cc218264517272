/* Registers by role and field, and values that keep the manual's rules for reserved bits. */
#ifndef SESSION_REGISTERS_H
#define SESSION_REGISTERS_H

#include "catalog/entries.h"
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
/** Those of register_kept() that no counting changes: a control may hold part of the count. */
uint64_t register_steady(const struct pmu_register *reg);

/** Fields of one of the fixed counters that a control has. */
uint64_t register_fixed_bits(const struct pmu_register *ctl, unsigned counter);
/** Whether a control with this value lets its counter count. */
bool register_enables(const struct pmu_register *ctl, uint64_t value);

/** Where overflows of an instance's counters show, and where they are cleared; NULL: nowhere. */
const struct pmu_register *status_of(const struct pmu_box *box);
const struct pmu_register *status_clear_of(const struct pmu_box *box);

#endif
