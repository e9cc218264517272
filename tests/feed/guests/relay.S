#include "guests.inc"
/* A thread works, makes another one and ends; that one works as long and ends the process. */
#define THREAD_FLAGS 0x50f00 /* CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM */
_start:	mov	$WORK, %ecx
1:	dec	%ecx
	jnz	1b
	lea	stack+4096(%rip), %rsi
	mov	$SYS_CLONE, %eax
	mov	$THREAD_FLAGS, %edi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	syscall
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
