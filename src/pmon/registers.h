/* Where an address leads, and what the registers of a unit hold. */
#ifndef PMON_REGISTERS_H
#define PMON_REGISTERS_H

#include "pmon/state.h"

/* A register of a unit, or a half of one. */
struct pmon_register_ref {
	struct pmon_unit *unit;
	unsigned reg;	/* index in the box */
	unsigned shift; /* 32 for the upper half */
	unsigned width; /* bits accessed */
	bool present;	/* the part has the instance */
};

/** @return whether the manual documents a register there */
bool pmon_find_register_ref(const struct pmon *pmon, const struct pmon_access *access,
			    struct pmon_register_ref *place);

/** The counter whose value (not control) register @reg is; -1: none. */
int pmon_counter_of(const struct pmon_box *box, unsigned reg);
/** The counter that register @reg controls; -1: none. */
int pmon_control_of(const struct pmon_box *box, unsigned reg);

/** What the whole register reads as. */
uint64_t pmon_register_value(const struct pmon *pmon, const struct pmon_unit *unit, unsigned reg);

/** Puts all registers of a unit to their reset values. */
void pmon_reset_unit(const struct pmon *pmon, struct pmon_unit *unit);

/** Follows a change of controls, filters or enables: who subscribes to what. */
void pmon_configure(struct pmon *pmon, struct pmon_unit *unit, uint64_t now);

/** Which signals of @box, or of all boxes where it is NULL, anybody subscribes to. */
void pmon_enable(struct pmon *pmon, const struct pmon_box *box);

#endif
