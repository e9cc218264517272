#include "guests.inc"
/* Operands beside which an emulator may read, side by side: one load each. */
_start:	mov	$COUNT, %ecx
1:	cvtdq2pd cell(%rip), %xmm0
	vcvtdq2pd cell+8(%rip), %ymm1
	vpsllq	cell(%rip), %ymm2, %ymm3
	vfmadd231sd cell(%rip), %xmm2, %xmm4
	vfmadd231sd cell+8(%rip), %xmm2, %xmm4
	vfmadd231sd cell+16(%rip), %xmm2, %xmm4
	vfnmsub132ss cell+60(%rip), %xmm2, %xmm5
	dec	%ecx
	jnz	1b
	LEAVE
	.bss
	.balign	64
cell:	.skip	128
