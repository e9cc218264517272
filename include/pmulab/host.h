/*
 * The computer that this runs on, or a tree of files that stands in for one: its processors, and
 * the PMUs that the catalog has for them. Sockets are numbered by rising package id, and CPUs by
 * socket and then by the kernel's number; only those that are online are there.
 */
#ifndef PMULAB_HOST_H
#define PMULAB_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "pmulab/pmulab.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pmu_host;
struct pmu_pmu;

/**
 * Reads what the kernel says of the processors (/proc/cpuinfo) and of itself.
 * @param root  a captured or made tree of files that stands in for the computer's, see
 *              pmu_bus_capture(); NULL: this computer
 * @return 0, PMU_E_IO, PMU_E_RANGE for a root whose path is too long, PMU_E_NOMEM; *host is the
 *         caller's
 */
int pmu_host_new(struct pmu_host **host, struct pmu_ctx *ctx, const char *root);
/** NULL is allowed. */
void pmu_host_free(struct pmu_host *host);

/* Strings live as long as the host. Where the kernel does not tell, they are "", and numbers 0. */

/** The processors' name. All are taken to be of one kind. */
const char *pmu_host_name(const struct pmu_host *host);
/** As CPUID has it: GenuineIntel. */
const char *pmu_host_vendor(const struct pmu_host *host);
/** What CPUID says of the kind of processor: family, model and stepping, the extended ones added.
 */
unsigned pmu_host_family(const struct pmu_host *host);
unsigned pmu_host_model(const struct pmu_host *host);
unsigned pmu_host_stepping(const struct pmu_host *host);
/** Whether it says that it is a virtual machine. */
bool pmu_host_is_virtual(const struct pmu_host *host);

/** Packages that have a CPU online. */
unsigned pmu_host_sockets(const struct pmu_host *host);
/** The kernel's number of the package in a socket. @param socket  below pmu_host_sockets() */
unsigned pmu_host_package(const struct pmu_host *host, unsigned socket);
/** CPUs that are online; with hyperthreading each thread is one. */
size_t pmu_host_cpus(const struct pmu_host *host);
/** The kernel's number of a CPU. @param cpu  below pmu_host_cpus() */
unsigned pmu_host_cpu_number(const struct pmu_host *host, size_t cpu);
/** The socket of a CPU. @param cpu  below pmu_host_cpus() */
unsigned pmu_host_cpu_socket(const struct pmu_host *host, size_t cpu);

/** The first PMU of the catalog that this processor has; NULL: none. */
const struct pmu_pmu *pmu_host_pmu(const struct pmu_host *host);
/** Whether the catalog says that processors of this kind have @pmu. */
bool pmu_host_has_pmu(const struct pmu_host *host, const struct pmu_pmu *pmu);

/** The kernel's lockdown mode: none, integrity, confidentiality. All but none refuse writes. */
const char *pmu_host_lockdown(const struct pmu_host *host);
/** Whether the kernel's NMI watchdog has a counter of each core. Is asked anew each time. */
bool pmu_host_watchdog(const struct pmu_host *host);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
