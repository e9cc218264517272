#include "guests.inc"
/* Parent and child load COUNT times each. */
_start:	mov	$SYS_FORK, %eax
	syscall
	mov	%eax, %ebx
	test	%eax, %eax
	jz	1f
	WAIT_FOR_CHILD
1:	mov	$COUNT, %ecx
2:	mov	cell(%rip), %rax
	dec	%ecx
	jnz	2b
	LEAVE
	.bss
	.balign	64
cell:	.skip	64
