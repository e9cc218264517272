/*
 * The computer as the bus sees it: its processors, and where its files are. The cores of a socket
 * are its CPUs: with hyperthreading each thread is a core here, having registers of its own.
 */
#ifndef BUS_HOST_H
#define BUS_HOST_H

#include <limits.h>

#include "catalog/entries.h"
#include "pmulab/host.h"

struct host_cpu {
	unsigned number; /* the kernel's */
	unsigned package;
};

/** A PCI bus, as lspci writes it. */
struct config_bus {
	bool found;
	unsigned domain, number;
};

struct pmu_host {
	char root[PATH_MAX]; /* before every path; empty for the computer itself */
	char vendor[32], name[80], lockdown[32];
	unsigned family, model, stepping;
	bool virtual_machine;
	struct host_cpu *cpus; /* those that are online, by package and number */
	size_t cpu_count;
	unsigned sockets;
};

#define HOST_PATH_MAX (PATH_MAX + 64)

/** Writes the path of a file of the computer. @return @path */
__attribute__((format(printf, 3, 4))) const char *
host_path(const struct pmu_host *host, char path[HOST_PATH_MAX], const char *format, ...);

/** Index in cpus of the first one of a socket; of the socket after the last: their number. */
size_t host_first_cpu(const struct pmu_host *host, unsigned socket);
/** The socket of a package. @return false: none of its CPUs is online */
bool host_find_socket(const struct pmu_host *host, unsigned package, unsigned *socket);

#endif
