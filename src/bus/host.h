/*
 * The computer that this runs on, or a tree of files that stands in for one: its processors, and
 * where its files are. Sockets are numbered by rising package id, and the cores of a socket by
 * rising CPU number: with hyperthreading each thread is a core here, having registers of its own.
 */
#ifndef BUS_HOST_H
#define BUS_HOST_H

#include <limits.h>

#include "pmulab/catalog.h"

struct host_cpu {
	unsigned number; /* the kernel's */
	unsigned package;
};

/** A PCI bus, as lspci writes it. */
struct config_bus {
	bool found;
	unsigned domain, number;
};

struct host {
	char root[PATH_MAX]; /* before every path; empty for the computer itself */
	char vendor[32], name[80];
	unsigned family, model, stepping;
	bool virtual_machine;
	struct host_cpu *cpus; /* those that are online, by package and number */
	size_t cpu_count;
	unsigned sockets;
};

/**
 * Reads /proc/cpuinfo under @root; NULL: the computer itself.
 * @return 0, PMU_E_IO, PMU_E_RANGE for a root whose path is too long, PMU_E_NOMEM
 */
int host_new(struct host **host, struct pmu_ctx *ctx, const char *root);
void host_free(struct host *host);

#define HOST_PATH_MAX (PATH_MAX + 64)

/** Writes the path of a file of the computer. @return @path */
__attribute__((format(printf, 3, 4))) const char *
host_path(const struct host *host, char path[HOST_PATH_MAX], const char *format, ...);

/** Index in cpus of the first one of a socket; of the socket after the last: their number. */
size_t host_first_cpu(const struct host *host, unsigned socket);
/** The socket of a package. @return false: none of its CPUs is online */
bool host_find_socket(const struct host *host, unsigned package, unsigned *socket);

/** Whether the catalog says that processors of this kind have @pmu. */
bool host_has_pmu(const struct host *host, const struct pmu_pmu *pmu);
/** The first PMU of the catalog that this processor has; NULL: none. */
const struct pmu_pmu *host_find_pmu(const struct host *host);

#endif
