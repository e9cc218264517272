/*
 * A core takes instructions in at its width, in order, and computes them when their values and
 * their ports are there. Of each value and each port it is known how far that is behind. A core
 * that is behind by as much as its reorder buffer holds takes nothing in until it is less.
 *
 * Lags are relative to the core's clock. Where that moves for other reasons (misses, locked
 * accesses, a thread that did not run), they shrink.
 */
#include "machine/issue.h"

#include <immintrin.h>
#include <string.h>

#include "machine/access.h"
#include "machine/buffers.h"
#include "machine/front.h"
#include "machine/mshr.h"
#include "machine/pipe.h"

static __m128i vector(const void *at)
{
	return _mm_load_si128((const __m128i *)at);
}

static void keep(void *at, __m128i vector)
{
	_mm_store_si128((__m128i *)at, vector);
}

void issue_init(struct machine_hart *core)
{
	struct machine_issue *issue = &core->issue;

	if (!machine_plans(core->machine))
		return;
	memset(issue->lag_most, (int)machine_plan_lag_most(core->machine), sizeof(issue->lag_most));
	for (unsigned port = 0; port < UARCH_PORTS; port++)
		issue->port_most[port] =
		    (uint16_t)(machine_plan_port_most(core->machine) * UARCH_CYCLE);
}

/* Lags shrink by @units in which nothing was taken in. */
static void let_pass(struct machine_issue *issue, uint64_t units)
{
	const uint16_t most = (uint16_t)(units < UINT16_MAX ? units : UINT16_MAX);
	uint64_t cycles;

	issue->units += most;
	cycles = issue->units / UARCH_CYCLE;
	issue->units %= UARCH_CYCLE;
	cycles = cycles < UINT8_MAX ? cycles : UINT8_MAX;
	keep(issue->lags, _mm_subs_epu8(vector(issue->lags), _mm_set1_epi8((char)cycles)));
	keep(issue->ports, _mm_subs_epu16(vector(issue->ports), _mm_set1_epi16((short)most)));
	issue->behind += most;
}

/*
 * Tells the lags of vectors what has passed since they were told last. The part of a cycle that is
 * left is that of the others: issue->units.
 */
static inline void settle_vectors(struct machine_issue *issue)
{
	uint64_t behind = issue->behind / UARCH_CYCLE;
	uint8_t *vectors = issue->lags + PLAN_VECTORS;

	behind = behind < UINT8_MAX ? behind : UINT8_MAX;
	keep(vectors, _mm_subs_epu8(vector(vectors), _mm_set1_epi8((char)behind)));
	issue->behind %= UARCH_CYCLE;
}

static MACHINE_OUTLINE void catch_up(struct machine_hart *core)
{
	const uint64_t now = core->progress->time, cycle = core->machine->core_ticks;
	struct machine_issue *issue = &core->issue;

	if (now > issue->time) {
		const uint64_t units = (now - issue->time) * UARCH_CYCLE / cycle;

		let_pass(issue, units);
		front_pass(core, units);
	}
	issue->time = now;
}

/* Of bytes. */
static inline unsigned largest(__m128i lags)
{
	lags = _mm_max_epu8(lags, _mm_srli_si128(lags, 8));
	lags = _mm_max_epu8(lags, _mm_srli_si128(lags, 4));
	lags = _mm_max_epu8(lags, _mm_srli_si128(lags, 2));
	lags = _mm_max_epu8(lags, _mm_srli_si128(lags, 1));
	return (unsigned)_mm_cvtsi128_si32(lags) & 0xff;
}

/* Of words below 2^15. */
static inline unsigned largest_word(__m128i words)
{
	words = _mm_max_epi16(words, _mm_srli_si128(words, 8));
	words = _mm_max_epi16(words, _mm_srli_si128(words, 4));
	words = _mm_max_epi16(words, _mm_srli_si128(words, 2));
	return (unsigned)_mm_cvtsi128_si32(words) & 0xffff;
}

