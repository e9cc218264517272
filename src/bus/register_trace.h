/*
 * A register trace: register accesses as text. The first line says of what; each further line is an
 * access:
 *
 *     pmulab-register-trace 2 xeon-e5v4 sockets=2 emulated=1
 *     write 0 0 msr 0x700 32 0x80000000 0 U_MSR_PMON_GLOBAL_CTL
 *     read 0 0 pci 0x901a0 64 0x2a 0 HAn_PCI_PMON_CTR0
 *
 * direction, socket, core, space, address, width in bits, value, result (0 or a negative error),
 * name.
 */
#ifndef BUS_REGISTER_TRACE_H
#define BUS_REGISTER_TRACE_H

#include <stdio.h>

#include "pmulab/bus.h"

#define REGISTER_TRACE_NAME_MAX 64

struct register_trace_header {
	char pmu[REGISTER_TRACE_NAME_MAX];
	unsigned sockets;
	bool emulated;
};

struct register_trace_line {
	bool write;
	struct pmu_access_op op; /* op.reg points to name */
	int result;
	char name[REGISTER_TRACE_NAME_MAX];
};

/** @return 0 or PMU_E_IO */
int register_trace_put_header(FILE *file, const struct register_trace_header *header);
int register_trace_put_line(FILE *file, bool write, const struct pmu_access_op *op, int result);

/** @return 0 or PMU_E_SYNTAX, for more than PMU_SOCKETS_MAX sockets too */
int register_trace_get_header(const char *text, struct register_trace_header *header);
int register_trace_get_line(const char *text, struct register_trace_line *line);

#endif
