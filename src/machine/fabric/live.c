/*
 * How many commands of each kind a home agent has at its memory controller, told in order of time:
 * a change is told once the home agent's clock has passed it, and no command begins before that.
 */
#include "machine/fabric/state.h"

static unsigned message_of(enum live_kind kind)
{
	static const uint8_t messages[] = {[LIVE_READ] = MESSAGE_READ_DATA,
					   [LIVE_WRITE] = MESSAGE_WRITEBACK,
					   [LIVE_FILL] = MESSAGE_FILL};

	return messages[kind];
}

static uint64_t change_of(const struct live_command *c)
{
	return c->begun ? c->until : c->from;
}

static bool is_earlier(const struct live_command *c, const struct live_command *than)
{
	uint64_t a = change_of(c), b = change_of(than);

	return a < b || (a == b && c->begun && !than->begun);
}

/* The one that ends or begins first. @return NULL: there is none */
static struct live_command *first_change(struct live *live)
{
	struct live_command *first = NULL;

	for (struct live_command *c = live->commands; c < live->commands + live->count; c++)
		if (!first || is_earlier(c, first))
			first = c;
	return first;
}

static void change(struct fabric *f, struct unit at, struct live *live, struct live_command *c)
{
	uint64_t time = change_of(c);
	enum live_kind kind = c->kind;

	live->told = time > live->told ? time : live->told;
	if (c->begun) {
		live->number[kind]--;
		*c = live->commands[--live->count];
	} else {
		live->number[kind]++;
		c->begun = true;
	}
	fabric_tell(f, (struct detail_event){.id = SIGNAL_DIRECTORY_MEMORY_LIVE,
					     .socket = at.socket,
					     .unit = at.number,
					     .message = (uint8_t)message_of(kind),
					     .time = live->told,
					     .amount = live->number[kind]});
}

static bool somebody_counts(const struct fabric *f)
{
	return f->watch.event && f->watch.enabled[SIGNAL_DIRECTORY_MEMORY_LIVE];
}

void fabric_live_settle(struct fabric *f, struct unit at, uint64_t now)
{
	struct live *live = &f->homes[at.socket][at.number].live;
	struct live_command *c;

	if (!live->count)
		return;
	if (!somebody_counts(f)) {
		*live = (struct live){.count = 0};
		return;
	}
	while ((c = first_change(live)) && change_of(c) <= now)
		change(f, at, live, c);
}

void fabric_live_add(struct fabric *f, struct unit at, enum live_kind kind, uint64_t from,
		     uint64_t until)
{
	struct live *live = &f->homes[at.socket][at.number].live;

	if (!somebody_counts(f))
		return;
	while (live->count == LIVE_COMMANDS)
		change(f, at, live, first_change(live));
	live->commands[live->count++] =
	    (struct live_command){.from = from, .until = until, .kind = kind};
}
