#include "feed/ia64/load.h"

#include "feed/ia64/process.h"
#include "feed/ia64/root.h"
#include "feed/ia64/space.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

/* Where Linux/ia64 has them: at the end of region 3, the backing store 2 GiB below the stack. */
#define STACK_TOP  0x60000FFFFFFFC000u
#define STORE_BASE 0x60000FFF80000000u
#define STACK_SIZE (512ull << 20)
#define TRAMPOLINE 0x2000000000000000u /* first page of region 1 */
#define SIGRETURN  1181u
#define ALIGNMENT  65536ull /* of what may lie anywhere: the largest page of Linux/ia64 */

#define PAGE_DOWN(a) ((a) & ~(uint64_t)(IA64_PAGE - 1))
#define PAGE_UP(a)   PAGE_DOWN((a) + IA64_PAGE - 1)

static int read_all(int fd, void *to, size_t size, off_t from)
{
	ssize_t n = pread(fd, to, size, from);

	return n < 0 ? -errno : (size_t)n == size ? 0 : -ENOEXEC;
}

static int check(const Elf64_Ehdr *h)
{
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != EM_IA_64)
		return -ENOEXEC;
	if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
		return -ENOEXEC;
	if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum == 0 || h->e_phnum > 64)
		return -ENOEXEC;
	return 0;
}

static int protection(uint32_t flags)
{
	return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) |
	       (flags & PF_X ? PROT_EXEC : 0);
}

/* A file in memory. */
struct image {
	uint64_t base;	  /* added to its addresses */
	uint64_t headers; /* where the program headers are in memory */
	unsigned header_count;
	uint64_t entry;
	uint64_t data_end;	    /* of the last segment that is not code */
	char interpreter[PATH_MAX]; /* "": none */
};

