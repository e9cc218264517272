#include "guests.inc"
_start:	mov	$COUNT, %ecx
1:	mov	cell(%rip), %rax
	dec	%ecx
	jnz	1b
	ud2
	.bss
	.balign	64
cell:	.skip	64
