/*
 * The buffer of retired addresses (IP-EAR): in the trace's registers, an entry a cycle in which
 * something retires. It goes on for a number of cycles after the monitors freeze.
 */
#include "pmon/ia64/capture.h"

void pmon_ia64_describe_ip(struct ip_buffer *b, const struct pmu_box *box)
{
	b->levels = pmon_ia64_place(box, PMU_FIELD_PRIVILEGE_LEVELS, 4);
	b->privileged = pmon_ia64_place(box, PMU_FIELD_PRIVILEGED_MONITOR, 4);
	b->delay = pmon_ia64_place(box, PMU_FIELD_CAPTURE_DELAY, 0);
	b->cycles = pmon_ia64_place(box, PMU_FIELD_IP_CYCLES, 0);
	b->address = pmon_ia64_place(box, PMU_FIELD_IP_ADDRESS, 0);
	b->low = pmon_ia64_place(box, PMU_FIELD_IP_LOW, 0);
	for (unsigned i = 0; i < TRACE_ENTRIES; i++) {
		b->cycles_high[i] = pmon_ia64_place(box, PMU_FIELD_IP_CYCLES_HIGH, i);
		b->flushed[i] = pmon_ia64_place(box, PMU_FIELD_IP_FLUSHED, i);
		b->early[i] = pmon_ia64_place(box, PMU_FIELD_IP_EARLY, i);
	}
	b->frozen_at = UINT64_MAX;
}

#define MODE_IP 4u /* bit of the mode */

static bool enabled(const struct pmon_ia64 *pmu)
{
	const struct ip_buffer *b = &pmu->captures.ips;

	return pmon_ia64_get(pmu, &pmu->captures.other_mode) & MODE_IP &&
	       pmon_ia64_get(pmu, &b->levels) >> LEVEL & 1 &&
	       (pmon_ia64_get(pmu, &b->privileged) ? pmu->system : pmu->user);
}

/* The cycle with which it freezes; UINT64_MAX: it does not. */
static uint64_t last_cycle(const struct pmon_ia64 *pmu)
{
	const struct ip_buffer *b = &pmu->captures.ips;

	return b->frozen_at == UINT64_MAX ? UINT64_MAX
					  : b->frozen_at + pmon_ia64_get(pmu, &b->delay);
}

/* @param low  bits 11:4 of the address, or with `early` what is left of the delay */
static void write(struct pmon_ia64 *pmu, uint64_t ip, uint64_t low, uint64_t cycle, bool flushed,
		  bool early)
{
	struct captures *c = &pmu->captures;
	struct ip_buffer *b = &c->ips;
	unsigned n = (unsigned)pmon_ia64_get(pmu, &c->index);
	uint64_t elapsed = cycle - b->last;

	elapsed = elapsed > 63 ? 63 : elapsed;
	pmu->regs[b->address.reg + n] = (elapsed << b->cycles.lo & b->cycles.mask) |
					(ip >> 12 << b->address.lo & b->address.mask) |
					(low << b->low.lo & b->low.mask);
	pmon_ia64_set(pmu, &b->cycles_high[n], elapsed >> 4);
	pmon_ia64_set(pmu, &b->flushed[n], flushed);
	pmon_ia64_set(pmu, &b->early[n], early);
	pmon_ia64_set(pmu, &c->index, n + 1);
	if (n + 1 == TRACE_ENTRIES)
		pmon_ia64_set(pmu, &c->full, 1);
	b->last = cycle;
	b->ip = ip;
}

static void stop(struct pmon_ia64 *pmu)
{
	pmu->captures.ips.on = false;
	pmu->wants.groups = false;
}

void pmon_ia64_group(struct pmon_ia64 *pmu, const struct detail_group *group)
{
	const struct ip_buffer *b = &pmu->captures.ips;
	uint64_t last = last_cycle(pmu), cycle = group->cycle < last ? group->cycle : last;

	if (!b->on)
		return;
	/* What comes after the last cycle stands for what the processor would have retired in it.
	 */
	write(pmu, group->ip, group->ip >> 4 & 0xFF, cycle, group->flushed, false);
	if (group->cycle >= last)
		stop(pmu);
}

/* Turned off by PSR while the delay runs: an entry with what is left of it. */
static void freeze_early(struct pmon_ia64 *pmu, uint64_t now)
{
	write(pmu, pmu->captures.ips.ip, last_cycle(pmu) - now, now, false, true);
}

void pmon_ia64_configure_ip(struct pmon_ia64 *pmu, uint64_t now)
{
	struct ip_buffer *b = &pmu->captures.ips;
	bool frozen = pmu->regs[pmu->status] & pmu->freeze, able = enabled(pmu);

	if (!frozen)
		b->frozen_at = UINT64_MAX;
	else if (b->frozen_at == UINT64_MAX)
		b->frozen_at = now;
	if (frozen && b->on && !able && now < last_cycle(pmu))
		freeze_early(pmu, now);
	if (able && !frozen && !b->on)
		b->last = now;
	b->on = able && (!frozen || (b->on && now < last_cycle(pmu)));
	pmu->wants.groups = b->on;
}
