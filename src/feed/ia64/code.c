#include "feed/ia64/code.h"

#include "feed/ia64/decode.h"
#include "feed/ia64/group.h"
#include "feed/ia64/handlers.h"
#include "feed/ia64/observer.h"
#include "feed/ia64/ops.h"
#include "feed/ia64/process.h"
#include "feed/ia64/space.h"
#include "feed/ia64/translate.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define OPS	    (1u << 20) /* of one thread, before all are dropped */
#define PIECE	    192u       /* operations made at once, at most */
#define PIECE_ROOM  (PIECE * 2 + 32)
#define ENTRIES	    (1u << IA64_ENTRIES_LOG2)
#define ENTRIES_MAX (ENTRIES / 2)

/* Address space for an array that fills up slowly, or NULL. */
static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

static struct ia64_op *leave(struct ia64_cpu *c, struct ia64_op *o)
{
	(void)c;
	(void)o;
	return NULL;
}

static size_t records_size(const struct ia64_observer *w)
{
	return OPS * (w->record_size ? w->record_size : 1);
}

/* Prepares for the process's observer. False: no memory. */
static bool observed(struct ia64_cpu *c)
{
	const struct ia64_observer *w = c->process->observer;

	c->records = NULL;
	if (!w)
		return true;
	c->records = reserve(records_size(w));
	c->observe = w->insn;
	c->observer_own = w->begin ? w->begin(w->state, c) : w->state;
	return c->records && c->observer_own;
}

int ia64_code_init(struct ia64_cpu *c)
{
	c->ops = reserve(OPS * sizeof(*c->ops));
	c->ips = reserve(OPS * sizeof(*c->ips));
	c->entries = reserve(ENTRIES * sizeof(*c->entries));
	c->leave.run = leave;
	if (!c->ops || !c->ips || !c->entries || !observed(c)) {
		ia64_code_fini(c);
		return -ENOMEM;
	}
	return 0;
}

void ia64_code_fini(struct ia64_cpu *c)
{
	if (c->ops)
		munmap(c->ops, OPS * sizeof(*c->ops));
	if (c->ips)
		munmap(c->ips, OPS * sizeof(*c->ips));
	if (c->records)
		munmap(c->records, records_size(c->process->observer));
	if (c->entries)
		munmap(c->entries, ENTRIES * sizeof(*c->entries));
	c->ops = NULL;
	c->ips = NULL;
	c->records = NULL;
	c->entries = NULL;
}

uint32_t ia64_code_flushes(const struct ia64_process *p)
{
	return __atomic_load_n(&p->flushes, __ATOMIC_ACQUIRE);
}

void ia64_code_changed(struct ia64_process *p, uint64_t address, uint64_t size)
{
	if (!ia64_space_executed(p->space, address, size))
		return;
	__atomic_add_fetch(&p->flushes, 1, __ATOMIC_ACQ_REL);
	ia64_process_attend(p);
}

static void flush(struct ia64_cpu *c)
{
	c->op_count = 0;
	c->entry_count = 0;
	c->records_used = 0;
	memset(c->entries, 0, ENTRIES * sizeof(*c->entries));
	c->flush_seen++; /* links made meanwhile are void */
}

/* Drops all code if the process changed some since this thread last looked. */
void ia64_code_refresh(struct ia64_cpu *c)
{
	uint32_t now = ia64_code_flushes(c->process);

	if (c->changes_seen != now) {
		flush(c);
		c->changes_seen = now;
	}
}

static struct ia64_op *fetch_fault(struct ia64_cpu *c, uint64_t ip, bool denied)
{
	c->stop = IA64_STOP_FAULT;
	c->fault = IA64_FAULT_FETCH;
	c->ip = ip;
	c->fault_address = ip & ~15ull;
	c->fault_write = false;
	c->fault_denied = denied;
	return &c->leave;
}

struct maker {
	struct ia64_cpu *c;
	struct ia64_context context;
	struct ia64_group group; /* so far */
	uint32_t first, count;
	bool ended;
	uint32_t observed;     /* instructions */
	unsigned char *record; /* of those before that the observer is told of later; or NULL */
	uint8_t joined;	       /* instructions in it */
	bool resumes;	       /* the next record has to */
};

static struct ia64_op *place(struct maker *m, uint64_t ip)
{
	uint32_t n = m->first + m->count++;

	m->c->ips[n] = ip;
	return &m->c->ops[n];
}

/* The call for a record. ahead: of an instruction that is in it, too */
static void tell(struct maker *m, uint64_t ip, unsigned qp, unsigned r3, bool ahead)
{
	*place(m, ip) = (struct ia64_op){.run = ia64_op_observe[0],
					 .uimm = (uintptr_t)m->record,
					 .qp = (uint8_t)qp,
					 .r1 = ahead,
					 .r3 = (uint8_t)r3};
	m->record = NULL;
}

