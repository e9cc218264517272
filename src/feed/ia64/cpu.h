/*
 * The state of one IA-64 processor thread that runs a user program, and its decoded code.
 *
 * General registers 32 to 127 are always the current frame, in place: calls and returns copy what
 * they save, so that an operand is a plain index. The same holds under rotation, except that
 * floating-point registers, all 96 of which rotate, are found through rrb_fr.
 *
 * NaT bits are rare. While no general register has one, `nats` is false, nat[] is all 0, and code
 * runs from operations that do not look at them.
 */
#ifndef FEED_IA64_CPU_H
#define FEED_IA64_CPU_H

#include "feed/ia64/fp.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ia64_cpu;
struct ia64_op;
struct ia64_process;
struct ia64_signals;

typedef struct ia64_op *ia64_handler(struct ia64_cpu *c, struct ia64_op *o);
/** See struct ia64_observer. */
typedef void ia64_observe(void *own, const struct ia64_cpu *c, void *record, bool on,
			  uint64_t address);

/** One decoded operation: an instruction, or a step between instructions. */
struct ia64_op {
	ia64_handler *run;
	union {
		int64_t imm;
		uint64_t uimm;
	};
	struct ia64_op *link; /* of a branch: its target, once known */
	uint8_t qp, r1, r2, r3;
	uint8_t p1, p2, r4, c;
};

#define IA64_SINK 64 /* pr[] of this index takes what is written to p0 */

enum ia64_ar {
	IA64_AR_KR0 = 0,
	IA64_AR_KR7 = 7,
	IA64_AR_RSC = 16,
	IA64_AR_BSP = 17,
	IA64_AR_BSPSTORE = 18,
	IA64_AR_RNAT = 19,
	IA64_AR_FCR = 21,
	IA64_AR_EFLAG = 24,
	IA64_AR_CSD = 25,
	IA64_AR_SSD = 26,
	IA64_AR_CFLG = 27,
	IA64_AR_FSR = 28,
	IA64_AR_FIR = 29,
	IA64_AR_FDR = 30,
	IA64_AR_CCV = 32,
	IA64_AR_UNAT = 36,
	IA64_AR_FPSR = 40,
	IA64_AR_ITC = 44,
	IA64_AR_RUC = 45,
	IA64_AR_PFS = 64,
	IA64_AR_LC = 65,
	IA64_AR_EC = 66,
};

/* User mask: PSR bits 5:0. */
#define IA64_UM_BE  0x02u
#define IA64_UM_UP  0x04u
#define IA64_UM_AC  0x08u
#define IA64_UM_MFL 0x10u
#define IA64_UM_MFH 0x20u

/** Why the decoded code was left. */
enum ia64_stop {
	IA64_STOP_NONE,
	IA64_STOP_BREAK,     /* break: imm in fault.imm, ip is after it */
	IA64_STOP_FAULT,     /* ip is at the instruction */
	IA64_STOP_TRAP,	     /* ip is after the instruction */
	IA64_STOP_ATTENTION, /* something asked for the loop: a signal, a flush */
};

enum ia64_fault {
	IA64_FAULT_ILLEGAL,    /* illegal operation */
	IA64_FAULT_PRIVILEGED, /* privileged operation or register */
	IA64_FAULT_RESERVED,   /* reserved register or field */
	IA64_FAULT_NAT,	       /* register NaT consumption */
	IA64_FAULT_DATA,       /* no page, or no right, at address */
	IA64_FAULT_FETCH,      /* the same for instructions */
	IA64_FAULT_UNALIGNED,
	IA64_FAULT_UNSUPPORTED, /* unsupported data reference */
	IA64_FAULT_FP,
	IA64_FAULT_DISABLED_ISA, /* br.ia */
};

#define IA64_ALAT_ENTRIES 32

struct ia64_alat_entry {
	uint64_t address;
	uint16_t tag; /* 0: free */
	uint8_t size;
	uint64_t value[2]; /* what was loaded: other threads may store, too */
};

#define IA64_NOTES 32

/* What is kept for an observer of instructions that it is told of later, by their place in the
 * record. */
struct ia64_notes {
	uint64_t address[IA64_NOTES];
	uint8_t on[IA64_NOTES];
};

#define IA64_STACKED 96
#define IA64_SAVED   128 /* a power of two above IA64_STACKED */

/** How decoded code is found: where it is, and the frame size and NaT mode it was made for. */
struct ia64_entry {
	uint64_t ip; /* bundle address and slot */
	uint32_t mode;
	uint32_t op; /* its number + 1; 0: free */
};

#define IA64_ENTRIES_LOG2 16
#define IA64_MODE_NAT	  0x80u

