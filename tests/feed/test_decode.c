/* Instructions assembled by hand; what they do to memory is the architecture's, not the decoder's.
 */
#include <string.h>

#include "feed/decode.h"
#include "support/cmocka.h"

/* General registers by encoding number. */
enum {
	RAX = 1 << 0,
	RCX = 1 << 1,
	RDX = 1 << 2,
	RBX = 1 << 3,
	RSP = 1 << 4,
	RBP = 1 << 5,
	RSI = 1 << 6,
	RDI = 1 << 7,
	R8 = 1 << 8,
	R12 = 1 << 12,
	R15 = 1 << 15,
};

struct sample {
	const char *text;
	uint8_t bytes[12];
	uint8_t length;
	uint8_t class, size, loads, stores;
	uint16_t address_registers, loads_registers;
};

/* clang-format off */
static const struct sample samples[] = {
    /* no access, or none that is reported */
    {"add rax, rbx",            {0x48, 0x01, 0xd8}, 3, FEED_NONE, 0, 0, 0, 0, 0},
    {"lea rax, [rdi+rsi*8]",    {0x48, 0x8d, 0x04, 0xf7}, 4, FEED_NONE, 0, 0, 0, 0, 0},
    {"nop dword [rax]",         {0x0f, 0x1f, 0x00}, 3, FEED_NONE, 0, 0, 0, 0, 0},
    /* of caches: size is the kind */
    {"prefetcht0 [rax]",        {0x0f, 0x18, 0x08}, 3, FEED_PREFETCH, MACHINE_HINT_L1, 0, 0, RAX, 0},
    {"prefetchnta [rax]",       {0x0f, 0x18, 0x00}, 3, FEED_PREFETCH, MACHINE_HINT_L1, 0, 0, RAX, 0},
    {"prefetcht1 [rbx+r8*4]",   {0x42, 0x0f, 0x18, 0x14, 0x83}, 5,
     FEED_PREFETCH, MACHINE_HINT_L2, 0, 0, RBX | R8, 0},
    {"prefetcht2 [rip+16]",     {0x0f, 0x18, 0x1d, 0x10, 0, 0, 0}, 7,
     FEED_PREFETCH, MACHINE_HINT_L2, 0, 0, 0, 0},
    {"prefetchw [rax]",         {0x0f, 0x0d, 0x08}, 3, FEED_PREFETCH, MACHINE_HINT_WRITE, 0, 0, RAX, 0},
    {"prefetchw [fs:rdi+8]",    {0x64, 0x0f, 0x0d, 0x4f, 0x08}, 5,
     FEED_PREFETCH, MACHINE_HINT_WRITE, 0, 0, RDI, 0},
    {"clflush [rax]",           {0x0f, 0xae, 0x38}, 3, FEED_FLUSH, 0, 0, 0, RAX, 0},
    {"clflushopt [rax]",        {0x66, 0x0f, 0xae, 0x38}, 4, FEED_FLUSH, 0, 0, 0, RAX, 0},
    {"clwb [rax]",              {0x66, 0x0f, 0xae, 0x30}, 4, FEED_NONE, 0, 0, 0, 0, 0},
    {"xchg eax, ecx",           {0x91}, 1, FEED_NONE, 0, 0, 0, 0, 0},
    {"pause",   {0xf3, 0x90}, 2, FEED_NONE, 0, 0, 0, 0, 0},
    {"syscall",                 {0x0f, 0x05}, 2, FEED_NONE, 0, 0, 0, 0, 0},
    /* loads */
    {"mov rax, [rdi]",          {0x48, 0x8b, 0x07}, 3, FEED_LOAD, 8, 1, 0, RDI, RAX},
    {"mov r15b, [r12]",         {0x45, 0x8a, 0x3c, 0x24}, 4, FEED_LOAD, 1, 1, 0, R12, R15},
    {"mov ah, [rdi]",           {0x8a, 0x27}, 2, FEED_LOAD, 1, 1, 0, RDI, RAX},
    {"movzx ecx, word [rax+r8*4]", {0x42, 0x0f, 0xb7, 0x0c, 0x80}, 5,
     FEED_LOAD, 2, 1, 0, RAX | R8, RCX},
    {"mov eax, [rip+16]",       {0x8b, 0x05, 0x10, 0, 0, 0}, 6, FEED_LOAD, 4, 1, 0, 0, RAX},
    {"mov rax, fs:[0x28]",      {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}, 9,
     FEED_LOAD, 8, 1, 0, 0, RAX},
    {"add rax, [rbx]",          {0x48, 0x03, 0x03}, 3, FEED_LOAD, 8, 1, 0, RBX, RAX},
    {"cmp [rdi], eax",          {0x39, 0x07}, 2, FEED_LOAD, 4, 1, 0, RDI, 0},
    {"test byte [rdi], 1",      {0xf6, 0x07, 0x01}, 3, FEED_LOAD, 1, 1, 0, RDI, 0},
    {"cmove rax, [rdi]",        {0x48, 0x0f, 0x44, 0x07}, 4, FEED_LOAD, 8, 1, 0, RDI, RAX},
    {"mul qword [rdi]",         {0x48, 0xf7, 0x27}, 3, FEED_LOAD, 8, 1, 0, RDI, RAX | RDX},
    {"pop rcx",                 {0x59}, 1, FEED_LOAD, 8, 1, 0, RSP, RCX},
    {"ret",                     {0xc3}, 1, FEED_LOAD, 8, 1, 0, RSP, 0},
    {"rep ret",                 {0xf3, 0xc3}, 2, FEED_LOAD, 8, 1, 0, RSP, 0},
    {"leave",                   {0xc9}, 1, FEED_LOAD, 8, 1, 0, RBP, RBP},
    {"jmp [rax]",               {0xff, 0x20}, 2, FEED_LOAD, 8, 1, 0, RAX, 0},
    {"lodsd",                   {0xad}, 1, FEED_LOAD, 4, 1, 0, RSI, RAX},
    {"scasb",                   {0xae}, 1, FEED_LOAD, 1, 1, 0, RDI, 0},
    {"xlatb",                   {0xd7}, 1, FEED_LOAD, 1, 1, 0, RBX, RAX},
    {"movsd xmm0, [rax]",       {0xf2, 0x0f, 0x10, 0x00}, 4, FEED_LOAD, 8, 1, 0, RAX, 0},
    {"addss xmm0, [rax]",       {0xf3, 0x0f, 0x58, 0x00}, 4, FEED_LOAD, 4, 1, 0, RAX, 0},
    {"fld qword [rax]",         {0xdd, 0x00}, 2, FEED_LOAD, 8, 1, 0, RAX, 0},
    {"movaps xmm0, [rax]",      {0x0f, 0x28, 0x00}, 3, FEED_LOAD_WIDE, 16, 1, 0, RAX, 0},
    {"movntdqa xmm0, [rax]",    {0x66, 0x0f, 0x38, 0x2a, 0x00}, 5,
     FEED_LOAD_WIDE, 16, 1, 0, RAX, 0},
    {"vmovups ymm0, [rax]",     {0xc5, 0xfc, 0x10, 0x00}, 4, FEED_LOAD_WIDE, 32, 1, 0, RAX, 0},
    {"fld tbyte [rax]",         {0xdb, 0x28}, 2, FEED_LOAD_WIDE, 10, 1, 0, RAX, 0},
    {"vfmadd231sd xmm3, xmm2, [rdi]", {0xc4, 0xe2, 0xe9, 0xb9, 0x1f}, 5,
     FEED_LOAD_ONCE, 8, 1, 0, RDI, 0},
    {"vfmadd231pd xmm3, xmm2, [rdi]", {0xc4, 0xe2, 0xe9, 0xb8, 0x1f}, 5,
     FEED_LOAD_WIDE, 16, 1, 0, RDI, 0},
    {"cvtdq2pd xmm0, [rdi]",    {0xf3, 0x0f, 0xe6, 0x07}, 4, FEED_LOAD_ONCE, 8, 1, 0, RDI, 0},
    {"vpsllq ymm3, ymm2, [rdi]", {0xc5, 0xed, 0xf3, 0x1f}, 4, FEED_LOAD_ONCE, 16, 1, 0, RDI, 0},
    {"vpsllq xmm3, xmm2, [rdi]", {0xc5, 0xe9, 0xf3, 0x1f}, 4, FEED_LOAD_WIDE, 16, 1, 0, RDI, 0},
    {"vpsllq ymm3, ymm2, 3",    {0xc5, 0xe5, 0x73, 0xf2, 0x03}, 5, FEED_NONE, 0, 0, 0, 0, 0},
    /* stores */
    {"mov [rdi], rax",          {0x48, 0x89, 0x07}, 3, FEED_STORE, 8, 0, 1, RDI, 0},
    {"mov byte [rdi+rcx], 1",   {0xc6, 0x04, 0x0f, 0x01}, 4, FEED_STORE, 1, 0, 1, RDI | RCX, 0},
    {"push rax",                {0x50}, 1, FEED_STORE, 8, 0, 1, RSP, 0},
    {"push 1",                  {0x6a, 0x01}, 2, FEED_STORE, 8, 0, 1, RSP, 0},
    {"call +0",                 {0xe8, 0, 0, 0, 0}, 5, FEED_STORE, 8, 0, 1, RSP, 0},
    {"call rax",                {0xff, 0xd0}, 2, FEED_STORE, 8, 0, 1, RSP, 0},
    {"sete [rdi]",              {0x0f, 0x94, 0x07}, 3, FEED_STORE, 1, 0, 1, RDI, 0},
    {"stosq",                   {0x48, 0xab}, 2, FEED_STORE, 8, 0, 1, RDI, 0},
    {"movss [rax], xmm0",       {0xf3, 0x0f, 0x11, 0x00}, 4, FEED_STORE, 4, 0, 1, RAX, 0},
    {"movaps [rax], xmm0",      {0x0f, 0x29, 0x00}, 3, FEED_STORE_WIDE, 16, 0, 1, RAX, 0},
    {"vmovdqu [rax], ymm1",     {0xc5, 0xfe, 0x7f, 0x08}, 4, FEED_STORE_WIDE, 32, 0, 1, RAX, 0},
    {"fstp tbyte [rsp]",        {0xdb, 0x3c, 0x24}, 3, FEED_STORE_WIDE, 10, 0, 1, RSP, 0},
    /* both */
    {"add [rdi], rax",          {0x48, 0x01, 0x07}, 3, FEED_UPDATE, 8, 1, 1, RDI, 0},
    {"inc dword [rdi]",         {0xff, 0x07}, 2, FEED_UPDATE, 4, 1, 1, RDI, 0},
    {"xadd [rdi], eax",         {0x0f, 0xc1, 0x07}, 3, FEED_UPDATE, 4, 1, 1, RDI, RAX},
    {"cmpxchg [rdi], rcx",      {0x48, 0x0f, 0xb1, 0x0f}, 4, FEED_UPDATE, 8, 1, 1, RDI, RAX},
    {"push [rax]",              {0xff, 0x30}, 2, FEED_UPDATE, 8, 1, 1, RAX | RSP, 0},
    {"pop [rax]",               {0x8f, 0x00}, 2, FEED_UPDATE, 8, 1, 1, RAX | RSP, 0},
    {"call [rax]",              {0xff, 0x10}, 2, FEED_UPDATE, 8, 1, 1, RAX | RSP, 0},
    {"movsb",                   {0xa4}, 1, FEED_UPDATE, 1, 1, 1, RSI | RDI, 0},
    {"cmpsb",                   {0xa6}, 1, FEED_UPDATE, 1, 2, 0, RSI | RDI, 0},
    /* locked */
    {"lock inc dword [rdi]",    {0xf0, 0xff, 0x07}, 3, FEED_LOCKED, 4, 0, 1, RDI, 0},
    {"lock cmpxchg [rdi], rcx", {0xf0, 0x48, 0x0f, 0xb1, 0x0f}, 5, FEED_LOCKED, 8, 0, 1, RDI, RAX},
    {"lock xadd [rdi], eax",    {0xf0, 0x0f, 0xc1, 0x07}, 4, FEED_LOCKED, 4, 0, 1, RDI, RAX},
    {"lock cmpxchg16b [rdi]",   {0xf0, 0x48, 0x0f, 0xc7, 0x0f}, 5,
     FEED_LOCKED, 16, 0, 1, RDI, RAX | RDX},
    {"xchg [rdi], rax",         {0x48, 0x87, 0x07}, 3, FEED_LOCKED, 8, 0, 1, RDI, RAX},
    /* past the caches */
    {"movnti [rdi], rax",       {0x48, 0x0f, 0xc3, 0x07}, 4, FEED_STORE_NT, 8, 0, 1, RDI, 0},
    {"movntq [rdi], mm0",       {0x0f, 0xe7, 0x07}, 3, FEED_STORE_NT, 8, 0, 1, RDI, 0},
    {"movntdq [rdi], xmm0",     {0x66, 0x0f, 0xe7, 0x07}, 4, FEED_STORE_NT_WIDE, 16, 0, 1, RDI, 0},
    {"movntps [rdi], xmm0",     {0x0f, 0x2b, 0x07}, 3, FEED_STORE_NT_WIDE, 16, 0, 1, RDI, 0},
    {"vmovntdq [rdi], ymm0",    {0xc5, 0xfd, 0xe7, 0x07}, 4, FEED_STORE_NT_WIDE, 32, 0, 1, RDI, 0},
    {"maskmovdqu xmm0, xmm1",   {0x66, 0x0f, 0xf7, 0xc1}, 4, FEED_STORE_NT, 16, 0, 1, RDI, 0},
    /* by elements, or images of state */
    {"vmaskmovps [rax], ymm0, ymm1", {0xc4, 0xe2, 0x7d, 0x2e, 0x08}, 5,
     FEED_STORE_MASKED, 4, 0, 1, RAX, 0},
    {"vpmaskmovq [rdi], xmm2, xmm1", {0xc4, 0xe2, 0xe9, 0x8e, 0x0f}, 5,
     FEED_STORE_MASKED, 8, 0, 1, RDI, 0},
    {"vmaskmovps ymm3, ymm2, [rdi]", {0xc4, 0xe2, 0x6d, 0x2c, 0x1f}, 5,
     FEED_LOAD_ONCE, 32, 1, 0, RDI, 0},
    {"vpgatherdd xmm1, [rax+xmm2*4], xmm3", {0xc4, 0xe2, 0x61, 0x90, 0x0c, 0x90}, 6,
     FEED_MIXED, 4, 1, 0, RAX, 0},
    {"fxsave [rax]",            {0x0f, 0xae, 0x00}, 3, FEED_MIXED, 0, 0, 1, RAX, 0},
    {"enter 16, 0",             {0xc8, 0x10, 0x00, 0x00}, 4, FEED_MIXED, 8, 0, 1, RSP, 0},
};

