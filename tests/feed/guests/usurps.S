#include "guests.inc"
/* A second thread executes a guest while the first one runs. */
#define STACK_BYTES  4096
#define THREAD_FLAGS 0x50f00 /* CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM */
_start:	mov	$SYS_CLONE, %eax
	mov	$THREAD_FLAGS, %edi
	lea	stack+STACK_BYTES(%rip), %rsi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	syscall
	test	%eax, %eax
	jz	2f
1:	pause
	jmp	1b
2:	lea	program(%rip), %rdi
	lea	vector(%rip), %rsi
	xor	%edx, %edx
	mov	$SYS_EXECVE, %eax
	syscall
	hlt
program: .asciz	"./loads"
	.data
	.balign	8
vector:	.quad	program, 0
	.bss
	.balign	64
stack:	.skip	STACK_BYTES
