/* Memory of the tool's own. */
#include "own.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_basics.h"

#define NOWHERE ((void *)-1)

/* Valgrind's own; no header that it installs declares them. */
SysRes VG_(am_mmap_anon_float_valgrind)(SizeT size);
SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT size, UInt protection, Int fd, Off64T offset);

static void *mapped(SysRes result)
{
	return sr_isError(result) ? NOWHERE : (void *)sr_Res(result);
}

void *own_map(size_t size)
{
	return mapped(VG_(am_mmap_anon_float_valgrind)(size));
}

void *own_map_shared(int fd, size_t size, long offset)
{
	const UInt read_write = 3;

	return mapped(VG_(am_shared_mmap_file_float_valgrind)(size, read_write, fd, offset));
}

void own_unmap(void *address, size_t size)
{
	VG_(am_munmap_valgrind)((Addr)address, size);
}
