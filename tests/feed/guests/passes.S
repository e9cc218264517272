#include "guests.inc"
/* Works, and executes itself, with one more argument, to work once more. */
_start:	mov	$WORK, %ecx
1:	dec	%ecx
	jnz	1b
	cmpl	$1, (%rsp)
	jne	2f
	lea	program(%rip), %rdi
	lea	vector(%rip), %rsi
	xor	%edx, %edx
	mov	$SYS_EXECVE, %eax
	syscall
	hlt
2:	LEAVE
program: .asciz	"./passes"
	.data
	.balign	8
vector:	.quad	program, program, 0
