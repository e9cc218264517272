/* Blocks of test_core_cycles.c, without a jump: their micro-operations are independent but for the
 * chain's. */
	.intel_syntax noprefix
	.text

	.macro block name
	.globl \name, \name\()_end
\name:
	.endm

	.macro close name
\name\()_end:
	.endm

block block_two
	mov eax, 1
	mov ecx, 2
close block_two

block block_three
	mov eax, 1
	mov ecx, 2
	mov edx, 3
close block_three

block block_four
	mov eax, 1
	mov ecx, 2
	mov edx, 3
	mov ebx, 4
close block_four

/* 5 issued, 6 executed: the address and the data of a store. */
block block_store
	mov [rdi], eax
	mov eax, 1
	mov ecx, 2
	mov edx, 3
	mov ebx, 4
close block_store

/* 3 cycles a round: 248966 and uops.info. */
block block_chain
	imul rax, rax
close block_chain

block block_divide
	div ebx
close block_divide

/* Each is independent of the one before. */
block block_root
	sqrtps xmm0, xmm1
close block_root

	.section .note.GNU-stack, "", @progbits