/* Repeated string instructions, and whether microcode moves them in large pieces. */
static const struct {
	const char *text;
	uint8_t bytes[3], length;
	uint8_t class, size, loads, stores;
} strings[] = {
    {"rep movsb",   {0xf3, 0xa4}, 2,       FEED_FAST_STRING, 1, 1, 1},
    {"rep movsd",   {0xf3, 0xa5}, 2,       FEED_FAST_STRING, 4, 1, 1},
    {"rep movsq",   {0xf3, 0x48, 0xa5}, 3, FEED_FAST_STRING, 8, 1, 1},
    {"rep stosb",   {0xf3, 0xaa}, 2,       FEED_FAST_STRING, 1, 0, 1},
    {"rep lodsb",   {0xf3, 0xac}, 2,       FEED_LOAD,        1, 1, 0},
    {"repe cmpsb",  {0xf3, 0xa6}, 2,       FEED_UPDATE,      1, 2, 0},
    {"repne scasb", {0xf2, 0xae}, 2,       FEED_LOAD,        1, 1, 0},
};
/* clang-format on */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void every_class(void **state)
{
	struct feed_decoder decoder;
	struct feed_insn insn;

	(void)state;
	feed_decoder_init(&decoder);
	for (size_t i = 0; i < COUNT_OF(samples); i++) {
		const struct sample *s = &samples[i];

		if (!feed_decode(&decoder, s->bytes, s->length, &insn))
			fail_msg("%s is not decoded", s->text);
		if (insn.class != s->class || insn.size != s->size || insn.loads != s->loads ||
		    insn.stores != s->stores || insn.length != s->length || insn.repeats)
			fail_msg("%s: class %u size %u loads %u stores %u length %u", s->text,
				 insn.class, insn.size, insn.loads, insn.stores, insn.length);
		if (insn.registers.address_registers != s->address_registers ||
		    insn.registers.loads_registers != s->loads_registers)
			fail_msg("%s: address %#x, receives %#x", s->text,
				 insn.registers.address_registers, insn.registers.loads_registers);
	}
}

