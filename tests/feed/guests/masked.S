#include "guests.inc"
/* Operands with a mask: one load, and one store for each line with an element that is wanted. */
_start:	vpcmpeqd %ymm2, %ymm2, %ymm2
	vpxor	%ymm1, %ymm1, %ymm1
	mov	$COUNT, %ecx
1:	vmaskmovps cell(%rip), %ymm2, %ymm0
	vpmaskmovd cell(%rip), %ymm1, %ymm0
	vpmaskmovq cell+32(%rip), %xmm2, %xmm0
	vmaskmovps %ymm0, %ymm2, cell(%rip)
	vpmaskmovq %ymm0, %ymm2, cell(%rip)
	vmaskmovpd %ymm0, %ymm2, cell+48(%rip)
	vpmaskmovd %ymm0, %ymm1, cell(%rip)
	dec	%ecx
	jnz	1b
	LEAVE
	.bss
	.balign	64
cell:	.skip	128
