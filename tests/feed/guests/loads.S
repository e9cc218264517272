#include "guests.inc"
_start:	lea	array(%rip), %rsi
	mov	$COUNT, %ecx
1:	mov	(%rsi), %rax
	add	$8, %rsi
	dec	%ecx
	jnz	1b
	LEAVE
	.bss
	.balign	64
array:	.skip	8 * COUNT