static void repeated_strings(void **state)
{
	struct feed_decoder decoder;
	struct feed_insn insn;

	(void)state;
	feed_decoder_init(&decoder);
	for (size_t i = 0; i < COUNT_OF(strings); i++) {
		assert_true(feed_decode(&decoder, strings[i].bytes, strings[i].length, &insn));
		if (!insn.repeats || insn.class != strings[i].class ||
		    insn.size != strings[i].size || insn.loads != strings[i].loads ||
		    insn.stores != strings[i].stores)
			fail_msg("%s: class %u size %u loads %u stores %u", strings[i].text,
				 insn.class, insn.size, insn.loads, insn.stores);
	}
}

/* Every proper beginning of an instruction is none, and reads nothing behind it. */
static void cut_short(void **state)
{
	static const uint8_t whole[] = {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0};
	struct feed_decoder decoder;
	struct feed_insn insn;

	(void)state;
	feed_decoder_init(&decoder);
	for (size_t length = 1; length < sizeof(whole); length++) {
		uint8_t bytes[sizeof(whole)];

		memcpy(bytes, whole, length);
		assert_false(feed_decode(&decoder, bytes, length, &insn));
		assert_int_equal(insn.class, FEED_NONE);
		assert_int_equal(insn.length, length);
	}
	assert_true(feed_decode(&decoder, whole, sizeof(whole), &insn));
}

