#include "fixture.h"

#include "feed/ia64/alat.h"
#include "feed/ia64/code.h"
#include "feed/ia64/signal.h"
#include "feed/ia64/space.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned char *map(struct fixture *b, uint64_t at, int prot)
{
	if (ia64_space_map(b->process->space, at, FIXTURE_SIZE, prot,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != (int64_t)at)
		abort();
	return ia64_space_host(b->process->space, at, FIXTURE_SIZE);
}

struct fixture *fixture_up(const struct ia64_observer *observer)
{
	struct fixture *b = calloc(1, sizeof(*b));

	if (!b || ia64_process_new(&b->process, observer) != 0 ||
	    ia64_cpu_new(&b->c, b->process) != 0 || ia64_signals_start(b->process) != 0 ||
	    ia64_signals_thread(b->c) != 0)
		abort();
	b->code = map(b, FIXTURE_CODE, PROT_READ | PROT_EXEC);
	b->data = map(b, FIXTURE_DATA, PROT_READ | PROT_WRITE);
	b->store = map(b, FIXTURE_STORE, PROT_READ | PROT_WRITE);
	b->c->bsp = b->c->bspstore = FIXTURE_STORE;
	return b;
}

void fixture_down(struct fixture *b)
{
	struct ia64_process *p = b->process;

	ia64_cpu_free(b->c);
	ia64_process_free(p);
	free(b);
}

void fixture_load(struct fixture *b, const void *code, size_t size)
{
	struct ia64_space *s = b->process->space;

	if (ia64_space_protect(s, FIXTURE_CODE, FIXTURE_SIZE, PROT_READ | PROT_WRITE) != 0)
		abort();
	memcpy(b->code, code, size);
	if (ia64_space_protect(s, FIXTURE_CODE, FIXTURE_SIZE, PROT_READ | PROT_EXEC) != 0)
		abort();
	ia64_code_changed(b->process, FIXTURE_CODE, size);
}

void fixture_run(struct fixture *b, uint64_t ip)
{
	b->c->ip = ip;
	do {
		b->c->attention = 0;
		b->c->stop = IA64_STOP_NONE;
		ia64_execute(b->c);
	} while (b->c->stop == IA64_STOP_ATTENTION && b->c->attention != FIXTURE_ENOUGH);
}

extern char **environ;

/* Runs a tool without a word from it: its exit status, 127 if it is not there. */
static int run(char *const *argv)
{
	posix_spawn_file_actions_t actions;
	int status, rc;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	if (!getenv("FIXTURE_VERBOSE"))
		posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc != 0)
		return rc == ENOENT ? 127 : -1;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static unsigned char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	unsigned char *bytes = NULL;
	struct stat st;

	if (f && fstat(fileno(f), &st) == 0 && (bytes = malloc((size_t)st.st_size + 1)))
		*size = fread(bytes, 1, (size_t)st.st_size, f);
	if (f)
		fclose(f);
	return bytes;
}

unsigned char *fixture_assemble(const char *text, size_t *size, bool *missing)
{
	char folder[] = "/tmp/ia64-XXXXXX", source[64], object[64], flat[64];
	char *as[] = {"ia64-linux-gnu-as", "-x", "-o", object, source, NULL};
	char *objcopy[] = {
	    "ia64-linux-gnu-objcopy", "-O", "binary", "-j", ".text", object, flat, NULL};
	unsigned char *bytes = NULL;
	FILE *f;
	int rc;

	*missing = false;
	if (!mkdtemp(folder))
		return NULL;
	snprintf(source, sizeof(source), "%s/a.s", folder);
	snprintf(object, sizeof(object), "%s/a.o", folder);
	snprintf(flat, sizeof(flat), "%s/a.bin", folder);
	f = fopen(source, "w");
	if (f) {
		fputs(text, f);
		fclose(f);
		rc = run(as);
		*missing = rc == 127;
		if (rc == 0 && run(objcopy) == 0)
			bytes = read_file(flat, size);
	}
	unlink(source);
	unlink(object);
	unlink(flat);
	rmdir(folder);
	return bytes;
}

uint64_t fixture_random(uint64_t *state)
{
	uint64_t z = *state += 0x9E3779B97F4A7C15;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
	z = (z ^ z >> 27) * 0x94D049BB133111EB;
	return z ^ z >> 31;
}

uint64_t fixture_operand(uint64_t *state)
{
	uint64_t r = fixture_random(state), kind = fixture_random(state);

	switch (kind % 8) {
	case 0:
		return r % 70;
	case 1:
		return -(r % 70);
	case 2:
		return 1ull << r % 64;
	case 3:
		return (1ull << r % 64) - 1;
	case 4: /* limits of the elements */
		return ((r & 1 ? 0x8000800080008000 : 0x7FFF7FFF7FFF7FFF) & r) |
		       (r >> 1 & 0x8080808080808080);
	default:
		return r;
	}
}
