/*
 * What Valgrind does for other tools, and this one has no use for: the linker puts these functions
 * in the place of Valgrind's (--wrap). No header that Valgrind installs declares them.
 */
#include "pub_tool_basics.h"

#include "libvex_ir.h"

ULong __wrap_vgPlain_di_notify_mmap(Addr address, Bool of_any_kind, Int fd);
void __wrap_sanityCheckIRSB(const IRSB *code, const HChar *caller, Bool flat, IRType guest_word);

/* Symbols and lines of what is mapped: nobody is told where in the guest something happens. */
ULong __wrap_vgPlain_di_notify_mmap(Addr address, Bool of_any_kind, Int fd)
{
	(void)address, (void)of_any_kind, (void)fd;
	return 0;
}

/* Whether instrumentation made code that is sound; a build that is to find errors has it. */
void __wrap_sanityCheckIRSB(const IRSB *code, const HChar *caller, Bool flat, IRType guest_word)
{
	(void)code, (void)caller, (void)flat, (void)guest_word;
}
