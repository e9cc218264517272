/*
 * Guests of a few instructions without a library, so that every instruction and access is known by
 * reading them. COUNT or WORK iterations; LEAVE is three instructions.
 */
#define COUNT 1000
#define WORK  100000

/* System calls of x86-64 Linux. */
#define SYS_CLONE      56
#define SYS_FORK       57
#define SYS_EXECVE     59
#define SYS_EXIT       60
#define SYS_WAIT4      61
#define SYS_EXIT_GROUP 231

#define LEAVE                                                                                      \
	mov $SYS_EXIT_GROUP, % eax;                                                                \
	xor % edi, % edi;                                                                          \
	syscall

.globl _start.text
