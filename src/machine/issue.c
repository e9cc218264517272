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
#include "machine/mshr.h"

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

/* Tells the lags of vectors what has passed since they were told last. */
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

	if (now > issue->time)
		let_pass(issue, (now - issue->time) * UARCH_CYCLE / cycle);
	issue->time = now;
}

static MACHINE_OUTLINE void wait(struct machine_hart *core, uint32_t ticks)
{
	core->progress->time += ticks;
	catch_up(core);
}

static uint8_t largest_lag(const uint8_t *lags, unsigned count)
{
	uint8_t largest = 0;

	for (unsigned i = 0; i < count; i++)
		largest = lags[i] > largest ? lags[i] : largest;
	return largest;
}

/* The core takes nothing in until no value and no port is too far behind. */
static MACHINE_OUTLINE void hold_back(struct machine_hart *core)
{
	struct machine_issue *issue = &core->issue;
	uint8_t lag, most = issue->lag_most[0];
	uint64_t units;

	settle_vectors(issue);
	lag = largest_lag(issue->lags, PLAN_VALUES);
	units = lag > most ? (uint64_t)(lag - most) * UARCH_CYCLE : 0;
	for (unsigned port = 0; port < UARCH_PORTS; port++)
		if (issue->ports[port] > issue->port_most[port] + units)
			units = issue->ports[port] - issue->port_most[port];
	core->progress->time += units * core->machine->core_ticks / UARCH_CYCLE;
	issue->time = core->progress->time;
	let_pass(issue, units);
	settle_vectors(issue);
}

static inline bool is_zero(__m128i vector)
{
	return _mm_movemask_epi8(_mm_cmpeq_epi8(vector, _mm_setzero_si128())) == 0xffff;
}

/* What is too far behind of values: not zero. */
static inline __m128i excess(const struct machine_issue *issue, __m128i lags)
{
	return _mm_subs_epu8(lags, vector(issue->lag_most));
}

/* A half of the values after the block. @param stride  bytes of a row */
static inline __m128i follow(const struct machine_issue *issue, const struct machine_plan *plan,
			     unsigned half, size_t stride, __m128i passed)
{
	const uint8_t *row = plan->rows + (size_t)half * PLAN_LANES;
	__m128i lags = vector(issue->lags + (size_t)half * PLAN_LANES), after;

	after = _mm_max_epu8(vector(row), _mm_adds_epu8(lags, vector(row + stride)));
	row += 2 * stride;
	for (unsigned i = 0; i < plan->row_count; i++, row += stride) {
		__m128i from = _mm_set1_epi8((char)issue->lags[plan->from[i]]);

		after = _mm_max_epu8(after, _mm_adds_epu8(from, vector(row)));
	}
	return _mm_subs_epu8(after, passed);
}

static inline __m128i book(struct machine_issue *issue, const struct machine_plan *plan)
{
	__m128i ports = vector(issue->ports);

	ports = _mm_adds_epu16(ports, vector(plan->booked));
	ports = _mm_subs_epu16(ports, vector(plan->passed));
	keep(issue->ports, ports);
	return _mm_subs_epu16(ports, vector(issue->port_most));
}

/* The cycles that the lags in the plan leave out, with the bias. */
static inline __m128i passed(struct machine_issue *issue, const struct machine_plan *plan)
{
	uint32_t units = issue->units + plan->rest;

	issue->units = units % UARCH_CYCLE;
	return _mm_set1_epi8((char)(PLAN_BIAS + units / UARCH_CYCLE));
}

static MACHINE_OUTLINE __m128i issue_vectors(struct machine_issue *issue,
					     const struct machine_plan *plan)
{
	__m128i pass = passed(issue, plan), general, other;

	settle_vectors(issue);
	general = follow(issue, plan, 0, PLAN_VALUES, pass);
	other = follow(issue, plan, 1, PLAN_VALUES, pass);
	keep(issue->lags, general);
	keep(issue->lags + PLAN_VECTORS, other);
	return _mm_or_si128(excess(issue, general), excess(issue, other));
}

