#include "guests.inc"
/* A guest by a descriptor that execveat() closes. */
#define SYS_OPEN      2
#define SYS_EXECVEAT  322
#define CLOSE_ON_EXEC 0x80000
#define AT_EMPTY_PATH 0x1000
_start:	lea	program(%rip), %rdi
	mov	$CLOSE_ON_EXEC, %esi
	mov	$SYS_OPEN, %eax
	syscall
	mov	%eax, %edi
	lea	empty(%rip), %rsi
	lea	vector(%rip), %rdx
	xor	%r10d, %r10d
	mov	$AT_EMPTY_PATH, %r8d
	mov	$SYS_EXECVEAT, %eax
	syscall
	hlt
program: .asciz	"./loads"
empty:	.asciz	""
	.data
	.balign	8
vector:	.quad	program, 0