/* The call for what is told of later and has not been told of. */
static void tell_rest(struct maker *m, uint64_t ip, bool ahead)
{
	if (m->record)
		tell(m, ip, 0, 0, ahead);
}

static enum ia64_observing begin_record(struct maker *m, unsigned char *record,
					const struct ia64_insn *insn,
					const struct ia64_bundle *bundle)
{
	const struct ia64_observer *w = m->c->process->observer;

	m->record = record;
	m->joined = 1;
	return w->decode ? w->decode(w->state, record, insn, bundle) : IA64_OBSERVE_NOW;
}

static enum ia64_observing join(struct maker *m, const struct ia64_insn *insn,
				const struct ia64_bundle *bundle)
{
	const struct ia64_observer *w = m->c->process->observer;
	enum ia64_observing how = IA64_OBSERVE_APART;

	if (m->record && m->joined < IA64_NOTES)
		how = w->join(w->state, m->record, insn, bundle);
	m->joined += how != IA64_OBSERVE_APART;
	return how;
}

/* A NaT that an instruction meets may end the piece there, so nothing waits while there are some.
 */
static void observe(struct maker *m, const struct ia64_insn *insn, const struct ia64_bundle *bundle)
{
	unsigned char *next = m->c->records + m->c->records_used;
	enum ia64_observing how = join(m, insn, bundle);

	m->observed++;
	m->c->records_used += m->c->process->observer->record_size;
	if (how == IA64_OBSERVE_APART) {
		tell_rest(m, insn->ip | insn->slot, false);
		how = begin_record(m, next, insn, bundle);
	}
	if (m->resumes && how != IA64_OBSERVE_NOW && how != IA64_OBSERVE_JUMP)
		*place(m, insn->ip | insn->slot) = (struct ia64_op){.run = ia64_op_resume[0]};
	m->resumes = how == IA64_OBSERVE_NOW || m->context.nats;
	if (how == IA64_OBSERVE_NOTED)
		*place(m, insn->ip | insn->slot) = (struct ia64_op){.run = ia64_op_note[0],
								    .qp = insn->qp,
								    .r1 = (uint8_t)(m->joined - 1),
								    .r3 = insn->r3};
	if (how == IA64_OBSERVE_NOW || how == IA64_OBSERVE_JUMP || m->context.nats)
		tell(m, insn->ip | insn->slot, insn->qp, insn->r3, true);
}

static void make_illegal(struct maker *m, const struct ia64_insn *insn)
{
	tell_rest(m, insn->ip | insn->slot, true);
	ia64_translate(place(m, insn->ip | insn->slot), insn, &m->context);
	m->ended = insn->qp == 0;
}

/* The check before an access, where the program asked for signals (PR_SET_UNALIGN). */
static void check_alignment(struct maker *m, const struct ia64_insn *insn)
{
	unsigned alignment = ia64_alignment(insn);

	if (alignment > 1)
		*place(m, insn->ip | insn->slot) =
		    (struct ia64_op){.run = ia64_op_aligned[insn->qp ? 1 : 0],
				     .imm = alignment - 1,
				     .qp = insn->qp,
				     .r3 = insn->r3};
}

static void make(struct maker *m, const struct ia64_insn *insn, const struct ia64_bundle *bundle)
{
	struct ia64_op o;

	if (m->c->records)
		observe(m, insn, bundle);
	if (m->c->process->unaligned & PR_UNALIGN_SIGBUS)
		check_alignment(m, insn);
	if (!ia64_group_add(&m->group, insn)) {
		struct ia64_insn illegal = {.ip = insn->ip, .slot = insn->slot, .qp = insn->qp};

		make_illegal(m, &illegal);
		return;
	}
	if (ia64_translate(&o, insn, &m->context))
		*place(m, insn->ip | insn->slot) = o;
	m->ended = ia64_ends(insn);
}

/* br.cond and others leave in the middle; only what always leaves ends a piece. */
static void make_bundle(struct maker *m, const struct ia64_bundle *bundle, uint64_t ip,
			unsigned slot)
{
	unsigned slots = ia64_slots(bundle);

	if (slot == 2 && slots == 2) /* the second half of a long instruction: none */
		slot = 1;
	for (; slot < slots && !m->ended; slot++) {
		struct ia64_insn insn;

		ia64_decode(&insn, bundle, ip, slot);
		make(m, &insn, bundle);
	}
}

static struct ia64_entry *free_entry(struct ia64_cpu *c, uint64_t ip)
{
	struct ia64_entry *e = ia64_code_entry(c, ip);

