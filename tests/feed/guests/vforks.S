#include "guests.inc"
/* A child executes a guest; its parent waits for it. */
#define SYS_VFORK 58
_start:	mov	$SYS_VFORK, %eax
	syscall
	test	%eax, %eax
	jz	1f
	mov	$-1, %edi
	xor	%esi, %esi
	xor	%edx, %edx
	xor	%r10d, %r10d
	mov	$SYS_WAIT4, %eax
	syscall
	LEAVE
1:	lea	program(%rip), %rdi
	lea	vector(%rip), %rsi
	xor	%edx, %edx
	mov	$SYS_EXECVE, %eax
	syscall
	hlt
program: .asciz	"./loads"
	.data
	.balign	8
vector:	.quad	program, 0
