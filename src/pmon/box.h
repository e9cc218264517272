/*
 * What the counter logic needs of a box, looked up once in the catalog. The catalog's tables stay
 * authoritative; this is their compact form.
 */
#ifndef PMON_BOX_H
#define PMON_BOX_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "catalog/entries.h"

#define PMON_BOXES     16
#define PMON_UNITS     128 /* box instances of a socket */
#define PMON_INSTANCES 32  /* of a box in a socket */
#define PMON_COUNTERS  11  /* of a box, fixed ones included */
#define PMON_REGISTERS 96  /* of a box */

#define PMON_CODES 256 /* of event selects */

#define PMON_NO_REGISTER 0xff

/* A field that a register may have; mask 0 where it has not. */
struct pmon_field {
	uint64_t mask; /* in place */
	uint8_t lo;
};

static inline uint64_t pmon_field_get(struct pmon_field field, uint64_t value)
{
	return (value & field.mask) >> field.lo;
}

/* What writing does to each bit. */
struct pmon_register {
	uint64_t stored;		   /* takes the value written */
	uint64_t cleared;		   /* writing 1 clears */
	uint64_t commands;		   /* does something when it is written */
	uint64_t must_1, must_0, reserved; /* demands of the manual, for strict mode */
};

struct pmon_control {
	struct pmon_field ev_sel, ev_sel_ext, umask;
	struct pmon_field thresh, invert, edge_det;
	struct pmon_field occ_sel, occ_invert, occ_edge_det;
	struct pmon_field en, ov_en, rst;
};

struct pmon_counter_desc {
	uint8_t counter, control; /* registers, by index in the box */
	bool fixed;		  /* counts cycles of the box's clock and nothing else */
	uint64_t status; /* bit that its overflow sets in the box's (global) status; 0: none */
	uint64_t enable; /* bit of the box's own global control; 0: it needs none */
	struct pmon_control fields;
};

/* A box whose control has no unit mask keeps what selects among cores in its place. */
static inline unsigned pmon_umask(const struct pmon_control *fields, uint64_t control)
{
	return (unsigned)((control & (fields->umask.mask | fields->occ_sel.mask)) >> 8);
}

/* A bit of the counter controls that lets pass only what a filter says. */
struct pmon_switch {
	uint64_t mask;
	const struct pmu_modifier *filter; /* NULL: none */
};

struct pmon_box {
	const struct pmu_box *box;
	uint32_t present;		    /* bit n: the part has instance n */
	uint16_t first_unit, first_counter; /* in a socket */
	uint8_t counter_count;
	uint8_t control, status; /* box control and status register, or PMON_NO_REGISTER */
	uint8_t governor; /* its own global control, if that enables its counters one by one */
	struct pmon_field frz, frz_en, rst_ctrl, rst_ctrs;
	struct pmon_switch filter_switch;
	struct pmon_counter_desc counters[PMON_COUNTERS]; /* general ones first */
	struct pmon_register registers[PMON_REGISTERS];
	int8_t counter_of[PMON_REGISTERS]; /* the counter whose value it is; -1: none */
	int8_t control_of[PMON_REGISTERS]; /* the counter that it controls; -1: none */
	/* As find_coded_event(), by extended select bit and code: number + 1; 0: none. */
	uint16_t event_of[2][PMON_CODES];
	/* Global status bits that overflows of an instance set; 0: none. */
	uint64_t global_status[PMON_INSTANCES], global_status_fixed[PMON_INSTANCES];
};

/* The registers that govern a whole socket. */
struct pmon_global {
	uint16_t unit; /* in a socket */
	uint8_t control, status;
	struct pmon_field frz_all, unfrz_all, pmi_core_sel;
	/* Of a box that governs itself: */
	uint64_t enables;	       /* bits of the control, of all its counters */
	uint64_t pmi_frz;	       /* of the control: an interrupt clears those */
	uint64_t interrupted, changed; /* of the status, 0: none */
};

/** Counters of an instance that depend on time, and keep what is to come. */
static inline unsigned pmon_timed_counters(const struct pmu_box *box)
{
	return box->scope == PMU_SCOPE_CORE ? 0u : 0u + box->counter_count + box->fixed_count;
}

#define PMON_FREE_COUNTERS 4

struct pmon_core_counter {
	uint64_t enable; /* bit of the global control */
	uint64_t status; /* bit of the global status */
	uint64_t counts; /* bits of its control that have to be 1 */
	uint64_t interrupt;
	uint16_t signal; /* of a fixed one; enum pmu_signal_id */
};

/* A counter without control; of no signal: cycles of the clock, whether or not the core runs. */
struct pmon_free_counter {
	uint8_t reg;
	uint16_t signal;
};

/* Records of a core's branches, by index in the box: see branches.h. */
struct pmon_branches {
	uint8_t count; /* 0: there are none */
	uint8_t control, select, last;
	uint8_t from, to; /* of the first record; the others follow */
	uint16_t signal;
	struct pmon_field enable, freeze, number;
	uint64_t address, mispredicted; /* bits of a record's from */
	uint32_t wrong;			/* qualifier of what was mispredicted */
};

struct pmon_core {
	uint8_t control, status, clear; /* global ones of the core, by index in the box */
	uint8_t debug;			/* PMON_NO_REGISTER: a PMI freezes nothing */
	struct pmon_field freeze_on_pmi;
	struct pmon_core_counter counters[PMON_COUNTERS];
	struct pmon_free_counter frees[PMON_FREE_COUNTERS];
	uint8_t free_count;
	struct pmon_branches branches;
};

static inline bool pmon_is_core(const struct pmon_box *box)
{
	return box->box->scope == PMU_SCOPE_CORE;
}

#endif
