// A program that lies anywhere: prints "main" and exits with 5.
	.text
	.global _start
	.proc _start
_start:
	alloc r33=ar.pfs,0,2,4,0;;
	.align 32
here:
	mov r21=ip
	nop.i 0
	nop.i 0;;
	adds r35=text-here,r21
	mov r34=1
	mov r36=5
	mov r15=1027;;
	break.i 0x100000;;
	mov r34=5
	mov r15=1025;;
	break.i 0x100000;;
	.align 16
text:
	.asciz "main\n"
	.endp _start
