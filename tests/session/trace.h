/* Register traffic on a bus without hardware, as text to compare with. */
#ifndef TEST_TRACE_H
#define TEST_TRACE_H

#include <stddef.h>

#include "pmulab/session.h"

struct trace {
	char text[16384]; /* "SOCKET ADDRESS=VALUE" of each write, one a line */
	size_t length;
	unsigned reads, writes;
};

/* A session on a dry run of the Xeon E5 v4, and what it writes. */
struct traced {
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	struct pmu_session *session;
	struct trace trace;
};

/** On xeon-e5v4. */
void traced_init(struct traced *traced, unsigned sockets);
void traced_init_on(struct traced *traced, const struct pmu_pmu *pmu, unsigned sockets);
void traced_fini(struct traced *traced);

/** Adds an event expression. @return as pmu_session_add() */
int traced_add(struct traced *traced, const char *event);
/** Forgets what has been written so far. */
void trace_clear(struct trace *trace);

#endif
