// Code that changes: after fc (or a new mapping) and serialisation the new bundle is executed. Exit
// status: 0, or the number of the step at which the old one still was.

	.text
	.global _start
	.proc _start
_start:
	alloc r33=ar.pfs,0,3,6,0

	.macro call number		// system call: arguments in r35 to r40, result in r8
	mov r15=\number;;
	break.i 0x100000;;
	cmp.ne p6,p0=0,r10
	mov r35=99
(p6)	br.cond.spnt leave;;
	.endm

	.macro map at, flags		// a page to read, write and execute
	mov r35=\at
	movl r36=16384
	mov r37=7
	mov r38=\flags
	mov r39=-1
	mov r40=0
	call 1151
	.endm

	.macro put offset, what		// a bundle to offset of the page; its address in r17
	movl r14=\what
	movl r16=\offset;;
	add r17=r34,r16
	ld8 r18=[r14],8;;
	ld8 r19=[r14]
	st8 [r17]=r18,8;;
	st8 [r17]=r19,-8;;
	.endm

	.macro flush instruction
	\instruction r17;;
	sync.i;;
	srlz.i;;
	.endm

	.macro expect step, offset, value
	movl r16=\offset;;
	add r17=r34,r16;;
	mov b6=r17
	mov r8=0;;
	br.call.sptk.many b0=b6;;
	cmp.ne p6,p0=\value,r8
	mov r35=\step
(p6)	br.cond.spnt leave;;
	.endm

	map 0, 0x22			// MAP_PRIVATE, MAP_ANONYMOUS
	mov r34=r8

	put 0, one
	flush fc
	expect 1, 0, 1
	put 0, two
	flush fc
	expect 2, 0, 2
	put 0, one
	flush fc.i
	expect 3, 0, 1

	// Another line: what is not flushed stays.
	put 256, one
	flush fc
	expect 4, 256, 1
	put 256, two
	flush fc
	expect 5, 256, 2
	expect 6, 0, 1

	// Any address in the line flushes all of it.
	put 256, one
	put 272, two
	adds r17=100,r17;;
	flush fc
	expect 7, 256, 1
	expect 8, 272, 2

	// Another page at the same address.
	map r34, 0x32			// MAP_FIXED too
	put 0, two
	expect 9, 0, 2
	put 256, two
	expect 10, 256, 2

	mov r35=0;;
leave:	mov r15=1236;;
	break.i 0x100000;;
	.endp _start

	.align 16
one:
{ .mib;	mov r8=1
	nop.i 0
	br.ret.sptk.many b0;; }
two:
{ .mib;	mov r8=2
	nop.i 0
	br.ret.sptk.many b0;; }