/* Segments are copied: their pages need not lie in the file as they lie in memory. */
static int load_segment(struct ia64_cpu *c, int fd, const Elf64_Phdr *h, struct image *image)
{
	struct ia64_space *s = c->process->space;
	uint64_t address = image->base + h->p_vaddr;
	uint64_t start = PAGE_DOWN(address), end = PAGE_UP(address + h->p_memsz);
	int64_t at;
	int rc;

	if (h->p_filesz > h->p_memsz || end < start || !ia64_space_host(s, start, end - start))
		return -ENOEXEC;
	if (start == end)
		return 0;
	at = ia64_space_map(s, start, end - start, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (at < 0)
		return (int)at;
	rc = read_all(fd, ia64_space_host(s, address, h->p_filesz), h->p_filesz, h->p_offset);
	if (rc == 0)
		rc = ia64_space_protect(s, start, end - start, protection(h->p_flags));
	if (image->data_end < end && !(h->p_flags & PF_X))
		image->data_end = end;
	return rc;
}

/* Finds a place for what may lie anywhere; nothing is mapped there yet. */
static int place(struct ia64_cpu *c, const Elf64_Phdr *p, unsigned count, struct image *image)
{
	uint64_t first = UINT64_MAX, last = 0;
	int64_t at;

	for (unsigned i = 0; i < count; i++) {
		if (p[i].p_type != PT_LOAD)
			continue;
		if (p[i].p_vaddr < first)
			first = p[i].p_vaddr;
		if (p[i].p_vaddr + p[i].p_memsz > last)
			last = p[i].p_vaddr + p[i].p_memsz;
	}
	if (first >= last || last >= IA64_REGION_LIMIT)
		return -ENOEXEC;
	first &= ~(ALIGNMENT - 1);
	at = ia64_space_map(c->process->space, 0, last - first + ALIGNMENT, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at < 0)
		return (int)at;
	image->base = (((uint64_t)at + ALIGNMENT - 1) & ~(ALIGNMENT - 1)) - first;
	return ia64_space_unmap(c->process->space, (uint64_t)at, last - first + ALIGNMENT);
}

static int read_interpreter(int fd, const Elf64_Phdr *p, struct image *image)
{
	if (p->p_filesz < 2 || p->p_filesz > sizeof(image->interpreter))
		return -ENOEXEC;
	if (read_all(fd, image->interpreter, p->p_filesz, p->p_offset))
		return -ENOEXEC;
	return image->interpreter[p->p_filesz - 1] ? -ENOEXEC : 0;
}

static int load_segments(struct ia64_cpu *c, int fd, const Elf64_Ehdr *h, struct image *image)
{
	Elf64_Phdr p[64];
	int rc = read_all(fd, p, h->e_phnum * sizeof(p[0]), h->e_phoff);

	if (rc == 0 && h->e_type == ET_DYN)
		rc = place(c, p, h->e_phnum, image);
	for (unsigned i = 0; rc == 0 && i < h->e_phnum; i++) {
		if (p[i].p_type == PT_INTERP)
			rc = read_interpreter(fd, &p[i], image);
		if (p[i].p_type != PT_LOAD)
			continue;
		if (h->e_phoff - p[i].p_offset < p[i].p_filesz)
			image->headers = image->base + p[i].p_vaddr + h->e_phoff - p[i].p_offset;
		rc = load_segment(c, fd, &p[i], image);
	}
	image->header_count = h->e_phnum;
	image->entry = image->base + h->e_entry;
	return rc;
}

static int load_file(struct ia64_cpu *c, const char *path, struct image *image)
{
	Elf64_Ehdr h;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = read_all(fd, &h, sizeof(h), 0);
	if (rc == 0)
		rc = check(&h);
	if (rc == 0)
		rc = load_segments(c, fd, &h, image);
	close(fd);
	return rc;
}

/* What loads the libraries; its own one would be a circle. */
static int load_interpreter(struct ia64_cpu *c, const char *path, struct image *interpreter)
{
	char room[PATH_MAX];
	int rc = load_file(c, ia64_rooted(c->process->root, path, room), interpreter);

	return rc == 0 && !*interpreter->interpreter ? 0 : -ELIBBAD;
}

/* The bundle to which signal handlers return: mov r15 = rt_sigreturn, then the system call. */
static int place_trampoline(struct ia64_cpu *c)
{
	/* MMI: addl r15=SIGRETURN,r0; break.m 0x100000; nop.i 0. A stop after each. */
	uint64_t add =
	    9ull << 37 | (uint64_t)(SIGRETURN >> 7) << 27 | (SIGRETURN & 0x7F) << 13 | 15 << 6;
	uint64_t brk = 1ull << 36;
	uint64_t nop = 1ull << 27;
	uint64_t code[2] = {0x0B | add << 5 | brk << 46, brk >> 18 | nop << 23};
	int64_t at = ia64_space_map(c->process->space, TRAMPOLINE, IA64_PAGE,
				    PROT_READ | PROT_WRITE | PROT_EXEC,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (at < 0)
		return (int)at;
	c->process->trampoline = TRAMPOLINE;
	memcpy(ia64_space_host(c->process->space, TRAMPOLINE, sizeof(code)), code, sizeof(code));
	return ia64_space_protect(c->process->space, TRAMPOLINE, IA64_PAGE, PROT_READ | PROT_EXEC);
}

static int map_stacks(struct ia64_cpu *c)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	int64_t rc = ia64_space_map(c->process->space, STACK_TOP - STACK_SIZE, STACK_SIZE,
				    PROT_READ | PROT_WRITE, flags, -1, 0);

	if (rc >= 0)
		rc = ia64_space_map(c->process->space, STORE_BASE, STACK_SIZE,
				    PROT_READ | PROT_WRITE, flags, -1, 0);
	return rc < 0 ? (int)rc : 0;
}

/* -- The stack --------------------------------------------------------------------------------- */

struct stack {
	struct ia64_cpu *c;
	uint64_t at;
};

/* Its host memory is mapped and ours until the program runs. */
static uint64_t push(struct stack *s, const void *bytes, size_t size)
{
	s->at -= size;
	memcpy(ia64_space_host(s->c->process->space, s->at, size), bytes, size);
	return s->at;
}

static size_t count(char *const *strings)
{
	size_t n = 0;

	while (strings[n])
		n++;
	return n;
}

static void push_strings(struct stack *s, char *const *strings, uint64_t *addresses)
{
	for (size_t i = count(strings); i-- > 0;)
		addresses[i] = push(s, strings[i], strlen(strings[i]) + 1);
}

static int build_stack(struct ia64_cpu *c, const char *path, char *const *argv, char *const *envp,
		       const struct image *program, uint64_t interpreter_base)
{
	struct stack s = {c, STACK_TOP - 16};
	size_t argc = count(argv), envc = count(envp), words = 0;
	uint64_t *vector = calloc(argc + envc + 64, sizeof(*vector)), name, bytes;
	unsigned char random[16] = {0};

	if (!vector)
		return -ENOMEM;
	if (getrandom(random, sizeof(random), 0) < 0)
		memset(random, 0x5A, sizeof(random));
	name = push(&s, path, strlen(path) + 1);
	vector[words++] = argc;
	push_strings(&s, envp, vector + 1 + argc + 1);
	push_strings(&s, argv, vector + 1);
	words += argc + 1 + envc + 1;
	bytes = push(&s, random, sizeof(random));
	{
		const uint64_t auxiliary[][2] = {
		    {AT_HWCAP, 0},
		    {AT_PAGESZ, IA64_PAGE},
		    {AT_CLKTCK, (uint64_t)sysconf(_SC_CLK_TCK)},
		    {AT_PHDR, program->headers},
		    {AT_PHENT, sizeof(Elf64_Phdr)},
		    {AT_PHNUM, program->header_count},
		    {AT_BASE, interpreter_base},
		    {AT_FLAGS, 0},
		    {AT_ENTRY, program->entry},
		    {AT_UID, getuid()},
		    {AT_EUID, geteuid()},
		    {AT_GID, getgid()},
		    {AT_EGID, getegid()},
		    {AT_SECURE, 0},
		    {AT_RANDOM, bytes},
		    {AT_EXECFN, name},
		    {AT_NULL, 0},
		};

		memcpy(vector + words, auxiliary, sizeof(auxiliary));
		words += sizeof(auxiliary) / sizeof(uint64_t);
	}
	s.at = (s.at - words * sizeof(*vector)) & ~15ull;
	memcpy(ia64_space_host(c->process->space, s.at, words * sizeof(*vector)), vector,
	       words * sizeof(*vector));
	free(vector);
	c->gr[12] = s.at - 16; /* the first 16 bytes are anybody's */
	return 0;
}

int ia64_load(struct ia64_cpu *c, const char *path, char *const *argv, char *const *envp)
{
	struct image program = {0}, interpreter = {0};
	int rc;

	c->process->root = getenv(IA64_ROOT);
	rc = place_trampoline(c);
	if (rc == 0)
		rc = load_file(c, path, &program);
	if (rc == 0 && *program.interpreter)
		rc = load_interpreter(c, program.interpreter, &interpreter);
	if (rc == 0)
		rc = map_stacks(c);
	if (rc == 0)
		rc = build_stack(c, path, argv, envp, &program, interpreter.base);
	if (rc != 0)
		return rc;
	c->process->path = path;
	c->bsp = c->bspstore = STORE_BASE;
	c->process->brk_start = c->process->brk = program.data_end;
	c->ip = (*program.interpreter ? interpreter.entry : program.entry) & ~15ull;
	return 0;
}
