/*
 * What the system does to a page before the program that touches it goes on: it clears it, or
 * copies the one that the page was until it was written. As Linux does, by repeated string
 * instructions.
 */
#ifndef MACHINE_FILL_H
#define MACHINE_FILL_H

#include "machine/address_space.h"

/**
 * The core, which is about to translate an access to virtual page @page, fills the frames first:
 * the one of the page, or all of the large page that it is in.
 */
void fill_frames(struct machine_hart *core, uint64_t page, const struct address_fill *fill);

#endif
