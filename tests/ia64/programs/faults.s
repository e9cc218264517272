// Signals of faults: a handler with SA_SIGINFO looks at signal and address and goes on behind the
// instruction. Exit status: 0, or the number of what went wrong.

	.text
	.global _start
	.proc _start
_start:
	alloc r33=ar.pfs,0,8,6,0
	movl r34=action
	movl r35=descriptor
	movl r37=handler
	adds r14=4,r0;;			// SA_SIGINFO
	st8 [r35]=r37			// entry point; no global pointer
	st8 [r34]=r35,8;;
	st8 [r34]=r14;;

	.macro install signal
	mov r40=\signal			// rt_sigaction(signal, &action, 0, 8)
	movl r41=action
	mov r42=0
	mov r43=8
	mov r15=1177;;
	break.i 0x100000;;
	cmp.ne p6,p0=0,r10
	mov r40=99
(p6)	br.cond.spnt leave;;
	.endm
	install 4			// SIGILL
	install 5			// SIGTRAP
	install 7			// SIGBUS
	install 8			// SIGFPE
	install 11			// SIGSEGV

	.macro expect number, signal, code, address
	movl r16=seen;;
	ld4 r17=[r16],4;;
	ld4 r18=[r16],4;;
	ld8 r19=[r16]
	movl r20=\address
	movl r21=\signal
	movl r22=\code
	mov r40=\number;;
	cmp4.ne p6,p0=r21,r17
(p6)	br.cond.spnt leave;;
	cmp4.ne p6,p0=r22,r18
	adds r40=64,r40
(p6)	br.cond.spnt leave;;
	cmp.ne p6,p0=r20,r19
	adds r40=64,r40
(p6)	br.cond.spnt leave;;
	.endm

	// Registers live across a signal.
	mov r39=0x3333
	movl r38=0x123456789abcdef0;;
	setf.sig f40=r38
	mov ar.lc=77
	cmp.eq p20,p21=r0,r0;;

	movl r14=0x6000000000f00000
	mov r15=1;;
{ .mii;	st8 [r14]=r15
	nop.i 0
	nop.i 0;; }
	expect 1, 11, 1, 0x6000000000f00000

	movl r14=_start;;
{ .mii;	st8 [r14]=r15
	nop.i 0
	nop.i 0;; }
	expect 2, 11, 2, _start

i3:
{ .mii;	ld8.s r14=[r0]
	nop.i 0
	nop.i 0;; }
i4:
{ .mii;	ld8 r15=[r14]
	nop.i 0
	nop.i 0;; }
	expect 4, 4, 2, i4

	movl r14=words+4;;
{ .mii;	xchg8 r15=[r14],r15
	nop.i 0
	nop.i 0;; }
	expect 5, 7, 1, words+4

i6:
{ .mii;	nop.m 0
	break.i 1
	nop.i 0;; }
	expect 6, 8, 1, i6+1

i7:
{ .mmi;	nop.m 0
	nop.m 0
	break.i 0x80001;; }
	expect 7, 5, 1, i7+2

i8:
{ .mmb;	nop.m 0
	nop.m 0
	rfi;; }
	expect 8, 4, 0x80, 0

	// Unaligned accesses are done, until prctl(PR_SET_UNALIGN, PR_UNALIGN_SIGBUS).
	movl r14=words+1;;
	ld8 r15=[r14];;
	mov r40=6
	mov r41=2
	mov r15=1170;;
	break.i 0x100000;;
	movl r14=words+1;;
{ .mii;	ld8 r15=[r14]
	nop.i 0
	nop.i 0;; }
	expect 9, 7, 1, words+1

	// kept?
	mov r16=ar.lc
	getf.sig r17=f40
	movl r38=0x123456789abcdef0
	movl r18=0x3333
	mov r40=20;;
	cmp.ne p6,p0=r17,r38
(p6)	br.cond.spnt leave
	;;
	cmp.ne p6,p0=77,r16
	mov r40=21;;
(p6)	br.cond.spnt leave
	;;
	cmp.ne p6,p0=r18,r39
	mov r40=22;;
(p6)	br.cond.spnt leave
	;;
	mov r40=23
(p21)	br.cond.spnt leave;;
	mov r40=0;;
leave:	mov r15=1236;;
	break.i 0x100000;;
	.endp _start

// in0: signal, in1: siginfo, in2: context, whose ip is 40 bytes in
	.proc handler
handler:
	alloc r35=ar.pfs,3,40,0,0
	movl r14=seen
	adds r15=8,r33
	adds r16=16,r33
	adds r17=40,r34
	mov ar.lc=5
	mov r70=1;;
	ld4 r18=[r15]
	ld8 r19=[r16]
	ld8 r20=[r17]
	st4 [r14]=r32,4;;
	st4 [r14]=r18,4;;
	st8 [r14]=r19
	setf.sig f40=r0
	and r21=3,r20;;
	cmp.eq p6,p7=2,r21
	cmp.eq p20,p21=1,r0;;
(p6)	adds r20=14,r20
(p7)	adds r20=1,r20;;
	st8 [r17]=r20
	mov ar.pfs=r35;;
	br.ret.sptk b0;;
	.endp handler

	.bss
	.align 64
action:	.skip 64
descriptor: .skip 64
seen:	.skip 64
words:	.skip 64
