/* Page placement: virtual pages of a process on physical frames. */
#ifndef MACHINE_ADDRESS_SPACE_H
#define MACHINE_ADDRESS_SPACE_H

#include "machine/state.h"

/** Frame of a virtual page; at first touch one on @socket, or where there is room. */
uint32_t address_space_frame(struct machine_address_space *space, uint64_t page, unsigned socket,
			     uint32_t thread);

#endif
