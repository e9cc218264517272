#include "guests.inc"
/* Plain read-modify-write: a load and a store each. */
_start:	mov	$COUNT, %ecx
1:	addq	$3, cell(%rip)
	incl	cell(%rip)
	dec	%ecx
	jnz	1b
	LEAVE
	.bss
	.balign	64
cell:	.skip	64
