#include "emul/program.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/executable.h"
#include "base/option.h"
#include "emul/child.h"
#include "emul/emul.h"
#include "emul/guest.h"
#include "sysfs/cpuid.h"

/* Runs what the system refuses as a program: text without an interpreter. */
#define SHELL "/bin/sh"

static bool is_program(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

/* First executable of that name in PATH, or NULL; the caller frees it. */
static char *search_path(const char *name)
{
	const char *path = getenv("PATH");

	if (!path)
		path = "/usr/local/bin:/usr/bin:/bin";
	while (true) {
		size_t length = strcspn(path, ":");
		char *candidate;

		if (asprintf(&candidate, "%.*s%s%s", (int)length, path, length ? "/" : "", name) <
		    0)
			return NULL;
		if (is_program(candidate))
			return candidate;
		free(candidate);
		if (!path[length])
			return NULL;
		path += length + 1;
	}
}

static int find_emulator(struct pmu_program *program, struct pmu_ctx *ctx)
{
	static const struct {
		const char *name, *package;
	} emulators[] = {
	    [PMU_FEED_QEMU] = {"qemu-x86_64", "qemu-user"},
	    [PMU_FEED_VALGRIND] = {"valgrind", "valgrind"},
	};
	const char *name = emulators[program->options.feed].name;

	program->emulator =
	    program->options.emulator ? strdup(program->options.emulator) : search_path(name);
	return program->emulator ? 0
				 : error_set(ctx, PMU_E_IO, "%s is missing; apt-get install %s",
					     name, emulators[program->options.feed].package);
}

/* @return FOLDER/PLACE/NAME, if that can be read; else NULL */
static char *find_in(const char *folder, const char *place, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s/%s", folder, place, name) < 0)
		return NULL;
	if (!access(path, R_OK))
		return path;
	free(path);
	return NULL;
}

/* Where the shared library is: installed, or in the build folder. */
static char *find_beside_library(const char *name)
{
	static const char *const places[] = {"pmulab", "../../plugin", "../.."};
	char folder[PATH_MAX], *found = NULL;
	Dl_info info;

	if (!dladdr((const void *)places, &info) || !strstr(info.dli_fname, "/libpmulab.so"))
		return NULL;
	snprintf(folder, sizeof(folder), "%s", info.dli_fname);
	*strrchr(folder, '/') = '\0';
	for (size_t i = 0; !found && i < sizeof(places) / sizeof(places[0]); i++)
		found = find_in(folder, places[i], name);
	return found;
}

/* In the build folder beside the binary, or where it is installed. */
static char *find_beside_program(const char *name)
{
	static const char *const places[] = {"plugin", ".", "../lib/pmulab",
					     "../lib/x86_64-linux-gnu/pmulab"};
	char own[PATH_MAX], *found = NULL;
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (length <= 0)
		return NULL;
	own[length] = '\0';
	*strrchr(own, '/') = '\0';
	for (size_t i = 0; !found && i < sizeof(places) / sizeof(places[0]); i++)
		found = find_in(own, places[i], name);
	return found;
}

static int find_library(char **path, struct pmu_ctx *ctx, const char *given, const char *name,
			const char *variable)
{
	if (!given)
		given = getenv(variable);
	*path = given ? strdup(given) : find_beside_library(name);
	if (!*path && !given)
		*path = find_beside_program(name);
	if (!*path && !given)
		*path = find_in(PMULAB_PLUGINS, ".", name);
	return *path ? 0
		     : error_set(ctx, PMU_E_IO,
				 "%s is not in this program's folder; set %s to its path", name,
				 variable);
}

void program_free_argv(char **argv)
{
	for (char **argument = argv; argument && *argument; argument++)
		free(*argument);
	free(argv);
}

/* In front of argv, whose argv[0] @script replaces; @argument may be NULL. */
static char **script_argv(char **argv, const char *interpreter, const char *argument,
			  const char *script)
{
	size_t count = 0, used = 0;
	char **all;

	while (argv[count])
		count++;
	all = calloc(count + 3, sizeof(*all));
	if (!all)
		return NULL;
	all[used++] = strdup(interpreter);
	if (argument)
		all[used++] = strdup(argument);
	all[used++] = strdup(script);
	for (size_t i = 1; i < count; i++)
		all[used++] = strdup(argv[i]);
	return all;
}

/* The interpreter takes the script's place, as the kernel would have it. */
static int take_interpreter(struct pmu_program *program, struct pmu_ctx *ctx,
			    const char *interpreter, const char *argument)
{
	char **argv;

	if (!*interpreter)
		return error_set(ctx, PMU_E_UNSUPPORTED, "%s: the first line names no interpreter",
				 program->program);
	if (!is_program(interpreter))
		return error_set(ctx, PMU_E_UNKNOWN, "%s: interpreter %s not found",
				 program->program, interpreter);
	argv = script_argv(program->argv, interpreter, argument, program->program);
	if (!argv)
		return error_set(ctx, PMU_E_NOMEM, "out of memory");
	program_free_argv(program->argv);
	program->argv = argv;
	free(program->program);
	program->program = strdup(interpreter);
	return program->program ? 0 : error_set(ctx, PMU_E_NOMEM, "out of memory");
}

struct processor {
	unsigned elf; /* e_machine */
	const char *name;
};

static const struct processor x86_64 = {EM_X86_64, "x86-64"}, ia64 = {EM_IA_64, "IA-64"};

static int check_elf(const struct pmu_program *program, struct pmu_ctx *ctx,
		     const struct executable *file, const struct processor *processor)
{
	if (file->is_64_bit && file->elf_machine == processor->elf)
		return 0;
	return error_set(ctx, PMU_E_UNSUPPORTED,
			 "%s is not for %s (ELF machine %u, %s); the machine runs only those",
			 program->program, processor->name, file->elf_machine,
			 file->is_64_bit ? "64 bit" : "32 bit");
}

/*
 * An ELF program for the machine's processor, or a script that leads to one.
 * @return 1 where it is to be looked at again
 */
static int check_executable(struct pmu_program *program, struct pmu_ctx *ctx,
			    const struct processor *processor)
{
	struct executable file;
	int error;

	executable_read(&file, program->program);
	switch (file.kind) {
	case EXECUTABLE_PROGRAM:
	case EXECUTABLE_FOREIGN:
		return check_elf(program, ctx, &file, processor);
	case EXECUTABLE_SCRIPT:
		error = take_interpreter(program, ctx, file.interpreter, file.argument);
		return error ? error : 1;
	case EXECUTABLE_TEXT:
		error = take_interpreter(program, ctx, SHELL, NULL);
		return error ? error : 1;
	default:
		break;
	}
	if (file.errnum)
		return error_set(ctx, PMU_E_UNSUPPORTED, "cannot read %s: %s", program->program,
				 strerror(file.errnum));
	return error_set(ctx, PMU_E_UNSUPPORTED,
			 "%s is not an ELF program; the machine runs ELF programs for %s",
			 program->program, processor->name);
}

static int check_program(struct pmu_program *program, struct pmu_ctx *ctx,
			 const struct processor *processor)
{
	int code = 1;

	for (unsigned i = 0; i <= EXECUTABLE_SCRIPTS && code == 1; i++)
		code = check_executable(program, ctx, processor);
	return code == 1 ? error_set(ctx, PMU_E_UNSUPPORTED, "%s: too many interpreters in a row",
				     program->program)
			 : code;
}

static int find_native(struct pmu_program *program, struct pmu_ctx *ctx)
{
	const char *name = program->argv[0];

	program->program = strchr(name, '/') ? strdup(name) : search_path(name);
	if (!program->program || access(program->program, F_OK))
		return error_set(ctx, PMU_E_UNKNOWN, "%s: program not found", name);
	if (!is_program(program->program))
		return error_set(ctx, PMU_E_UNSUPPORTED, "%s is not executable", program->program);
	return 0;
}

static int find_program(struct pmu_program *program, struct pmu_ctx *ctx,
			const struct processor *processor)
{
	int error = find_native(program, ctx);

	return error ? error : check_program(program, ctx, processor);
}

static char **copy_argv(char *const *argv)
{
	size_t count = 0;
	char **copy;

	while (argv[count])
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < count; i++)
		copy[i] = strdup(argv[i]);
	return copy;
}

