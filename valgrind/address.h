/*
 * Addresses of what Valgrind drops, as prefetches and flushes: computed from the guest's registers.
 * That needs code whose registers are all up to date at each instruction (instrument_init()).
 */
#ifndef VALGRIND_ADDRESS_H
#define VALGRIND_ADDRESS_H

#include "feed/decode.h"

/** @param next  address of the next instruction. @return the address, as a statement takes it */
IRExpr *address_compute(IRSB *out, const struct feed_address *address, Addr next);

#endif
