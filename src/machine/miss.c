#include "machine/miss.h"

#include "machine/cause.h"
#include "machine/gather.h"
#include "machine/home.h"
#include "machine/prefetch.h"
#include "machine/private.h"
#include "machine/skew.h"
#include "machine/slice.h"
#include "machine/superqueue.h"
#include "machine/waits.h"

/* Bit a byte of the line. */
static uint64_t touched_bytes(const struct machine_hart *core, enum signal_request request)
{
	if (request == REQUEST_READ_CODE || core->touched_size == LINE_BYTES)
		return UINT64_MAX;
	return ((1ull << core->touched_size) - 1) << core->touched % LINE_BYTES;
}

/* @return the tick at which a line comes in whose fill buffer the access waits, 0: there is none */
static uint64_t join(struct machine_hart *core, const struct private_want *want,
		     const struct private_look *look)
{
	uint64_t end;
	bool joins;

	/* What others read of it they have in S: a write has to take that from them. */
	if (!core->miss_count || want->request == REQUEST_READ_CODE || look->slot >= 0)
		return 0;
	end = mshr_pending(core, core->touched >> LINE_LOG2, private_own(want));
	if (!end)
		return 0;
	machine_hold(core->machine, core->thread);
	joins =
	    gather_may(core->machine, want->line, core->number, touched_bytes(core, want->request));
	machine_let_go(core->machine);
	return joins ? end : 0;
}

/* L1D in M has newer data than a modified L2 line: that one needs no writeback. */
static MACHINE_OUTLINE void l2_write_back(struct machine *machine, unsigned number, uint32_t line,
					  uint64_t now)
{
	struct core *core = &machine->cores[number];
	int data = l1_find(core->l1d.words, line);
	enum signal_request request = REQUEST_WRITEBACK_KEEP;
	uint64_t cycles;

	if (data >= 0 && cache_state(core->l1d.words[data]) == LINE_M) {
		core->l2_dropped++;
		return;
	}
	if (data < 0 && l1_find(core->l1i.words, line) < 0)
		request = REQUEST_WRITEBACK;
	l2_move_out(machine, core);
	cycles = private_write_back(machine, number, request, line, now);
	if (prefetch_on(core) && machine->uarch)
		superqueue_write_back(
		    &core->prefetch.queue, machine->desc->superqueue_entries, now,
		    machine->uarch->write_back_trips *
			(private_l2_ticks(machine) + cycles * machine->uclk_ticks));
}

static MACHINE_INLINE void l2_fill(const struct private_want *want, unsigned number, uint32_t line,
				   enum line_state state, uint64_t now)
{
	const unsigned first = l2_first(want->machine, line);
	uint32_t victim = lru8_add(want->core->l2 + first, l2_tag(want->machine, line) | state);

	want->core->l2_fills[state]++;
	want->core->l2_victims[cache_state(victim)]++;
	if (cache_state(victim) == LINE_M)
		l2_write_back(want->machine, number, l2_line(want->machine, victim, first), now);
}

/* The line's state in L2 becomes @state, wherever it comes from. */
static MACHINE_INLINE void l2_set(const struct private_want *want, unsigned number,
				  enum line_state state, uint64_t now)
{
	int slot = l2_find(want->machine, want->core, want->line);

	if (slot < 0) {
		l2_fill(want, number, want->line, state, now);
		return;
	}
	want->core->l2[slot] = l2_tag(want->machine, want->line) | state;
	l2_touch(want->core, (unsigned)slot);
}

/* Where that displaces a modified line that L2 does not hold, L2 gets it. */
static MACHINE_OUTLINE void l1_displace(const struct private_want want, unsigned room,
					unsigned number, uint64_t now)
{
	uint32_t *word = &want.l1->words[room];
	uint32_t victim = l1_line(*word, want.line % L1_SETS);

	l1_write(word, 0);
	want.core->l1_writebacks[0]++;
	l2_move_back(want.machine, want.core);
	l2_fill(&want, number, victim, LINE_M, now);
}

/* @return the slot */
static MACHINE_INLINE int l1_fill_far(const struct private_want *want, unsigned number,
				      enum line_state state, uint64_t now)
{
	const unsigned room = l1_room(want);