static bool is_guest(int fd, size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	const Elf64_Ehdr *head = bytes;
	char mark[64];
	bool found;

	if (bytes == MAP_FAILED)
		return false;
	snprintf(mark, sizeof(mark), "%s %s", GUEST_NAME, GUEST_VERSION);
	found = !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_type == ET_DYN &&
		head->e_machine == EM_X86_64 && memmem(bytes, size, mark, strlen(mark) + 1);
	munmap(bytes, size);
	return found;
}

/*
 * The loader goes on without a library that it cannot load, and the tool would find the computer's
 * processor: so the library is known before, by what it says of itself.
 */
static int check_guest(struct pmu_ctx *ctx, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *problem = NULL;
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		problem = strerror(errno);
	else if (!S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof(Elf64_Ehdr))
		problem = "it is no library";
	if (!problem && !is_guest(fd, (size_t)status.st_size))
		problem = "it is no library of pmulab's for tools";
	if (fd >= 0)
		close(fd);
	return problem ? error_set(ctx, PMU_E_IO, "cannot load %s into the tool: %s", path, problem)
		       : 0;
}

/* What tools cannot find out by themselves; the user's own settings stay. */
static void choose_settings(struct pmu_program *program, const struct pmu_machine *machine)
{
	size_t count = 0;

	/* By registers PCM counts more than by perf_event. */
	if (!getenv("PCM_NO_PERF"))
		program->settings[count++] = "PCM_NO_PERF=1";
	/*
	 * hwloc hangs the PCI devices of a single socket on the machine; LIKWID 5.2 looks for the
	 * socket above them until it crashes. Without hwloc's it finds them in /proc/bus/pci.
	 */
	if (machine->sockets == 1 && !getenv("HWLOC_COMPONENTS"))
		program->settings[count++] = "HWLOC_COMPONENTS=-linux:pci";
	if (program->options.host_time)
		program->settings[count++] = "PMULAB_HOST_TIME=1";
}

