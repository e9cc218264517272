/* What the accumulators say of requests that left a core, by kind and by what answered them. */
#include "machine/accumulator.h"
#include "machine/slice.h"

/* Kinds of reads: of the core's accesses, of L2's prefetchers into it, and into the LLC. */
#define KINDS 9
static_assert(KINDS * SOURCES + 5 == RESPONSE_ACCUMULATORS, "each is reported");

#define SAYS(what) QUALIFIER_CORE_RESPONSE_##what

/* In the LLC, by state from S on; snoops there, and of the other socket by its response. */
static const uint32_t suppliers[] = {SAYS(LLC_S), SAYS(LLC_E), SAYS(LLC_M), SAYS(LLC_F)};
static const uint32_t snoops[] = {
    [SOURCE_LLC] = SAYS(NOT_NEEDED),
    [SOURCE_LLC_GONE] = SAYS(MISSED) | SAYS(LLC_GONE),
    [SOURCE_LLC_CLEAN] = SAYS(KEPT) | SAYS(LLC_CLEAN),
    [SOURCE_LLC_MODIFIED] = SAYS(MODIFIED) | SAYS(LLC_MODIFIED),
};
static const uint32_t far_snoops[] = {
    [SNOOP_RSP_I] = SAYS(MISSED),
    [SNOOP_RSP_S] = SAYS(KEPT),
    [SNOOP_RSP_S_FWD] = SAYS(FORWARDED),
    [SNOOP_RSP_I_FWD] = SAYS(FORWARDED),
    [SNOOP_RSP_S_WB] = SAYS(MODIFIED) | SAYS(REMOTE_MODIFIED),
    [SNOOP_RSP_I_WB] = SAYS(MODIFIED) | SAYS(REMOTE_MODIFIED),
    [SOURCE_MISS_MODIFIED] = SAYS(MODIFIED) | SAYS(REMOTE_MODIFIED),
};

static uint32_t said_of(unsigned source)
{
	const unsigned response = (source - SOURCE_MISS) / 2;

	if (source < SOURCE_MISS)
		return suppliers[source / SOURCE_SNOOPS] | snoops[source_snoop(source)];
	/* Memory has the data, unless a cache of the other socket sends them. */
	if (response > SNOOP_RSP_S)
		return SAYS(REMOTE) | far_snoops[response];
	if ((source - SOURCE_MISS) % 2)
		return SAYS(REMOTE) | SAYS(REMOTE_MEMORY) | far_snoops[response];
	return SAYS(LOCAL) | far_snoops[response];
}

static uint64_t demands(const struct core *core, enum signal_request request, unsigned source)
{
	uint64_t sum = 0;

	for (unsigned whom = 0; whom < ANSWERS; whom++)
		sum += core->answers[whom][request][source];
	return sum;
}

void accumulators_tell_responses(const struct machine *machine, unsigned number)
{
	static const struct {
		uint32_t says;
		enum signal_request request;
		bool prefetched;
	} kinds[KINDS] = {
	    {SAYS(DATA), REQUEST_READ_DATA, false},
	    {SAYS(OWN), REQUEST_READ_OWN, false},
	    {SAYS(CODE), REQUEST_READ_CODE, false},
	    {SAYS(L2_DATA), REQUEST_READ_DATA, true},
	    {SAYS(L2_OWN), REQUEST_READ_OWN, true},
	    {SAYS(L2_CODE), REQUEST_READ_CODE, true},
	    {SAYS(LLC_DATA), REQUEST_PREFETCH_DATA, true},
	    {SAYS(LLC_OWN), REQUEST_PREFETCH_OWN, true},
	    {SAYS(LLC_CODE), REQUEST_PREFETCH_CODE, true},
	};
	struct core *core = &machine->cores[number];
	uint64_t owned[2] = {0};
	struct accumulator_sum sums[RESPONSE_ACCUMULATORS];
	unsigned count = 0;

	for (unsigned kind = 0; kind < KINDS; kind++)
		for (unsigned source = 0; source < SOURCES; source++)
			sums[count++] = (struct accumulator_sum){
			    SIGNAL_CORE_RESPONSE,
			    kinds[kind].prefetched
				? core->l2_prefetches[kinds[kind].request][source]
				: demands(core, kinds[kind].request, source),
			    kinds[kind].says | said_of(source)};
	/* Nobody supplies a line for these. */
	for (unsigned source = 0; source < SOURCES; source++)
		owned[source >= SOURCE_MISS] += demands(core, REQUEST_OWN, source);
	for (unsigned missed = 0; missed < 2; missed++)
		sums[count++] =
		    (struct accumulator_sum){SIGNAL_CORE_RESPONSE, owned[missed],
					     SAYS(OWN) | SAYS(NO_SUPPLIER) | SAYS(SNOOP_NONE) |
						 (missed ? SAYS(OWN_MISSED) : 0)};
	sums[count++] =
	    (struct accumulator_sum){SIGNAL_CORE_RESPONSE, core->l2_writebacks,
				     SAYS(WRITEBACK) | SAYS(NO_SUPPLIER) | SAYS(SNOOP_NONE)};
	for (unsigned remote = 0; remote < 2; remote++)
		sums[count++] = (struct accumulator_sum){
		    SIGNAL_CORE_RESPONSE, core->wc_lines[remote],
		    SAYS(STREAMING) | SAYS(NO_SUPPLIER) | SAYS(SNOOP_NONE) |
			(remote ? SAYS(STREAMING_REMOTE) : SAYS(STREAMING_LOCAL))};
	accumulators_tell(machine, number, sums, core->reported_responses, count);
}
