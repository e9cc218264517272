#include "guests.inc"
/* Four threads increment a cell COUNT times and then say that they are done; the first thread
   spins until all have, and leaves with status 0 if no increment was lost. */
#define THREADS     4
#define STACK_BYTES 4096
_start:	mov	$THREADS, %ebx
	lea	stacks+STACK_BYTES(%rip), %rsi
1:	CLONE_THREAD
	test	%eax, %eax
	jz	worker
	add	$STACK_BYTES, %rsi
	dec	%ebx
	jnz	1b
2:	pause
	cmpl	$THREADS, done(%rip)
	jne	2b
	xor	%edi, %edi
	cmpl	$THREADS * COUNT, cell(%rip)
	setne	%dil
	mov	$SYS_EXIT_GROUP, %eax
	syscall
worker:	mov	$COUNT, %ecx
3:	lock incl cell(%rip)
	dec	%ecx
	jnz	3b
	lock incl done(%rip)
	mov	$SYS_EXIT, %eax
	xor	%edi, %edi
	syscall
	.bss
	.balign	64
cell:	.skip	64
done:	.skip	64
stacks:	.skip	THREADS * STACK_BYTES
