#include "guests.inc"
/* Five locked read-modify-writes an iteration, one of them of 16 bytes, one without a prefix. */
_start:	mov	$COUNT, %esi
1:	lock incl cell(%rip)
	lock xaddq %rdi, cell(%rip)
	xchg	%edi, cell(%rip)
	lock negq cell(%rip)
	lock cmpxchg16b cell(%rip)
	dec	%esi
	jnz	1b
	LEAVE
	.bss
	.balign	64
cell:	.skip	64
