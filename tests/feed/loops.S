/*
 * Loops of known time on Broadwell, one after the other: name, code from its first instruction to
 * the jump that closes it, rounds of the published figure in the body, cycles a round in hundredths,
 * and the source of that. A table of them is `loops`.
 */
	.intel_syntax noprefix

	.macro loop name, hundredths, rounds, source
	.section .rodata.str, "a"
9:	.asciz "\name"
8:	.asciz "\source"
	.section .data.loops, "aw"
	.balign 8
	.quad 9b, 8b, \name\()_begin, \name\()_end
	.long \hundredths, \rounds
	.text
\name\()_begin:
	.endm

	.macro close name
	dec r15d
	jnz \name\()_begin
\name\()_end:
	.endm

	.section .data.loops, "aw"
	.balign 8
	.globl loops
loops:

	loop add 100 4 "uops.info: ADD r64, r64: latency 1"
	.rept 4
	add rax, rbx
	.endr
	close add

	loop imul 300 4 "uops.info: IMUL r64, r64: latency 3"
	.rept 4
	imul rax, rbx
	.endr
	close imul

	loop mul 300 4 "uops.info: MUL r64: latency 3 to rax"
	.rept 4
	mul rbx
	.endr
	close mul

	loop div32 2600 1 "Agner Fog: DIV r32: latency 22 to 29"
	xor edx, edx
	div ebx
	close div32

	loop lea_simple 100 4 "uops.info: LEA of two parts: latency 1"
	.rept 4
	lea rax, [rax + rbx]
	.endr
	close lea_simple

	loop lea_slow 300 4 "uops.info: LEA of three parts: latency 3"
	.rept 4
	lea rax, [rax + rbx + 8]
	.endr
	close lea_slow

	loop shift 100 4 "uops.info: SHL r64, i8: latency 1"
	.rept 4
	shl rax, 3
	.endr
	close shift

	loop rotate 100 4 "uops.info: ROL r64, i8: latency 1"
	.rept 4
	rol rax, 3
	.endr
	close rotate

	loop popcnt 300 4 "uops.info: POPCNT r64, r64: latency 3"
	.rept 4
	popcnt rax, rax
	.endr
	close popcnt

	loop adc 100 4 "uops.info: ADC r64, r64: latency 1"
	.rept 4
	adc rax, rbx
	.endr
	close adc

	loop cmov 100 4 "uops.info: CMOVZ r64, r64: latency 1"
	.rept 4
	cmovz rax, rbx
	.endr
	close cmov

	loop moves 25 12 "Agner Fog: moves are eliminated, four a cycle"
	.rept 6
	mov rax, rbx
	mov rbx, rax
	.endr
	close moves

	loop zeros 25 12 "Agner Fog: zeroing idioms, four a cycle"
	.rept 4
	xor eax, eax
	xor ebx, ebx
	xor ecx, ecx
	.endr
	close zeros

	loop nops 25 16 "Agner Fog: NOP, four a cycle"
	.rept 16
	nop
	.endr
	close nops

	loop adds 25 16 "uops.info: ADD r64, r64: 1*p0156"
	.rept 4
	add rax, rsi
	add rbx, rsi
	add rcx, rsi
	add rdx, rsi
	.endr
	close adds

	loop imuls 100 8 "uops.info: IMUL r64, r64: 1*p1"
	.rept 2
	imul rax, rsi
	imul rbx, rsi
	imul rcx, rsi
	imul rdx, rsi
	.endr
	close imuls

	loop shifts 50 24 "uops.info: SHL r64, i8: 1*p06"
	.rept 6
	shl rax, 1
	shl rbx, 1
	shl rcx, 1
	shl rdx, 1
	.endr
	close shifts

	loop mixed 100 4 "uops.info: 1*p1 each: IMUL, POPCNT, LEA of three parts"
	imul rax, rsi
	popcnt rbx, rsi
	lea rcx, [rsi + rdi + 8]
	imul rdx, rsi
	close mixed

	loop chase 400 4 "Intel 248966: L1D: 4 cycles"
	.rept 4
	mov rax, [rax]
	.endr
	close chase

	loop chase_indexed 500 4 "Intel 248966: L1D: 5 cycles with an index"
	.rept 4
	mov rax, [rax + rbx * 8]
	.endr
	close chase_indexed

	loop loads 50 8 "Intel 248966: two loads a cycle"
	.rept 2
	mov rax, [rsi]
	mov rbx, [rsi + 8]
	mov rcx, [rsi + 16]
	mov rdx, [rsi + 24]
	.endr
	close loads

	loop stores 100 4 "Intel 248966: a store a cycle"
	mov [rsi], rax
	mov [rsi + 8], rax
	mov [rsi + 16], rax
	mov [rsi + 24], rax
	close stores

	loop copies 100 4 "Intel 248966: two loads and a store a cycle"
	.rept 2
	mov rax, [rsi]
	mov [rdi], rax
	mov rbx, [rsi + 8]
	mov [rdi + 8], rbx
	.endr
	close copies

	loop forward 600 1 "Agner Fog: a store and a load of it: 5, and the addition"
	add rax, 1
	mov [rsi], rax
	mov rax, [rsi]
	close forward

	loop counter 600 1 "Agner Fog: ADD m, i: latency 6"
	add qword ptr [rsi], 1
	close counter

	loop stack 500 1 "Agner Fog: a push and a pop of it"
	push rax
	pop rax
	close stack

	loop addsd 300 4 "uops.info: ADDSD: latency 3"
	.rept 4
	addsd xmm0, xmm1
	.endr
	close addsd

	loop mulsd 300 4 "uops.info: MULSD: latency 3"
	.rept 4
	mulsd xmm0, xmm1
	.endr
	close mulsd

	loop fma 500 4 "uops.info: VFMADD231SD: latency 5"
	.rept 4
	vfmadd231sd xmm0, xmm1, xmm2
	.endr
	close fma

	loop fmas 50 10 "uops.info: VFMADD231PD ymm: 1*p01"
	vfmadd231pd ymm0, ymm10, ymm11
	vfmadd231pd ymm1, ymm10, ymm11
	vfmadd231pd ymm2, ymm10, ymm11
	vfmadd231pd ymm3, ymm10, ymm11
	vfmadd231pd ymm4, ymm10, ymm11
	vfmadd231pd ymm5, ymm10, ymm11
	vfmadd231pd ymm6, ymm10, ymm11
	vfmadd231pd ymm7, ymm10, ymm11
	vfmadd231pd ymm8, ymm10, ymm11
	vfmadd231pd ymm9, ymm10, ymm11
	close fmas

	loop divsd 1400 4 "LLVM: DIVSD: latency 14"
	.rept 4
	divsd xmm0, xmm1
	.endr
	close divsd

	loop divsds 500 4 "uops.info: DIVSD: throughput 4 to 5"
	divsd xmm0, xmm4
	divsd xmm1, xmm4
	divsd xmm2, xmm4
	divsd xmm3, xmm4
	close divsds

	loop sqrtsd 1600 4 "LLVM: SQRTSD: latency 16"
	.rept 4
	sqrtsd xmm0, xmm0
	.endr
	close sqrtsd

	loop paddd 100 4 "uops.info: PADDD: latency 1"
	.rept 4
	paddd xmm0, xmm1
	.endr
	close paddd

	loop pmulld 1000 4 "uops.info: PMULLD: latency 10"
	.rept 4
	pmulld xmm0, xmm1
	.endr
	close pmulld

	loop pmullw 500 4 "uops.info: PMULLW: latency 5"
	.rept 4
	pmullw xmm0, xmm1
	.endr
	close pmullw

	loop shuffles 100 4 "uops.info: PSHUFD: 1*p5"
	pshufd xmm0, xmm4, 1
	pshufd xmm1, xmm4, 1
	pshufd xmm2, xmm4, 1
	pshufd xmm3, xmm4, 1
	close shuffles

	loop aesenc 700 4 "uops.info: AESENC: latency 7"
	.rept 4
	aesenc xmm0, xmm1
	.endr
	close aesenc

	loop crossing 200 4 "uops.info: MOVQ from a general register and back: 1 each"
	.rept 4
	movq xmm0, rax
	movq rax, xmm0
	.endr
	close crossing

	loop dot 300 1 "uops.info: ADDSD: latency 3, of a sum of products"
	movsd xmm1, [rsi + rdx * 8]
	mulsd xmm1, [rdi + rdx * 8]
	addsd xmm0, xmm1
	add rdx, 1
	close dot

	loop polynomial 600 4 "uops.info: MULSD and ADDSD: 3 each"
	.rept 4
	mulsd xmm0, xmm1
	addsd xmm0, xmm2
	.endr
	close polynomial

	loop congruence 400 4 "uops.info: IMUL and ADD: 3 and 1"
	.rept 4
	imul rax, rbx
	add rax, rcx
	.endr
	close congruence

	loop hash 900 1 "uops.info: a load of 5, XOR 1, IMUL 3"
	xor rax, [rdi + rax]
	imul rax, rbx
	close hash

	loop least 100 1 "Agner Fog: one taken jump a cycle"
	close least

	.section .data.loops, "aw"
	.quad 0, 0, 0, 0, 0
	.section .note.GNU-stack, "", @progbits