static inline __m128i issue_general(struct machine_issue *issue, const struct machine_plan *plan)
{
	__m128i general = follow(issue, plan, 0, PLAN_LANES, passed(issue, plan));

	keep(issue->lags, general);
	issue->behind += plan->units;
	return excess(issue, general);
}

/*
 * Takes nothing in until the branch that ended the last block is known, and what follows it has
 * come through the front end.
 */
static MACHINE_OUTLINE void refill(struct machine_hart *core, const struct machine_block_end *last)
{
	const struct machine_issue *issue = &core->issue;
	const uint64_t cycle = core->machine->core_ticks;
	uint32_t lag = last->resolver < PLAN_LANES ? issue->lags[last->resolver] : 0;
	uint64_t known = issue->time + (lag + last->resolve) * cycle;

	known = machine_max(known, mshr_last_arrival(core, last->deciders));
	known = machine_max(known, issue->decided);
	mshr_wait(core, known + core->machine->uarch->refill * cycle);
}

/* @return whether the branch was foreseen */
static MACHINE_OUTLINE bool predict_other(struct machine_hart *core,
					  const struct machine_block_end *last, uint64_t address)
{
	struct predictor *predictor = &core->predictor;

	switch ((enum machine_branch)last->branch) {
	case MACHINE_BRANCH_JUMP_INDIRECT:
		return predict_indirect(predictor, last->hash, address);
	case MACHINE_BRANCH_CALL_INDIRECT:
		predict_call(predictor, last->next);
		return predict_indirect(predictor, last->hash, address);
	case MACHINE_BRANCH_CALL:
		predict_call(predictor, last->next);
		return true;
	case MACHINE_BRANCH_RETURN:
		return predict_return(predictor, address);
	default:
		return true;
	}
}

/* The block at @address follows the last one. */
static inline void branch(struct machine_hart *core, const struct machine_block_end *last,
			  uint64_t address)
{
	const bool taken = address != last->next;
	bool right;

	core->progress->went[last->branch][taken]++;
	if (last->branch == MACHINE_BRANCH_CONDITIONAL)
		right = predict_conditional(&core->predictor, last->hash, taken);
	else
		right = predict_other(core, last, address);
	if (MACHINE_LIKELY(right))
		return;
	core->progress->mispredicted[last->branch][taken]++;
	refill(core, last);
}

void machine_run_planned(struct machine_hart *core, const struct machine_plan *plan)
{
	const uint64_t address = plan->block.address, last = address + plan->block.bytes - 1;
	struct machine_progress *progress = core->progress;
	struct machine_issue *issue = &core->issue;
	__m128i over;

	if (MACHINE_LIKELY(issue->end.branch != MACHINE_BRANCH_NONE))
		branch(core, &issue->end, address);
	if (MACHINE_LIKELY(machine_use(core->l1i, core->code, address, last, MACHINE_TAG_S)))
		progress->fetches++;
	else
		machine_fetch_outline(core, address, last);
	if (!MACHINE_LIKELY(issue->time == progress->time))
		catch_up(core);
	/* A longer block with the same end is the first round of the loop. */
	if (!MACHINE_LIKELY(!plan->carried) && issue->end.next == plan->end.next)
		wait(core, plan->carried);
	issue->end = plan->end;
	issue->decided = 0;
	over = plan->vectors ? issue_vectors(issue, plan) : issue_general(issue, plan);
	over = _mm_or_si128(over, book(issue, plan));
	progress->time += plan->ticks;
	issue->time = progress->time;
	if (!MACHINE_LIKELY(is_zero(over)))
		hold_back(core);
	progress->slots += plan->slots;
	progress->uops += plan->uops;
	progress->branches += plan->block.branches;
	progress->instructions += plan->block.instructions;
	/* Others wait for the clock: a few instructions can take long. */
	if (!MACHINE_LIKELY(progress->instructions < core->attention &&
			    progress->time < core->skew_due))
		machine_attend(core);
}
