/* What the files that make operations share. */
#ifndef FEED_IA64_TRANSLATE_PARTS_H
#define FEED_IA64_TRANSLATE_PARTS_H

#include "feed/ia64/decode.h"
#include "feed/ia64/handlers.h"

struct ia64_context;

/** The four handlers of an operation. */
typedef ia64_handler *const ia64_table[4];

/** Chooses among an operation's handlers by predicate and mode. */
void ia64_make(struct ia64_op *o, const struct ia64_context *x, ia64_table *op);
/** The same, for an instruction that writes what its opcode's targets are: checks them. */
void ia64_finish(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x,
		 ia64_table *op);
void ia64_make_fault(struct ia64_op *o, const struct ia64_context *x, enum ia64_fault fault);

/** Of instructions that write their predicates even under a false one: .unc. */
void ia64_check_unc(struct ia64_op *o);

bool ia64_bad_general(const struct ia64_context *x, unsigned r);
bool ia64_bad_floating(unsigned f);
/** What becomes of r3. */
enum ia64_increment ia64_increments(enum ia64_format format);

typedef void ia64_maker(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x);
ia64_maker ia64_make_add, ia64_make_compare, ia64_make_parallel, ia64_make_multimedia,
    ia64_make_chosen, ia64_make_field, ia64_make_test, ia64_make_mux1, ia64_make_shift_add;
ia64_maker ia64_make_load, ia64_make_store, ia64_make_load_floating, ia64_make_memory;
ia64_maker ia64_make_multiply_add, ia64_make_compare_floating, ia64_make_class, ia64_make_floating,
    ia64_make_approximate;
ia64_maker ia64_make_branch, ia64_make_alloc, ia64_make_application, ia64_make_probe,
    ia64_make_break, ia64_make_cover, ia64_make_ip, ia64_make_illegal;

#endif
