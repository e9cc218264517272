/* Carries accesses from device files to the registers of an emulated machine. */
#ifndef DEVICE_ACCESS_H
#define DEVICE_ACCESS_H

#include "device/clock.h"
#include "emul/block.h"
#include "emul/epic.h"

struct device_runs;

struct device_access {
	struct emul *emul;
	struct emul_epic
	    *epic; /* a machine with IA-64 cores, in the stead of the other; else NULL */
	struct device_runs *runs;   /* programs on that */
	struct device_clock *clock; /* is looked at before each access; NULL: none */
	/* Of each CPU, how often its APERF was read: see msr.c; NULL: that is not counted. */
	uint32_t *aperf_reads;
	/* Hears of writes that came to nothing, from several threads; NULL: nobody does. */
	void (*refused)(void *arg, const struct pmon_access *access, uint64_t value, int error);
	/* Hears of every access that was made, also of those without effect; likewise. */
	void (*accessed)(void *arg, const struct pmon_access *access, bool write, uint64_t value,
			 int error);
	void *arg;
};

/** As emul_read(). */
int device_read(const struct device_access *device, const struct pmon_access *access,
		uint64_t *value);
/** As emul_write(), and tells of what is refused. */
int device_write(const struct device_access *device, const struct pmon_access *access,
		 uint64_t value);

#endif
