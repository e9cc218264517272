#include "feed/operation.h"

struct instruction {
	const ZydisDecodedInstruction *decoded;
	const ZydisDecodedOperand *operands;
	unsigned count, visible;
};

static bool is_register(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool is_memory(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

static bool is_written(const ZydisDecodedOperand *operand)
{
	return operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
}

static bool is_read(const ZydisDecodedOperand *operand)
{
	return operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
}

static unsigned number_of(ZydisRegister reg)
{
	return (unsigned)ZydisRegisterGetId(reg);
}

/*
 * The value that a register has, PLAN_VALUES for none. Registers of MMX take the places of the
 * upper vector registers, and the top of the x87 stack that of the last one: code that uses both
 * is rare.
 */
static unsigned value_of(ZydisRegister reg)
{
	const ZydisRegister whole =
	    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	switch (ZydisRegisterGetClass(whole ? whole : reg)) {
	case ZYDIS_REGCLASS_GPR64:
		return number_of(whole) == PLAN_FLAGS ? PLAN_VALUES : number_of(whole);
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return number_of(whole ? whole : reg) < PLAN_LANES
			   ? PLAN_VECTORS + number_of(whole ? whole : reg)
			   : PLAN_VALUES;
	case ZYDIS_REGCLASS_MMX:
		return PLAN_VECTORS + 8 + number_of(reg);
	case ZYDIS_REGCLASS_X87:
		return reg == ZYDIS_REGISTER_ST0 ? PLAN_VALUES - 1 : PLAN_VALUES;
	default:
		return PLAN_VALUES;
	}
}

static uint32_t bit_of(ZydisRegister reg)
{
	const unsigned value = value_of(reg);

	return value < PLAN_VALUES ? 1u << value : 0;
}

static bool is_general(ZydisRegister reg)
{
	const ZydisRegister whole =
	    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64;
}

/* What is written in part, or perhaps, keeps what it was. */
static bool merges(const ZydisDecodedOperand *operand)
{
	return operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE ||
	       (operand->size < 32 && is_general(operand->reg.value));
}

static void take_register(struct machine_op *op, const ZydisDecodedOperand *operand)
{
	const uint32_t bit = bit_of(operand->reg.value);

	if (is_read(operand))
		op->reads |= bit;
	if (!is_written(operand))
		return;
	op->writes |= bit;
	if (merges(operand))
		op->reads |= bit;
	if (operand->size > 128)
		op->wide_load = true;
}

static uint8_t address_part(ZydisRegister reg)
{
	return reg != ZYDIS_REGISTER_NONE && is_general(reg) ? (uint8_t)number_of(reg)
							     : PLAN_ADDRESS_NONE;
}

static void take_address(struct machine_op *op, const ZydisDecodedOperand *operand)
{
	const uint32_t registers = bit_of(operand->mem.base) | bit_of(operand->mem.index);

	if (operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN || !operand->actions) {
		op->reads |= registers;
		return;
	}
	op->address |= (uint16_t)registers;
	op->wide_access |= operand->size > 128;
	op->reads |= registers & UINT32_MAX << PLAN_VECTORS;
	/* Of two, as a string is moved, neither is compared with others. */
	if (op->operand.bytes || operand->size > 8 * 64 ||
	    operand->mem.segment == ZYDIS_REGISTER_FS ||
	    operand->mem.segment == ZYDIS_REGISTER_GS) {
		op->operand.bytes = 0;
		return;
	}
	op->operand = (struct machine_op_address){
	    .base = address_part(operand->mem.base),
	    .index = address_part(operand->mem.index),
	    .scale = operand->mem.scale,
	    .bytes = (uint8_t)(operand->size / 8),
	    .displacement = (int32_t)operand->mem.disp.value,
	};
}

static void take_operands(struct machine_op *op, const struct instruction *instruction)
{
	for (unsigned i = 0; i < instruction->count; i++) {
		const ZydisDecodedOperand *operand = &instruction->operands[i];

		if (is_register(operand))
			take_register(op, operand);
		else if (is_memory(operand))
			take_address(op, operand);
	}
	op->vector_load = op->loads && op->writes >> PLAN_VECTORS;
}

static void take_flags(struct machine_op *op, const ZydisDecodedInstruction *decoded)
{
	const ZydisAccessedFlags *flags = decoded->cpu_flags;
	const uint32_t kept = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF |
			      ZYDIS_CPUFLAG_OF | ZYDIS_CPUFLAG_PF;
	uint32_t written;

	if (!flags)
		return;
	written = (flags->modified | flags->set_0 | flags->set_1 | flags->undefined) & kept;
	op->reads_flags = flags->tested & ZYDIS_CPUFLAG_CF;
	op->reads_others = flags->tested & kept & ~(uint32_t)ZYDIS_CPUFLAG_CF;
	op->writes_flags = written & ZYDIS_CPUFLAG_CF;
	op->writes_others = written & ~(uint32_t)ZYDIS_CPUFLAG_CF;
}

static const ZydisDecodedOperand *operand_of(const struct instruction *instruction, unsigned i)
{
	return i < instruction->count ? &instruction->operands[i] : NULL;
}

static bool has_register(const struct instruction *instruction, unsigned i)
{
	return i < instruction->visible && is_register(&instruction->operands[i]);
}

/* The sources, which are two in the forms of AVX: one register and itself. */
static bool has_one_source(const struct instruction *instruction)
{
	const unsigned first = instruction->visible == 3 ? 1 : 0;

	return instruction->visible >= 2 && instruction->visible <= 3 &&
	       has_register(instruction, first) && has_register(instruction, first + 1) &&
	       instruction->operands[first].reg.value ==
		   instruction->operands[first + 1].reg.value &&
	       instruction->operands[first].size >= 32;
}

/* A register with itself is a constant, which cores know without computing it, */
static bool is_zero(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_VPXOR:
	case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_VXORPS:
	case ZYDIS_MNEMONIC_XORPD:
	case ZYDIS_MNEMONIC_VXORPD:
	case ZYDIS_MNEMONIC_PSUBB:
	case ZYDIS_MNEMONIC_PSUBW:
	case ZYDIS_MNEMONIC_PSUBD:
	case ZYDIS_MNEMONIC_PSUBQ:
	case ZYDIS_MNEMONIC_VPSUBB:
	case ZYDIS_MNEMONIC_VPSUBW:
	case ZYDIS_MNEMONIC_VPSUBD:
	case ZYDIS_MNEMONIC_VPSUBQ:
	case ZYDIS_MNEMONIC_PCMPGTB:
	case ZYDIS_MNEMONIC_PCMPGTW:
	case ZYDIS_MNEMONIC_PCMPGTD:
		return true;
	default:
		return false;
	}
}

/* or which they compute, but wait for nothing. */
static bool is_ones(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_PCMPEQB:
	case ZYDIS_MNEMONIC_PCMPEQW:
	case ZYDIS_MNEMONIC_PCMPEQD:
	case ZYDIS_MNEMONIC_VPCMPEQB:
	case ZYDIS_MNEMONIC_VPCMPEQW:
	case ZYDIS_MNEMONIC_VPCMPEQD:
		return true;
	default:
		return false;
	}
}

