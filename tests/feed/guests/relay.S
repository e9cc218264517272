#include "guests.inc"
/* A thread works, makes another one and ends; that one works as long and ends the process. */
_start:	mov	$WORK, %ecx
1:	dec	%ecx
	jnz	1b
	lea	stack+4096(%rip), %rsi
	CLONE_THREAD
	test	%eax, %eax
	jz	2f
	mov	$SYS_EXIT, %eax
	xor	%edi, %edi
	syscall
2:	mov	$WORK, %ecx
3:	dec	%ecx
	jnz	3b
	LEAVE
	.bss
	.balign	64
stack:	.skip	4096
