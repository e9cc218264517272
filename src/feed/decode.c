#include "feed/decode.h"

#include "feed/operation.h"

#define PIECE_BYTES 8  /* the emulator's own accesses are not larger */
#define WIDEST	    64 /* what a machine takes as one access */

struct operands {
	const ZydisDecodedOperand *all;
	unsigned count;
};

static bool is_read(const ZydisDecodedOperand *operand)
{
	return operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
}

static bool is_written(const ZydisDecodedOperand *operand)
{
	return operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
}

/* A bit for a general register or a part of one, none for any other. */
static uint16_t register_bit(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64)
		return 0;
	return (uint16_t)(1u << ZydisRegisterGetId(whole));
}

static bool is_access(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN && operand->actions;
}

/* Instructions with a memory operand that is never accessed, or not by way of the emulator. */
static bool is_hint(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_CLDEMOTE:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
		return true;
	default:
		return instruction->mnemonic == ZYDIS_MNEMONIC_CLFLUSH;
	}
}

/* Hints of which a machine knows something; FEED_NONE: the others. */
static enum feed_class classify_hint(ZydisMnemonic mnemonic, uint8_t *hint)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_PREFETCHNTA:
	case ZYDIS_MNEMONIC_PREFETCHT0:
		*hint = MACHINE_HINT_L1;
		return FEED_PREFETCH;
	case ZYDIS_MNEMONIC_PREFETCHT1:
	case ZYDIS_MNEMONIC_PREFETCHT2:
		*hint = MACHINE_HINT_L2;
		return FEED_PREFETCH;
	case ZYDIS_MNEMONIC_PREFETCHW:
		*hint = MACHINE_HINT_WRITE;
		return FEED_PREFETCH;
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CLFLUSHOPT:
		return FEED_FLUSH;
	default:
		return FEED_NONE;
	}
}

static uint8_t register_number(ZydisRegister reg)
{
	if (reg == ZYDIS_REGISTER_NONE)
		return FEED_REGISTER_NONE;
	if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
		return FEED_REGISTER_RIP;
	return (uint8_t)ZydisRegisterGetId(reg);
}

static struct feed_address address_of(const ZydisDecodedInstruction *instruction,
				      const ZydisDecodedOperand *memory)
{
	const ZydisRegister segment = memory->mem.segment;

	return (struct feed_address){
	    .displacement = memory->mem.disp.has_displacement ? memory->mem.disp.value : 0,
	    .base = register_number(memory->mem.base),
	    .index = register_number(memory->mem.index),
	    .scale = memory->mem.scale,
	    .segment = segment == ZYDIS_REGISTER_FS   ? 'f'
		       : segment == ZYDIS_REGISTER_GS ? 'g'
						      : 0,
	    .is_short = instruction->address_width == 32,
	};
}

static bool is_non_temporal(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MOVNTI:
	case ZYDIS_MNEMONIC_MOVNTQ:
	case ZYDIS_MNEMONIC_MOVNTDQ:
	case ZYDIS_MNEMONIC_MOVNTPS:
	case ZYDIS_MNEMONIC_MOVNTPD:
	case ZYDIS_MNEMONIC_MOVNTSS:
	case ZYDIS_MNEMONIC_MOVNTSD:
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMOVNTDQ:
	case ZYDIS_MNEMONIC_VMOVNTPS:
	case ZYDIS_MNEMONIC_VMOVNTPD:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
		return true;
	default:
		return false;
	}
}

/* An exchange with memory is locked without a prefix. */
static bool is_locked(const ZydisDecodedInstruction *instruction)
{
	return instruction->attributes & ZYDIS_ATTRIB_HAS_LOCK ||
	       instruction->mnemonic == ZYDIS_MNEMONIC_XCHG;
}