/* What is too far behind of values: not zero. */
static inline __m128i excess(const struct machine_issue *issue, __m128i lags)
{
	return _mm_subs_epu8(lags, vector(issue->lag_most));
}

static inline __m128i excess_of_ports(const struct machine_issue *issue, __m128i ports)
{
	return _mm_subs_epu16(ports, vector(issue->port_most));
}

static inline bool is_zero(__m128i vector)
{
#ifdef __SSE4_1__
	return _mm_testz_si128(vector, vector);
#endif
	return _mm_movemask_epi8(_mm_cmpeq_epi8(vector, _mm_setzero_si128())) == 0xffff;
}

static inline bool must_attend(const struct machine_hart *core)
{
	/* Others wait for the clock: a few instructions can take long. */
	return core->progress->instructions >= core->attention ||
	       core->progress->time >= core->skew_due;
}

/* The core takes nothing in until no value and no port is too far behind. */
static MACHINE_OUTLINE void hold_back(struct machine_hart *core, const struct machine_plan *plan)
{
	struct machine_issue *issue = &core->issue;
	__m128i lags;
	uint64_t units, ports, ticks;

	settle_vectors(issue);
	lags = _mm_max_epu8(vector(issue->lags), vector(issue->lags + PLAN_VECTORS));
	units = (uint64_t)largest(excess(issue, lags)) * UARCH_CYCLE;
	ports = largest_word(excess_of_ports(issue, vector(issue->ports)));
	ticks = machine_max(units, ports) * core->machine->core_ticks / UARCH_CYCLE;
	core->progress->stalls[units < ports ? STALL_PORTS : STALL_VALUES] += ticks;
	units = machine_max(units, ports);
	core->progress->time += ticks;
	issue->time = core->progress->time;
	let_pass(issue, units);
	front_pass(core, units);
	settle_vectors(issue);
	if (must_attend(core))
		machine_attend_block(core, plan->ticks);
}

#ifdef __AVX2__
static inline __m128i repeat(uint8_t value)
{
	return _mm_set1_epi8((char)value);
}
#else
#define TIMES_4(row, n) row(n), row((n) + 1), row((n) + 2), row((n) + 3)
#define TIMES_16(row, n)                                                                           \
	TIMES_4(row, n), TIMES_4(row, (n) + 4), TIMES_4(row, (n) + 8), TIMES_4(row, (n) + 12)
#define TIMES_64(row, n)                                                                           \
	TIMES_16(row, n), TIMES_16(row, (n) + 16), TIMES_16(row, (n) + 32), TIMES_16(row, (n) + 48)
#define SAME(n)                                                                                    \
	{                                                                                          \
		n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n                                     \
	}

/* Each byte sixteen times: processors without AVX2 make no such vector in less than four steps. */
static const _Alignas(16) uint8_t repeated[256][PLAN_LANES] = {
    TIMES_64(SAME, 0), TIMES_64(SAME, 64), TIMES_64(SAME, 128), TIMES_64(SAME, 192)};

static inline __m128i repeat(uint8_t value)
{
	return vector(repeated[value]);
}
#endif

/* What the block makes of the lags that nothing in it adds to. @param row  what they are at least
 */
static inline __m128i carry_over(const struct machine_plan *plan, __m128i lags, const uint8_t *row)
{
	const __m128i least = vector(row);
	const __m128i kept =
	    _mm_and_si128(_mm_cmpeq_epi8(least, _mm_setzero_si128()), repeat(plan->kept));

	return _mm_max_epu8(least, _mm_adds_epu8(lags, kept));
}

/* The lags @after, with those that value @from leads to. */
static inline __m128i add_row(const struct machine_issue *issue, __m128i after, uint8_t from,
			      const uint8_t *row)
{
	return _mm_max_epu8(after, _mm_adds_epu8(repeat(issue->lags[from]), vector(row)));
}

static inline const uint8_t *sources(const struct machine_plan *plan, size_t stride)
{
	return MACHINE_LIKELY(plan->row_count <= PLAN_FROM_MOST)
		   ? plan->from
		   : plan->rows + (1 + (size_t)plan->row_count) * stride;
}

