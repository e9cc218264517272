#include "guests.inc"
/* Loads whose value nothing uses, as in loops that measure how fast memory is read. */
_start:	mov	$COUNT, %ecx
1:	mov	cell(%rip), %rax
	mov	cell(%rip), %eax
	cmpb	$1, cell(%rip)
	testl	%eax, cell(%rip)
	add	cell(%rip), %rax
	cmovz	cell(%rip), %rax
	movzbl	cell(%rip), %eax
	cvtsi2sdl cell(%rip), %xmm0
	addps	cell(%rip), %xmm0
	movaps	cell(%rip), %xmm0
	movaps	cell(%rip), %xmm0
	vmovaps	cell(%rip), %ymm0
	vmovaps	cell(%rip), %ymm0
	xor	%eax, %eax
	and	cell(%rip), %eax
	imul	cell(%rip), %eax
	andl	$0, cell(%rip)
	dec	%ecx
	jnz	1b
	LEAVE
	.bss
	.balign	64
cell:	.skip	64
