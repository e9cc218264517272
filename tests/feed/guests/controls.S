#include "guests.inc"
/* Each line of an array is written and flushed; then each is prefetched, and the next one read. */
_start:	lea	array(%rip), %rdi
	xor	%esi, %esi
	mov	$COUNT, %ecx
1:	movb	$1, (%rdi, %rsi)
	mov	%rsi, %rax
	shr	$1, %rax
	clflush	8(%rdi, %rax, 2)
	xor	%eax, %eax
	add	$64, %rsi
	dec	%ecx
	jnz	1b
	mov	$COUNT, %ecx
2:	lea	64(%rdi), %rax
	prefetcht0 -64(%rax)
	mov	%ecx, %eax
	prefetchw (%rdi)
	add	$64, %rdi
	dec	%ecx
	jnz	2b
	mov	$-8, %rax
	prefetcht0 (%rax)
	LEAVE
	.bss
	.balign	64
array:	.skip	64 * COUNT