static void take_idioms(struct machine_op *op, const struct instruction *instruction)
{
	const ZydisMnemonic mnemonic = instruction->decoded->mnemonic;

	if (!has_one_source(instruction))
		return;
	if (is_zero(mnemonic))
		op->timing = MACHINE_TIMING_ZERO;
	else if (!is_ones(mnemonic))
		return;
	op->reads = 0;
}

/* Legacy scalar forms keep the upper part of what they write. */
static void take_merging(struct machine_op *op, const struct instruction *instruction)
{
	const ZydisDecodedOperand *first = operand_of(instruction, 0);

	if (instruction->decoded->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || !first ||
	    !is_register(first))
		return;
	switch (op->timing) {
	case MACHINE_TIMING_CONVERT_GENERAL:
	case MACHINE_TIMING_CONVERT_WIDEN:
	case MACHINE_TIMING_CONVERT_NARROW:
	case MACHINE_TIMING_ROOT_SINGLE:
	case MACHINE_TIMING_ROOT_DOUBLE:
	case MACHINE_TIMING_FLOAT_ESTIMATE:
	case MACHINE_TIMING_FLOAT_ROUND:
		if (first->size < 128 || first->element_size == first->size ||
		    instruction->operands[1].size < 128)
			op->reads |= bit_of(first->reg.value);
		break;
	default:
		break;
	}
}

