/* Measuring requests of cores. */
#include "pmon/ia64/uncore.h"
#include "pmon/ia64/uncore_state.h"

#define ENABLED_WRITES 2u /* that the random choice needs after a reset: an erratum of §5.3 */
#define CHOICE_PERIOD  127u

/* A field of the register's three, by its role. */
struct part {
	const struct pmu_register *reg;
	const struct pmu_field *field;
};

static struct part part_of(const struct pmon_uncore *u, const struct uncore_unit *at,
			   enum pmu_field_role role, unsigned number)
{
	const struct pmu_box *box = uncore_box(u, at)->box;

	for (size_t r = 0; r < box->register_count; r++) {
		const struct pmu_field *field = pmu_field_by_role(&box->registers[r], role, number);

		if (field)
			return (struct part){&box->registers[r], field};
	}
	return (struct part){NULL, NULL};
}

static uint64_t get(const struct pmon_uncore *u, const struct uncore_unit *at,
		    enum pmu_field_role role)
{
	struct part p = part_of(u, at, role, 0);

	return p.field ? uncore_field(u, at, p.reg, p.field->hi, p.field->lo) : 0;
}

/* @return what of the value does not fit */
static uint64_t set(struct pmon_uncore *u, const struct uncore_unit *at, enum pmu_field_role role,
		    unsigned number, uint64_t value)
{
	struct part p = part_of(u, at, role, number);
	uint64_t mask, *slot;

	if (!p.field)
		return 0;
	mask = pmu_mask(p.field->hi, p.field->lo);
	slot = uncore_slot(u, at, p.reg);
	*slot = (*slot & ~mask) | (value << p.field->lo & mask);
	return value > mask >> p.field->lo;
}

/* How a field of the control tells a message; -1: not at all. */
static int code_of(const struct pmon_uncore *u, const struct uncore_unit *at,
		   enum pmu_field_role role, unsigned message)
{
	const struct pmu_box *box = uncore_box(u, at)->box;
	struct part p = part_of(u, at, role, 0);

	for (size_t m = 0; p.field && m < box->modifier_count; m++) {
		const struct pmu_modifier *modifier = &box->modifiers[m];
		const struct pmu_encoding *encoding = modifier->encoding;

		if (modifier->reg == p.reg && modifier->lo == p.field->lo && encoding &&
		    message < encoding->count && encoding->codes[message] != BINDING_NO_CODE)
			return encoding->codes[message];
	}
	return -1;
}

static struct qear *qear_of(struct pmon_uncore *u, const struct uncore_unit *at)
{
	return &u->qears[at->socket][at->instance];
}

void uncore_qear_written(struct pmon_uncore *u, const struct uncore_unit *at, uint64_t now)
{
	struct qear *q = qear_of(u, at);

	if (q->enabled_writes < ENABLED_WRITES)
		q->enabled_writes =
		    get(u, at, PMU_FIELD_REQUEST_ENABLE) ? q->enabled_writes + 1u : 0;
	q->since = now;
	q->until = 0;
	set(u, at, PMU_FIELD_CAPTURE_LATENCY, 6, 0);
}

/* A shift register of seven bits, which goes on each cycle from 1 on: one in eight, about. */
static bool chosen(const struct qear *q, uint64_t time)
{
	unsigned state = 1;

	if (q->enabled_writes < ENABLED_WRITES)
		return false;
	for (uint64_t n = (time > q->since ? time - q->since : 0) % CHOICE_PERIOD; n; n--)
		state = (state << 1 | ((state >> 6 ^ state >> 5) & 1)) & 0x7F;
	return (state & 7) == 7;
}

static bool takes(const struct pmon_uncore *u, const struct uncore_unit *at,
		  const struct detail_request *request)
{
	int class = code_of(u, at, PMU_FIELD_REQUEST_CLASSES, request->message);
	int opcode = code_of(u, at, PMU_FIELD_REQUEST_OPCODE, request->message);
	bool pairs = get(u, at, PMU_FIELD_REQUEST_PAIRS);
	uint64_t differs = (uint64_t)opcode ^ get(u, at, PMU_FIELD_REQUEST_OPCODE);

	if (class < 0 || opcode < 0 || differs & ~get(u, at, PMU_FIELD_REQUEST_ANY_OPCODE) & 0xF)
		return false;
	return pairs ? request->reads : get(u, at, PMU_FIELD_REQUEST_CLASSES) >> class & 1;
}

static void capture(struct pmon_uncore *u, const struct uncore_unit *at,
		    const struct detail_request *request, uint64_t cycles)
{
	uint64_t over = set(u, at, PMU_FIELD_CAPTURE_LATENCY, 6, cycles);

	set(u, at, PMU_FIELD_CAPTURE_OVERFLOW, 6, over);
	set(u, at, PMU_FIELD_CAPTURE_ADDRESS, 6, (uint32_t)request->address >> 6);
	set(u, at, PMU_FIELD_REQUEST_ADDRESS_HIGH, 0, request->address >> 32);
	set(u, at, PMU_FIELD_REQUEST_OPCODE, 1,
	    (uint64_t)code_of(u, at, PMU_FIELD_REQUEST_OPCODE, request->message));
	set(u, at, PMU_FIELD_REQUEST_CLASS, 0,
	    (uint64_t)code_of(u, at, PMU_FIELD_REQUEST_CLASSES, request->message));
	set(u, at, PMU_FIELD_REQUEST_HOME, 0, request->home);
	set(u, at, PMU_FIELD_REQUEST_FROM_HOME, 0, request->reads && request->from_home);
}

static bool measure(struct pmon_uncore *u, const struct uncore_unit *at,
		    const struct detail_request *request, unsigned frozen)
{
	static const uint16_t thresholds[] = {0, 128, 256, 512};
	struct qear *q = qear_of(u, at);
	uint64_t cycles = get(u, at, PMU_FIELD_REQUEST_PAIRS) ? request->apart : request->latency;

	if (!get(u, at, PMU_FIELD_REQUEST_ENABLE) || request->time < q->until ||
	    frozen >> get(u, at, PMU_FIELD_REQUEST_THREAD) & 1 || !takes(u, at, request) ||
	    (!get(u, at, PMU_FIELD_REQUEST_EACH) && !chosen(q, request->time)))
		return false;
	q->until = request->end;
	capture(u, at, request, cycles);
	return cycles >= thresholds[get(u, at, PMU_FIELD_REQUEST_THRESHOLD)];
}

bool pmon_uncore_request(struct pmon_uncore *u, unsigned socket, unsigned core,
			 const struct detail_request *request, unsigned frozen)
{
	const struct uncore_unit at = {.socket = socket, .box = u->requests, .instance = core};

	return uncore_box(u, &at)->box && measure(u, &at, request, frozen);
}
