/*
 * What is added to the guest's code: a call (calls.h) for each block of straight-line code that is
 * entered, and one for each access to memory. Instructions are decoded as for any feed; Valgrind's
 * own form of the code (VEX) tells addresses.
 */
#include "pub_tool_basics.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_tooliface.h"

#include "libvex_guest_amd64.h"

#include "address.h"
#include "calls.h"
#include "guest.h"
#include "instrument.h"

#define INSNS_MAX 512 /* of a superblock: VEX takes at most 100 */
#define NAME	  "pmulab blocks"

/* What belongs to one superblock, to be freed when Valgrind drops its translation. */
struct chunk {
	struct chunk *next;
	max_align_t bytes[];
};

struct kept {
	struct kept *next; /* as VG_(HT_construct)() wants it */
	UWord address;
	struct chunk *chunks;
};

static VgHashTable *kept_blocks;

/* A superblock while it is instrumented. */
struct superblock {
	IRSB *out;
	Addr address;	   /* by which it is discarded */
	struct kept *kept; /* NULL: nothing */
	const uint8_t *addresses[INSNS_MAX];
	struct feed_insn insns[INSNS_MAX];
	unsigned count;
	/* The block that is instrumented. */
	_Alignas(struct feed_block) char block[FEED_BLOCK_SIZE_MAX(INSNS_MAX)];
};

static void *keep(struct superblock *sb, size_t size)
{
	struct chunk *chunk = VG_(calloc)(NAME, 1, sizeof(*chunk) + size);

	if (!sb->kept) {
		sb->kept = VG_(calloc)(NAME, 1, sizeof(*sb->kept));
		sb->kept->address = sb->address;
		VG_(HT_add_node)(kept_blocks, sb->kept);
	}
	chunk->next = sb->kept->chunks;
	sb->kept->chunks = chunk;
	return chunk->bytes;
}

static void drop(struct kept *kept)
{
	while (kept->chunks) {
		struct chunk *chunk = kept->chunks;

		kept->chunks = chunk->next;
		VG_(free)(chunk);
	}
	VG_(free)(kept);
}

static IRExpr *number(UWord value)
{
	return mkIRExpr_HWord(value);
}

