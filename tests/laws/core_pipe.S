/* Blocks of test_core_pipe.c: what each does is written there. */
	.intel_syntax noprefix
	.text

	.macro block name
	.globl \name, \name\()_end
\name:
	.endm

	.macro close name
\name\()_end:
	.endm

/* 7 issued, 6 executed, 9 retired: nop, move and zero need no port; cmp and jnz are one. */
block block_mixed
	nop
	mov rax, rbx
	xor ecx, ecx
	add rax, [rsi]
	mov [rdi], rax
	imul rdx, rdx
	cmp rax, rbx
	jnz block_mixed
close block_mixed

/* Issued, executed and retired are one. */
block block_conditional
	test eax, eax
	jnz block_conditional
close block_conditional

block block_jump
	jmp block_conditional
close block_jump

block block_jump_indirect
	jmp rax
close block_jump_indirect

block block_call
	call block_conditional
close block_call

block block_call_indirect
	call rax
close block_call_indirect

block block_return
	ret
close block_return

block block_system
	syscall
close block_system

block block_divide
	div ebx
close block_divide

block block_chain
	imul rdx, rdx
close block_chain

block block_port
	imul rax, rsi, 3
	imul rbx, rsi, 3
close block_port

	.section .note.GNU-stack, "", @progbits