struct ia64_cpu {
	uint64_t gr[128];
	uint8_t pr[72];
	const uint64_t *delta; /* of the address space: host address less guest address */
	uint32_t attention;    /* leave at the next taken branch */
	uint8_t sof, sol, sor;
	uint8_t rrb_gr, rrb_fr, rrb_pr;
	bool nats;
	uint64_t lc, ec, pfs;
	uint64_t br[8];
	struct ia64_op *at; /* set before what may fault */

	/* Register stack. bof numbers the physical stacked register that is r32. */
	uint64_t bsp, bspstore, rnat, rsc;
	uint32_t bof, dirty;
	uint64_t saved[IA64_SAVED];
	uint8_t saved_nat[IA64_SAVED];

	uint8_t nat[128];
	uint64_t alat_filter; /* which (address / 8) % 64 an entry covers; 0: no entries */
	struct ia64_alat_entry alat[IA64_ALAT_ENTRIES];
	unsigned alat_next;

	struct ia64_fr fr[128];
	uint64_t fpsr, unat, ccv, csd, ssd, kr[8], fcr, eflag, cflg, fsr, fir, fdr;
	uint32_t um;

	/* Decoded code. */
	struct ia64_op *ops;
	uint64_t *ips;		/* of ops, by number */
	size_t records_used;	/* bytes */
	unsigned char *records; /* of ops that observe, by number; NULL: nobody looks */
	ia64_observe *observe;
	void *observer_own;
	struct ia64_notes notes;
	uint32_t op_count, entry_count;
	struct ia64_entry *entries;
	uint32_t flush_seen;   /* changes whenever all operations are dropped */
	uint32_t changes_seen; /* of process->flushes */
	struct ia64_op leave;

	/* Where and why it stopped. */
	uint64_t ip; /* bundle address and slot */
	enum ia64_stop stop;
	enum ia64_fault fault;
	uint64_t fault_address;
	uint64_t fault_imm; /* of break */
	uint32_t fault_isr;
	bool fault_write;
	bool fault_denied; /* a page is there */
	bool defer;	   /* a load that is under way may fault without one */
	sigjmp_buf escape;
	volatile bool running; /* a host fault is the program's */
	sigjmp_buf guard;
	volatile bool guarded; /* a host fault is of a copy by guard */

	struct ia64_process *process;
	struct ia64_signals *signals;
	struct ia64_cpu *next; /* of process->cpus */
	uint64_t clear_tid;
	uint64_t break_ip; /* of the last system call */
	bool thread_ended;
};

static inline uint64_t ia64_ip_of(const struct ia64_cpu *c, const struct ia64_op *o)
{
	return c->ips[o - c->ops];
}

/** The instruction behind o, which is no long one; it may have no operation. */
static inline uint64_t ia64_ip_behind(const struct ia64_cpu *c, const struct ia64_op *o)
{
	uint64_t ip = ia64_ip_of(c, o);

	return (ip & 3) == 2 ? (ip & ~15ull) + 16 : ip + 1;
}

/** Guest address to host address; what has none becomes an address that faults. */
static inline void *ia64_host(const struct ia64_cpu *c, uint64_t address)
{
	return (void *)(uintptr_t)(address + c->delta[address >> 44]);
}

#define IA64_DELTA_POISON (1ull << 62) /* for what would otherwise be an address of the host's */

/** Whether the address can be that of a page at all. */
static inline bool ia64_host_valid(const struct ia64_cpu *c, uint64_t address)
{
	uint64_t delta = c->delta[address >> 44];

	return delta != 0 && delta != IA64_DELTA_POISON;
}

static inline unsigned ia64_fr_index(const struct ia64_cpu *c, unsigned f)
{
	if (f >= 32) {
		f += c->rrb_fr;
		f -= f >= 128 ? 96 : 0;
	}
	return f;
}

uint64_t ia64_cfm(const struct ia64_cpu *c);
void ia64_set_cfm(struct ia64_cpu *c, uint64_t cfm);
uint64_t ia64_predicates(const struct ia64_cpu *c);
/** Writes the predicates that mask names; p0 stays 1. */
void ia64_set_predicates(struct ia64_cpu *c, uint64_t value, uint64_t mask);

/** Stop at o with a fault: what handlers return. */
struct ia64_op *ia64_raise(struct ia64_cpu *c, struct ia64_op *o, enum ia64_fault fault);
/** The decoded code at ip, made if there is none; on a fetch fault, what leaves. */
struct ia64_op *ia64_goto(struct ia64_cpu *c, uint64_t ip);
/** The same after a change of mode: goes on behind o, which is no long instruction. */
struct ia64_op *ia64_again(struct ia64_cpu *c, struct ia64_op *o);

#endif
