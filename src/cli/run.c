#include "cli/run.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/topology.h"
#include "feed/guest.h"

#define SHEBANG_MAX  256 /* as the kernel reads it */
#define SCRIPT_DEPTH 4

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

static char *find_qemu(const struct cli *cli)
{
	char *qemu = search_path("qemu-x86_64");

	if (!qemu)
		cli_error(cli, 0, "qemu-x86_64 is missing; apt-get install qemu-user");
	return qemu;
}

/* In the build folder beside the binary, or where it is installed. */
static char *find_library(const struct cli *cli, const char *name, const char *variable)
{
	static const char *const places[] = {"plugin", "../lib/pmulab",
					     "../lib/x86_64-linux-gnu/pmulab"};
	const char *given = getenv(variable);
	char own[PATH_MAX], *path;
	ssize_t length;

	if (given)
		return strdup(given);
	length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	if (length > 0) {
		own[length] = '\0';
		*strrchr(own, '/') = '\0';
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			if (asprintf(&path, "%s/%s/%s", own, places[i], name) < 0)
				break;
			if (!access(path, R_OK))
				return path;
			free(path);
		}
	}
	cli_error(cli, 0, "%s is not in this program's folder; set %s to its path", name, variable);
	return NULL;
}

/* Puts @first and @second (may be NULL) in front of argv, argv[0] replaced by @script. */
static char **script_argv(char **argv, char *first, char *second, const char *script)
{
	size_t count = 0, used = 0;
	char **all;

	while (argv[count])
		count++;
	all = calloc(count + 3, sizeof(*all));
	if (!all)
		return NULL;
	all[used++] = first;
	if (second)
		all[used++] = second;
	all[used++] = strdup(script);
	for (size_t i = 1; i < count; i++)
		all[used++] = strdup(argv[i]);
	return all;
}

void run_free_argv(char **argv)
{
	for (char **argument = argv; argument && *argument; argument++)
		free(*argument);
	free(argv);
}

/* The interpreter takes the script's place, as the kernel would have it. */
static int take_interpreter(const struct cli *cli, struct run *run, char *first_line)
{
	char *saved, *interpreter, *argument, **argv;

	first_line[strcspn(first_line, "\n")] = '\0';
	interpreter = strtok_r(first_line + 2, " \t", &saved);
	argument = interpreter ? strtok_r(NULL, "", &saved) : NULL;
	if (!interpreter)
		return cli_error(cli, RUN_NOT_EXECUTABLE, "%s: the first line names no interpreter",
				 run->program);
	if (!is_program(interpreter))
		return cli_error(cli, RUN_NOT_FOUND, "%s: interpreter %s not found", run->program,
				 interpreter);
	argv = script_argv(run->argv, strdup(interpreter), argument ? strdup(argument) : NULL,
			   run->program);
	if (!argv)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	run_free_argv(run->argv);
	run->argv = argv;
	free(run->program);
	run->program = strdup(interpreter);
	return 0;
}

/* An x86-64 ELF program, or a script that leads to one. */
static int check_program(const struct cli *cli, struct run *run, int depth)
{
	union {
		Elf64_Ehdr elf;
		char text[SHEBANG_MAX + 1];
	} head = {.text = ""};
	int fd = open(run->program, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, head.text, SHEBANG_MAX);

	if (fd >= 0)
		close(fd);
	if (length < 0)
		return cli_error(cli, RUN_NOT_EXECUTABLE, "cannot read %s: %s", run->program,
				 strerror(errno));
	if (!strncmp(head.text, "#!", 2)) {
		int code;

		if (depth == SCRIPT_DEPTH)
			return cli_error(cli, RUN_NOT_EXECUTABLE,
					 "%s: too many interpreters in a row", run->program);
		code = take_interpreter(cli, run, head.text);
		return code ? code : check_program(cli, run, depth + 1);
	}
	if (length < (ssize_t)sizeof(head.elf) || memcmp(head.elf.e_ident, ELFMAG, SELFMAG))
		return cli_error(
		    cli, RUN_NOT_EXECUTABLE,
		    "%s is not an ELF program; the machine runs ELF programs for x86-64",
		    run->program);
	if (head.elf.e_ident[EI_CLASS] != ELFCLASS64 || head.elf.e_machine != EM_X86_64)
		return cli_error(
		    cli, RUN_NOT_EXECUTABLE,
		    "%s is not for x86-64 (ELF machine %u, %s); the machine runs only those",
		    run->program, head.elf.e_machine,
		    head.elf.e_ident[EI_CLASS] == ELFCLASS64 ? "64 bit" : "32 bit");
	return 0;
}

