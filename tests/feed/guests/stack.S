#include "guests.inc"
/* An iteration: call, push, push from memory, pop to memory, pop, ret: 4 stores by the pushes, the
   call and the pop to memory; 4 loads by the pops, the ret and the push from memory. */
_start:	mov	$COUNT, %ecx
1:	call	2f
	dec	%ecx
	jnz	1b
	LEAVE
2:	push	%rax
	pushq	cell(%rip)
	popq	cell(%rip)
	pop	%rax
	ret
	.bss
	.balign	64
cell:	.skip	64
