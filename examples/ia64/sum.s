// Sums 16 MB of 8-byte integers: 2,097,152 loads, one for each, of 131,072 lines of 128 bytes.
	.text
	.global _start
	.proc _start
_start:
	alloc r32 = ar.pfs, 0, 1, 1, 0
	movl r14 = data
	movl r15 = 2097152 - 1
	mov r16 = r0
	;;
	mov ar.lc = r15
	;;
	.align 32
again:
	ld8 r17 = [r14], 8
	;;
	add r16 = r17, r16
	br.cloop.sptk again
	;;
	mov r15 = 1025			// exit
	mov r33 = r0
	;;
	break.i 0x100000
	;;
	.endp _start

	.section .bss
	.align 16384
data:	.skip 16777216
