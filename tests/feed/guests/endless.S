#include "guests.inc"
_start:	lea	array(%rip), %rsi
	xor	%ecx, %ecx
1:	incq	(%rsi, %rcx, 8)
	add	$8, %ecx
	and	$0xfffff, %ecx
	jmp	1b
	.bss
	.balign	64
array:	.skip	8 << 20