static int choose_cpu(struct pmu_program *program, struct pmu_ctx *ctx,
		      const struct pmu_machine *machine)
{
	char name[CPUID_NAME_BYTES];

	cpuid_processor_name(machine, name);
	if (!program->options.tool)
		program->cpu = strdup(machine->qemu_cpu);
	else if (asprintf(&program->cpu, "%s,-hypervisor,model-id=%s", machine->qemu_cpu, name) < 0)
		program->cpu = NULL;
	return program->cpu ? 0 : error_set(ctx, PMU_E_NOMEM, "out of memory");
}

static int prepare_tool(struct pmu_program *program, struct pmu_ctx *ctx,
			const struct pmu_machine *machine)
{
	const char *preload = getenv("LD_PRELOAD");
	int error = find_library(&program->guest, ctx, program->options.tool_library,
				 "libpmulab-guest.so", "PMULAB_GUEST");

	if (!error)
		error = check_guest(ctx, program->guest);
	if (!error && preload && strchr(preload, ','))
		error = error_set(ctx, PMU_E_CONFLICT,
				  "a tool cannot get an LD_PRELOAD that holds a comma");
	if (!error)
		choose_settings(program, machine);
	return error;
}

/* What feeds the machine from within the emulator. */
static int find_feed(struct pmu_program *program, struct pmu_ctx *ctx)
{
	char *tool;
	int error;

	if (program->options.feed == PMU_FEED_QEMU)
		return find_library(&program->plugin, ctx, program->options.plugin,
				    "libpmulab-qemu.so", "PMULAB_PLUGIN");
	error = find_library(&tool, ctx, program->options.plugin, "valgrind/pmulab-amd64-linux",
			     "PMULAB_VALGRIND");
	if (error)
		return error;
	/* Valgrind is told where its tools are, not which it is. */
	*strrchr(tool, '/') = '\0';
	program->plugin = realpath(tool, NULL);
	if (!program->plugin)
		error = error_set(ctx, PMU_E_IO, "no such folder: %s", tool);
	free(tool);
	return error;
}

