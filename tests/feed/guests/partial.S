#include "guests.inc"
/* Part of a line past the caches, left in its buffer when the guest ends. */
_start:	movnti	%rax, cell(%rip)
	LEAVE
	.bss
	.balign	64
cell:	.skip	64