static uint8_t divide_timing(unsigned bits, bool is_signed)
{
	return bits == 8    ? MACHINE_TIMING_DIVIDE_8
	       : bits == 16 ? MACHINE_TIMING_DIVIDE_16
	       : bits == 32 ? MACHINE_TIMING_DIVIDE_32
	       : is_signed  ? MACHINE_TIMING_DIVIDE_64_SIGNED
			    : MACHINE_TIMING_DIVIDE_64;
}

static uint8_t multiply_timing(const struct instruction *instruction, unsigned bits)
{
	if (instruction->decoded->mnemonic == ZYDIS_MNEMONIC_MULX)
		return bits == 64 ? MACHINE_TIMING_MULTIPLY_WIDE : MACHINE_TIMING_MULTIPLY_WIDE_32;
	if (instruction->visible > 1 || bits == 8)
		return MACHINE_TIMING_MULTIPLY;
	return bits == 64 ? MACHINE_TIMING_MULTIPLY_WIDE : MACHINE_TIMING_MULTIPLY_WIDE_32;
}

static bool is_slow_address(const ZydisDecodedOperand *operand)
{
	return operand->mem.base != ZYDIS_REGISTER_NONE &&
	       operand->mem.index != ZYDIS_REGISTER_NONE && operand->mem.disp.has_displacement;
}

static uint8_t move_timing(const struct instruction *instruction, unsigned bits)
{
	/* An immediate is computed; what is moved in part is merged. */
	if (instruction->decoded->mnemonic == ZYDIS_MNEMONIC_MOV && has_register(instruction, 0) &&
	    !is_memory(&instruction->operands[1]) && (!has_register(instruction, 1) || bits < 32))
		return MACHINE_TIMING_ALU;
	return MACHINE_TIMING_MOVE;
}

static uint8_t quad_timing(const struct instruction *instruction)
{
	if (!has_register(instruction, 0) || !has_register(instruction, 1))
		return MACHINE_TIMING_VECTOR_MOVE_QUAD;
	if (is_general(instruction->operands[0].reg.value))
		return MACHINE_TIMING_TO_GENERAL;
	return is_general(instruction->operands[1].reg.value) ? MACHINE_TIMING_FROM_GENERAL
							      : MACHINE_TIMING_VECTOR_MOVE_QUAD;
}

static uint8_t wide_timing(uint8_t timing)
{
	switch (timing) {
	case MACHINE_TIMING_DIVIDE_SINGLE_PACKED:
		return MACHINE_TIMING_DIVIDE_SINGLE_256;
	case MACHINE_TIMING_DIVIDE_DOUBLE_PACKED:
		return MACHINE_TIMING_DIVIDE_DOUBLE_256;
	case MACHINE_TIMING_ROOT_SINGLE_PACKED:
		return MACHINE_TIMING_ROOT_SINGLE_256;
	case MACHINE_TIMING_ROOT_DOUBLE_PACKED:
		return MACHINE_TIMING_ROOT_DOUBLE_256;
	default:
		return timing;
	}
}

static bool widens_lanes(ZydisMnemonic mnemonic)
{
	return mnemonic >= ZYDIS_MNEMONIC_VPMOVSXBD && mnemonic <= ZYDIS_MNEMONIC_VPMOVZXWQ;
}

