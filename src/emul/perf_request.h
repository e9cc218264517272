/*
 * How a tool's library asks for counters of perf_event(2): by a file whose open descriptors are
 * events. A write is a request; a read at position 0 gives what read(2) of an event gives, one at
 * PERF_ID_POSITION its id.
 */
#ifndef EMUL_PERF_REQUEST_H
#define EMUL_PERF_REQUEST_H

#include <stdint.h>

#define PERF_FILE	 "/sys/bus/event_source/perf_event"
#define PERF_ID_POSITION (INT64_C(1) << 40)
#define PERF_ATTR_BYTES	 256 /* more than the kernel's struct of 6.1 has */

enum perf_request_kind {
	PERF_REQUEST_OPEN,    /* once, before others: the arguments of perf_event_open(2) */
	PERF_REQUEST_CONTROL, /* those of ioctl(2) */
	PERF_REQUEST_EXEC,    /* process @pid is about to execute a program */
};

/* What does not belong to a request's kind is 0. */
struct perf_request {
	uint32_t kind;
	int32_t pid, cpu;
	uint32_t attr_bytes;
	uint64_t flags;
	uint64_t leader; /* id of the group's first event; 0: it is the first */
	uint64_t command, argument;
	unsigned char attr[PERF_ATTR_BYTES]; /* struct perf_event_attr; zeros behind its end */
};

#endif