/* What a result depends on, for following addresses through a block. */
static void values(void **state)
{
	static const struct {
		const char *text;
		uint8_t bytes[5], length;
		uint16_t sources, results;
	} flows[] = {
	    {"lea rdx, [rdi+rsi*8]", {0x48, 0x8d, 0x14, 0xf7}, 4, RDI | RSI, RDX},
	    {"mov rbx, rcx", {0x48, 0x89, 0xcb}, 3, RCX, RBX},
	    {"add rbx, rcx", {0x48, 0x01, 0xcb}, 3, RBX | RCX, RBX},
	    {"mov bl, cl", {0x88, 0xcb}, 2, RBX | RCX, RBX},
	    {"mov ebx, 1", {0xbb, 0x01, 0x00, 0x00, 0x00}, 5, 0, RBX},
	    {"xor ebx, ebx", {0x31, 0xdb}, 2, 0, RBX},
	    {"sub rbx, rbx", {0x48, 0x29, 0xdb}, 3, 0, RBX},
	    {"xor ebx, ecx", {0x31, 0xcb}, 2, RBX | RCX, RBX},
	};
	struct feed_decoder decoder;
	struct feed_insn insn;

	(void)state;
	feed_decoder_init(&decoder);
	for (size_t i = 0; i < COUNT_OF(flows); i++) {
		feed_decode(&decoder, flows[i].bytes, flows[i].length, &insn);
		if (insn.sources != flows[i].sources || insn.results != flows[i].results)
			fail_msg("%s: from %#x to %#x", flows[i].text, insn.sources, insn.results);
	}
}

