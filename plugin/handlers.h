/*
 * Signal handlers of guests. QEMU 7.2 enters them with a stack that is 8 bytes off what the ABI
 * wants: whatever keeps an SSE register there faults, pthread_cancel() first of all.
 */
#ifndef PLUGIN_HANDLERS_H
#define PLUGIN_HANDLERS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * A guest thread is in a system call. If that sets a handler, it sets one instead that puts the
 * stack right and goes on to the guest's.
 * @param guest_base  host address of guest address 0
 */
void handlers_syscall(int64_t number, const uint64_t *arguments, uint64_t guest_base);
/** The call came back: the guest finds what it would have found without. */
void handlers_syscall_return(int64_t number, int64_t result);

/** Whether code is not the guest's but what is put before its handlers. */
bool handlers_own(uint64_t address);

#endif
