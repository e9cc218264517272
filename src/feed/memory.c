#include "feed/memory.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE_BYTES 4096
#define COPY_BYTES 256

static long transfer(long number, void *bytes, uint64_t address, size_t size)
{
	/* The system writes what is not set yet. */
	/* cppcheck-suppress ctuuninitvar */
	const struct iovec own = {bytes, size}, guest = {(void *)(uintptr_t)address, size};

	return syscall(number, (long)getpid(), &own, 1L, &guest, 1L, 0L);
}

size_t feed_memory_read(void *bytes, uint64_t address, size_t size)
{
	long read = transfer(SYS_process_vm_readv, bytes, address, size);

	return read > 0 ? (size_t)read : 0;
}

bool feed_memory_write(uint64_t address, const void *bytes, size_t size)
{
	return transfer(SYS_process_vm_writev, (void *)(uintptr_t)bytes, address, size) ==
	       (long)size;
}

bool feed_memory_text(char *text, size_t size, uint64_t address)
{
	for (size_t used = 0; used < size;) {
		/* What does not cross a page is there or not there as a whole. */
		size_t wanted = PAGE_BYTES - (address + used) % PAGE_BYTES, copied;

		if (wanted > COPY_BYTES)
			wanted = COPY_BYTES;
		if (wanted > size - used)
			wanted = size - used;
		copied = feed_memory_read(text + used, address + used, wanted);
		if (copied < wanted)
			return false;
		if (memchr(text + used, '\0', copied))
			return true;
		used += copied;
	}
	return false;
}