/* A half of the values after the block. @param stride  bytes of a row */
static inline __m128i follow(const struct machine_issue *issue, const struct machine_plan *plan,
			     unsigned half, size_t stride, __m128i passed)
{
	const uint8_t *row = plan->rows + (size_t)half * PLAN_LANES, *from = sources(plan, stride);
	const __m128i lags = vector(issue->lags + (size_t)half * PLAN_LANES);
	__m128i after = carry_over(plan, lags, row);

	for (unsigned i = 0; i < plan->row_count; i++)
		after = add_row(issue, after, from[i], row += stride);
	return _mm_subs_epu8(after, passed);
}

/* As follow(), of general registers alone, and few rows: a jump instead of a loop. */
static inline __m128i follow_few(const struct machine_issue *issue, const struct machine_plan *plan,
				 __m128i passed)
{
	const uint8_t *from = plan->from, *rows = plan->rows + PLAN_LANES;
	__m128i after = carry_over(plan, vector(issue->lags), plan->rows);

#define ROW(i)                                                                                     \
	after = add_row(issue, after, from[i], rows + (size_t)(i)*PLAN_LANES);                     \
	__attribute__((fallthrough))
	_Static_assert(PLAN_FROM_MOST == 6, "a case for each row");
	switch (plan->row_count) {
	case 6:
		ROW(5);
	case 5:
		ROW(4);
	case 4:
		ROW(3);
	case 3:
		ROW(2);
	case 2:
		ROW(1);
	case 1:
		ROW(0);
	case 0:
		break;
	default:
		__builtin_unreachable();
	}
#undef ROW
	return _mm_subs_epu8(after, passed);
}

/* The cycles that the lags in the plan leave out, with the bias. */
static inline __m128i passed(struct machine_issue *issue, const struct machine_plan *plan)
{
	uint32_t units = issue->units + plan->rest;

	issue->units = units % UARCH_CYCLE;
	return repeat((uint8_t)(PLAN_BIAS + units / UARCH_CYCLE));
}

#ifdef __SSE4_1__
static inline void add_two(uint64_t *counts, const uint16_t *more)
{
	const __m128i two = _mm_cvtepu16_epi64(_mm_loadu_si32(more));

	keep(counts, _mm_add_epi64(vector(counts), two));
}
#else
static inline void add_two(uint64_t *counts, const uint16_t *more)
{
	counts[0] += more[0];
	counts[1] += more[1];
}
#endif

#define COUNTS_ARE(first, second)                                                                  \
	_Static_assert(offsetof(struct machine_plan, second) -                                     \
				   offsetof(struct machine_plan, first) ==                         \
			       sizeof(uint16_t) &&                                                 \
			   offsetof(struct machine_progress, second) -                             \
				   offsetof(struct machine_progress, first) ==                     \
			       sizeof(uint64_t),                                                   \
		       "two at once")
COUNTS_ARE(instructions, slots);
COUNTS_ARE(uops, branches);

static inline void count(struct machine_progress *progress, const struct machine_plan *plan)
{
	add_two(&progress->instructions, &plan->instructions);
	add_two(&progress->uops, &plan->uops);
}

/* @param over  what values are too far behind */
static inline __attribute__((always_inline)) void
finish(struct machine_hart *core, const struct machine_plan *plan, __m128i over)
{
	struct machine_progress *progress = core->progress;
	struct machine_issue *issue = &core->issue;
	const __m128i ports = _mm_max_epi16(
	    _mm_adds_epi16(vector(issue->ports), vector(plan->booked)), _mm_setzero_si128());

	keep(issue->ports, ports);
	progress->time += plan->ticks;
	issue->time = progress->time;
	count(progress, plan);
	if (!MACHINE_LIKELY(is_zero(_mm_or_si128(over, excess_of_ports(issue, ports)))))
		hold_back(core, plan);
	else if (!MACHINE_LIKELY(!must_attend(core)))
		machine_attend_block(core, plan->ticks);
}