/* Of a machine whose programs are executed without an emulator. */
static int prepare_executor(struct pmu_program *program, struct pmu_ctx *ctx,
			    const struct pmu_machine *machine)
{
	int error = 0;

	/* Tools see its registers; they are this computer's programs, of whatever kind. */
	if (program->options.tool)
		return find_native(program, ctx);
	if (program->options.feed != PMU_FEED_QEMU)
		error = error_set(ctx, PMU_E_UNSUPPORTED,
				  "%s runs IA-64 programs only, without Valgrind", machine->name);
	if (!error)
		error = find_program(program, ctx, &ia64);
	if (!error)
		error = find_library(&program->plugin, ctx, program->options.plugin,
				     "libpmulab-ia64.so", "PMULAB_IA64");
	return error ? error : program_load_executor(program, ctx);
}

static int prepare(struct pmu_program *program, struct pmu_ctx *ctx,
		   const struct pmu_machine *machine)
{
	int error = 0;

	if (machine->core)
		return prepare_executor(program, ctx, machine);

	if (program->options.feed > PMU_FEED_VALGRIND)
		error = error_set(ctx, PMU_E_RANGE, "no such feed: %d", (int)program->options.feed);
	else if (program->options.feed != PMU_FEED_QEMU && program->options.tool)
		error = error_set(ctx, PMU_E_UNSUPPORTED, "tools run on QEMU only");
	if (!error)
		error = find_program(program, ctx, &x86_64);
	if (!error)
		error = find_emulator(program, ctx);
	if (!error)
		error = find_feed(program, ctx);
	if (!error && program->options.tool)
		error = prepare_tool(program, ctx, machine);
	return error ? error : choose_cpu(program, ctx, machine);
}

int pmu_program_new(struct pmu_program **out, struct pmu_ctx *ctx,
		    const struct pmu_machine *machine, char *const *argv,
		    const struct pmu_program_options *options)
{
	struct pmu_program *program = calloc(1, sizeof(*program));
	int error;

	if (!program)
		return error_set(ctx, PMU_E_NOMEM, "out of memory");
	error = option_take(ctx, &program->options, sizeof(program->options), options);
	if (!error && !argv[0])
		error = error_set(ctx, PMU_E_RANGE, "no program is named");
	if (error)
		goto fail;
	program->argv = copy_argv(argv);
	error = program->argv ? prepare(program, ctx, machine)
			      : error_set(ctx, PMU_E_NOMEM, "out of memory");
	if (error)
		goto fail;
	*out = program;
	return 0;

fail:
	pmu_program_free(program);
	return error;
}

void pmu_program_free(struct pmu_program *program)
{
	if (!program)
		return;
	free(program->emulator);
	free(program->plugin);
	free(program->guest);
	free(program->program);
	free(program->cpu);
	program_free_argv(program->argv);
	free(program);
}

size_t pmu_program_natives(const struct pmu_program *program, struct pmu_native *natives,
			   size_t size)
{
	for (size_t i = 0; i < size && i < program->native_count; i++)
		natives[i] = (struct pmu_native){program->natives[i].path, program->natives[i].why,
						 program->natives[i].times};
	return program->native_count;
}

bool pmu_program_hints_ignored(const struct pmu_program *program)
{
	return program->hints_ignored;
}

static int block_of(struct pmu_emul *emul)
{
	const struct emul_share *share = emul_share(emul);

	return share ? share->block : emul_fd(emul_of(emul));
}

/* Lets end what the program has left in flight: who reads counters next finds all of it. */
int pmu_program_run(struct pmu_program *program, struct pmu_ctx *ctx, struct pmu_emul *emul,
		    struct pmu_program_result *result)
{
	const struct emul_share *share = emul_share(emul);
	struct emul_epic *epic = emul_epic_of(emul);
	int error;

	if (!epic != !program->execute)
		return error_set(ctx, PMU_E_CONFLICT, "%s was found for another kind of machine",
				 program->argv[0]);
	if (epic)
		return program_run_executor(program, ctx, epic, result);
	error = program_run(program, ctx, program->options.tool ? NULL : pmu_emul_machine(emul),
			    program->options.tool ? -1 : block_of(emul),
			    share ? share->connection : -1, result);
	if (!program->options.tool)
		pmu_emul_drain(emul);
	return error;
}
