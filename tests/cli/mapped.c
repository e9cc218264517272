/*
 * usage: mapped HOW FILE PAGES PROCESSES
 *
 * Processes, one after the other, each load all lines of so many pages of a file (at most 256),
 * that they map by themselves: HOW is "read"; "write", to which they could write; "protect" or, by
 * pkey_mprotect(), "key", from which on they could. Or of a table of the program's own: "table"; or
 * of one that the first process has written: "inherit". "store": a process and its fork store so
 * many times to what was one line; "update": the fork alone does, to what the process has stored
 * to, and loads it before.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	  4096
#define PAGES_MAX 256
#define LINE	  64

static const _Alignas(PAGE) char table[PAGES_MAX * PAGE] = {1};
static _Alignas(PAGE) volatile char data[PAGES_MAX * PAGE];

static int fork_and_store(bool updates, unsigned long times)
{
	int status;
	pid_t child;

	if (updates)
		data[0] = 1;
	child = fork();
	for (; times && !(updates && child); times--)
		data[0] = updates ? (char)(data[0] + 1) : 1;
	if (!child)
		_exit(0);
	return wait(&status) < 0 || status;
}

static const volatile char *map(const char *how, const char *file, size_t bytes)
{
	const int write = strcmp(how, "write") ? 0 : PROT_WRITE;
	void *mapped;

	if (!strcmp(how, "table"))
		return table;
	if (!strcmp(how, "inherit"))
		return data;
	mapped = mmap(NULL, bytes, PROT_READ | write, MAP_PRIVATE, open(file, O_RDONLY), 0);
	if (mapped == MAP_FAILED)
		exit(2);
	if (!strcmp(how, "protect") && mprotect(mapped, bytes, PROT_READ | PROT_WRITE))
		exit(3);
	if (!strcmp(how, "key") &&
	    syscall(SYS_pkey_mprotect, mapped, bytes, PROT_READ | PROT_WRITE, -1))
		exit(4);
	return mapped;
}

static void load(const volatile char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i += LINE)
		(void)bytes[i];
}

int main(int argc, char **argv)
{
	const size_t bytes = (size_t)PAGE * PAGES_MAX,
		     used = (size_t)PAGE * strtoul(argv[3], NULL, 10);

	(void)argc;
	if (!strcmp(argv[1], "store") || !strcmp(argv[1], "update"))
		return fork_and_store(!strcmp(argv[1], "update"), strtoul(argv[3], NULL, 10));
	if (!strcmp(argv[1], "inherit"))
		for (size_t i = 0; i < used; i++)
			data[i] = 1;
	for (int left = atoi(argv[4]); left; left--) {
		int status;

		if (!fork()) {
			load(map(argv[1], argv[2], bytes), used);
			_exit(0);
		}
		if (wait(&status) < 0 || status)
			return 1;
	}
	return 0;
}
