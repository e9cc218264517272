// Futexes of two threads: what they refuse, a timeout, and a wake. The second thread sleeps for 10 ms,
// sets a word and wakes the first one. Exit status: 0, or the number of the step that went wrong.

	.macro futex word, operation, value, timeout, bits
	mov r40=\word
	mov r41=\operation
	mov r42=\value
	mov r43=\timeout
	add r44=8,r34
	mov r45=\bits
	mov r15=1230;;
	break.i 0x100000;;
	.endm

	// Step number: result r8 and whether it is an error, r10.
	.macro expect step, result, failed
	mov r36=\step
	mov r14=\result
	mov r16=\failed;;
	cmp.ne p6,p0=r14,r8
	cmp.ne p7,p0=r16,r10;;
(p6)	br.cond.spnt wrong
(p7)	br.cond.spnt wrong;;
	.endm

	.text
	.global _start
	.proc _start
_start:
	alloc r33=ar.pfs,0,8,6,0	// locals r32 to r39, outputs r40 to r45
	movl r34=word
	movl r35=millisecond;;

	// mmap(0, 0x40000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
	mov r15=1151
	mov r40=0
	movl r41=0x40000
	mov r42=3
	mov r43=0x22
	mov r44=-1
	mov r45=0;;
	break.i 0x100000;;
	mov r41=r8
	movl r40=0x50f00		// VM FS FILES SIGHAND THREAD SYSVSEM
	movl r42=0x40000
	mov r43=0
	mov r44=0
	mov r45=0
	mov r15=1213;;
	break.i 0x100000;;		// clone2
	cmp.eq p7,p0=0,r8
(p7)	br.cond.spnt child;;

	futex r34, 0, 1, 0, 0		// WAIT: the word is 0
	expect 1, 11, -1		// EAGAIN
	futex r34, 0, 0, r35, 0		// WAIT for 1 ms
	expect 2, 110, -1		// ETIMEDOUT
	futex r35, 1, 5, 0, 0		// WAKE: nobody waits there
	expect 3, 0, 0
	add r37=1,r34;;
	futex r37, 0, 0, 0, 0		// not aligned
	expect 4, 22, -1		// EINVAL
	futex r34, 9, 0, 0, 0		// WAIT_BITSET of no bits
	expect 5, 22, -1
	futex r34, 4, 0, 0, 1		// CMP_REQUEUE: the word is not 1
	expect 6, 11, -1
1:	futex r34, 0, 0, 0, 0		// WAIT without end
	ld4.acq r14=[r34];;
	cmp4.eq p6,p0=0,r14
	mov r36=7
	cmp4.ne p7,p0=1,r14
(p6)	br.cond.spnt 1b
(p7)	br.cond.spnt wrong;;
	mov r36=0;;
wrong:	mov r40=r36
	mov r15=1236;;
	break.i 0x100000;;		// exit_group

child:
	alloc r33=ar.pfs,0,8,6,0
	movl r34=word
	movl r35=sleep;;
	mov r40=r35
	mov r41=0
	mov r15=1168;;
	break.i 0x100000;;		// nanosleep
	mov r14=1;;
	st4.rel [r34]=r14;;
	futex r34, 1, 1, 0, 0		// WAKE
	mov r40=0
	mov r15=1025;;
	break.i 0x100000;;		// exit
	.endp _start

	.data
	.align 64
word:	.skip 64
millisecond: data8 0, 1000000
sleep:	data8 0, 10000000
