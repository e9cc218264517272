/* Emulated machines: descriptions as data. Those of machines/ are built in. */
#ifndef PMULAB_MACHINE_H
#define PMULAB_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "pmulab/pmulab.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pmu_machine;
struct pmu_box;

/** The built-in machines. */
size_t pmu_machine_count(void);
/** NULL beyond the end. */
const struct pmu_machine *pmu_machine_at(size_t index);
/** A built-in machine by name, without regard to case; NULL where there is none. */
const struct pmu_machine *pmu_find_machine(const char *name);

/** The instances of a box of its PMU that each socket has: bit i: instance i. */
uint32_t pmu_machine_instances(const struct pmu_machine *machine, const struct pmu_box *box);

/* Strings live as long as the machine. */
/** As pmu_find_machine() takes it. */
const char *pmu_machine_name(const struct pmu_machine *machine);
/** What it is, in a few words. */
const char *pmu_machine_title(const struct pmu_machine *machine);
/** Where the description's numbers are from. */
const char *pmu_machine_source(const struct pmu_machine *machine);
/** Name of its uncore PMU in the catalog. */
const char *pmu_machine_pmu_name(const struct pmu_machine *machine);
/**
 * Name of its cores' description, where they issue bundles in order (machines/uarch/) and run IA-64
 * programs; NULL: they run x86-64 programs, and numbers describe them.
 */
const char *pmu_machine_core(const struct pmu_machine *machine);
/** Events that are counted where nothing is asked for, comma separated. */
const char *pmu_machine_events(const struct pmu_machine *machine);
/** All of the description as JSON, which pmu_machine_parse() reads. */
const char *pmu_machine_text(const struct pmu_machine *machine);
/**
 * A number of the description by its key: "sockets", "core_mhz", "llc.ways". docs/machine.md lists
 * them with their units.
 * @param number  receives it
 * @return 0, or PMU_E_UNKNOWN, without a message
 */
int pmu_machine_number(const struct pmu_machine *machine, const char *key, uint64_t *number);

/**
 * Reads a machine of the user's own from a file: JSON, with all keys of a built-in one (machines/),
 * or "base", the name of a built-in description, and what differs from it as RFC 7396 says.
 * @return 0, PMU_E_IO, PMU_E_SYNTAX, PMU_E_UNKNOWN, PMU_E_RANGE or PMU_E_NOMEM; *machine is the
 *         caller's, to be freed after all that was made of it
 */
int pmu_machine_read(struct pmu_machine **machine, struct pmu_ctx *ctx, const char *path);
/** The same from @length bytes of text. @param from  what messages call them */
int pmu_machine_parse(struct pmu_machine **machine, struct pmu_ctx *ctx, const char *text,
		      size_t length, const char *from);
/** Frees a machine that was read; NULL is allowed, a built-in one is not. */
void pmu_machine_free(struct pmu_machine *machine);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
