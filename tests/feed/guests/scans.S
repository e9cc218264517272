#include "guests.inc"
/* COUNT bytes are scanned and compared: one instruction each, an access for every byte. The third
   repetition of the loop's instruction comes after others and is counted again. */
_start:	mov	$3, %edx
1:	lea	from(%rip), %rsi
	lea	to(%rip), %rdi
	mov	$COUNT, %ecx
	repe cmpsb
	dec	%edx
	jnz	1b
	lea	to(%rip), %rdi
	mov	$COUNT, %ecx
	mov	$1, %al
	repne scasb
	mov	$0, %ecx
	repne scasb
	LEAVE
	.bss
	.balign	64
from:	.skip	COUNT
	.balign	64
to:	.skip	COUNT
