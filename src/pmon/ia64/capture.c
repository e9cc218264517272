#include "pmon/ia64/capture.h"

static struct monitor monitor_of(const struct pmu_box *box, unsigned number)
{
	return (struct monitor){
	    .levels = pmon_ia64_place(box, PMU_FIELD_PRIVILEGE_LEVELS, number),
	    .privileged = pmon_ia64_place(box, PMU_FIELD_PRIVILEGED_MONITOR, number),
	    .sets = pmon_ia64_place(box, PMU_FIELD_INSTRUCTION_SETS, number),
	    .mode = pmon_ia64_place(box, PMU_FIELD_CAPTURE_MODE, number),
	    .umask = pmon_ia64_place(box, PMU_FIELD_CAPTURE_UMASK, number),
	    .latency = pmon_ia64_place(box, PMU_FIELD_CAPTURE_LATENCY, number),
	    .overflow = pmon_ia64_place(box, PMU_FIELD_CAPTURE_OVERFLOW, number),
	    .status = pmon_ia64_place(box, PMU_FIELD_CAPTURE_STATUS, number),
	    .address = pmon_ia64_place(box, PMU_FIELD_CAPTURE_ADDRESS, number),
	};
}

void pmon_ia64_describe_captures(struct captures *c, const struct pmu_box *box)
{
	c->fetch = monitor_of(box, 1);
	c->fetch_threshold = pmon_ia64_place(box, PMU_FIELD_CAPTURE_UMASK, 5);
	c->data = monitor_of(box, 2);
	c->ip = pmon_ia64_place(box, PMU_FIELD_CAPTURE_IP, 2);
	c->valid = pmon_ia64_place(box, PMU_FIELD_CAPTURE_VALID, 2);
	c->bundle = pmon_ia64_place(box, PMU_FIELD_CAPTURE_BUNDLE, 2);
	c->slot = pmon_ia64_place(box, PMU_FIELD_CAPTURE_SLOT, 2);
	c->trace = monitor_of(box, 3);
	c->other_mode = pmon_ia64_place(box, PMU_FIELD_CAPTURE_MODE, 4);
	c->taken = pmon_ia64_place(box, PMU_FIELD_TRACE_TAKEN, 0);
	c->target = pmon_ia64_place(box, PMU_FIELD_TRACE_TARGET, 0);
	c->path = pmon_ia64_place(box, PMU_FIELD_TRACE_PATH, 0);
	c->kind = pmon_ia64_place(box, PMU_FIELD_TRACE_KIND, 0);
	c->no_data = pmon_ia64_place(box, PMU_FIELD_TRACE_NO_DATA, 0);
	c->no_targets = pmon_ia64_place(box, PMU_FIELD_TRACE_NO_TARGETS, 0);
	c->index = pmon_ia64_place(box, PMU_FIELD_TRACE_INDEX, 0);
	c->full = pmon_ia64_place(box, PMU_FIELD_TRACE_FULL, 0);
	c->entry_source = pmon_ia64_place(box, PMU_FIELD_TRACE_SOURCE, 0);
	c->entry_wrong = pmon_ia64_place(box, PMU_FIELD_TRACE_MISPREDICTED, 0);
	c->entry_address = pmon_ia64_place(box, PMU_FIELD_TRACE_ADDRESS, 0);
	c->entry_slot = pmon_ia64_place(box, PMU_FIELD_CAPTURE_SLOT, 3);
	for (unsigned i = 0; i < TRACE_ENTRIES; i++) {
		c->flushed[i] = pmon_ia64_place(box, PMU_FIELD_TRACE_FLUSHED, i);
		c->second[i] = pmon_ia64_place(box, PMU_FIELD_TRACE_SECOND, i);
	}
	pmon_ia64_describe_ip(&c->ips, box);
}

static bool captures_into(const struct monitor *m, uint16_t reg)
{
	return m->latency.reg == reg || m->status.reg == reg || m->address.reg == reg;
}

const struct place *pmon_ia64_capture_privileged(const struct pmon_ia64 *pmu, uint16_t reg)
{
	const struct captures *c = &pmu->captures;

	if (captures_into(&c->fetch, reg))
		return &c->fetch.privileged;
	if (captures_into(&c->data, reg) || c->ip.reg == reg)
		return &c->data.privileged;
	return pmon_ia64_get(pmu, &c->other_mode) ? &c->ips.privileged : &c->trace.privileged;
}

/* An address keeps its place in the register: the bits below the field are others'. */
static void set_address(struct pmon_ia64 *pmu, const struct place *p, uint64_t address)
{
	pmon_ia64_set(pmu, p, address >> p->lo);
}

static void set_latency(struct pmon_ia64 *pmu, const struct monitor *m, unsigned latency)
{
	uint64_t most = m->latency.mask >> m->latency.lo;

	pmon_ia64_set(pmu, &m->latency, latency & most);
	pmon_ia64_set(pmu, &m->overflow, latency > most);
}