	if (!l1_fill(want, room, state)) {
		l1_displace(*want, room, number, now);
		l1_put(want, room, state);
	}
	return (int)room;
}

/*
 * What others did to the caches while the core reached for the lock, and what was blocked: whether
 * the core has the line after all. @return as miss_get(); end 0: it has not
 */
static MACHINE_OUTLINE struct found look_again(struct machine_hart *core, struct machine_l1 *l1,
					       enum signal_request request, uint32_t line,
					       uint64_t issued)
{
	const struct private_want want = {core->machine, core->core, l1, line, request};
	int slot = l1_find(l1->words, line);
	enum line_state state;

	if (l1_use(&want, slot))
		return (struct found){PRIVATE_BELOW, slot, issued};
	if (slot >= 0 || (state = l2_use(&want)) == LINE_I)
		return (struct found){PRIVATE_BELOW, slot, 0};
	want.core->l2_hits[request]++;
	slot = l1_fill_far(&want, core->number, state, issued);
	return (struct found){PRIVATE_BELOW, slot, issued + core->l2_ticks};
}

/* A miss that has been issued. */
struct miss {
	struct private_want want;
	uint64_t issued; /* tick */
	bool held;	 /* the core's caches are, */
	bool absent;	 /* and L1 had not the line, nor has it now */
};

/* @return the slot of L1 */
static MACHINE_INLINE int fill(const struct miss *miss, unsigned number, enum line_state granted,
			       uint64_t now)
{
	const struct private_want *want = &miss->want;
	int slot = -1;

	if (private_own(want))
		l2_set(want, number, LINE_E, now);
	else
		l2_fill(want, number, want->line, granted, now);
	/* Freeing a way of the LLC may have taken a shared copy. */
	if (!miss->absent)
		slot = l1_find(want->l1->words, want->line);
	if (slot < 0)
		return l1_fill_far(want, number, private_own(want) ? LINE_M : granted, now);
	want->core->upgrades++;
	l1_put(want, (unsigned)slot, private_own(want) ? LINE_M : granted);
	return slot;
}

static MACHINE_INLINE struct found receive(struct machine_hart *core, const struct miss *miss,
					   struct slice_answer answer)
{
	struct machine *machine = core->machine;
	const uint64_t sent = miss->issued + core->l2_ticks;
	struct found found = {
	    .level = PRIVATE_BELOW,
	    .end = sent + answer.cycles * machine->uclk_ticks,
	};

	core->answers[miss->want.request * SOURCES + answer.source]++;
	miss->want.core->outstanding[0][miss->want.request] += answer.cycles;
	if (!miss->held)
		private_hold(machine, core->core);
	l2_move_in(core, l2_to_l1(machine, miss->want.request));
	found.slot = fill(miss, core->number, answer.granted, sent);
	if (!miss->held)
		private_release(machine, core->core);
	if (MACHINE_EMITS && core->tracked)
		waits_note_request(core, miss->want.request, false, sent, found.end);
	return found;
}

static inline uint64_t cycle_sent(const struct machine_hart *core, uint64_t issued)
{
	return machine_uncore_cycle(core->machine, issued + core->l2_ticks);
}

/* Takes the machine where no other core has threads. @return whether that is so */
static inline bool take_alone(struct machine_hart *core)
{
	struct machine *machine = core->machine;

	if (!machine_is_alone(machine) || !lock_acquire_biased(&machine->state->lock, core->thread))
		return false;
	machine->holder = core->thread;
	return true;
}

static inline void note_end(struct machine_state *state, uint64_t end)
{
	state->horizon = machine_max(state->horizon, end);
}

static MACHINE_INLINE struct found let_go_alone(struct machine_hart *core, struct found found)
{
	struct machine_state *state = core->machine->state;

	note_end(state, found.end);
	lock_release_biased(&state->lock);
	return found;
}

static MACHINE_INLINE struct found finish_alone(struct machine_hart *core, struct found found)
{
	lock_release(&core->core->caches, core->thread);
	return let_go_alone(core, found);
}

/* Whether the line's home is the core's socket, and no other socket was ever used. */
static MACHINE_INLINE bool is_near(const struct machine_hart *core, uint32_t line)
{
	return machine_home_node(core->machine, line) == core->socket &&
	       !(core->machine->state->sockets & ~(1u << core->socket));
}

