/*
 * Loops of known time, one after the other: name, code from its first instruction to the jump that
 * closes it, rounds of the published figure in the body, and for each core that has its instructions
 * cycles a round in hundredths and the source of that. A table of them is `loops`.
 */
	.intel_syntax noprefix

	.macro of core, name, hundredths, source
	.section .rodata.str, "a"
9:	.asciz "\core"
8:	.asciz "\name"
7:	.asciz "\source"
	.section .data.loops, "aw"
	.balign 8
	.quad 9b, 8b, 7b, \name\()_begin, \name\()_end
	.long \hundredths, \name\()_rounds
	.text
	.endm

	.macro loop name, hundredths, rounds, source
	.set \name\()_rounds, \rounds
	of broadwell \name \hundredths "\source"
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

	loop zeros 25 36 "Agner Fog: zeroing idioms, four a cycle"
	.rept 12
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

	loop adds 25 32 "uops.info: ADD r64, r64: 1*p0156"
	.rept 8
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

	loop wide_loads 50 8 "Intel 248966: two loads of 32 bytes a cycle"
	.rept 2
	vmovapd ymm0, [rsi]
	vmovapd ymm1, [rsi + 32]
	vmovapd ymm2, [rsi + 64]
	vmovapd ymm3, [rsi + 96]
	.endr
	close wide_loads

	loop wide_mixed 150 4 "Intel 248966: two loads a cycle, here one of 32 and two of 16 bytes"
	.rept 4
	vmovapd ymm0, [rsi]
	movapd xmm1, [rsi + 32]
	movapd xmm2, [rsi + 48]
	.endr
	close wide_mixed

	loop wide_copies 100 4 "Intel 248966: two loads and a store of 32 bytes a cycle"
	.rept 4
	vmovapd ymm0, [rsi]
	vmovapd [rdx], ymm0
	.endr
	close wide_copies

	loop wide_daxpy 100 4 "Intel 248966: two loads and a store of 32 bytes a cycle"
	.rept 4
	vmulpd ymm0, ymm15, [rsi]
	vaddpd ymm0, ymm0, [rdi]
	vmovapd [rdx], ymm0
	.endr
	close wide_daxpy

	loop wide_triad 150 4 "Intel 248966: two loads and a store of 32 bytes a cycle"
	.rept 4
	vmovapd ymm0, [rsi]
	vmulpd ymm0, ymm0, [rdi]
	vaddpd ymm0, ymm0, [rcx]
	vmovapd [rdx], ymm0
	.endr
	close wide_triad

	loop forward 600 1 "Agner Fog: a store and a load of it: 5, and the addition"
	add rax, 1
	mov [rsi], rax
	mov rax, [rsi]
	close forward

	loop counter 600 1 "Agner Fog: ADD m, i: latency 6"
	add qword ptr [rsi], 1
	close counter

	loop counter_alone 600 1 "Agner Fog: ADD m, i: latency 6, its flags not used"
	add qword ptr [rsi], 1
	cmp rbx, 1
	close counter_alone

	loop counter_endless 600 1 "Agner Fog: ADD m, i: latency 6"
	add qword ptr [rsi], 1
	jmp counter_endless_begin