/* By the PMU's registers; the processor's status has a say too. */
static bool enabled(const struct pmon_ia64 *pmu, const struct monitor *m)
{
	return !(pmu->regs[pmu->status] & pmu->freeze) &&
	       pmon_ia64_get(pmu, &m->levels) >> LEVEL & 1 &&
	       (!m->sets.mask || pmon_ia64_get(pmu, &m->sets) == pmu->descs[0].sets_right);
}

static bool monitored(const struct pmon_ia64 *pmu, const struct monitor *m)
{
	return enabled(pmu, m) && (pmon_ia64_get(pmu, &m->privileged) ? pmu->system : pmu->user);
}

/* -- Fetches ------------------------------------------------------------------------------------
 */

#define FETCH_CACHE 2u /* bit of the mode; 0: the TLB; 1: nothing */

/* Thresholds of the unit mask: a row of ones from the top; all misses with 01 there. */
static unsigned fetch_threshold(unsigned umask)
{
	static const struct {
		uint8_t umask;
		uint16_t latency;
	} rows[] = {{0xFF, 4},	 {0xFE, 8},   {0xFC, 16},   {0xF8, 32},
		    {0xF0, 128}, {0xE0, 256}, {0xC0, 1024}, {0x80, 4096}};

	if ((umask & 0xC0) == 0x40)
		return 0;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].umask == umask)
			return rows[i].latency;
	return UINT32_MAX; /* hits of a buffer that is not modelled, and undefined ones */
}

/* What a TLB miss is called, as status and as bit of the unit mask. */
static unsigned tlb_status(bool walk)
{
	return walk ? 2 : 1;
}

void pmon_ia64_fetch(struct pmon_ia64 *pmu, const struct detail_fetch *fetch)
{
	const struct captures *c = &pmu->captures;
	unsigned mode = (unsigned)pmon_ia64_get(pmu, &c->fetch.mode), status = 1;

	if (!c->fetch_on || (pmu->constrained && !fetch->by_address))
		return;
	if (mode & FETCH_CACHE) {
		unsigned umask = (unsigned)pmon_ia64_get(pmu, &c->fetch_threshold);

		if (!fetch->cache || fetch->latency < fetch_threshold(umask))
			return;
	} else {
		status = tlb_status(fetch->walk);
		if (mode || !fetch->tlb || !(pmon_ia64_get(pmu, &c->fetch.umask) & 7 & status))
			return;
	}
	set_address(pmu, &c->fetch.address, fetch->address);
	pmon_ia64_set(pmu, &c->fetch.status, status);
	set_latency(pmu, &c->fetch, fetch->latency);
	pmu->own[OWN_FETCH]++;
}

/* -- Data ---------------------------------------------------------------------------------------
 */

enum data_mode {
	DATA_CACHE,
	DATA_TLB,
	DATA_ALAT, /* and 3 */
};

#define DATA_BLIND 7 /* cycles after a captured miss in which no other is */

static bool data_matches(const struct pmon_ia64 *pmu, const struct detail_miss *miss, uint64_t now,
			 unsigned *status)
{
	const struct captures *c = &pmu->captures;
	unsigned umask = (unsigned)pmon_ia64_get(pmu, &c->data.umask);

	*status = 1;
	switch (pmon_ia64_get(pmu, &c->data.mode)) {
	case DATA_CACHE:
		return miss->cache && umask <= 10 && miss->latency >= 4u << umask &&
		       now >= c->blind_until;
	case DATA_TLB:
		*status = tlb_status(miss->walk);
		return miss->tlb && umask >> *status & 1;
	default:
		return miss->alat;
	}
}

void pmon_ia64_miss(struct pmon_ia64 *pmu, const struct detail_miss *miss, uint64_t now)
{
	struct captures *c = &pmu->captures;
	unsigned status;

	if (!c->data_on || (pmu->constrained && !miss->by_data) ||
	    !data_matches(pmu, miss, now, &status))
		return;
	c->blind_until = now + DATA_BLIND;
	set_address(pmu, &c->data.address, miss->address);
	set_latency(pmu, &c->data, miss->latency);
	pmon_ia64_set(pmu, &c->data.status, status);
	set_address(pmu, &c->ip, miss->ip - 16u * miss->bundle);
	pmon_ia64_set(pmu, &c->slot, miss->slot);
	pmon_ia64_set(pmu, &c->bundle, miss->bundle);
	pmon_ia64_set(pmu, &c->valid, !miss->stack);
	pmu->own[OWN_DATA]++;
}

/* -- Branches -----------------------------------------------------------------------------------
 */

