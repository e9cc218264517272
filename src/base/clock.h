#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/** The computer's clock, which never steps back, ns. */
uint64_t clock_ns(void);

#endif