/* An entry for a line that is near, with the core's caches held. */
static MACHINE_INLINE void place_near(const struct machine_hart *core, struct tor_entry *entry,
				      uint32_t line, struct llc_index index)
{
	tor_place(core->machine, entry, core->socket, line, index);
	entry->held = core->core;
	entry->shared = false;
	entry->near = true;
	entry->node = entry->socket;
}

/* A read of data that slice_has() did not find. @param way  where it is all the same, or TOR_ABSENT
 */
static MACHINE_OUTLINE struct slice_answer miss_near(const struct machine_hart *core, uint32_t line,
						     struct llc_index index, int way,
						     uint64_t cycle)
{
	struct tor_entry entry;

	place_near(core, &entry, line, index);
	entry.way = way;
	return slice_miss(core->machine, &entry, core->number_in_socket, REQUEST_READ_DATA, cycle);
}

/* A read of data, as most requests are. */
static MACHINE_INLINE struct slice_answer read_near(const struct machine_hart *core, uint32_t line,
						    struct llc_index index, uint64_t cycle)
{
	struct tor_entry entry;

	place_near(core, &entry, line, index);
	if (slice_has(&entry, core->number_in_socket))
		return slice_hit(core->machine, &entry, core->number_in_socket, REQUEST_READ_DATA,
				 cycle);
	return miss_near(core, line, index, entry.way, cycle);
}

/* What L2 asks for. @param cycle  uncore, at which it does */
static MACHINE_INLINE struct slice_answer prefetch_line(const struct machine_hart *core,
							const struct prefetch_request *prefetch,
							struct llc_index index, uint64_t cycle,
							bool held)
{
	struct machine *machine = core->machine;
	struct tor_entry entry;

	if (held && prefetch->request == REQUEST_READ_DATA && is_near(core, prefetch->line))
		return read_near(core, prefetch->line, index, cycle);
	entry.shared = !held && machine_is_shared(machine);
	entry.held = held ? core->core : NULL;
	entry.near = false;
	tor_place(machine, &entry, core->socket, prefetch->line, index);
	if (home_is_read(prefetch->request))
		return slice_read(machine, &entry, core->number_in_socket, prefetch->request,
				  cycle);
	return slice_prefetch(machine, &entry, core->number_in_socket, prefetch->request, cycle);
}

/* All at once: else the host would wait for the memory of each set. */
static MACHINE_INLINE void locate_planned(const struct machine_hart *core,
					  const struct prefetch_plan *plan,
					  struct llc_index indices[])
{
	for (unsigned i = 0; i < plan->count; i++) {
		indices[i] = llc_index_of(core->machine, plan->requests[i].line);
		tor_fetch_set(llc_index_set(core->machine, core->socket, indices[i]));
	}
}

/* The core's caches are held. */
static MACHINE_INLINE void receive_prefetched(struct machine_hart *core,
					      const struct prefetch_request *prefetch,
					      struct slice_answer answer, uint64_t now)
{
	struct machine *machine = core->machine;
	struct core *shared = core->core;
	const struct private_want want = {machine, shared, NULL, prefetch->line, prefetch->request};
	const uint64_t end = now + answer.cycles * machine->uclk_ticks;

	shared->l2_prefetches[prefetch->request][answer.source]++;
	shared->outstanding[1][prefetch->request] += answer.cycles;
	if (home_is_read(prefetch->request)) {
		l2_move_in(core, 0);
		l2_set(&want, core->number, answer.granted, now);
		core_note_change(shared);
		shared->prefetch.into_l2++;
	} else {
		shared->prefetch.into_llc++;
	}
	superqueue_enter(&shared->prefetch.queue, machine->desc->superqueue_entries, prefetch->line,
			 end, false);
	note_end(machine->state, end);
}

/* What of the plan is not there, nor on its way; the core's caches are held all the time. */
static MACHINE_INLINE void send_all(struct machine_hart *core, const struct prefetch_plan *plan,
				    uint64_t now)
{
	const uint64_t cycle = machine_uncore_cycle(core->machine, now);
	struct llc_index indices[PREFETCH_REQUESTS_MAX];

	locate_planned(core, plan, indices);
	for (unsigned i = 0; i < plan->count; i++)
		receive_prefetched(core, &plan->requests[i],
				   prefetch_line(core, &plan->requests[i], indices[i], cycle, true),
				   now);
}

