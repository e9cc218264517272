#include "guests.inc"
/* Memory operands that are no accesses. */
_start:	mov	$COUNT, %ecx
1:	prefetcht0 cell(%rip)
	prefetchnta cell(%rip)
	clflush	cell(%rip)
	lea	cell(%rip), %rax
	nopl	(%rax)
	dec	%ecx
	jnz	1b
	LEAVE
	.bss
	.balign	64
cell:	.skip	64