counter_endless_end:

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

	loop shuffles 100 12 "uops.info: PSHUFD: 1*p5"
	.rept 3
	pshufd xmm0, xmm4, 1
	pshufd xmm1, xmm4, 1
	pshufd xmm2, xmm4, 1
	pshufd xmm3, xmm4, 1
	.endr
	close shuffles

	loop float_shuffles 100 12 "uops.info: SHUFPS: 1*p5"
	.rept 3
	shufps xmm0, xmm4, 1
	shufps xmm1, xmm4, 1
	shufps xmm2, xmm4, 1
	shufps xmm3, xmm4, 1
	.endr
	close float_shuffles

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

	/* Of rounds that are no whole number of cycles' operations. */
	loop sum 300 1 "uops.info: ADDSD: latency 3"
	addsd xmm0, xmm1
	close sum

	loop sum_beside 300 1 "uops.info: ADDSD: latency 3"
	addsd xmm0, xmm1
	nop
	close sum_beside

	loop tally 100 1 "uops.info: PADDD: latency 1"
	paddd xmm0, xmm1
	close tally

	loop horner 600 1 "uops.info: MULSD and ADDSD: 3 each"
	mulsd xmm0, xmm1
	addsd xmm0, xmm2
	close horner

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

	/*
	 * The front end: code that is decoded once, and code of more than the decoded ones have room
	 * for, which is decoded each time. A round of `prefixes` is 16 bytes.
	 */
	.macro nop8
	.byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
	.endm

	.macro adds count
	.rept \count
	add rbx, 0x1000
	add rcx, 0x1000
	add rdx, 0x1000
	add rsi, 0x1000
	.endr
	.endm

	.macro prefixes count
	.rept \count / 2
	add cx, 0x1000
	nop8
	nop dword ptr [rax]
	add dx, 0x1000
	nop8
	nop dword ptr [rax]
	.endr
	.endm

	.macro pairs count
	.rept \count
	cmovbe rax, rdi
	cmovbe rbx, rdi
	cmovbe rcx, rdi
	cmovbe rdx, rdi
	.endr
	.endm

	loop kept_nops 25 250 "Intel 248966: decoded ICache: four micro-operations a cycle"
	.rept 250
	nop8
	.endr
	close kept_nops

	loop decoded_nops 50 2000 "Intel 248966: 16 bytes a cycle, here two instructions"
	.rept 2000
	nop8
	.endr
	close decoded_nops

	loop kept_adds 25 500 "Intel 248966: decoded ICache: four micro-operations a cycle"
	adds 125
	close kept_adds

	loop decoded_adds 44 2000 "Intel 248966: 16 bytes a cycle, of instructions of 7"
	adds 500
	close decoded_adds

	loop kept_prefixes 75 100 "Intel 248966: decoded ICache: no length is looked for"
	prefixes 100
	close kept_prefixes

	loop decoded_prefixes 400 640 "Intel 248966: 16 bytes a cycle, and three for the prefix"
	prefixes 640
	close decoded_prefixes

	loop kept_pairs 50 100 "uops.info: CMOVBE: two micro-operations, of four a cycle"
	pairs 25
	close kept_pairs

	loop decoded_pairs 100 1000 "Intel 248966: one decoder has instructions of two"
	pairs 250
	close decoded_pairs

	of sandybridge add 100 "LLVM, X86SchedSandyBridge.td: WriteALU: latency 1"
	of sandybridge imul 300 "LLVM: WriteIMul64Reg: latency 3"
	of sandybridge mul 300 "Agner Fog: MUL r64: latency 3"
	of sandybridge div32 2500 "LLVM: WriteDiv32: latency 25"
	of sandybridge lea_simple 100 "LLVM: WriteLEA: latency 1"
	of sandybridge lea_slow 300 "Agner Fog: LEA of three parts: latency 3"
	of sandybridge shift 100 "LLVM: WriteShift: latency 1"
	of sandybridge rotate 100 "Agner Fog: ROL r, i: latency 1"
	of sandybridge popcnt 300 "LLVM: WritePOPCNT: latency 3"
	of sandybridge adc 200 "LLVM: WriteADC: latency 2"
	of sandybridge cmov 200 "LLVM: WriteCMOV: latency 2"
	of sandybridge moves 100 "Agner Fog: MOV r, r: latency 1, of a chain"
	of sandybridge zeros 25 "Agner Fog: zeroing idioms, four a cycle"
	of sandybridge nops 25 "Agner Fog: NOP, four a cycle"
	of sandybridge adds 33 "LLVM: WriteALU: SBPort015"
	of sandybridge imuls 100 "LLVM: WriteIMul64Reg: SBPort1"
	of sandybridge shifts 50 "LLVM: WriteShift: SBPort05"
	of sandybridge mixed 100 "LLVM: SBPort1 each: IMUL, POPCNT, LEA of three parts"
	of sandybridge chase 400 "Intel 248966: L1D: 4 cycles"
	of sandybridge chase_indexed 500 "Intel 248966: L1D: 5 cycles with an index"
	of sandybridge loads 50 "Intel 248966: two loads a cycle"
	of sandybridge stores 100 "Intel 248966: a store a cycle"
	of sandybridge copies 100 "Intel 248966: two addresses a cycle, of loads and stores"
	of sandybridge wide_loads 103 "kerncraft, SandyBridgeEP_E5-2680.yml, L1: load, 84.1 GB/s at 2.7 GHz"
	of sandybridge wide_mixed 200 "Intel 248966: 16 bytes each of two load ports a cycle"
	of sandybridge wide_copies 208 "kerncraft, SandyBridgeEP_E5-2680.yml, L1: copy, 83.3 GB/s"
	of sandybridge wide_daxpy 222 "kerncraft, SandyBridgeEP_E5-2680.yml, L1: daxpy, 116.9 GB/s"
	of sandybridge wide_triad 345 "kerncraft, SandyBridgeEP_E5-2680.yml, L1: triad, 100.2 GB/s"
	of sandybridge counter 600 "Agner Fog: ADD m, i: latency 6"
	of sandybridge counter_alone 600 "Agner Fog: ADD m, i: latency 6, its flags not used"
	of sandybridge counter_endless 600 "Agner Fog: ADD m, i: latency 6"
	of sandybridge stack 500 "Agner Fog: a push and a pop of it"
	of sandybridge addsd 300 "LLVM: WriteFAdd64: latency 3"
	of sandybridge mulsd 500 "LLVM: WriteFMul64: latency 5"
	of sandybridge divsd 2200 "LLVM: WriteFDiv64: latency 22"
	of sandybridge divsds 2200 "LLVM: WriteFDiv64: SBFPDivider 22"
	of sandybridge sqrtsd 2100 "LLVM: WriteFSqrt64: latency 21"
	of sandybridge paddd 100 "LLVM: WriteVecALUX: latency 1"
	of sandybridge pmulld 500 "LLVM: WritePMULLD: latency 5"
	of sandybridge pmullw 500 "LLVM: WriteVecIMulX: latency 5"
	of sandybridge shuffles 50 "LLVM: WriteShuffleX: SBPort15"
	of sandybridge float_shuffles 100 "LLVM: WriteFShuffle: SBPort5"
	of sandybridge aesenc 800 "Agner Fog: AESENC: latency 8 (LLVM: 7)"
	of sandybridge crossing 300 "LLVM: WriteVecMoveFromGpr 1, WriteVecMoveToGpr 2"
	of sandybridge dot 300 "LLVM: WriteFAdd64: latency 3, of a sum of products"
	of sandybridge polynomial 800 "LLVM: WriteFMul64 5, WriteFAdd64 3"
	of sandybridge sum 300 "LLVM: WriteFAdd64: latency 3"
	of sandybridge sum_beside 300 "LLVM: WriteFAdd64: latency 3"
	of sandybridge tally 100 "LLVM: WriteVecALUX: latency 1"
	of sandybridge horner 800 "LLVM: WriteFMul64 5, WriteFAdd64 3"
	of sandybridge congruence 400 "LLVM: WriteIMul64Reg 3, WriteALU 1"
	of sandybridge hash 900 "Intel 248966: a load of 5; LLVM: WriteALU 1, WriteIMul64Reg 3"
	of sandybridge kept_nops 25 "Intel 248966: decoded ICache: four micro-operations a cycle"
	of sandybridge decoded_nops 50 "Intel 248966: 16 bytes a cycle, here two instructions"
	of sandybridge kept_adds 33 "LLVM: WriteALU: SBPort015"
	of sandybridge decoded_adds 44 "Intel 248966: 16 bytes a cycle, of instructions of 7"
	of sandybridge kept_prefixes 75 "Intel 248966: decoded ICache: no length is looked for"
	of sandybridge decoded_prefixes 400 "Intel 248966: 16 bytes a cycle, and three for the prefix"
	of sandybridge decoded_pairs 100 "Intel 248966: one decoder has instructions of two"

	of nehalem add 100 "Agner Fog: ADD r, r: latency 1"
	of nehalem imul 300 "Agner Fog: IMUL r64, r64: latency 3"
	of nehalem mul 300 "Agner Fog: MUL r64: latency 3"
	of nehalem div32 2250 "Agner Fog: DIV r32: latency 17 to 28"
	of nehalem lea_simple 100 "Agner Fog: LEA: latency 1"
	of nehalem lea_slow 100 "Agner Fog: LEA: latency 1, also of three parts"
	of nehalem shift 100 "Agner Fog: SHL r, i: latency 1"
	of nehalem rotate 100 "Agner Fog: ROL r, i: latency 1"
	of nehalem popcnt 300 "Agner Fog: POPCNT: latency 3"
	of nehalem adc 200 "Agner Fog: ADC r, r: latency 2"
	of nehalem cmov 200 "Agner Fog: CMOV r, r: latency 2"
	of nehalem moves 100 "Agner Fog: MOV r, r: latency 1, of a chain"
	of nehalem zeros 33 "Agner Fog: XOR r, r: p015"
	of nehalem adds 33 "Agner Fog: ADD r, r: p015"
	of nehalem imuls 100 "Agner Fog: IMUL r64, r64: p1"
	of nehalem shifts 50 "Agner Fog: SHL r, i: p05"
	of nehalem mixed 100 "Agner Fog: p1 each: IMUL, POPCNT, LEA"
	of nehalem chase 400 "Intel 248966: L1D: 4 cycles"
	of nehalem chase_indexed 400 "Intel 248966: L1D: 4 cycles"
	of nehalem loads 100 "Intel 248966: a load a cycle"
	of nehalem stores 100 "Intel 248966: a store a cycle"
	of nehalem copies 100 "Intel 248966: a load and a store a cycle"
	of nehalem counter 600 "Agner Fog: ADD m, i: latency 6"
	of nehalem counter_alone 600 "Agner Fog: ADD m, i: latency 6, its flags not used"
	of nehalem counter_endless 600 "Agner Fog: ADD m, i: latency 6"
	of nehalem addsd 300 "Agner Fog: ADDSD: latency 3"
	of nehalem mulsd 500 "Agner Fog: MULSD: latency 5"
	of nehalem divsd 2200 "Agner Fog: DIVSD: latency 7 to 22, here of all digits"
	of nehalem sqrtsd 3200 "Agner Fog: SQRTSD: latency 7 to 32, here of all digits"
	of nehalem paddd 100 "Agner Fog: PADDD: latency 1"
	of nehalem pmulld 600 "Agner Fog: PMULLD: latency 6"
	of nehalem pmullw 300 "Agner Fog: PMULLW: latency 3"
	of nehalem shuffles 50 "Agner Fog: PSHUFD: p05"
	of nehalem float_shuffles 100 "Agner Fog: SHUFPS: p5"
	of nehalem dot 300 "Agner Fog: ADDSD: latency 3, of a sum of products"
	of nehalem polynomial 800 "Agner Fog: MULSD 5, ADDSD 3"
	of nehalem sum 300 "Agner Fog: ADDSD: latency 3"
	of nehalem sum_beside 300 "Agner Fog: ADDSD: latency 3"
	of nehalem tally 100 "Agner Fog: PADDD: latency 1"
	of nehalem horner 800 "Agner Fog: MULSD 5, ADDSD 3"
	of nehalem congruence 400 "Agner Fog: IMUL 3, ADD 1"
	of nehalem hash 800 "Intel 248966: a load of 4; Agner Fog: XOR 1, IMUL 3"
	of nehalem kept_nops 50 "Intel 248966: 16 bytes a cycle, here two instructions"
	of nehalem decoded_nops 50 "Intel 248966: 16 bytes a cycle, here two instructions"
	of nehalem decoded_adds 44 "Intel 248966: 16 bytes a cycle, of instructions of 7"
	of nehalem kept_prefixes 700 "Intel 248966: 16 bytes a cycle, and six for the prefix"
	of nehalem decoded_prefixes 700 "Intel 248966: 16 bytes a cycle, and six for the prefix"
	of nehalem decoded_pairs 100 "Intel 248966: one decoder has instructions of two"

	.section .data.loops, "aw"
	.quad 0, 0, 0, 0, 0, 0
	.section .note.GNU-stack, "", @progbits
