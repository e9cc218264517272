#include "guests.inc"
/* COUNT full lines past the caches, eight stores of 8 bytes each, then as many with four of 16. */
_start:	lea	array(%rip), %rdi
	mov	$8 * COUNT, %ecx
1:	movnti	%rax, (%rdi)
	add	$8, %rdi
	dec	%ecx
	jnz	1b
	mov	$4 * COUNT, %ecx
2:	movntdq	%xmm0, (%rdi)
	add	$16, %rdi
	dec	%ecx
	jnz	2b
	sfence
	LEAVE
	.bss
	.balign	64
array:	.skip	128 * COUNT