/* Writes the next entry. @return its number */
static unsigned trace(struct pmon_ia64 *pmu, bool source, bool mispredicted, unsigned slot,
		      uint64_t address)
{
	const struct captures *c = &pmu->captures;
	unsigned n = (unsigned)pmon_ia64_get(pmu, &c->index);
	uint64_t *entry = &pmu->regs[c->entry_source.reg + n];

	*entry = (source ? c->entry_source.mask : 0) | (mispredicted ? c->entry_wrong.mask : 0) |
		 ((uint64_t)slot << c->entry_slot.lo & c->entry_slot.mask) |
		 (address & c->entry_address.mask);
	pmon_ia64_set(pmu, &c->index, n + 1);
	if (n + 1 == TRACE_ENTRIES)
		pmon_ia64_set(pmu, &c->full, 1);
	pmon_ia64_set(pmu, &c->flushed[n], 0);
	pmon_ia64_set(pmu, &c->second[n], 0);
	return n;
}

static void end_waiting(struct pmon_ia64 *pmu)
{
	if (pmu->captures.waiting)
		trace(pmu, false, true, 0, pmu->captures.waiting_target);
	pmu->captures.waiting = false;
}

static bool among(const struct pmon_ia64 *pmu, const struct place *pair, bool first)
{
	return pmon_ia64_get(pmu, pair) >> first & 1;
}

static bool traced(const struct pmon_ia64 *pmu, const struct detail_branch *b)
{
	const struct captures *c = &pmu->captures;
	uint64_t kind = pmon_ia64_get(pmu, &c->kind);

	if (pmon_ia64_get(pmu, &c->no_data) || (kind && kind != b->kind + 1u))
		return false;
	if (pmon_ia64_get(pmu, &c->target) == 1 && !b->path_right)
		return false; /* of a wrong path no target is predicted */
	return among(pmu, &c->taken, b->taken) && among(pmu, &c->target, b->target_right) &&
	       among(pmu, &c->path, b->path_right) && (!pmu->constrained || b->by_mark);
}

/* Whether the entry after a branch is to have its target. */
static bool targets(const struct pmon_ia64 *pmu, const struct detail_branch *b)
{
	const struct captures *c = &pmu->captures;
	bool all_taken = pmon_ia64_get(pmu, &c->taken) == 2 && !pmon_ia64_get(pmu, &c->kind);

	return b->taken && !(pmon_ia64_get(pmu, &c->no_targets) && all_taken &&
			     b->kind == DETAIL_BRANCH_IP_RELATIVE);
}

/* In the cycle after the branch that waits, in the two bundles at its target. */
static bool stands_for_target(const struct captures *c, const struct detail_branch *b, uint64_t now)
{
	return c->waiting && now == c->waiting_since + 1 &&
	       b->ip - 16u * b->bundle == c->waiting_target;
}

/* Branches of one bundle that retire in one cycle have one entry: that of the taken one, if any. */
static bool joins_last(const struct captures *c, const struct detail_branch *b, uint64_t now)
{
	return now == c->traced_at && b->ip == c->traced_ip;
}

void pmon_ia64_branch(struct pmon_ia64 *pmu, const struct detail_branch *b, uint64_t now)
{
	struct captures *c = &pmu->captures;
	unsigned n;

	if (!c->trace_on || !traced(pmu, b))
		return;
	if (joins_last(c, b, now)) {
		pmon_ia64_set(pmu, &c->index, pmon_ia64_get(pmu, &c->index) - 1);
	} else {
		if (stands_for_target(c, b, now))
			c->waiting = false;
		end_waiting(pmu);
		pmu->own[OWN_BRANCH]++;
	}
	n = trace(pmu, true, !(b->path_right && b->target_right), b->taken ? b->slot : 3,
		  b->ip - 16u * b->bundle);
	pmon_ia64_set(pmu, &c->flushed[n], b->flushed);
	pmon_ia64_set(pmu, &c->second[n], b->bundle);
	c->traced_ip = b->ip;
	c->traced_at = now;
	c->waiting = targets(pmu, b);
	c->waiting_since = now;
	c->waiting_target = b->target;
}

void pmon_ia64_configure_captures(struct pmon_ia64 *pmu)
{
	struct captures *c = &pmu->captures;
	const bool traces = !pmon_ia64_get(pmu, &c->other_mode);

	c->fetch_on = monitored(pmu, &c->fetch);
	c->data_on = monitored(pmu, &c->data);
	c->trace_on = traces && monitored(pmu, &c->trace);
	if (!c->trace_on)
		end_waiting(pmu);
	pmu->wants.fetches = c->fetch_on;
	pmu->wants.misses = c->data_on;
	pmu->wants.branches = c->trace_on;
	pmu->wants.matches |=
	    pmu->constrained && (enabled(pmu, &c->fetch) || enabled(pmu, &c->data) ||
				 (traces && enabled(pmu, &c->trace)));
}
