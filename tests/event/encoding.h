/* An event's writes against those worked out by hand. */
#ifndef TESTS_EVENT_ENCODING_H
#define TESTS_EVENT_ENCODING_H

#include "pmulab/event.h"
#include "support/cmocka.h"

struct expected_write {
	uint32_t address; /* 0 behind the last */
	uint64_t value;
};

/** Encodes an event of a PMU (NULL: of any); the writes are these, in this order. */
static inline void check_encoding(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *text,
				  unsigned instance, unsigned counter,
				  const struct expected_write *expected)
{
	struct pmu_write writes[PMU_EVENT_WRITES];
	struct pmu_selection selection;
	int count;

	print_message("%s\n", text);
	if (pmu_event_parse(ctx, pmu, text, &selection))
		fail_msg("%s", pmu_message(ctx));
	count = pmu_event_encode(ctx, &selection, instance, counter, writes);
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		assert_int_equal(writes[i].address, expected[i].address);
		assert_int_equal(writes[i].value, expected[i].value);
		assert_int_equal(writes[i].space, selection.box->space);
	}
	assert_int_equal(expected[count].address, 0);
}

#endif
