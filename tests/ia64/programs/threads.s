// Four threads by clone2. Each adds 50000 times: to a counter by fetchadd, and to another one under
// a lock (cmpxchg, st.rel). The first thread waits for each by futex on the word that the kernel
// clears. Exit status: 0, or 1 for a wrong sum, 2 for a failed system call.

	.text
	.global _start
	.proc _start
_start:
	alloc r33=ar.pfs,0,8,6,0	// locals r32 to r39, outputs r40 to r45
	movl r34=words;;
	mov r35=0			// how many threads there are

1:	// mmap(0, 0x40000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
	mov r15=1151
	mov r40=0
	movl r41=0x40000
	mov r42=3
	mov r43=0x22
	mov r44=-1
	mov r45=0;;
	break.i 0x100000;;
	cmp.ne p6,p0=0,r10
(p6)	br.cond.spnt failed;;

	// clone2(flags, base, size, 0, &words[thread], 0)
	mov r41=r8
	movl r40=0x250f00		// VM FS FILES SIGHAND THREAD SYSVSEM, CHILD_CLEARTID
	movl r42=0x40000
	mov r43=0
	shladd r44=r35,3,r34
	mov r45=0
	mov r15=1213
	mov r14=1;;
	st8 [r44]=r14;;
	break.i 0x100000;;
	cmp.ne p6,p0=0,r10
	cmp.eq p7,p0=0,r8
(p6)	br.cond.spnt failed
(p7)	br.cond.spnt child;;
	adds r35=1,r35;;
	cmp.gt p6,p0=4,r35
(p6)	br.cond.sptk 1b;;

2:	// wait for the last one: futex(&words[n], FUTEX_WAIT, 1, 0)
	adds r35=-1,r35;;
3:	shladd r40=r35,3,r34;;
	ld4.acq r14=[r40]
	mov r41=0
	mov r42=1
	mov r43=0
	mov r15=1230;;
	cmp4.eq p6,p7=0,r14
(p6)	br.cond.sptk 4f;;
	break.i 0x100000;;
	br.cond.sptk 3b;;
4:	cmp.lt p6,p0=0,r35
(p6)	br.cond.sptk 2b;;

	movl r14=counters
	movl r15=200000;;
	ld8 r16=[r14],8;;
	ld8 r17=[r14]
	cmp.eq p6,p7=r15,r16;;
(p6)	cmp.eq.unc p6,p7=r15,r17
	mov r40=1;;
(p6)	mov r40=0
	br.cond.sptk leave;;
failed:
	mov r40=2;;
leave:	// exit_group
	mov r15=1236;;
	break.i 0x100000;;

child:
	alloc r33=ar.pfs,0,8,6,0
	movl r20=counters
	movl r21=lock
	movl r24=50000-1;;
	mov ar.lc=r24
	adds r22=8,r20
	mov r25=1;;
5:	fetchadd8.acq r26=[r20],1
	mov ar.ccv=r0;;
6:	cmpxchg8.acq r27=[r21],r25,ar.ccv;;
	cmp.ne p6,p0=0,r27
(p6)	br.cond.spnt 6b;;
	ld8 r28=[r22];;
	adds r28=1,r28;;
	st8 [r22]=r28;;
	st8.rel [r21]=r0
	br.cloop.sptk 5b;;
	mov r40=0			// exit of this thread
	mov r15=1025;;
	break.i 0x100000;;
	.endp _start

	.bss
	.align 64
words:	.skip 64
counters: .skip 16
	.skip 48
lock:	.skip 64
