/*
 * Branches that are all known: each stands at the begin of a slot of 64 bytes, by the number that
 * test_branches.c has for it. What stands between them is executed and does nothing.
 */
#define SLOT(n) .org (n) * 64, 0x90
	.globl	_start
	.text
_start:	mov	(%rsp), %ebx		/* rounds: arguments, with the name, and 4 */
	add	$4, %ebx
	lea	jumped(%rip), %r12
	lea	called(%rip), %r13
	SLOT(1)
again:	call	leaf
	SLOT(2)
	dec	%ebx
	SLOT(3)
	jnz	again
	SLOT(4)
	jmp	*%r12
	SLOT(5)
leaf:	ret
	SLOT(6)
jumped:	call	*%r13
	SLOT(7)
	jmp	end
	SLOT(8)
called:	ret
	SLOT(9)
end:	mov	$231, %eax		/* exit_group */
	xor	%edi, %edi
	syscall