/* An address or a size as a tool's function takes it. */
#define CALL(sb, guard, function, ...)                                                             \
	add_call(sb, guard, #function, (void *)(function), (IRExpr *[]){__VA_ARGS__, NULL})

static void add_call(struct superblock *sb, IRExpr *guard, const HChar *name, void *function,
		     IRExpr **arguments)
{
	unsigned count = 0;
	IRExpr **vector;
	IRDirty *call;

	while (arguments[count])
		count++;
	vector = count == 1   ? mkIRExprVec_1(arguments[0])
		 : count == 2 ? mkIRExprVec_2(arguments[0], arguments[1])
		 : count == 3
		     ? mkIRExprVec_3(arguments[0], arguments[1], arguments[2])
		     : mkIRExprVec_4(arguments[0], arguments[1], arguments[2], arguments[3]);
	call = unsafeIRDirty_0_N(0, name, function, vector);
	if (guard)
		call->guard = guard;
	if (arguments[count - 1]->tag == Iex_GSPTR) {
		call->nFxState = 1;
		call->fxState[0].fx = Ifx_Modify;
		call->fxState[0].offset = offsetof(VexGuestAMD64State, host_EvC_COUNTER);
		call->fxState[0].size = sizeof(((VexGuestAMD64State *)0)->host_EvC_COUNTER);
		call->fxState[0].nRepeats = 0;
		call->fxState[0].repeatLen = 0;
	}
	addStmtToIRSB(sb->out, IRStmt_Dirty(call));
}

/* What the accesses of an instruction are reported with. */
struct context {
	const struct feed_insn *insn;
	const struct feed_access *access;
	const struct feed_access *own; /* the same, kept for the instruction alone; NULL */
	struct feed_repeat *repeat;
	struct feed_mark *named; /* that it has the name of; NULL */
	bool reported;		 /* its operand, with the first piece that VEX takes */
};

static bool has_one_operand(const struct feed_insn *insn)
{
	return insn->class >= FEED_LOAD && insn->class <= FEED_STORE_WIDE;
}

static void add_plain_access(struct superblock *sb, struct context *context, IRExpr *guard,
			     IRExpr *address, unsigned size, bool store)
{
	IRExpr *access = number(feed_access_pack(*context->access));

	switch ((enum feed_class)context->insn->class) {
	case FEED_NONE:
	case FEED_LOAD_ONCE: /* told by its address */
		return;
	case FEED_STORE_MASKED:
		if (store)
			CALL(sb, guard, call_store_masked, address, number((UWord)context->own));
		return;
	case FEED_LOCKED: /* told by what writes */
		if (store)
			CALL(sb, guard, call_locked, address, access);
		return;
	case FEED_STORE_NT:
	case FEED_STORE_NT_WIDE:
		if (store)
			CALL(sb, guard, call_store_nt, address, number(size));
		return;
	case FEED_FAST_STRING:
		CALL(sb, guard, call_string, address, number(store),
		     number((UWord)context->repeat));
		return;
	default:
		break;
	}
	if (size != context->access->size)
		CALL(sb, guard, call_mixed, address, number(size), number(store), access);
	else if (store)
		CALL(sb, guard, call_store, address, access);
	else
		CALL(sb, guard, call_load, address, access);
}

/*
 * VEX takes some operands by elements, from the low end up: they are one access. The name of a
 * region is read outside of it.
 */
static void add_access(struct superblock *sb, struct context *context, IRExpr *guard,
		       IRExpr *address, unsigned size, bool store)
{
	const struct feed_mark *named = context->named;

	if (has_one_operand(context->insn)) {
		if (context->reported)
			return;
		context->reported = true;
		size = context->access->size;
	}
	if (named && named->kind == FEED_MARK_END_NAMED)
		CALL(sb, guard, call_mark, number((UWord)named), address);
	add_plain_access(sb, context, guard, address, size, store);
	if (named && named->kind == FEED_MARK_BEGIN_NAMED)
		CALL(sb, guard, call_mark, number((UWord)named), address);
}

static unsigned bytes_of(const struct superblock *sb, const IRExpr *value)
{
	return (unsigned)sizeofIRType(typeOfIRExpr(sb->out->tyenv, value));
}

static void add_dirty(struct superblock *sb, struct context *context, const IRDirty *dirty)
{
	if (dirty->mFx == Ifx_Read || dirty->mFx == Ifx_Modify)
		add_access(sb, context, dirty->guard, dirty->mAddr, (unsigned)dirty->mSize, false);
	if (dirty->mFx == Ifx_Write || dirty->mFx == Ifx_Modify)
		add_access(sb, context, dirty->guard, dirty->mAddr, (unsigned)dirty->mSize, true);
}

static void add_compare_and_swap(struct superblock *sb, struct context *context, const IRCAS *cas)
{
	unsigned size = bytes_of(sb, cas->dataLo) * (cas->dataHi ? 2 : 1);

	add_access(sb, context, NULL, cas->addr, size, false);
	add_access(sb, context, NULL, cas->addr, size, true);
}

static void add_accesses(struct superblock *sb, struct context *context, const IRStmt *stmt)
{
	IRType wide, loaded;

	switch (stmt->tag) {
	case Ist_WrTmp:
		if (stmt->Ist.WrTmp.data->tag == Iex_Load)
			add_access(sb, context, NULL, stmt->Ist.WrTmp.data->Iex.Load.addr,
				   (unsigned)sizeofIRType(stmt->Ist.WrTmp.data->Iex.Load.ty),
				   false);
		break;
	case Ist_Store:
		add_access(sb, context, NULL, stmt->Ist.Store.addr,
			   bytes_of(sb, stmt->Ist.Store.data), true);
		break;
	case Ist_LoadG:
		typeOfIRLoadGOp(stmt->Ist.LoadG.details->cvt, &wide, &loaded);
		add_access(sb, context, stmt->Ist.LoadG.details->guard,
			   stmt->Ist.LoadG.details->addr, (unsigned)sizeofIRType(loaded), false);
		break;
	case Ist_StoreG:
		add_access(sb, context, stmt->Ist.StoreG.details->guard,
			   stmt->Ist.StoreG.details->addr,
			   bytes_of(sb, stmt->Ist.StoreG.details->data), true);
		break;
	case Ist_CAS:
		add_compare_and_swap(sb, context, stmt->Ist.CAS.details);
		break;
	case Ist_Dirty:
		add_dirty(sb, context, stmt->Ist.Dirty.details);
		break;
	default:
		break;
	}
}

static bool has_clock(void)
{
	return machine_clock(guest.process.machine);
}

/* In what VEX has made of RDTSC: the clock that is read is the machine's. */
static IRStmt *with_own_clock(IRStmt *stmt)
{
	const IRCallee *callee = stmt->tag == Ist_Dirty ? stmt->Ist.Dirty.details->cee : NULL;
	IRDirty *call;
	void *own;

	if (!callee || !has_clock())
		return stmt;
	if (!VG_(strcmp)(callee->name, "amd64g_dirtyhelper_RDTSC"))
		own = call_time_stamp;
	else if (!VG_(strcmp)(callee->name, "amd64g_dirtyhelper_RDTSCP"))
		own = call_time_stamp_of_cpu;
	else
		return stmt;
	call = deepCopyIRDirty(stmt->Ist.Dirty.details);
	call->cee = mkIRCallee(callee->regparms, callee->name, own);
	return IRStmt_Dirty(call);
}

static void decode_all(struct superblock *sb, const IRSB *in)
{
	for (int i = 0; i < in->stmts_used && sb->count < INSNS_MAX; i++) {
		const IRStmt *stmt = in->stmts[i];
		const uint8_t *address;

		if (stmt->tag != Ist_IMark)
			continue;
		address = (const uint8_t *)(Addr)stmt->Ist.IMark.addr;
		sb->addresses[sb->count] = address;
		feed_decode(&guest.decoder, address, stmt->Ist.IMark.len, &sb->insns[sb->count]);
		sb->count++;
	}
}

/* RDTSC and RDTSCP, without prefixes. */
static bool reads_clock(const uint8_t *code)
{
	return code[0] == 0x0F && (code[1] == 0x31 || (code[1] == 0x01 && code[2] == 0xF9));
}

/* A block's time passes when it is entered: a clock is read after what comes before, no more. */
static bool ends_block(const struct superblock *sb, unsigned insn)
{
	return sb->insns[insn].branches || sb->insns[insn].repeats ||
	       (has_clock() && reads_clock(sb->addresses[insn]));
}

/* Instructions from @first on that run one after the other once the first does. */
static unsigned block_length(const struct superblock *sb, unsigned first)
{
	unsigned last = first;

	while (last + 1 < sb->count && !ends_block(sb, last) &&
	       sb->addresses[last] + sb->insns[last].length == sb->addresses[last + 1])
		last++;
	return last + 1 - first;
}

static struct feed_mark *keep_mark(struct superblock *sb, const struct feed_mark *mark)
{
	struct feed_mark *kept = keep(sb, sizeof(*kept));

	*kept = *mark;
	return kept;
}

static const struct feed_access *keep_access(struct superblock *sb,
					     const struct feed_access *access)
{
	struct feed_access *kept = keep(sb, sizeof(*kept));

	*kept = *access;
	return kept;
}

/* For who asks what causes counts. */
static void add_mark(struct superblock *sb, struct context *context, unsigned insn)
{
	const Addr address = (Addr)sb->addresses[insn];
	struct feed_mark mark;

	context->named = NULL;
	if (sb->insns[insn].class != FEED_NONE) {
		feed_mark_before(&mark, address, 0);
		if (mark.kind == FEED_MARK_BEGIN_NAMED || mark.kind == FEED_MARK_END_NAMED)
			context->named = keep_mark(sb, &mark);
	} else if (sb->insns[insn].length == FEED_MARK_INSN_BYTES) {
		feed_mark_read(&mark, sb->addresses[insn], address, 0);
		if (mark.kind == FEED_MARK_BEGIN || mark.kind == FEED_MARK_END)
			CALL(sb, NULL, call_mark, number((UWord)keep_mark(sb, &mark)), number(0));
	}
}

/* @return the plan, NULL where the machine has none */
static const struct machine_plan *keep_plan(struct superblock *sb, const struct feed_block *block,
					    const struct feed_insn *insns, unsigned count)
{
	_Alignas(struct machine_plan) char memory[MACHINE_PLAN_BYTES_MAX];
	SizeT bytes = feed_block_plan((struct machine_plan *)memory, guest.process.machine, block,
				      insns, count);
	struct machine_plan *plan = bytes ? keep(sb, bytes) : NULL;

	if (plan)
		VG_(memcpy)(plan, memory, bytes);
	return plan;
}

static UWord place_of(const struct superblock *sb, unsigned insn)
{
	const Addr address = (Addr)sb->addresses[insn];

	return feed_causes_place(&guest.causes, address, address);
}

static void begin_block(struct superblock *sb, struct context *context, unsigned first,
			unsigned count)
{
	const struct feed_insn *insns = &sb->insns[first];
	struct feed_block *block = (struct feed_block *)sb->block;
	const struct machine_plan *plan;

	feed_block_init(block, guest.process.machine, (uint64_t)(Addr)sb->addresses[first], insns,
			count);
	*context = (struct context){.access = block->accesses};
	if (guest.causes.asked)
		CALL(sb, NULL, call_placed_block, number(place_of(sb, first)));
	plan = keep_plan(sb, block, insns, count);
	if (feed_block_repeats(insns, count)) {
		context->repeat = keep(sb, sizeof(*context->repeat));
		feed_repeat_init(context->repeat, guest.process.machine, block, plan, insns, count);
		CALL(sb, NULL, call_repeating_block, number((UWord)context->repeat),
		     IRExpr_GSPTR());
	} else if (plan) {
		CALL(sb, NULL, call_planned_block, number((UWord)plan), IRExpr_GSPTR());
	} else {
		CALL(sb, NULL, call_block, number(block->whole.address),
		     number(call_pack(&block->whole)), IRExpr_GSPTR());
	}
}

static void add_place(struct superblock *sb, struct context *context, unsigned insn)
{
	if (context->insn->class != FEED_NONE)
		CALL(sb, NULL, call_place, number(place_of(sb, insn)));
	add_mark(sb, context, insn);
}

static bool loads(const IRStmt *stmt)
{
	switch (stmt->tag) {
	case Ist_WrTmp:
		return stmt->Ist.WrTmp.data->tag == Iex_Load;
	case Ist_LoadG:
	case Ist_CAS:
		return true;
	case Ist_Dirty:
		return stmt->Ist.Dirty.details->mFx != Ifx_None;
	default:
		return false;
	}
}

/*
 * Where the result does not depend on it, as in "and $0", VEX leaves a load out. An operand that
 * has a mask it loads by the elements that the mask wants.
 */
static bool lacks_load(const struct feed_insn *insn, const IRSB *in, int mark)
{
	if (insn->class == FEED_LOAD_ONCE)
		return true;
	if (insn->repeats || !insn->loads || insn->class < FEED_LOAD || insn->class > FEED_UPDATE)
		return false;
	for (int i = mark + 1; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		if (loads(in->stmts[i]))
			return false;
	return true;
}

/* Before the instruction, which begins at @mark: what VEX does not tell. */
static void add_untold(struct superblock *sb, const struct context *context, const IRSB *in,
		       int mark)
{
	const struct feed_insn *insn = context->insn;
	const bool load = lacks_load(insn, in, mark);
	IRExpr *address, *access;

	if (insn->class < FEED_UNREPORTED && !load)
		return;
	address = address_compute(sb->out, &insn->address,
				  in->stmts[mark]->Ist.IMark.addr + insn->length);
	access = number(feed_access_pack(*context->access));
	if (load)
		CALL(sb, NULL, call_load, address, access);
	else if (insn->class == FEED_PREFETCH)
		CALL(sb, NULL, call_prefetch, address, access);
	else
		CALL(sb, NULL, call_flush, address);
}

static void add_all(struct superblock *sb, const IRSB *in, int first)
{
	struct context context = {0};
	unsigned insn = 0, next_block = 0;

	for (int i = first; i < in->stmts_used; i++) {
		const IRStmt *stmt = in->stmts[i];

		if (stmt->tag == Ist_IMark) {
			addStmtToIRSB(sb->out, in->stmts[i]);
			if (insn != next_block && context.insn->class != FEED_NONE)
				context.access++;
			if (insn == next_block) {
				unsigned count = block_length(sb, insn);

				begin_block(sb, &context, insn, count);
				next_block = insn + count;
			}
			context.insn = &sb->insns[insn];
			context.reported = false;
			if (context.insn->class == FEED_STORE_MASKED)
				context.own = keep_access(sb, context.access);
			if (guest.causes.asked)
				add_place(sb, &context, insn);
			add_untold(sb, &context, in, i);
			insn++;
			continue;
		}
		if (context.insn->class != FEED_NONE && context.insn->class < FEED_UNREPORTED)
			add_accesses(sb, &context, stmt);
		addStmtToIRSB(sb->out, with_own_clock(in->stmts[i]));
	}
}

IRSB *instrument_superblock(const VgCallbackClosure *closure, IRSB *in)
{
	static struct superblock sb; /* translation is serialised; too large for a stack */
	int first = 0;

	sb.out = deepCopyIRSBExceptStmts(in);
	sb.count = 0;
	for (; first < in->stmts_used && in->stmts[first]->tag != Ist_IMark; first++)
		addStmtToIRSB(sb.out, in->stmts[first]);
	if (first == in->stmts_used)
		return sb.out;
	sb.kept = NULL;
	sb.address = closure->nraddr;
	decode_all(&sb, in);
	add_all(&sb, in, first);
	return sb.out;
}

void instrument_discard(Addr address, VexGuestExtents extents)
{
	struct kept *kept;

	(void)extents;
	while ((kept = VG_(HT_remove)(kept_blocks, address)))
		drop(kept);
}

/*
 * Where VEX goes on behind branches it also joins two conditions that go to one place: it computes
 * the second one always, and its instructions seem to be executed. Where it unrolls loops a thread
 * that is to wait for others goes round several times before it does. Where registers need not be
 * up to date it drops loads whose value nothing uses, and addresses are computed of registers.
 */
void instrument_init(void)
{
	VG_(clo_vex_control).guest_chase = False;
	VG_(clo_vex_control).iropt_unroll_thresh = 0;
	VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
	VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn;
	kept_blocks = VG_(HT_construct)(NAME);
}
