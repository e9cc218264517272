/*
 * Strict mode: what software that drives the registers of IA-64 cores, and of what is around them,
 * does against the manual. Reports only; the registers behave the same.
 */
#ifndef PMON_IA64_STRICT_H
#define PMON_IA64_STRICT_H

#include <stdint.h>

struct pmon_ia64;
struct pmon_uncore;
struct pmon_violation;
struct pmu_pmu;
struct pmu_register;

struct pmon_ia64_strict {
	const struct pmu_pmu *pmu;					   /* whose rules hold */
	void (*report)(void *arg, const struct pmon_violation *violation); /* NULL: nobody asks */
	void *arg;
};

/* The instance that did something, and who is told of it. */
struct pmon_ia64_checked {
	const struct pmon_ia64_strict *strict;
	unsigned socket, instance;
};

/** @param source  where the rule stands; NULL: where the register does; "": in the PMU's manual */
void pmon_ia64_report(const struct pmon_ia64_checked *at, const struct pmu_register *reg,
		      uint64_t value, const char *rule, const char *source);
/** Reports reserved bits that a value does not keep. */
void pmon_ia64_check_reserved(const struct pmon_ia64_checked *at, const struct pmu_register *reg,
			      uint64_t value);

/** After a write of a register of a core. */
void pmon_ia64_check_write(const struct pmon_ia64 *pmu, const struct pmon_ia64_checked *at,
			   unsigned space, uint32_t number, uint64_t value);
void pmon_ia64_check_read(const struct pmon_ia64 *pmu, const struct pmon_ia64_checked *at,
			  unsigned space, uint32_t number);

/** Before a write of a register outside of cores. */
void pmon_uncore_check(struct pmon_uncore *uncore, const struct pmon_ia64_strict *strict,
		       unsigned socket, uint32_t address, uint64_t value);
/** No register outside of cores is written for a while. */
void pmon_uncore_check_pause(struct pmon_uncore *uncore, const struct pmon_ia64_strict *strict);

#endif
