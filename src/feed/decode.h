/*
 * What an x86-64 instruction does to memory, as far as a machine wants to know: decided from its
 * bytes, once, when it is translated.
 */
#ifndef FEED_DECODE_H
#define FEED_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <Zydis/Zydis.h>

#include "machine/access.h"
#include "machine/control.h"
#include "machine/plan.h"

/*
 * How the accesses of an instruction are to be reported. The emulator reports an access in pieces
 * of at most 8 bytes, and a locked read-modify-write as a load and a store or as one store.
 */
enum feed_class {
	FEED_NONE, /* none, or none that is reported: wide nops */
	FEED_LOAD, /* one operand of a known size up to 8 bytes */
	FEED_STORE,
	FEED_LOAD_WIDE, /* one operand of a known size above 8 bytes, reported from its low end up
			 */
	FEED_STORE_WIDE,
	FEED_LOAD_ONCE,	    /* one operand of a known size, beside which the emulator may read: its
			       first report is the load */
	FEED_STORE_MASKED,  /* elements of one operand, of a known size: one store a line */
	FEED_UPDATE,	    /* loads and stores of one known size: asked for the direction */
	FEED_MIXED,	    /* each report is an access of its own: asked for direction and size */
	FEED_LOCKED,	    /* reported once, at the store */
	FEED_STORE_NT,	    /* non-temporal store, each report reported */
	FEED_STORE_NT_WIDE, /* non-temporal store of one operand of a known size above 8 bytes */
	FEED_FAST_STRING,   /* rep movs, rep stos: MACHINE_STRING_BYTES at a time */
	FEED_PREFETCH,	    /* its size is an enum machine_hint */
	FEED_FLUSH,	    /* of a line */
	FEED_CLASSES,
};

/* Classes from here on access nothing by way of the emulator, which reports nothing of them. */
#define FEED_UNREPORTED FEED_PREFETCH

/* The address of what an emulator may not report: registers by encoding number. */
#define FEED_REGISTER_NONE 0xff
#define FEED_REGISTER_RIP  0xfe
struct feed_address {
	int64_t displacement;
	uint8_t base, index, scale;
	uint8_t segment; /* 'f', 'g': of fs, gs; 0 */
	bool is_short;	 /* of 32 bits */
};

struct feed_insn {
	uint8_t class;	/* enum feed_class */
	uint8_t length; /* bytes */
	uint8_t size;	/* bytes of the operand; 0 where the class does not know */
	uint8_t loads;	/* accesses: of one iteration, for repeated string instructions */
	uint8_t stores;
	bool repeats;	  /* a string instruction with a rep prefix */
	bool branches;	  /* a jump, call, return or system call */
	uint16_t sources; /* general registers whose values its results depend on, memory aside */
	uint16_t results; /* general registers that it writes */
	struct machine_insn registers;
	struct feed_address address; /* of its last operand in memory; class NONE: not set */
	struct machine_op op;	     /* what its time depends on */
};

struct feed_decoder {
	ZydisDecoder zydis;
};

void feed_decoder_init(struct feed_decoder *decoder);

/**
 * Decodes one instruction.
 * @param length  bytes that may be read
 * @return false where the bytes are no whole instruction; @insn then has no accesses and takes
 *         all of @length
 */
bool feed_decode(const struct feed_decoder *decoder, const uint8_t *bytes, size_t length,
		 struct feed_insn *insn);

#endif
