#include "guests.inc"
/* Operands of 10 and 16 bytes, aligned and not, side by side: one access each. */
_start:	mov	$COUNT, %ecx
1:	movdqa	cell(%rip), %xmm0
	movdqa	cell+16(%rip), %xmm1
	movdqu	cell+8(%rip), %xmm2
	movdqa	%xmm0, cell(%rip)
	movdqu	%xmm1, cell+24(%rip)
	fldt	cell(%rip)
	fstpt	cell+32(%rip)
	dec	%ecx
	jnz	1b
	LEAVE
	.bss
	.balign	64
cell:	.skip	64
