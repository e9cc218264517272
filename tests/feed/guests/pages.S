#include "guests.inc"
/* The load lies across two pages of code, in the middle of a block: counted once. */
_start:	mov	$COUNT, %ecx
	jmp	1f
	.balign	4096
	.skip	4096 - 6
1:	nop
	nop
	mov	cell(%rip), %rax
	dec	%ecx
	jnz	1b
	LEAVE
	.bss
	.balign	64
cell:	.skip	64
