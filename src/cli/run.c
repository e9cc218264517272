#include "cli/run.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHEBANG_MAX  256 /* as the kernel reads it */
#define SCRIPT_DEPTH 4

/*
 * A Broadwell-EP for the guest's CPUID, less what the emulator has not, so that programs choose the
 * code they would choose on the machine.
 */
#define GUEST_CPU                                                                                  \
	"Broadwell-noTSX,model=79,stepping=1,-pcid,-x2apic,-tsc-deadline,-invpcid,-rdseed,"        \
	"-3dnowprefetch"

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
static char *find_plugin(const struct cli *cli)
{
	static const char *const places[] = {"plugin", "../lib/pmulab",
					     "../lib/x86_64-linux-gnu/pmulab"};
	const char *given = getenv("PMULAB_PLUGIN");
	char own[PATH_MAX], *path;
	ssize_t length;

	if (given)
		return strdup(given);
	length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	if (length > 0) {
		own[length] = '\0';
		*strrchr(own, '/') = '\0';
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			if (asprintf(&path, "%s/%s/libpmulab-qemu.so", own, places[i]) < 0)
				break;
			if (!access(path, R_OK))
				return path;
			free(path);
		}
	}
	cli_error(cli, 0,
		  "libpmulab-qemu.so is not beside this program; PMULAB_PLUGIN may name it");
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

static void free_argv(char **argv)
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
		return cli_error(cli, RUN_NOT_EXECUTABLE, "%s names no interpreter", run->program);
	if (!is_program(interpreter))
		return cli_error(cli, RUN_NOT_FOUND, "%s: interpreter %s not found", run->program,
				 interpreter);
	argv = script_argv(run->argv, strdup(interpreter), argument ? strdup(argument) : NULL,
			   run->program);
	if (!argv)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	free_argv(run->argv);
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
		return cli_error(cli, RUN_NOT_EXECUTABLE,
				 "%s is no ELF program; the machine runs those for x86-64",
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

int run_prepare(const struct cli *cli, struct run *run, char **argv)
{
	int code;

	*run = (struct run){.argv = copy_argv(argv)};
	if (!run->argv)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	code = find_program(cli, run, argv[0]);
	if (code)
		goto fail;
	code = EXIT_FAILED;
	run->qemu = find_qemu(cli);
	if (!run->qemu)
		goto fail;
	run->plugin = find_plugin(cli);
	if (!run->plugin)
		goto fail;
	return 0;
fail:
	run_release(run);
	return code;
}

void run_release(struct run *run)
{
	free(run->qemu);
	free(run->plugin);
	free(run->program);
	free_argv(run->argv);
	*run = (struct run){0};
}

/* Arguments of the emulator; the strings made here live until the exec. */
static char **qemu_argv(const struct run *run, int fd)
{
	size_t count = 0, used = 0;
	char **argv, *plugin;

	while (run->argv[count])
		count++;
	argv = calloc(count + 10, sizeof(*argv));
	if (!argv || asprintf(&plugin, "%s,fd=%d", run->plugin, fd) < 0)
		return NULL;
	argv[used++] = run->qemu;
	argv[used++] = (char *)"-cpu";
	argv[used++] = (char *)GUEST_CPU;
	argv[used++] = (char *)"-plugin";
	argv[used++] = plugin;
	argv[used++] = (char *)"-0";
	argv[used++] = run->argv[0];
	argv[used++] = run->program;
	for (size_t i = 1; i < count; i++)
		argv[used++] = run->argv[i];
	return argv;
}

static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
#define PASSED_ON (sizeof(passed_on) / sizeof(passed_on[0]))

/* For the signal handler, which can be given nothing else. */
static volatile sig_atomic_t child_pid;

static void pass_on(int signal)
{
	if (child_pid > 0)
		kill((pid_t)child_pid, signal);
}

struct saved_signals {
	struct sigaction interrupt, quit, passed_on[PASSED_ON];
};

/* The terminal's signals reach the program by themselves; others are passed on. */
static void guard_signals(struct saved_signals *saved)
{
	struct sigaction action = {.sa_handler = SIG_IGN};

	sigaction(SIGINT, &action, &saved->interrupt);
	sigaction(SIGQUIT, &action, &saved->quit);
	action.sa_handler = pass_on;
	for (size_t i = 0; i < PASSED_ON; i++)
		sigaction(passed_on[i], &action, &saved->passed_on[i]);
}

static void restore_signals(const struct saved_signals *saved)
{
	sigaction(SIGINT, &saved->interrupt, NULL);
	sigaction(SIGQUIT, &saved->quit, NULL);
	for (size_t i = 0; i < PASSED_ON; i++)
		sigaction(passed_on[i], &saved->passed_on[i], NULL);
}

static void become_program(const struct run *run, const struct saved_signals *saved, int fd,
			   pid_t parent)
{
	char **argv = qemu_argv(run, fd);

	restore_signals(saved);
	/* If we are killed, nothing of ours stays behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILED);
	if (argv && !fcntl(fd, F_SETFD, 0))
		execv(run->qemu, argv);
	_exit(RUN_NOT_EXECUTABLE);
}

int run_program(const struct cli *cli, const struct run *run, const struct system *system)
{
	struct saved_signals saved;
	pid_t parent = getpid(), pid;
	int status;

	fflush(NULL);
	child_pid = 0;
	guard_signals(&saved);
	pid = fork();
	if (pid == 0)
		become_program(run, &saved, system_fd(system), parent);
	if (pid < 0) {
		restore_signals(&saved);
		return cli_error(cli, EXIT_FAILED, "cannot start a process: %s", strerror(errno));
	}
	child_pid = pid;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	child_pid = 0;
	restore_signals(&saved);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