/* 325384, architectural events: branches are jumps, calls, returns, far transfers. */
static void branches(void **state)
{
	static const struct {
		const char *text;
		uint8_t bytes[8], length;
		bool branches;
	} insns[] = {
	    {"jmp rel8", {0xeb, 0x10}, 2, true},
	    {"jmp [rax]", {0xff, 0x20}, 2, true},
	    {"jne rel8", {0x75, 0x10}, 2, true},
	    {"jc rel32", {0x0f, 0x82, 0, 1, 0, 0}, 6, true},
	    {"jrcxz rel8", {0xe3, 0x10}, 2, true},
	    {"loop rel8", {0xe2, 0xfe}, 2, true},
	    {"call rel32", {0xe8, 0, 1, 0, 0}, 5, true},
	    {"call rax", {0xff, 0xd0}, 2, true},
	    {"ret", {0xc3}, 1, true},
	    {"rep ret", {0xf3, 0xc3}, 2, true},
	    {"ret 8", {0xc2, 0x08, 0x00}, 3, true},
	    {"syscall", {0x0f, 0x05}, 2, true},
	    {"cmove rax, rcx", {0x48, 0x0f, 0x44, 0xc1}, 4, false},
	    {"sete al", {0x0f, 0x94, 0xc0}, 3, false},
	    {"rep movsb", {0xf3, 0xa4}, 2, false},
	    {"push rax", {0x50}, 1, false},
	    {"nop", {0x90}, 1, false},
	    {"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}, 4, false},
	};
	struct feed_decoder decoder;
	struct feed_insn insn;

	(void)state;
	feed_decoder_init(&decoder);
	for (size_t i = 0; i < sizeof(insns) / sizeof(insns[0]); i++) {
		assert_true(feed_decode(&decoder, insns[i].bytes, insns[i].length, &insn));
		if (insn.branches != insns[i].branches)
			fail_msg("%s", insns[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_class), cmocka_unit_test(repeated_strings),
	    cmocka_unit_test(cut_short),   cmocka_unit_test(values),
	    cmocka_unit_test(branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