static bool is_repeated(const ZydisDecodedInstruction *instruction)
{
	return instruction->meta.category == ZYDIS_CATEGORY_STRINGOP &&
	       instruction->attributes &
		   (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

static bool is_fast_string(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MOVSB:
	case ZYDIS_MNEMONIC_MOVSW:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVSQ:
	case ZYDIS_MNEMONIC_STOSB:
	case ZYDIS_MNEMONIC_STOSW:
	case ZYDIS_MNEMONIC_STOSD:
	case ZYDIS_MNEMONIC_STOSQ:
		return true;
	default:
		return false;
	}
}

/* Operands that are accessed by elements, under a mask, or as an image of the processor's state. */
static bool is_scattered(const ZydisDecodedInstruction *instruction,
			 const ZydisDecodedOperand *memory)
{
	if (memory->mem.type != ZYDIS_MEMOP_TYPE_MEM || memory->size > 8 * WIDEST)
		return true;
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_FNSTENV:
	case ZYDIS_MNEMONIC_FLDENV:
		return true;
	default:
		return false;
	}
}

static void count_registers(struct feed_insn *insn, const struct operands *operands)
{
	for (unsigned i = 0; i < operands->count; i++) {
		const ZydisDecodedOperand *operand = &operands->all[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			uint16_t address =
			    register_bit(operand->mem.base) | register_bit(operand->mem.index);

			if (is_access(operand))
				insn->registers.address_registers |= address;
			else
				insn->sources |= address;
		}
		if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		if (is_read(operand))
			insn->sources |= register_bit(operand->reg.value);
		if (is_written(operand))
			insn->results |= register_bit(operand->reg.value);
		/* What is written in part or perhaps keeps what it was. */
		if (operand->size < 32 || operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
			insn->sources |= insn->results & register_bit(operand->reg.value);
	}
}

/* A register combined with itself is a constant, whatever it was. */
static void forget_idioms(struct feed_insn *insn, const ZydisDecodedInstruction *instruction,
			  const struct operands *operands)
{
	if (instruction->mnemonic != ZYDIS_MNEMONIC_XOR &&
	    instruction->mnemonic != ZYDIS_MNEMONIC_SUB)
		return;
	if (operands->all[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    operands->all[1].type == ZYDIS_OPERAND_TYPE_REGISTER && operands->all[0].size >= 32 &&
	    operands->all[0].reg.value == operands->all[1].reg.value)
		insn->sources = 0;
}

/* Pointers that stack and string instructions advance do not come from memory. */
static uint16_t advanced_registers(const ZydisDecodedInstruction *instruction)
{
	uint16_t advanced = register_bit(ZYDIS_REGISTER_RSP);

	if (instruction->meta.category == ZYDIS_CATEGORY_STRINGOP)
		advanced |= register_bit(ZYDIS_REGISTER_RSI) | register_bit(ZYDIS_REGISTER_RDI) |
			    register_bit(ZYDIS_REGISTER_RCX);
	return advanced;
}

static bool is_masked(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		return true;
	default:
		return false;
	}
}

static bool is_shift_by_memory(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_VPSLLW:
	case ZYDIS_MNEMONIC_VPSLLD:
	case ZYDIS_MNEMONIC_VPSLLQ:
	case ZYDIS_MNEMONIC_VPSRLW:
	case ZYDIS_MNEMONIC_VPSRLD:
	case ZYDIS_MNEMONIC_VPSRLQ:
	case ZYDIS_MNEMONIC_VPSRAW:
	case ZYDIS_MNEMONIC_VPSRAD:
		return true;
	default:
		return false;
	}
}

/* What emulators read by elements, or QEMU 7.2 too much of. */
static bool is_read_beyond(const ZydisDecodedInstruction *instruction,
			   const ZydisDecodedOperand *memory)
{
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_CVTDQ2PD:
	case ZYDIS_MNEMONIC_VCVTDQ2PD:
	case ZYDIS_MNEMONIC_FBLD:
		return true;
	default:
		break;
	}
	if (is_masked(instruction->mnemonic))
		return true;
	if (instruction->meta.isa_ext == ZYDIS_ISA_EXT_FMA)
		return memory->size <= 8 * PIECE_BYTES;
	return is_shift_by_memory(instruction->mnemonic) && instruction->avx.vector_length == 256;
}