/* The core's caches are not held: it may have a line by now. */
static bool is_absent(const struct machine_hart *core, uint32_t line, uint64_t now)
{
	bool absent;

	private_hold(core->machine, core->core);
	absent = prefetch_is_absent(core, line, now);
	private_release(core->machine, core->core);
	return absent;
}

static MACHINE_OUTLINE void send_among_others(struct machine_hart *core,
					      const struct prefetch_plan *plan, uint64_t now)
{
	const uint64_t cycle = machine_uncore_cycle(core->machine, now);
	struct llc_index indices[PREFETCH_REQUESTS_MAX];

	locate_planned(core, plan, indices);
	for (unsigned i = 0; i < plan->count; i++) {
		const struct prefetch_request *prefetch = &plan->requests[i];
		struct slice_answer answer;

		if (!is_absent(core, prefetch->line, now))
			continue;
		answer = prefetch_line(core, prefetch, indices[i], cycle, false);
		private_hold(core->machine, core->core);
		receive_prefetched(core, prefetch, answer, now);
		private_release(core->machine, core->core);
		if (MACHINE_EMITS && core->tracked)
			waits_note_request(core, prefetch->request, true, now,
					   now + answer.cycles * core->machine->uclk_ticks);
	}
}

/* With prefetchers. */
static MACHINE_OUTLINE struct found get_prefetching(struct machine_hart *core,
						    struct machine_l1 *l1,
						    enum signal_request request, uint32_t line,
						    uint32_t registers, struct private_look look)
{
	struct machine *machine = core->machine;
	struct miss miss = {
	    .want = {machine, core->core, l1, line, request},
	    .held = true,
	    .absent = look.slot < 0,
	};
	struct found found = {.end = 0};
	struct prefetch_plan plan;
	struct slice_answer answer;
	struct tor_entry entry;

	entry.shared = entry.near = false;
	entry.held = core->core;
	tor_locate(machine, &entry, core->socket, line);
	tor_fetch_neighbour(&entry);
	miss.issued =
	    superqueue_admit(&core->core->prefetch.queue, miss_issue(core, request, registers));
	if (__builtin_expect(look.blocked, 0))
		found = look_again(core, l1, request, line, miss.issued);
	if (!found.end) {
		const uint64_t cycle = cycle_sent(core, miss.issued);

		answer = request == REQUEST_READ_DATA && is_near(core, line)
			     ? read_near(core, line, entry.index, cycle)
			     : slice_read(machine, &entry, core->number_in_socket, request, cycle);
		found = receive(core, &miss, answer);
	}
	found.end =
	    prefetch_missed(core, line, request, miss.issued + core->l2_ticks, found.end, &plan);
	if (plan.count)
		send_all(core, &plan, miss.issued + core->l2_ticks);
	return finish_alone(core, found);
}

/* The core's caches are held all the time: nobody waits for them without the machine. */
static MACHINE_INLINE struct found get_alone(struct machine_hart *core, struct machine_l1 *l1,
					     enum signal_request request, uint32_t line,
					     uint32_t registers, struct private_look look)
{
	struct machine *machine = core->machine;
	struct miss miss = {
	    .want = {machine, core->core, l1, line, request},
	    .held = true,
	    .absent = look.slot < 0,
	};
	struct slice_answer answer;
	struct tor_entry entry;

	if (prefetch_on(core->core))
		return get_prefetching(core, l1, request, line, registers, look);
	entry.shared = entry.near = false;
	entry.held = core->core;
	tor_locate(machine, &entry, core->socket, line);
	miss.issued = miss_issue(core, request, registers);
	if (__builtin_expect(look.blocked, 0))
		return finish_alone(core, look_again(core, l1, request, line, miss.issued));
	answer = slice_read(machine, &entry, core->number_in_socket, request,
			    cycle_sent(core, miss.issued));
	return finish_alone(core, receive(core, &miss, answer));
}

