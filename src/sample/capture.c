#include "sample/capture.h"

#include <string.h>

#include "catalog/signal.h"

struct decoding {
	struct capture *capture;
	bool own;     /* the record is one of the event's */
	bool retired; /* the entry is of something that retired */
};

static void add_branch(struct capture *c, uint64_t from)
{
	if (c->branch_count < CAPTURE_ENTRIES)
		c->branches[c->branch_count++] = (struct pmu_sample_branch){.from = from};
}

static void add_retired(struct decoding *d, uint64_t ip)
{
	struct capture *c = d->capture;

	d->retired = c->retired_count < CAPTURE_ENTRIES;
	if (d->retired)
		c->retired[c->retired_count++] = (struct pmu_sample_retired){.ip = ip};
}

/* A field of an entry that is there already. */
static void of_entry(struct decoding *d, const struct pmu_hwrec_value *value)
{
	struct capture *c = d->capture;
	struct pmu_sample_branch *branch =
	    c->branch_count ? &c->branches[c->branch_count - 1] : NULL;

	switch (value->field->role) {
	case PMU_HWREC_ROLE_BRANCH_TO:
		if (branch) {
			branch->to = value->value;
			branch->taken = true;
		}
		break;
	case PMU_HWREC_ROLE_MISPREDICTED:
		if (branch)
			branch->mispredicted = value->value;
		break;
	case PMU_HWREC_ROLE_RETIRED_CYCLES:
		if (d->retired) {
			c->retired[c->retired_count - 1].cycles = (uint32_t)value->value;
			c->retired[c->retired_count - 1].least = value->least;
		}
		break;
	default:
		break;
	}
}

/* What there is one of; only the event's own records say it. */
static void of_record(struct decoding *d, const struct pmu_hwrec_value *value)
{
	struct capture *c = d->capture;

	if (!d->own)
		return;
	switch (value->field->role) {
	case PMU_HWREC_ROLE_INSTRUCTION:
		c->instruction = value->value;
		c->has_instruction = true;
		break;
	case PMU_HWREC_ROLE_SLOT:
		c->slot = value->value;
		break;
	case PMU_HWREC_ROLE_DATA:
		c->data = value->value;
		c->has_data = true;
		break;
	default:
		c->latency = value->value;
		c->latency_least = value->least;
		c->has_latency = true;
		break;
	}
}

static void on_entry(void *arg, unsigned row, const struct pmu_hwrec_kind *kind)
{
	(void)row;
	(void)kind;
	((struct decoding *)arg)->retired = false;
}

static void on_value(void *arg, const struct pmu_hwrec_value *value)
{
	struct decoding *d = arg;

	switch (value->field->role) {
	case PMU_HWREC_ROLE_NONE:
		break;
	case PMU_HWREC_ROLE_INSTRUCTION:
	case PMU_HWREC_ROLE_SLOT:
	case PMU_HWREC_ROLE_DATA:
	case PMU_HWREC_ROLE_LATENCY:
		of_record(d, value);
		break;
	case PMU_HWREC_ROLE_BRANCH_FROM:
		add_branch(d->capture, value->value);
		break;
	case PMU_HWREC_ROLE_RETIRED:
		add_retired(d, value->value);
		break;
	default:
		of_entry(d, value);
		break;
	}
}

static bool enabled_by(const struct pmu_hwrec *record, const struct pmu_write *write)
{
	for (size_t i = 0; i < record->enabled.count; i++) {
		const struct pmu_register *reg = record->enabled.all[i].part.reg;

		if (reg && reg->space == write->reg->space && reg->offset == write->reg->offset)
			return true;
	}
	return false;
}

static uint32_t records_of(const struct pmu_selection *selection)
{
	const struct pmu_box *box = selection->box;
	struct pmu_write writes[PMU_EVENT_WRITES];
	int count = pmu_event_encode(NULL, selection, 0, 0, writes);
	uint32_t records = 0;

	for (size_t r = 0; r < box->record_count && r < 32; r++)
		for (int i = 0; i < count; i++)
			if (enabled_by(&box->records[r], &writes[i]))
				records |= 1u << r;
	return records;
}

/* Requests of a core are captured outside of it; the core counts how many were. */
static const struct pmu_box *requests_of(const struct pmu_selection *selection)
{
	const struct pmu_pmu *pmu = selection->pmu;

	for (size_t b = 0; b < pmu->box_count; b++)
		if (selection->event && selection->event->signal == SIGNAL_BUS_MARKED &&
		    pmu->boxes[b].scope != PMU_SCOPE_CORE &&
		    pmu_box_register(&pmu->boxes[b], PMU_ROLE_CAPTURE_CTL, 0))
			return &pmu->boxes[b];
	return NULL;
}

void capture_event_init(struct capture_event *event, const struct pmu_selection *selection)
{
	*event = (struct capture_event){.box = selection->box,
					.own = records_of(selection),
					.requests = requests_of(selection)};
}

static void decode_box(struct capture *capture, const struct pmu_box *box, uint32_t own,
		       const struct pmu_register_value *values, size_t count)
{
	static const struct pmu_hwrec_visitor visitor = {
	    .size = sizeof(visitor), .entry = on_entry, .value = on_value};

	for (size_t r = 0; r < box->record_count && r < 32; r++) {
		struct decoding decoding = {.capture = capture, .own = own >> r & 1};

		if (pmu_hwrec_is_enabled(&box->records[r], values, count))
			pmu_hwrec_decode(NULL, &box->records[r], NULL, values, count, &visitor,
					 &decoding);
	}
}

void capture_decode(struct capture *capture, const struct capture_event *event,
		    const struct pmu_register_value *values, size_t count)
{
	memset(capture, 0, sizeof(*capture));
	decode_box(capture, event->box, event->own, values, count);
	if (event->requests)
		decode_box(capture, event->requests, UINT32_MAX, values, count);
	if (capture->has_instruction)
		capture->instruction += capture->slot;
}
