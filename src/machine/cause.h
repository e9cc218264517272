/*
 * What causes what the machine emits, for who asks (catalog/signal.h). Under the machine's lock. A
 * request is its instruction's; so are the evictions that make room for it. What waits in a queue
 * keeps the number of what put it there.
 */
#ifndef MACHINE_CAUSE_H
#define MACHINE_CAUSE_H

#include "machine/state.h"

static inline bool cause_is_asked(const struct signal_port *port)
{
	return __builtin_expect(port->cause != NULL, 0);
}

/** The present cause; 0: none, or nobody asks. */
static inline uint32_t cause_now(const struct signal_port *port)
{
	return cause_is_asked(port) ? *port->cause : 0;
}

/** @return what it was before, for cause_end() */
static inline uint32_t cause_begin(const struct signal_port *port, uint32_t cause)
{
	uint32_t before = cause_now(port);

	if (cause_is_asked(port))
		*port->cause = cause;
	return before;
}

static inline void cause_end(const struct signal_port *port, uint32_t before)
{
	if (cause_is_asked(port))
		*port->cause = before;
}

/** The instruction that runs makes a request, or what follows its accesses does. */
static inline void cause_request(const struct machine_hart *core, enum signal_request request)
{
	const uint32_t bytes = request == REQUEST_READ_CODE ? core->fetched : 0;
	const struct signal_port *port = &core->machine->port;

	if (cause_is_asked(port))
		*port->cause = port->cause_of(port->asker, core->context, core->place + bytes);
}

#endif