/* One mnemonic has several classes, by its operands. */
static uint8_t timing_of(const struct instruction *instruction)
{
	const ZydisDecodedInstruction *decoded = instruction->decoded;
	const ZydisDecodedOperand *first = operand_of(instruction, 0);
	const uint8_t timing = feed_timings[decoded->mnemonic];
	const unsigned bits = first ? first->size : 0;

	if (decoded->meta.category == ZYDIS_CATEGORY_STRINGOP)
		return MACHINE_TIMING_STRING;
	switch (timing) {
	case MACHINE_TIMING_MOVE:
		return move_timing(instruction, bits);
	case MACHINE_TIMING_LEA:
		return is_slow_address(&instruction->operands[1]) ? MACHINE_TIMING_LEA_SLOW
								  : MACHINE_TIMING_LEA;
	case MACHINE_TIMING_SHIFT:
		return has_register(instruction, 1) ? MACHINE_TIMING_SHIFT_COUNT : timing;
	case MACHINE_TIMING_MULTIPLY:
	case MACHINE_TIMING_MULTIPLY_WIDE_32:
		return multiply_timing(instruction, bits);
	case MACHINE_TIMING_DIVIDE_8:
		return divide_timing(bits, decoded->mnemonic == ZYDIS_MNEMONIC_IDIV);
	case MACHINE_TIMING_BYTE_SWAP:
		return bits == 64 ? MACHINE_TIMING_BYTE_SWAP_64 : timing;
	case MACHINE_TIMING_VECTOR_MOVE_QUAD:
		return quad_timing(instruction);
	case MACHINE_TIMING_VECTOR_SHIFT:
		return has_register(instruction, instruction->visible - 1)
			   ? MACHINE_TIMING_VECTOR_SHIFT_COUNT
			   : timing;
	case MACHINE_TIMING_SHUFFLE:
		return bits == 256 && widens_lanes(decoded->mnemonic) ? MACHINE_TIMING_SHUFFLE_LANES
								      : timing;
	default:
		return bits == 256 ? wide_timing(timing) : timing;
	}
}

static bool extends(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_MOVZX || mnemonic == ZYDIS_MNEMONIC_MOVSX ||
	       mnemonic == ZYDIS_MNEMONIC_MOVSXD;
}

/* With memory these only load or store. */
static bool is_pure(const struct machine_op *op, const ZydisDecodedInstruction *decoded)
{
	if (!op->loads && !op->stores)
		return false;
	switch (op->timing) {
	case MACHINE_TIMING_MOVE:
	case MACHINE_TIMING_VECTOR_MOVE:
	case MACHINE_TIMING_VECTOR_MOVE_QUAD:
	case MACHINE_TIMING_X87_MOVE:
		return true;
	case MACHINE_TIMING_VECTOR_MOVE_LOW:
		/* Halves are merged, scalars are not. */
		return op->stores || !(op->reads >> PLAN_VECTORS);
	case MACHINE_TIMING_SHUFFLE_LANES:
		return op->loads && decoded->meta.category == ZYDIS_CATEGORY_BROADCAST;
	case MACHINE_TIMING_ALU:
		return extends(decoded->mnemonic) ||
		       decoded->meta.category == ZYDIS_CATEGORY_DATAXFER;
	default:
		return false;
	}
}

static enum machine_branch branch_of(const struct instruction *instruction)
{
	const ZydisDecodedOperand *first = operand_of(instruction, 0);
	const bool direct = first && first->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	switch (instruction->decoded->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return MACHINE_BRANCH_CONDITIONAL;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return direct ? MACHINE_BRANCH_JUMP : MACHINE_BRANCH_JUMP_INDIRECT;
	case ZYDIS_CATEGORY_CALL:
		return direct ? MACHINE_BRANCH_CALL : MACHINE_BRANCH_CALL_INDIRECT;
	case ZYDIS_CATEGORY_RET:
		return MACHINE_BRANCH_RETURN;
	case ZYDIS_CATEGORY_SYSCALL:
		return MACHINE_BRANCH_SYSTEM;
	default:
		return MACHINE_BRANCH_NONE;
	}
}

static uint8_t fuses(const struct instruction *instruction)
{
	/* Memory and an immediate at once do not. */
	const bool both = instruction->visible > 1 && is_memory(&instruction->operands[0]) &&
			  instruction->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	switch (instruction->decoded->mnemonic) {
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_TEST:
		return both ? 0 : 1;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		return 2;
	default:
		return 0;
	}
}