/* As superqueue_admit(), with the machine held, but not the caches; so the next. */
static uint64_t admit(const struct machine_hart *core, uint64_t now)
{
	private_hold(core->machine, core->core);
	now = superqueue_admit(&core->core->prefetch.queue, now);
	private_release(core->machine, core->core);
	return now;
}

static uint64_t prefetch_after(struct machine_hart *core, uint32_t line,
			       enum signal_request request, uint64_t now, uint64_t end)
{
	struct prefetch_plan plan;

	private_hold(core->machine, core->core);
	end = prefetch_missed(core, line, request, now, end, &plan);
	private_release(core->machine, core->core);
	send_among_others(core, &plan, now);
	return end;
}

static MACHINE_INLINE struct slice_answer ask_slice(struct machine_hart *core,
						    struct tor_entry *entry,
						    enum signal_request request, uint64_t issued)
{
	const uint64_t sent = cycle_sent(core, issued);

	if (request == REQUEST_OWN)
		return slice_own(core->machine, entry, core->number_in_socket, sent);
	return slice_read(core->machine, entry, core->number_in_socket, request, sent);
}

/* While the core does not hold its caches, they may change. */
static MACHINE_OUTLINE struct found get_among_others(struct machine_hart *core,
						     struct machine_l1 *l1,
						     enum signal_request request, uint32_t line,
						     uint32_t registers, struct private_look look)
{
	struct machine *machine = core->machine;
	struct machine_state *state = machine->state;
	struct tor_entry entry = {.shared = machine_is_shared(machine)};
	struct miss miss = {.want = {machine, core->core, l1, line, request}};
	struct found found = {.end = 0};
	uint64_t generation = core->core->generation, meetings, end;

	lock_release(&core->core->caches, core->thread);
	if (entry.shared && (end = join(core, &miss.want, &look)))
		return (struct found){PRIVATE_BELOW, -1, end};
	miss.issued = miss_issue(core, request, registers);
	tor_locate(machine, &entry, core->socket, line);
	machine_hold(machine, core->thread);
	if (MACHINE_EMITS)
		cause_request(core, request);
	meetings = state->meetings;
	if (entry.shared)
		gather_note(machine, line, core->number, touched_bytes(core, request));
	if (prefetch_on(core->core))
		miss.issued = admit(core, miss.issued);
	if (look.blocked || generation != core_generation(core->core)) {
		private_hold(machine, core->core);
		found = look_again(core, l1, request, line, miss.issued);
		private_release(machine, core->core);
	}
	if (!found.end)
		found = receive(core, &miss, ask_slice(core, &entry, request, miss.issued));
	if (request != REQUEST_OWN && prefetch_on(core->core))
		found.end =
		    prefetch_after(core, line, request, miss.issued + core->l2_ticks, found.end);
	if (MACHINE_EMITS && core->tracked)
		waits_note_line(core, request, miss.issued, found.end,
				found.end > miss.issued + core->l2_ticks);
	note_end(state, found.end);
	skew_note_request(core, state->meetings != meetings);
	if (MACHINE_EMITS)
		cause_end(&machine->port, 0);
	machine_let_go(machine);
	return found;
}

struct found miss_get(struct machine_hart *core, struct machine_l1 *l1, enum signal_request request,
		      uint32_t line, uint32_t registers, struct private_look look)
{
	if (!MACHINE_EMITS && home_is_read(request) && take_alone(core))
		return get_alone(core, l1, request, line, registers, look);
	return get_among_others(core, l1, request, line, registers, look);
}

void miss_prefetch(struct machine_hart *core, const struct prefetch_plan *plan,
		   enum signal_request request, uint64_t now)
{
	struct machine *machine = core->machine;

	if (!MACHINE_EMITS && take_alone(core)) {
		send_all(core, plan, now);
		lock_release(&core->core->caches, core->thread);
		lock_release_biased(&machine->state->lock);
		return;
	}
	lock_release(&core->core->caches, core->thread);
	machine_hold(machine, core->thread);
	if (MACHINE_EMITS)
		cause_request(core, request);
	send_among_others(core, plan, now);
	skew_note_request(core, false);
	if (MACHINE_EMITS)
		cause_end(&machine->port, 0);
	machine_let_go(machine);
}