static int find_program(const struct cli *cli, struct run *run, const char *name)
{
	run->program = strchr(name, '/') ? strdup(name) : search_path(name);
	if (!run->program || access(run->program, F_OK))
		return cli_error(cli, RUN_NOT_FOUND, "%s: program not found", name);
	if (!is_program(run->program))
		return cli_error(cli, RUN_NOT_EXECUTABLE, "%s is not executable", run->program);
	return check_program(cli, run, 0);
}

static char **copy_argv(char **argv)
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

/* What programs and tools have in common. */
static int prepare(const struct cli *cli, struct run *run, char **argv)
{
	int code;

	*run = (struct run){.argv = copy_argv(argv), .watch = -1};
	if (!run->argv)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	code = find_program(cli, run, argv[0]);
	if (code)
		return code;
	run->qemu = find_qemu(cli);
	if (run->qemu)
		run->plugin = find_library(cli, "libpmulab-qemu.so", "PMULAB_PLUGIN");
	return run->plugin ? 0 : EXIT_FAILED;
}

int run_prepare(const struct cli *cli, struct run *run, char **argv,
		const struct pmu_machine *machine)
{
	int code = prepare(cli, run, argv);

	if (!code) {
		run->cpu = strdup(machine->qemu_cpu);
		code = run->cpu ? 0 : cli_error(cli, EXIT_FAILED, "out of memory");
	}
	if (code)
		run_release(run);
	return code;
}

/* What tools cannot find out by themselves; the user's own settings stay. */
static void set_environment(const struct pmu_machine *machine)
{
	/* The kernel's perf_event interface is not the machine's. */
	setenv("PCM_NO_PERF", "1", 0);
	/*
	 * hwloc hangs the PCI devices of a single socket on the machine; LIKWID 5.2 looks for the
	 * socket above them until it crashes. Without hwloc's it finds them in /proc/bus/pci.
	 */
	if (machine->sockets == 1)
		setenv("HWLOC_COMPONENTS", "-linux:pci", 0);
}

static bool is_guest(int fd, size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	const Elf64_Ehdr *head = bytes;
	char mark[64];
	bool found;

	if (bytes == MAP_FAILED)
		return false;
	snprintf(mark, sizeof(mark), "%s %s", FEED_GUEST_NAME, FEED_GUEST_VERSION);
	found = !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_type == ET_DYN &&
		head->e_machine == EM_X86_64 && memmem(bytes, size, mark, strlen(mark) + 1);
	munmap(bytes, size);
	return found;
}

/*
 * The loader goes on without a library that it cannot load, and the tool would find the computer's
 * processor: so the library is known before, by what it says of itself.
 */
static int check_guest(const struct cli *cli, const char *path)
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
	return problem
		   ? cli_error(cli, EXIT_FAILED, "cannot load %s into the tool: %s", path, problem)
		   : 0;
}

int run_prepare_tool(const struct cli *cli, struct run *run, char **argv,
		     const struct pmu_machine *machine)
{
	char name[TOPOLOGY_NAME_BYTES];
	int code = prepare(cli, run, argv);

	if (!code) {
		run->guest = find_library(cli, "libpmulab-guest.so", "PMULAB_GUEST");
		code = run->guest ? check_guest(cli, run->guest) : EXIT_FAILED;
	}
	if (!code && getenv("LD_PRELOAD") && strchr(getenv("LD_PRELOAD"), ',')) {
		code = cli_error(cli, EXIT_FAILED,
				 "a tool cannot get an LD_PRELOAD that holds a comma");
	}
	topology_name(machine, name);
	if (!code &&
	    asprintf(&run->cpu, "%s,-hypervisor,model-id=%s", machine->qemu_cpu, name) < 0) {
		run->cpu = NULL;
		code = cli_error(cli, EXIT_FAILED, "out of memory");
	}
	if (code)
		run_release(run);
	else
		set_environment(machine);
	return code;
}

void run_release(struct run *run)
{
	free(run->qemu);
	free(run->plugin);
	free(run->guest);
	free(run->program);
	free(run->cpu);
	run_free_argv(run->argv);
	*run = (struct run){0};
}
