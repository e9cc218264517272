// What loads a dynamic program: where AT_BASE leads to a file of its kind, it prints the file /marker
// and goes on at AT_ENTRY; else it exits with 3.
	.text
	.global _start
	.proc _start
_start:
	alloc r33=ar.pfs,0,4,4,0
	adds r14=16,r12;;
	ld8 r15=[r14],8;;		// argc
	shladd r14=r15,3,r14;;
	adds r14=8,r14;;
environment:
	ld8 r16=[r14],8;;
	cmp.ne p6,p7=0,r16
(p6)	br.cond.sptk environment;;
auxiliary:
	ld8 r17=[r14],8;;
	ld8 r18=[r14],8
	cmp.eq p6,p7=7,r17		// AT_BASE
	cmp.eq p8,p9=9,r17;;		// AT_ENTRY
(p6)	mov r34=r18
(p8)	mov r35=r18
	cmp.ne p6,p7=0,r17
(p6)	br.cond.sptk auxiliary;;
	ld4 r19=[r34]
	movl r20=0x464c457f;;
	cmp.ne p6,p7=r19,r20
(p6)	br.cond.spnt failed;;
	.align 32
here:
	mov r21=ip
	nop.i 0
	nop.i 0;;
	adds r37=marker-here,r21
	mov r36=-100			// openat(AT_FDCWD, "/marker", O_RDONLY)
	mov r38=0
	mov r15=1281;;
	break.i 0x100000;;
	cmp.ne p6,p7=0,r10
(p6)	br.cond.spnt failed;;
	mov r36=r8			// read(fd, below the stack, 64)
	adds r37=-256,r12
	mov r38=64
	mov r15=1026;;
	break.i 0x100000;;
	mov r36=1			// write(1, it)
	adds r37=-256,r12
	mov r38=r8
	mov r15=1027;;
	break.i 0x100000;;
	mov b6=r35;;
	br.cond.sptk b6;;
failed:
	mov r36=3
	mov r15=1025;;
	break.i 0x100000;;
	.align 16
marker:
	.asciz "/marker"
	.endp _start
