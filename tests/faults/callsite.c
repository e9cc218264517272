#include "callsite.h"

#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#define OWN_MAX	  8
#define FNV_BASIS 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

struct callsite_process {
	pid_t pid;
	Dwfl *dwfl;
	uint64_t maps; /* hash of the code that was mapped when dwfl was made */
	bool own;      /* any of our code is mapped */
};

static const char *own[OWN_MAX];
static unsigned own_count;

static uint64_t hash(uint64_t sum, const void *bytes, size_t size)
{
	for (const unsigned char *byte = bytes; size--; byte++)
		sum = (sum ^ *byte) * FNV_PRIME;
	return sum;
}

void callsite_own(const char *path)
{
	if (own_count == OWN_MAX)
		abort();
	own[own_count++] = path;
}

/* Its name without folders; NULL: not ours. libdw's own copy of a name goes with the process. */
static const char *own_name(const char *path)
{
	for (unsigned i = 0; i < own_count; i++)
		if (!strcmp(own[i], path))
			return strrchr(own[i], '/') + 1;
	return NULL;
}

struct callsite_process *callsite_process_new(pid_t pid)
{
	struct callsite_process *process = calloc(1, sizeof(*process));

	if (!process)
		abort();
	process->pid = pid;
	return process;
}

void callsite_process_free(struct callsite_process *process)
{
	if (!process)
		return;
	if (process->dwfl)
		dwfl_end(process->dwfl);
	free(process);
}

/* What code is mapped, and whether any is ours. */
static uint64_t look_at_maps(struct callsite_process *process)
{
	char path[64], line[4352];
	uint64_t sum = FNV_BASIS;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", process->pid);
	process->own = false;
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *name = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (!name || !strstr(line, " r-xp "))
			continue;
		sum = hash(sum, line, strlen(line));
		process->own |= own_name(name) != NULL;
	}
	if (file)
		fclose(file);
	return sum;
}

/* Who is killed meanwhile is no longer stopped: there is nothing to look into. */
static bool is_stopped(pid_t thread)
{
	struct user_regs_struct regs;

	return !ptrace(PTRACE_GETREGS, thread, 0, &regs);
}

/* How to unwind stands in what is mapped; separate files of the system's libraries are unpacked
 * each time. */
static int find_no_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word sum, char **found)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)sum,
	    (void)found;
	return -1;
}

static bool attach(struct callsite_process *process, pid_t thread)
{
	static const Dwfl_Callbacks callbacks = {
	    .find_elf = dwfl_linux_proc_find_elf,
	    .find_debuginfo = find_no_file,
	};
	uint64_t maps = look_at_maps(process);

	if (!process->own)
		return false;
	if (process->dwfl && process->maps == maps)
		return true;
	if (process->dwfl)
		dwfl_end(process->dwfl);
	process->dwfl = dwfl_begin(&callbacks);
	process->maps = maps;
	if (!process->dwfl || dwfl_linux_proc_report(process->dwfl, process->pid) ||
	    dwfl_report_end(process->dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(process->dwfl, process->pid, true)) {
		if (is_stopped(thread))
			fprintf(stderr, "inject: cannot look into %d: %s\n", process->pid,
				dwfl_errmsg(-1));
		return false;
	}
	return true;
}

struct walk {
	Dwfl *dwfl;
	struct callsite *site;
	unsigned depth;
	bool foreign; /* a sanitizer's own call */
};

static int visit(Dwfl_Frame *frame, void *arg)
{
	struct walk *walk = arg;
	struct callsite *site = walk->site;
	Dwarf_Addr address, begin;
	bool is_activation;
	const char *name;
	Dwfl_Module *module;

	if (!dwfl_frame_pc(frame, &address, &is_activation))
		return DWARF_CB_ABORT;
	module = dwfl_addrmodule(walk->dwfl, address - !is_activation);
	if (!module)
		return DWARF_CB_ABORT;
	name = dwfl_module_info(module, NULL, &begin, NULL, NULL, NULL, NULL, NULL);
	if (!walk->depth++ && strstr(name, "san.so")) {
		walk->foreign = true;
		return DWARF_CB_ABORT;
	}
	name = own_name(name);
	if (!name)
		return DWARF_CB_OK;
	if (site->count == CALLSITE_FRAMES)
		return DWARF_CB_ABORT;
	site->frames[site->count].module = name;
	site->frames[site->count].offset = address - begin;
	site->count++;
	return DWARF_CB_OK;
}

bool callsite_find(struct callsite_process *process, pid_t thread, int call, struct callsite *site)
{
	struct walk walk = {.site = site};

	*site = (struct callsite){0};
	if (!attach(process, thread))
		return false;
	walk.dwfl = process->dwfl;
	dwfl_getthread_frames(process->dwfl, thread, visit, &walk);
	if (walk.foreign || !site->count)
		return false;
	site->id = hash(FNV_BASIS, &call, sizeof(call));
	for (unsigned i = 0; i < site->count; i++) {
		const char *name = site->frames[i].module;

		site->id = hash(site->id, name, strlen(name));
		site->id = hash(site->id, &site->frames[i].offset, sizeof(site->frames[i].offset));
	}
	return true;
}