	while (e->op)
		e = e + 1 < c->entries + ENTRIES ? e + 1 : c->entries;
	return e;
}

static struct ia64_op *make_piece(struct ia64_cpu *c, uint64_t ip)
{
	struct maker m = {
	    .c = c, .context = {.sof = c->sof, .nats = c->nats}, .first = c->op_count};
	uint64_t at = ip & ~15ull;
	unsigned slot = ip & 3;
	struct ia64_entry *e;
	struct ia64_op *last;

	while (!m.ended && m.count < PIECE && m.observed < PIECE) {
		struct ia64_bundle bundle;
		int rc = ia64_space_fetch(c, at, &bundle);

		if (rc != 0) {
			if (m.count == 0)
				return fetch_fault(c, ip, rc == -EACCES);
			break;
		}
		make_bundle(&m, &bundle, at, slot);
		at += 16;
		slot = 0;
	}
	if (!m.ended) {
		tell_rest(&m, at, false);
		last = place(&m, at);
		*last = (struct ia64_op){.run = ia64_op_continue[0], .uimm = at};
	}
	e = free_entry(c, ip);
	*e = (struct ia64_entry){ip, ia64_code_mode(c), m.first + 1};
	c->entry_count++;
	c->op_count += m.count;
	return &c->ops[m.first];
}

/* Whether there is room for a piece's. */
static bool records_fit(const struct ia64_cpu *c)
{
	const struct ia64_observer *w = c->process->observer;

	return !c->records || c->records_used + PIECE_ROOM * w->record_size <= records_size(w);
}

struct ia64_op *ia64_goto(struct ia64_cpu *c, uint64_t ip)
{
	const struct ia64_entry *e = ia64_code_entry(c, ip);
	uint32_t mode = ia64_code_mode(c);

	while (e->op) {
		if (e->ip == ip && e->mode == mode)
			return c->ops + e->op - 1;
		e = e + 1 < c->entries + ENTRIES ? e + 1 : c->entries;
	}
	if (c->op_count + PIECE_ROOM > OPS || c->entry_count > ENTRIES_MAX || !records_fit(c))
		flush(c);
	return make_piece(c, ip);
}

struct ia64_op *ia64_again(struct ia64_cpu *c, struct ia64_op *o)
{
	return ia64_goto(c, ia64_ip_behind(c, o));
}

void ia64_code_resume(struct ia64_cpu *c)
{
	const struct ia64_observer *w = c->process->observer;

	if (w && w->resume)
		w->resume(c->observer_own);
}

/* Whether the observer was told of an instruction ahead of it. */
static bool was_told(const struct ia64_cpu *c, const struct ia64_op *o)
{
	while (o > c->ops && (o - 1)->run == ia64_op_aligned[(o - 1)->qp ? 1 : 0])
		o--;
	return o > c->ops && (o - 1)->run == ia64_op_observe[0] && (o - 1)->r1;
}

/* The call for an instruction that is told of later comes behind it, before the piece ends. */
void ia64_code_until(struct ia64_cpu *c, const struct ia64_op *o, bool leaves)
{
	const struct ia64_observer *w = c->process->observer;
	uint64_t ip = ia64_ip_of(c, o);

	if (!w || !w->until || was_told(c, o))
		return;
	while (o->run != ia64_op_observe[0])
		o++;
	w->until(c->observer_own, c, (void *)(uintptr_t)o->uimm, ip, leaves);
}

struct ia64_op *ia64_raise(struct ia64_cpu *c, struct ia64_op *o, enum ia64_fault fault)
{
	ia64_code_until(c, o, true);
	c->stop = IA64_STOP_FAULT;
	c->fault = fault;
	c->ip = ia64_ip_of(c, o);
	return &c->leave;
}

OP(observe)
{
	UNUSED_OP;
	c->observe(c->observer_own, c, (void *)(uintptr_t)o->uimm, c->pr[o->qp], c->gr[o->r3]);
	return o + 1;
}

OP(resume)
{
	UNUSED_OP;
	ia64_code_resume(c);
	return o + 1;
}

/* r1: its place in the record */
OP(note)
{
	UNUSED_OP;
	c->notes.address[o->r1] = c->gr[o->r3];
	c->notes.on[o->r1] = c->pr[o->qp];
	return o + 1;
}

/* imm: the address bits that must be 0 */
OP(aligned)
{
	UNUSED_OP;
	if (c->gr[o->r3] & o->uimm) {
		c->fault_address = c->gr[o->r3];
		return ia64_raise(c, o, IA64_FAULT_UNALIGNED);
	}
	return o + 1;
}
