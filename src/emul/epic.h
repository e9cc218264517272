/* A core that issues bundles in order, and the PMU of its thread. */
#ifndef EMUL_EPIC_H
#define EMUL_EPIC_H

#include <stdbool.h>
#include <stdint.h>

struct emul_epic;
struct epic_core;
struct pmu_ctx;

/**
 * @param name  of a core (machines/uarch/) and of the PMU in the catalog that it has; NULL: the
 *              first
 * @return 0, PMU_E_UNKNOWN for a name that is not known, PMU_E_NOMEM, PMU_E_UNSUPPORTED
 */
int emul_epic_new(struct emul_epic **epic, struct pmu_ctx *ctx, const char *name);
/** NULL is allowed. */
void emul_epic_free(struct emul_epic *epic);

const char *emul_epic_name(const struct emul_epic *epic);

/** What drives it; stays the emulation's. */
struct epic_core *emul_epic_core(struct emul_epic *epic);

/** The thread turned the user's monitors on or off (PSR.up). */
void emul_epic_monitors(struct emul_epic *epic, bool on);

/**
 * A register of the PMU: its file (enum pmu_space) and number. Not while the core runs in another
 * thread. @return 0 or PMU_E_UNKNOWN
 */
int emul_epic_read(struct emul_epic *epic, unsigned space, uint32_t number, uint64_t *value);
int emul_epic_write(struct emul_epic *epic, unsigned space, uint32_t number, uint64_t value);

/** Interrupts of overflows so far; cycles so far. */
uint64_t emul_epic_interrupts(const struct emul_epic *epic);
uint64_t emul_epic_cycles(const struct emul_epic *epic);

#endif
