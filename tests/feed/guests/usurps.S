#include "guests.inc"
/* A second thread executes a guest while the first one runs. */
#define STACK_BYTES  4096
_start:	lea	stack+STACK_BYTES(%rip), %rsi
	CLONE_THREAD
	test	%eax, %eax
	jz	2f
1:	pause
	jmp	1b
2:	EXECUTE_LOADS
	.bss
	.balign	64
stack:	.skip	STACK_BYTES
