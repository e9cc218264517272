#include "guests.inc"
/* Operands that an emulator takes by elements, one across a line's end: one access each. */
_start:	mov	$COUNT, %ecx
1:	cvtps2pd cell(%rip), %xmm0
	vcvtps2pd cell(%rip), %ymm1
	vfmadd231ps cell+48(%rip), %ymm2, %ymm3
	dec	%ecx
	jnz	1b
	LEAVE
	.bss
	.balign	64
cell:	.skip	128