static inline void set_end(struct machine_issue *issue, const struct machine_plan *plan)
{
	issue->end = plan->end;
	issue->next = plan->address + plan->bytes;
	issue->decided = 0;
}

static MACHINE_OUTLINE void issue_vectors(struct machine_hart *core,
					  const struct machine_plan *plan)
{
	struct machine_issue *issue = &core->issue;
	__m128i pass, general, other;

	set_end(issue, plan);
	settle_vectors(issue);
	pass = passed(issue, plan);
	issue->behind = issue->units;
	general = follow(issue, plan, 0, PLAN_VALUES, pass);
	other = follow(issue, plan, 1, PLAN_VALUES, pass);
	keep(issue->lags, general);
	keep(issue->lags + PLAN_VECTORS, other);
	finish(core, plan, excess(issue, _mm_max_epu8(general, other)));
}

static inline __attribute__((always_inline)) void
finish_general(struct machine_hart *core, const struct machine_plan *plan, __m128i general)
{
	struct machine_issue *issue = &core->issue;

	keep(issue->lags, general);
	issue->behind += plan->units;
	finish(core, plan, excess(issue, general));
}

/* As most blocks are: not special. */
static inline __attribute__((always_inline)) void issue_block(struct machine_hart *core,
							      const struct machine_plan *plan)
{
	struct machine_issue *issue = &core->issue;

	set_end(issue, plan);
	finish_general(core, plan, follow_few(issue, plan, passed(issue, plan)));
}

/* @return ticks that have passed */
static uint64_t wait_for_front(struct machine_hart *core, uint32_t units)
{
	const uint64_t owed = core->front.owed + units * core->machine->core_ticks;
	const uint64_t ticks = owed / UARCH_CYCLE;

	core->front.owed = owed % UARCH_CYCLE;
	core->progress->stalls[STALL_DECODE] += ticks;
	core->progress->time += ticks;
	core->issue.time = core->progress->time;
	let_pass(&core->issue, units);
	return ticks;
}

/* Where the clock has moved, or the block is special. */
static MACHINE_OUTLINE void issue_other(struct machine_hart *core, const struct machine_plan *plan)
{
	struct machine_issue *issue = &core->issue;

	if (issue->time != core->progress->time)
		catch_up(core);
	/* A longer block with the same end is the first round of the loop. */
	if (plan->special & PLAN_CARRIES && issue->next == plan->address + plan->bytes) {
		core->progress->time += plan->carried;
		catch_up(core);
	}
	if (front_loops(core, plan))
		core->progress->front.looped += plan->slots;
	if (plan->special & PLAN_SEQUENCES)
		wait_for_front(core, front_sequence(core, plan));
	if (plan->special & PLAN_FENCES)
		buffers_fence(core, plan->instructions);
	if (plan->special & PLAN_BOTH_HALVES) {
		issue_vectors(core, plan);
		return;
	}
	set_end(issue, plan);
	finish_general(core, plan, follow(issue, plan, 0, PLAN_LANES, passed(issue, plan)));
}

/* What L1I has not ends what the front end has in advance, and is not decoded. */
static void fetch_lines(struct machine_hart *core, uint64_t address, uint64_t last)
{
	const uint64_t begin = core->progress->time, misses = core->l1i->misses;

	machine_fetch_outline(core, address, last);
	if (MACHINE_LIKELY(core->progress->time == begin))
		return;
	catch_up(core);
	core->front.ahead = 0;
	if (core->l1i->misses != misses)
		front_drop(core, address, last);
}

static MACHINE_OUTLINE void fetch_late(struct machine_hart *core, const struct machine_plan *plan)
{
	const uint64_t address = plan->address, last = address + plan->bytes - 1;
	uint64_t late = 0;
	uint32_t units;

	if (machine_use(core->l1i, core->code, address, last, MACHINE_TAG_S))
		core->progress->fetches++;
	else
		fetch_lines(core, address, last);
	if (core->issue.time != core->progress->time)
		catch_up(core);
	if (!front_has(core, address)) {
		units = front_deliver(core, plan);
		late = units ? wait_for_front(core, units) : 0;
	}
	if (!MACHINE_LIKELY(!core->watched))
		pipe_count(core, plan, late);
	if (MACHINE_LIKELY(!plan->special))
		issue_block(core, plan);
	else
		issue_other(core, plan);
}