static enum feed_class classify(const ZydisDecodedInstruction *instruction,
				const ZydisDecodedOperand *memory, unsigned accesses)
{
	bool scattered = is_scattered(instruction, memory);
	bool wide = memory->size > 8 * PIECE_BYTES;

	if (is_non_temporal(instruction->mnemonic))
		return wide && !scattered ? FEED_STORE_NT_WIDE : FEED_STORE_NT;
	if (is_locked(instruction))
		return FEED_LOCKED;
	if (is_repeated(instruction) && is_fast_string(instruction->mnemonic))
		return FEED_FAST_STRING;
	if (scattered || (accesses > 1 && wide))
		return FEED_MIXED;
	if (accesses > 1)
		return FEED_UPDATE;
	if (is_masked(instruction->mnemonic) && is_written(memory))
		return FEED_STORE_MASKED;
	if (is_read_beyond(instruction, memory))
		return FEED_LOAD_ONCE;
	if (wide)
		return is_read(memory) ? FEED_LOAD_WIDE : FEED_STORE_WIDE;
	return is_read(memory) ? FEED_LOAD : FEED_STORE;
}

static void find_accesses(struct feed_insn *insn, const ZydisDecodedInstruction *instruction,
			  const struct operands *operands)
{
	const ZydisDecodedOperand *memory = NULL;

	for (unsigned i = 0; i < operands->count; i++) {
		if (!is_access(&operands->all[i]))
			continue;
		memory = &operands->all[i];
		insn->loads += is_read(memory);
		insn->stores += is_written(memory);
	}
	if (!memory || is_hint(instruction)) {
		insn->class = FEED_NONE;
		if (memory)
			insn->class = (uint8_t)classify_hint(instruction->mnemonic, &insn->size);
		insn->loads = insn->stores = 0;
		if (insn->class == FEED_NONE)
			insn->registers.address_registers = 0;
		else
			insn->address = address_of(instruction, memory);
		return;
	}
	insn->class = (uint8_t)classify(instruction, memory, insn->loads + insn->stores);
	insn->address = address_of(instruction, memory);
	if (insn->class == FEED_LOCKED)
		insn->loads = 0;
	if (insn->class == FEED_STORE_MASKED)
		insn->size = (uint8_t)(memory->element_size / 8);
	else if (memory->size <= 8 * WIDEST)
		insn->size = (uint8_t)(memory->size / 8);
	if (insn->loads || insn->class == FEED_LOCKED)
		insn->registers.loads_registers =
		    insn->results & (uint16_t)~advanced_registers(instruction);
}

static bool is_branch(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
		return true;
	default:
		return false;
	}
}

void feed_decoder_init(struct feed_decoder *decoder)
{
	ZydisDecoderInit(&decoder->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

bool feed_decode(const struct feed_decoder *decoder, const uint8_t *bytes, size_t length,
		 struct feed_insn *insn)
{
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand all[ZYDIS_MAX_OPERAND_COUNT];
	struct operands operands = {.all = all};

	*insn = (struct feed_insn){.class = FEED_NONE, .length = (uint8_t)length};
	insn->op.stepped = -1;
	insn->op.length = insn->length;
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder->zydis, bytes, length, &instruction, all)))
		return false;
	operands.count = instruction.operand_count;
	insn->length = instruction.length;
	insn->repeats = is_repeated(&instruction);
	insn->branches = is_branch(&instruction);
	count_registers(insn, &operands);
	forget_idioms(insn, &instruction, &operands);
	find_accesses(insn, &instruction, &operands);
	feed_operation(&insn->op, &instruction, all, insn->loads, insn->stores);
	return true;
}
