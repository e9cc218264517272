/* Blocks: their constants, and where the registers of an address come from. */
#include "feed/block.h"
#include "fixture.h"

enum {
	RAX = 1 << 0,
	RBX = 1 << 3,
	RSI = 1 << 6,
	RDI = 1 << 7,
};

struct code {
	struct feed_insn insns[8];
	size_t count;
};

static void add(struct code *code, const char *bytes, size_t length)
{
	struct feed_decoder decoder;

	feed_decoder_init(&decoder);
	assert_true(
	    feed_decode(&decoder, (const uint8_t *)bytes, length, &code->insns[code->count++]));
}

static struct feed_block *make(const struct fixture *fixture, const struct code *code)
{
	struct feed_block *block = malloc(feed_block_size(code->insns, code->count));

	assert_non_null(block);
	feed_block_init(block, fixture->machine, 0x1000, code->insns, code->count);
	return block;
}

static void adds_up(void **state)
{
	struct code code = {.count = 0};
	struct feed_block *block;

	add(&code, "\x48\x8b\x07", 3); /* mov rax, [rdi] */
	add(&code, "\x48\x01\xd8", 3); /* add rax, rbx */
	add(&code, "\x89\x06", 2);     /* mov [rsi], eax */
	assert_int_equal(feed_block_size(code.insns, code.count),
			 sizeof(struct feed_block) + 2 * sizeof(struct feed_access));
	block = make(*state, &code);
	assert_int_equal(block->whole.address, 0x1000);
	assert_int_equal(block->whole.bytes, 8);
	assert_int_equal(block->whole.instructions, 3);
	assert_int_equal(block->accesses[0].size, 8);
	assert_int_equal(block->accesses[0].registers.address_registers, RDI);
	assert_int_equal(block->accesses[1].size, 4);
	assert_int_equal(block->accesses[1].registers.address_registers, RSI);
	assert_false(feed_block_repeats(code.insns, code.count));
	free(block);
}

static void address_computed_from_load(void **state)
{
	struct code code = {.count = 0};
	struct feed_block *block;

	add(&code, "\x48\x8b\x07", 3);	   /* mov rax, [rdi] */
	add(&code, "\x48\x8d\x14\xc3", 4); /* lea rdx, [rbx + rax * 8] */
	add(&code, "\x48\x8b\x0a", 3);	   /* mov rcx, [rdx] */
	block = make(*state, &code);
	assert_int_equal(block->accesses[1].registers.address_registers, RAX | RBX);
	free(block);
}

static void address_from_constant(void **state)
{
	struct code code = {.count = 0};
	struct feed_block *block;

	add(&code, "\x48\x8b\x07", 3);	   /* mov rax, [rdi] */
	add(&code, "\x31\xc0", 2);	   /* xor eax, eax */
	add(&code, "\x48\x8b\x0c\xc3", 4); /* mov rcx, [rbx + rax * 8] */
	block = make(*state, &code);
	assert_int_equal(block->accesses[1].registers.address_registers, RBX);
	free(block);
}

static void pointer_chase(void **state)
{
	struct code code = {.count = 0};
	struct feed_block *block;

	add(&code, "\x48\x8b\x00", 3); /* mov rax, [rax] */
	add(&code, "\x48\x8b\x00", 3);
	block = make(*state, &code);
	assert_int_equal(block->accesses[0].registers.address_registers, RAX);
	assert_int_equal(block->accesses[1].registers.address_registers, RAX);
	assert_int_equal(block->accesses[1].registers.loads_registers, RAX);
	free(block);
}

/* The copy in rdx is of the first load, whose arrival is not known once rax is loaded again. */
static void loaded_anew(void **state)
{
	struct code code = {.count = 0};
	struct feed_block *block;

	add(&code, "\x48\x8b\x07", 3); /* mov rax, [rdi] */
	add(&code, "\x48\x89\xc2", 3); /* mov rdx, rax */
	add(&code, "\x48\x8b\x06", 3); /* mov rax, [rsi] */
	add(&code, "\x48\x8b\x0a", 3); /* mov rcx, [rdx] */
	add(&code, "\x48\x8b\x08", 3); /* mov rcx, [rax] */
	block = make(*state, &code);
	assert_int_equal(block->accesses[2].registers.address_registers, 0);
	assert_int_equal(block->accesses[3].registers.address_registers, RAX);
	assert_int_equal(block->accesses[0].registers.place, 0);
	assert_int_equal(block->accesses[1].registers.place, 6);
	assert_int_equal(block->accesses[3].registers.place, 12);
	free(block);
}

static void repeated_string(void **state)
{
	const struct fixture *fixture = *state;
	struct code code = {.count = 0};
	struct feed_repeat repeat;
	struct feed_block *block;

	add(&code, "\xb9\x10\x00\x00\x00", 5); /* mov ecx, 16 */
	add(&code, "\xf3\x48\xab", 3);	       /* rep stosq */
	block = make(fixture, &code);
	assert_true(feed_block_repeats(code.insns, code.count));
	feed_repeat_init(&repeat, fixture->machine, block, NULL, code.insns, code.count);
	assert_int_equal(repeat.first.address, 0x1000);
	assert_int_equal(repeat.first.instructions, 2);
	assert_int_equal(repeat.address, 0x1005);
	assert_int_equal(repeat.iteration.instructions, 0);
	assert_int_equal(repeat.access.size, 8);
	assert_int_equal(repeat.access.registers.place, 5);
	assert_true(repeat.fast);
	free(block);
}

static void an_access_is_a_word(void **unused)
{
	const struct feed_access access = {{0x8001, 0x4002, 0xc3, false}, 64};
	struct feed_access back = feed_access_unpack(feed_access_pack(access));

	(void)unused;
	assert_int_equal(back.registers.address_registers, 0x8001);
	assert_int_equal(back.registers.loads_registers, 0x4002);
	assert_int_equal(back.registers.place, 0xc3);
	assert_int_equal(back.size, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(adds_up),
	    cmocka_unit_test(address_computed_from_load),
	    cmocka_unit_test(address_from_constant),
	    cmocka_unit_test(pointer_chase),
	    cmocka_unit_test(loaded_anew),
	    cmocka_unit_test(repeated_string),
	    cmocka_unit_test(an_access_is_a_word),
	};

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