static inline __attribute__((always_inline)) void fetch(struct machine_hart *core,
							const struct machine_plan *plan)
{
	const uint64_t address = plan->address, last = address + plan->bytes - 1;

	if (!MACHINE_LIKELY(front_has(core, address) &&
			    machine_use(core->l1i, core->code, address, last, MACHINE_TAG_S))) {
		fetch_late(core, plan);
		return;
	}
	core->progress->fetches++;
	if (MACHINE_LIKELY(core->issue.time == core->progress->time && !plan->special))
		issue_block(core, plan);
	else
		issue_other(core, plan);
}

/*
 * Takes nothing in until the branch that ended the last block is known, and what follows it has
 * come through the front end.
 */
static MACHINE_OUTLINE void refill(struct machine_hart *core, const struct machine_plan *plan)
{
	const struct machine_issue *issue = &core->issue;
	const struct machine_block_end *last = &issue->end;
	const uint64_t cycle = core->machine->core_ticks;
	uint32_t lag = last->resolver < PLAN_LANES     ? issue->lags[last->resolver]
		       : last->resolver == PLAN_LOADED ? core->machine->uarch->load
						       : 0;
	uint64_t known = issue->time + (lag + 1) * cycle, begin;

	if (last->branch == MACHINE_BRANCH_CONDITIONAL)
		predict_learn(&core->predictor, last->hash);
	core->progress->mispredicted[last->branch][plan->address != issue->next]++;
	core->unforeseen = true;
	known = machine_max(known, mshr_last_arrival(core, last->deciders));
	known = machine_max(known, issue->decided);
	begin = machine_max(known, core->progress->time);
	mshr_stall(core, STALL_BRANCH, known + core->machine->uarch->refill * cycle);
	core->progress->front.refilled += core->progress->time - begin;
	catch_up(core);
	core->front.ahead = 0;
	fetch(core, plan);
}

/* @return whether the branch, which is no conditional one, was foreseen */
static bool predict_other(struct machine_hart *core, const struct machine_block_end *last,
			  uint64_t address)
{
	struct predictor *predictor = &core->predictor;

	switch ((enum machine_branch)last->branch) {
	case MACHINE_BRANCH_JUMP_INDIRECT:
		return predict_indirect(predictor, last->hash, address);
	case MACHINE_BRANCH_CALL_INDIRECT:
		predict_call(predictor, core->issue.next);
		return predict_indirect(predictor, last->hash, address);
	case MACHINE_BRANCH_CALL:
		predict_call(predictor, core->issue.next);
		return true;
	case MACHINE_BRANCH_RETURN:
		return predict_return(predictor, address);
	default:
		return true;
	}
}

static MACHINE_OUTLINE void follow_other(struct machine_hart *core, const struct machine_plan *plan)
{
	const struct machine_block_end *last = &core->issue.end;

	core->progress->went[last->branch][plan->address != core->issue.next]++;
	if (predict_other(core, last, plan->address))
		fetch(core, plan);
	else
		refill(core, plan);
}

void machine_run_planned(struct machine_hart *core, const struct machine_plan *plan)
{
	const struct machine_block_end *last = &core->issue.end;
	const bool taken = plan->address != core->issue.next;

	if (last->branch == MACHINE_BRANCH_NONE) {
		fetch(core, plan);
		return;
	}
	if (last->branch != MACHINE_BRANCH_CONDITIONAL) {
		follow_other(core, plan);
		return;
	}
	core->progress->went[MACHINE_BRANCH_CONDITIONAL][taken]++;
	if (MACHINE_LIKELY(predict_conditional(&core->predictor, last->hash, taken)))
		fetch(core, plan);
	else
		refill(core, plan);
}
