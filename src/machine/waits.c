#include "machine/waits.h"

#include "machine/prefetch.h"

static bool is_asked(const struct signal_port *port)
{
	return port->enabled &&
	       (__atomic_load_n(&port->enabled[SIGNAL_CORE_CYCLES_WAITING], __ATOMIC_RELAXED) ||
		__atomic_load_n(&port->enabled[SIGNAL_CORE_LOAD_PENDING], __ATOMIC_RELAXED) ||
		__atomic_load_n(&port->enabled[SIGNAL_CORE_LOAD_WAITING], __ATOMIC_RELAXED));
}

static void hold(struct machine_hart *core)
{
	lock_acquire(&core->core->caches, core->thread);
}

static void release(struct machine_hart *core)
{
	lock_release(&core->core->caches, core->thread);
}

/* Of what is outstanding already, nothing is known. */
static void begin(struct core_waits *waits, uint64_t now)
{
	waits->on = waits->known = true;
	for (unsigned i = 0; i < CORE_WAITS; i++)
		level_reset(&waits->levels[i], now);
}

void waits_look(struct machine_hart *core)
{
	struct core_waits *waits = &core->core->waits;
	const bool tracked = is_asked(&core->machine->port);

	if (tracked == core->tracked)
		return;
	core->tracked = tracked;
	hold(core);
	if (!tracked)
		waits->on = false;
	else if (!waits->on)
		begin(waits, core->progress->time);
	release(core);
}

static void add(struct machine_hart *core, enum core_wait wait, uint64_t begin, uint64_t end)
{
	struct levels *level = &core->core->waits.levels[wait];

	level_pass(level, machine_max(core->progress->time, level->now), true);
	level_add(level, begin, end);
}

void waits_note_request(struct machine_hart *core, enum signal_request request, bool prefetched,
			uint64_t begin, uint64_t end)
{
	hold(core);
	switch (request) {
	case REQUEST_READ_DATA:
	case REQUEST_PREFETCH_DATA:
		add(core, WAIT_ALL_DATA, begin, end);
		if (!prefetched)
			add(core, WAIT_DATA, begin, end);
		break;
	case REQUEST_READ_OWN:
	case REQUEST_OWN:
		if (!prefetched)
			add(core, WAIT_OWN, begin, end);
		break;
	case REQUEST_READ_CODE:
		if (!prefetched)
			add(core, WAIT_CODE, begin, end);
		break;
	default:
		break;
	}
	release(core);
}

/* Prefetches into L1D and page walks ask for lines too. */
static bool is_load(const struct machine_hart *core, enum signal_request request)
{
	return request == REQUEST_READ_DATA &&
	       core->answers == core->core->answers[ANSWERS_DEMAND][0];
}

void waits_note_line(struct machine_hart *core, enum signal_request request, uint64_t begin,
		     uint64_t end, bool far)
{
	if (request == REQUEST_READ_CODE)
		return;
	hold(core);
	add(core, WAIT_LINE, begin, end);
	if (is_load(core, request)) {
		add(core, WAIT_LOAD, begin, end);
		add(core, WAIT_LOAD_ANY, begin, end);
		if (far)
			add(core, WAIT_LOAD_FAR, begin, end);
	}
	release(core);
}

void waits_note_load(struct machine_hart *core, uint64_t begin, uint64_t end)
{
	hold(core);
	add(core, WAIT_LOAD_ANY, begin, end);
	release(core);
}

uint64_t waits_get_line(struct machine_hart *core, enum signal_request request, uint32_t line,
			uint64_t issued, uint64_t given)
{
	uint64_t end = given;

	if (request != REQUEST_OWN && prefetch_on(core->core))
		end = prefetch_hit(core, line, request, end);
	else
		release(core);
	waits_note_line(core, request, issued, end, end > given);
	return end;
}

void waits_note_walk(struct machine_hart *core, enum tlb_use use, uint64_t begin, uint64_t end)
{
	hold(core);
	add(core, WAIT_WALK + use, begin, end);
	release(core);
}

void waits_skip(struct machine_hart *core, uint64_t from, uint64_t to)
{
	struct core_waits *waits = &core->core->waits;

	hold(core);
	for (unsigned i = 0; i < CORE_WAITS; i++) {
		struct levels *level = &waits->levels[i];

		level_pass(level, machine_max(from, level->now), true);
		level_pass(level, machine_max(to, level->now), false);
	}
	release(core);
}

void waits_catch_up(const struct machine *machine, unsigned number)
{
	struct core *core = &machine->cores[number];
	const uint64_t now = core_clock(core);

	lock_acquire(&core->caches, machine->holder);
	for (unsigned i = 0; core->waits.on && i < CORE_WAITS; i++)
		level_pass(&core->waits.levels[i], machine_max(now, core->waits.levels[i].now),
			   true);
	lock_release(&core->caches, machine->holder);
}
