#include "guests.inc"
/* A comparison and exchange that is not locked: a load and a store. */
_start:	mov	$COUNT, %esi
1:	cmpxchg8b cell(%rip)
	dec	%esi
	jnz	1b
	LEAVE
	.bss
	.balign	64
cell:	.skip	64
