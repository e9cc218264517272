/*
 * For who asks what causes what happens on the machine: which instruction of which file each thread
 * executes, and in which region of the program (pmulab/region.h) it is.
 *
 * Files are found in the system's list of what is mapped, which is read again where code is
 * translated that was mapped since.
 */
#ifndef FEED_CAUSES_H
#define FEED_CAUSES_H

#include "feed/process.h"

/* Who asks. The functions give numbers to what they are told of; 0: none. */
struct feed_asker {
	void *arg;
	uint32_t (*module)(void *arg, const char *path, uint64_t device, uint64_t inode);
	uint32_t (*region)(void *arg, const char *name);
	uint32_t (*context)(void *arg, uint32_t process, uint32_t thread, uint32_t region);
	unsigned offset_bits; /* of a place, below the module's number */
	bool accounts;	      /* what cores do by themselves is asked for too */
};

#define FEED_SPANS_MAX 4096

/* A part of the address space of the host that is mapped from a file. */
struct feed_span {
	uint64_t begin, end, place; /* place: of its first byte */
};

struct feed_causes {
	struct feed_asker asker;
	bool asked;   /* else nothing below is used */
	bool changed; /* something may have been mapped since the spans were read */
	unsigned span_count;
	struct feed_span spans[FEED_SPANS_MAX];
};

/** @param asker  NULL: nobody asks */
void feed_causes_init(struct feed_causes *causes, const struct feed_asker *asker);

/**
 * The number of an instruction's place. Serialised by the caller.
 * @param host   its address in this process
 * @param guest  in the guest's address space: the place of what is of no file
 */
uint64_t feed_causes_place(struct feed_causes *causes, uint64_t host, uint64_t guest);

/** A thread is in a system call, which may map something. */
void feed_causes_syscall(struct feed_causes *causes, int64_t number);

/** The thread has entered a core. */
void feed_causes_enter(const struct feed_causes *causes, struct feed_thread *thread);

/* What stands where a region begins or ends. */
enum feed_mark_kind {
	FEED_MARK_NONE,
	FEED_MARK_BEGIN,
	FEED_MARK_END,
	FEED_MARK_BEGIN_NAMED, /* the next instruction loads from where the name is */
	FEED_MARK_END_NAMED,
};

#define FEED_REGION_BYTES 128

struct feed_mark {
	enum feed_mark_kind kind;
	char name[FEED_REGION_BYTES];
};

#define FEED_MARK_INSN_BYTES 7

/**
 * Reads the mark that an instruction is.
 * @param bytes       at least FEED_MARK_INSN_BYTES of it
 * @param address     of the guest
 * @param guest_base  host address of guest address 0
 * @return mark->kind
 */
enum feed_mark_kind feed_mark_read(struct feed_mark *mark, const uint8_t *bytes, uint64_t address,
				   uint64_t guest_base);
/** The mark that stands right before an instruction at @address; the same. */
enum feed_mark_kind feed_mark_before(struct feed_mark *mark, uint64_t address, uint64_t guest_base);

/** The thread executes a mark. @param name  host address of the name, where it is of those NAMED */
void feed_causes_mark(const struct feed_causes *causes, struct feed_thread *thread,
		      const struct feed_mark *mark, uint64_t name);

/** A block begins. */
static inline void feed_at_block(const struct feed_causes *causes, struct feed_thread *thread,
				 uint64_t place)
{
	if (causes->asker.accounts)
		machine_at_block(thread->core, place);
	else
		machine_at(thread->core, place);
}

#endif