/* A register to which a constant is added still tells where an address is. */
static void take_step(struct machine_op *op, const struct instruction *instruction)
{
	const ZydisDecodedOperand *first = operand_of(instruction, 0);
	const ZydisDecodedOperand *second = operand_of(instruction, 1);
	int64_t step;

	op->stepped = -1;
	if (!first || !is_register(first) || first->size != 64 || !is_general(first->reg.value))
		return;
	switch (instruction->decoded->mnemonic) {
	case ZYDIS_MNEMONIC_INC:
		step = 1;
		break;
	case ZYDIS_MNEMONIC_DEC:
		step = -1;
		break;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (second->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return;
		step = instruction->decoded->mnemonic == ZYDIS_MNEMONIC_ADD ? second->imm.value.s
									    : -second->imm.value.s;
		break;
	default:
		return;
	}
	op->stepped = (int8_t)number_of(first->reg.value);
	op->step = (int32_t)step;
}

static bool writes_stack_pointer(const struct instruction *instruction)
{
	for (unsigned i = 0; i < instruction->count; i++) {
		const ZydisDecodedOperand *operand = &instruction->operands[i];

		if (is_register(operand) && is_written(operand) && is_general(operand->reg.value) &&
		    number_of(operand->reg.value) == PLAN_FLAGS)
			return true;
	}
	return false;
}

/* A push writes below the stack pointer, a pop reads at it. */
static void take_stack(struct machine_op *op, const struct instruction *instruction)
{
	const ZydisInstructionCategory category = instruction->decoded->meta.category;
	const int32_t word = 8;

	if (category == ZYDIS_CATEGORY_PUSH || category == ZYDIS_CATEGORY_CALL) {
		op->stepped = PLAN_FLAGS;
		op->step = -word;
	} else if (category == ZYDIS_CATEGORY_POP || category == ZYDIS_CATEGORY_RET) {
		op->stepped = PLAN_FLAGS;
		op->step = word;
	} else {
		if (op->stepped < 0 && writes_stack_pointer(instruction)) {
			op->stepped = PLAN_FLAGS;
			op->step = PLAN_STEP_UNKNOWN;
		}
		return;
	}
	if (op->loads + op->stores != 1) {
		op->operand.bytes = 0;
		return;
	}
	op->operand = (struct machine_op_address){
	    .base = PLAN_FLAGS,
	    .index = PLAN_ADDRESS_NONE,
	    .bytes = (uint8_t)word,
	    .displacement = op->stores ? -word : 0,
	};
}

static void take_arithmetic(struct machine_op *op, const struct instruction *instruction)
{
	const struct feed_arithmetic *known = &feed_arithmetic[instruction->decoded->mnemonic];

	op->floats = known->count;
	op->float_kind = known->kind;
	if (!known->count || instruction->operands[0].size != 256)
		return;
	op->float_kind = known->kind == FLOAT_DOUBLE_128 ? FLOAT_DOUBLE_256 : FLOAT_SINGLE_256;
}

/* The operand size prefix where it makes an immediate one of 16 bits. */
static bool has_length_prefix(const ZydisDecodedInstruction *decoded)
{
	return decoded->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE && decoded->raw.imm[0].size == 16;
}

void feed_operation(struct machine_op *op, const ZydisDecodedInstruction *decoded,
		    const ZydisDecodedOperand *operands, unsigned loads, unsigned stores)
{
	const struct instruction instruction = {decoded, operands, decoded->operand_count,
						decoded->operand_count_visible};

	*op = (struct machine_op){
	    .timing = timing_of(&instruction),
	    .branch = (uint8_t)branch_of(&instruction),
	    .length = decoded->length,
	    .length_prefix = has_length_prefix(decoded),
	    .wide_immediate = decoded->raw.imm[0].size == 64,
	    .loads = (uint8_t)loads,
	    .stores = (uint8_t)stores,
	    .operand = {.base = PLAN_ADDRESS_NONE, .index = PLAN_ADDRESS_NONE},
	    .fuses = fuses(&instruction),
	};
	take_operands(op, &instruction);
	take_flags(op, decoded);
	take_idioms(op, &instruction);
	take_merging(op, &instruction);
	take_step(op, &instruction);
	take_stack(op, &instruction);
	take_arithmetic(op, &instruction);
	op->pure = is_pure(op, decoded);
	if (op->branch != MACHINE_BRANCH_NONE && decoded->operand_count_visible &&
	    operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		op->target = (int32_t)operands[0].imm.value.s;
}
