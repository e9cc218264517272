/* Adds the feed to the guest's code. Include Valgrind's pub_tool_tooliface.h before. */
#ifndef VALGRIND_INSTRUMENT_H
#define VALGRIND_INSTRUMENT_H

void instrument_init(void);

/** A superblock with what feeds the machine. */
IRSB *instrument_superblock(const VgCallbackClosure *closure, IRSB *in);

/** Frees what belongs to a translation that Valgrind has dropped. */
void instrument_discard(Addr address, VexGuestExtents extents);

#endif
