#include "guests.inc"
/* A file that is not there, one that is no program, then a guest: only the last runs. */
_start:	lea	absent(%rip), %rdi
	call	1f
	lea	data(%rip), %rdi
	call	1f
	lea	program(%rip), %rdi
	call	1f
	hlt
1:	lea	vector(%rip), %rsi
	xor	%edx, %edx
	mov	$SYS_EXECVE, %eax
	syscall
	ret
absent:	.asciz	"/nowhere/to/be/found"
data:	.asciz	"/etc/passwd"
program: .asciz	"./loads"
	.data
	.balign	8
vector:	.quad	program, 0
