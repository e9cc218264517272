#include "guests.inc"
/* 1 MiB is moved and then set, in pieces of 32 bytes; one instruction each. */
_start:	lea	from(%rip), %rsi
	lea	to(%rip), %rdi
	mov	$1 << 20, %ecx
	rep movsb
	lea	to(%rip), %rdi
	mov	$1 << 17, %ecx
	rep stosq
	LEAVE
	.bss
	.balign	64
from:	.skip	1 << 20
to:	.skip	1 << 20
