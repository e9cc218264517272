#include "guests.inc"
/*
 * A signal to itself, whose handler keeps an SSE register where the ABI has the stack aligned. What
 * the guest has set as handler, it finds as such.
 */
#define SYS_RT_SIGACTION 13
#define SYS_RT_SIGRETURN 15
#define SYS_GETPID	 39
#define SYS_KILL	 62
#define SIGNAL		 10
#define SA_RESTORER	 0x04000000
_start:	mov	$SYS_RT_SIGACTION, %eax
	mov	$SIGNAL, %edi
	lea	action(%rip), %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	syscall
	mov	$SYS_RT_SIGACTION, %eax
	mov	$SIGNAL, %edi
	xor	%esi, %esi
	lea	found(%rip), %rdx
	mov	$8, %r10d
	syscall
	lea	handler(%rip), %rax
	cmp	%rax, found(%rip)
	jne	1f
	cmp	%rax, action(%rip)
	jne	1f
	mov	$SYS_GETPID, %eax
	syscall
	mov	%eax, %edi
	mov	$SIGNAL, %esi
	mov	$SYS_KILL, %eax
	syscall
	LEAVE
1:	mov	$SYS_EXIT_GROUP, %eax
	mov	$1, %edi
	syscall
handler: movaps	%xmm0, -24(%rsp)
	ret
restorer: mov	$SYS_RT_SIGRETURN, %eax
	syscall
	.data
	.balign	8
action:	.quad	handler, SA_RESTORER, restorer, 0
	.bss
	.balign	8
found:	.skip	32
