#include "guests.inc"
/* A child works, and its parent, which waits for it, as long afterwards. Two lines of code. */
	.balign	64
_start:	mov	$SYS_FORK, %eax
	syscall
	mov	%eax, %ebx
	test	%eax, %eax
	jz	1f
	WAIT_FOR_CHILD
	.balign	64
1:	mov	$WORK, %ecx
2:	dec	%ecx
	jnz	2b
	LEAVE
