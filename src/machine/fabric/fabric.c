#include "machine/fabric/fabric.h"

#include "machine/fabric/state.h"

size_t fabric_size(void)
{
	return sizeof(struct fabric);
}

struct fabric *fabric_init(void *memory, const struct fabric_params *params, unsigned sockets,
			   unsigned cores)
{
	struct fabric *f = memory;

	f->params = params;
	f->sockets = sockets;
	f->cores = cores;
	return f;
}

void fabric_watch(struct fabric *fabric, const struct fabric_watch *watch)
{
	fabric->watch = *watch;
}

uint64_t fabric_least_latency(const struct fabric_params *p)
{
	return p->hop + p->home + p->read + p->reply + p->hop;
}

void fabric_settle(struct fabric *fabric, uint64_t now)
{
	for (uint8_t socket = 0; socket < fabric->sockets; socket++)
		for (uint8_t home = 0; home < FABRIC_HOMES; home++) {
			struct unit at = {socket, home};

			fabric_memory_settle(fabric, at, now);
			fabric_live_settle(fabric, at, now);
		}
}
