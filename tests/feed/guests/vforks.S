#include "guests.inc"
/* A child executes a guest; its parent waits for it. */
#define SYS_VFORK 58
_start:	mov	$SYS_VFORK, %eax
	syscall
	test	%eax, %eax
	jz	1f
	WAIT_FOR_CHILD
	LEAVE
1:	EXECUTE_LOADS
