#include "plans.h"

#include <stdlib.h>

#include "feed/block.h"
#include "support/cmocka.h"

#define INSNS_MAX 16

struct machine_plan *plan_of_code(const struct machine *machine, const uint8_t *begin,
				  const uint8_t *end, uint64_t address)
{
	_Alignas(struct feed_block) char memory[FEED_BLOCK_SIZE_MAX(INSNS_MAX)];
	struct machine_plan *plan = aligned_alloc(64, (MACHINE_PLAN_BYTES_MAX + 63) / 64 * 64);
	struct feed_block *block = (struct feed_block *)memory;
	struct feed_insn insns[INSNS_MAX];
	struct feed_decoder decoder;
	size_t count = 0;

	assert_non_null(plan);
	feed_decoder_init(&decoder);
	for (const uint8_t *at = begin; at < end; at += insns[count++].length) {
		assert_true(count < INSNS_MAX);
		assert_true(feed_decode(&decoder, at, (size_t)(end - at), &insns[count]));
	}
	feed_block_init(block, machine, address, insns, count);
	assert_true(feed_block_plan(plan, machine, block, insns, count) > 0);
	return plan;
}
