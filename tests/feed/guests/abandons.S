#include "guests.inc"
/* The first thread leaves while one thread spins and another waits in a system call. */
#define SYS_PAUSE    34
_start:	lea	stacks+4096(%rip), %rsi
	lea	spins(%rip), %rbx
	call	begin
	lea	stacks+8192(%rip), %rsi
	lea	waits(%rip), %rbx
	call	begin
1:	pause
	cmpl	$2, begun(%rip)
	jne	1b
	LEAVE
begin:	CLONE_THREAD
	test	%eax, %eax
	jz	2f
	ret
2:	lock incl begun(%rip)
	jmp	*%rbx
spins:	pause
	jmp	spins
waits:	mov	$SYS_PAUSE, %eax
	syscall
	jmp	waits
	.bss
	.balign	64
begun:	.skip	64
stacks:	.skip	8192
