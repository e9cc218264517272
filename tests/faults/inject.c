/*
 * Runs a program and everything that it starts, and does one thing to one of the system calls that
 * our own code makes: has it fail, or sends a signal as it is made. Which call is said by its call
 * site (callsite.h), so that the same one is hit in every run.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "callsite.h"
#include "errors.h"

#define CALLS_MAX     512
#define SITES_MAX     8192
#define TASKS_MAX     1024
#define LIMITS_MAX    8
#define GRACE_SECONDS 10 /* for what is left when the program has ended */

struct options {
	const char *list, *result;
	const struct call_errors *call; /* of the call site; NULL: every one */
	uint64_t site;
	int error, signal;
	unsigned nth, seconds;
	bool to_main;	     /* the signal goes to the program, whoever makes the call */
	const char *on_exec; /* what has to be executed for the signal to come */
	const char *hold;    /* see hold_program(); NULL: nothing is held */
	unsigned close;	     /* of descriptors 0 to 2: a mask */
	uid_t user;	     /* whom the program runs as; 0: as we do */
	struct {
		int resource;
		rlim_t value;
	} limits[LIMITS_MAX];
	unsigned limit_count;
};

struct task {
	pid_t tid, pid;
	struct callsite_process *process; /* of the first thread only */
	bool fail_at_exit;
	bool held;
};

struct site {
	struct callsite where;
	const struct call_errors *call;
	uint64_t argument; /* the first one */
	unsigned times;
	char program[16];
};

struct tracer {
	struct options options;
	struct task tasks[TASKS_MAX];
	unsigned task_count;
	struct site *sites;
	unsigned site_count, times;
	pid_t main;
	int status; /* of the program */
	bool ended, holds;
	FILE *result;
};

static volatile sig_atomic_t alarmed;

static void on_alarm(int number)
{
	(void)number;
	alarmed = 1;
}

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
	exit(99);
}

/* Which thread group a thread is of; 0: it is gone. */
static pid_t group_of(pid_t tid)
{
	char path[64], line[128];
	pid_t pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	while (file && !pid && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", &pid) != 1)
			pid = 0;
	if (file)
		fclose(file);
	return pid;
}

static void program_of(pid_t pid, char name[16])
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	snprintf(name, 16, "?");
	file = fopen(path, "re");
	if (file && fgets(name, 16, file))
		for (char *c = name; *c; c++)
			*c = *c == '\n' ? '\0' : *c == ' ' ? '_' : *c;
	if (!*name)
		snprintf(name, 16, "?");
	if (file)
		fclose(file);
}

static struct task *find_task(struct tracer *tracer, pid_t tid)
{
	for (unsigned i = 0; i < tracer->task_count; i++)
		if (tracer->tasks[i].tid == tid)
			return &tracer->tasks[i];
	return NULL;
}

static struct task *know_task(struct tracer *tracer, pid_t tid)
{
	struct task *task = find_task(tracer, tid);

	if (task)
		return task;
	if (tracer->task_count == TASKS_MAX)
		die("too many processes");
	task = &tracer->tasks[tracer->task_count++];
	*task = (struct task){.tid = tid, .pid = group_of(tid)};
	return task;
}

static void forget_task(struct tracer *tracer, pid_t tid)
{
	struct task *task = find_task(tracer, tid);

	if (!task)
		return;
	callsite_process_free(task->process);
	*task = tracer->tasks[--tracer->task_count];
}

static void forget_code(struct tracer *tracer, pid_t pid)
{
	struct task *task = find_task(tracer, pid);

	if (!task)
		return;
	callsite_process_free(task->process);
	task->process = NULL;
}

static struct callsite_process *process_of(struct tracer *tracer, const struct task *task)
{
	struct task *first = know_task(tracer, task->pid);

	if (!first->process)
		first->process = callsite_process_new(task->pid);
	return first->process;
}

static struct site *note_site(struct tracer *tracer, const struct callsite *where,
			      const struct call_errors *call, uint64_t argument, pid_t pid)
{
	struct site *site;

	for (unsigned i = 0; i < tracer->site_count; i++)
		if (tracer->sites[i].where.id == where->id)
			return &tracer->sites[i];
	if (tracer->site_count == SITES_MAX)
		die("too many call sites");
	site = &tracer->sites[tracer->site_count++];
	*site = (struct site){.where = *where, .call = call, .argument = argument};
	program_of(pid, site->program);
	return site;
}

/* An event that is written cannot fail. */
static bool is_event(pid_t pid, unsigned long long fd)
{
	char path[64], target[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/fd/%llu", pid, fd);
	return readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, "[eventfd]");
}

static void set_result(pid_t tid, long long value, bool skip)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, 0, &regs))
		return;
	if (skip)
		regs.orig_rax = (unsigned long long)-1;
	regs.rax = (unsigned long long)value;
	ptrace(PTRACE_SETREGS, tid, 0, &regs);
}

/* Some have done their work when they fail; and brk() tells by what it returns. */
static bool fail(struct tracer *tracer, struct task *task, int call)
{
	if (call == SYS_close) {
		task->fail_at_exit = true;
		return true;
	}
	set_result(task->tid, call == SYS_brk ? 0 : -tracer->options.error, true);
	return false;
}

/*
 * The program that is measured plays the hardware's part, which ends with the measurement: it makes
 * no step more once a signal comes that ends the command without it. It is killed as the command
 * is.
 */
static bool is_held_program(const struct tracer *tracer, pid_t pid)
{
	char name[16];

	program_of(pid, name);
	return tracer->options.hold && !strcmp(name, tracer->options.hold);
}

static void hold_program(struct tracer *tracer)
{
	tracer->holds = true;
	for (unsigned i = 0; i < tracer->task_count;) {
		struct task *task = &tracer->tasks[i];
		int status;

		if (task->held || !is_held_program(tracer, task->pid) ||
		    ptrace(PTRACE_INTERRUPT, task->tid, 0, 0) ||
		    waitpid(task->tid, &status, __WALL) != task->tid) {
			i++;
		} else if (WIFSTOPPED(status)) {
			task->held = true;
			i++;
		} else {
			forget_task(tracer, task->tid);
		}
	}
}

static void release_program(struct tracer *tracer)
{
	for (unsigned i = 0; i < tracer->task_count; i++)
		if (tracer->tasks[i].held)
			ptrace(PTRACE_CONT, tracer->tasks[i].tid, 0, 0);
}

static void send(struct tracer *tracer, pid_t pid)
{
	static const int alone[] = {SIGKILL, SIGSEGV, SIGABRT, SIGBUS,
				    SIGILL,  SIGFPE,  SIGSYS,  SIGTRAP};

	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
		if (pid == tracer->main && tracer->options.signal == alone[i])
			hold_program(tracer);
	kill(pid, tracer->options.signal);
}

/* @return whether the task is to stop where the call returns */
static bool at_call(struct tracer *tracer, struct task *task)
{
	const struct options *options = &tracer->options;
	const struct call_errors *call;
	struct user_regs_struct regs;
	struct callsite where;

	if (ptrace(PTRACE_GETREGS, task->tid, 0, &regs))
		return false;
	call = find_call_errors((int)regs.orig_rax);
	/* Of fcntl()'s commands on a descriptor that is open, only these fail. */
	if (call && call->number == SYS_fcntl && regs.rsi != F_DUPFD && regs.rsi != F_DUPFD_CLOEXEC)
		return false;
	if (call && call->number == SYS_write && is_event(task->pid, regs.rdi))
		return false;
	if (!call || !callsite_find(process_of(tracer, task), task->tid, call->number, &where))
		return false;
	if (options->list)
		note_site(tracer, &where, call, regs.rdi, task->pid)->times++;
	if (!options->site || where.id != options->site || ++tracer->times != options->nth)
		return false;
	if (options->signal) {
		send(tracer, options->to_main ? tracer->main : task->pid);
		return false;
	}
	return options->error && fail(tracer, task, call->number);
}

static void at_exec(struct tracer *tracer, pid_t pid)
{
	const struct options *options = &tracer->options;
	char name[16];

	forget_code(tracer, pid);
	program_of(pid, name);
	/* It is stopped as it is. */
	find_task(tracer, pid)->held = is_held_program(tracer, pid);
	if (options->on_exec && !strcmp(name, options->on_exec) && !tracer->times++)
		send(tracer, tracer->main);
	find_task(tracer, pid)->held &= tracer->holds && !tracer->ended;
}

/* What has stopped, and how it goes on. */
static void on_stop(struct tracer *tracer, pid_t tid, int status)
{
	struct task *task = know_task(tracer, tid);
	int signal = WSTOPSIG(status), event = status >> 16;
	bool to_exit = false;

	if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
		ptrace(PTRACE_LISTEN, tid, 0, 0);
		/* Whoever stopped it has it go on. */
		kill(task->pid, SIGCONT);
		return;
	}
	if (event == PTRACE_EVENT_SECCOMP)
		to_exit = at_call(tracer, task);
	else if (event == PTRACE_EVENT_EXEC)
		at_exec(tracer, tid);
	else if (!event && signal == (SIGTRAP | 0x80) && task->fail_at_exit) {
		task->fail_at_exit = false;
		set_result(tid, -tracer->options.error, false);
	}
	if (event || signal == (SIGTRAP | 0x80))
		signal = 0;
	if (!know_task(tracer, tid)->held)
		ptrace(to_exit ? PTRACE_SYSCALL : PTRACE_CONT, tid, 0, signal);
}

static void tell_left(struct tracer *tracer, const char *how)
{
	for (unsigned i = 0; i < tracer->task_count; i++) {
		const struct task *task = &tracer->tasks[i];
		char name[16];

		if (task->tid != task->pid)
			continue;
		program_of(task->pid, name);
		fprintf(tracer->result, "%s %d %s\n", how, task->pid, name);
	}
}

static void kill_left(struct tracer *tracer)
{
	for (unsigned i = 0; i < tracer->task_count; i++)
		if (tracer->tasks[i].tid == tracer->tasks[i].pid)
			kill(tracer->tasks[i].pid, SIGKILL);
}

static void set_alarm(unsigned seconds)
{
	/* And again: one that comes before waitpid() ends nothing. */
	const struct itimerval time = {.it_value.tv_sec = seconds, .it_interval.tv_usec = 100000};

	alarmed = 0;
	setitimer(ITIMER_REAL, &time, NULL);
}

/* Until all have ended, or too much time has passed: for the program, for the rest, for killing. */
static void follow(struct tracer *tracer)
{
	enum { RUNNING, ENDING, KILLED } phase = RUNNING;

	while (true) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL);

		if (tid < 0 && errno == ECHILD)
			return;
		if (tid < 0 && alarmed) {
			if (phase == KILLED) {
				tell_left(tracer, "unkillable");
				return;
			}
			tell_left(tracer, phase == RUNNING ? "hung" : "left");
			kill_left(tracer);
			phase = KILLED;
			set_alarm(GRACE_SECONDS);
			continue;
		}
		if (tid < 0)
			continue;
		if (WIFSTOPPED(status)) {
			on_stop(tracer, tid, status);
			continue;
		}
		forget_task(tracer, tid);
		if (tid != tracer->main)
			continue;
		tracer->ended = true;
		tracer->status = status;
		release_program(tracer);
		if (phase == RUNNING) {
			phase = ENDING;
			set_alarm(GRACE_SECONDS);
		}
	}
}

/* Calls that may be the one are stopped at; all others run at full speed. */
static void filter_calls(const struct options *options)
{
	struct sock_filter code[CALLS_MAX + 4];
	unsigned short used = 0;
	struct sock_fprog program = {.filter = code};

	code[used++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, nr));
	for (int number = 0; number < CALLS_MAX; number++) {
		const struct call_errors *call = find_call_errors(number);

		bool wanted = options->list || (call && options->call == call);

		if (!call || !wanted)
			continue;
		code[used++] =
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
		code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	}
	code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = used;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)))
		die("no seccomp filter");
}

static _Noreturn void become(const struct options *options, char **argv)
{
	filter_calls(options);
	for (unsigned fd = 0; fd < 3; fd++)
		if (options->close & 1u << fd)
			close((int)fd);
	for (unsigned i = 0; i < options->limit_count; i++) {
		const struct rlimit limit = {options->limits[i].value, options->limits[i].value};

		if (setrlimit(options->limits[i].resource, &limit))
			die("cannot set a limit");
	}
	if (options->user && (setgroups(0, NULL) || setgid(options->user) || setuid(options->user)))
		die("cannot become another user");
	execv(argv[0], argv);
	_exit(127);
}

static void start(struct tracer *tracer, char **argv)
{
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		       PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP |
		       PTRACE_O_EXITKILL;
	int go[2];
	char byte = 0;

	if (pipe(go))
		die("no pipe");
	tracer->main = fork();
	if (tracer->main < 0)
		die("cannot fork");
	if (!tracer->main) {
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(99);
		close(go[0]);
		become(&tracer->options, argv);
	}
	close(go[0]);
	if (ptrace(PTRACE_SEIZE, tracer->main, 0, options))
		die("cannot trace");
	know_task(tracer, tracer->main);
	if (write(go[1], &byte, 1) != 1)
		die("cannot start");
	close(go[1]);
}

static void put_site(FILE *file, const struct site *site)
{
	const struct callsite *where = &site->where;

	fprintf(file, "%s:%016lx %s %lld %u ", site->call->name, (unsigned long)where->id,
		site->program, (long long)site->argument, site->times);
	for (int i = 0; i < ERRORS_MAX && site->call->errors[i]; i++)
		fprintf(file, "%s%s", i ? "," : "", error_name(site->call->errors[i]));
	for (unsigned i = 0; i < where->count; i++)
		fprintf(file, " %s+0x%lx", where->frames[i].module,
			(unsigned long)where->frames[i].offset);
	fputc('\n', file);
}

static void put_sites(const struct tracer *tracer)
{
	FILE *file = fopen(tracer->options.list, "we");

	if (!file)
		die(tracer->options.list);
	for (unsigned i = 0; i < tracer->site_count; i++)
		put_site(file, &tracer->sites[i]);
	if (fclose(file))
		die(tracer->options.list);
}

static _Noreturn void usage(void)
{
	fputs("usage: inject --own FILE... --result FILE [--seconds N] [--list FILE]\n"
	      "              [--at CALL:SITE [--nth N] (--error NAME | --signal N [--main])]\n"
	      "              [--on-exec NAME --signal N] [--close 0|1|2]... [--limit NAME=N]...\n"
	      "              [--hold NAME] [--user ID] -- PROGRAM ARGUMENTS\n\n"
	      "Call sites are in FILE's code. --list writes those that the program and what it\n"
	      "starts pass: site, program, first argument, times, errors, return addresses. The\n"
	      "result: status of the program, how often the site was passed, processes left.\n",
	      stderr);
	exit(98);
}

static void set_site(struct options *options, char *text)
{
	char *colon = strchr(text, ':');

	if (!colon)
		usage();
	options->site = strtoull(colon + 1, NULL, 16);
	*colon = '\0';
	for (int number = 0; number < CALLS_MAX && !options->call; number++) {
		const struct call_errors *call = find_call_errors(number);

		if (call && !strcmp(call->name, text))
			options->call = call;
	}
	if (!options->call || !options->site)
		usage();
}

static void add_limit(struct options *options, const char *text)
{
	static const struct {
		const char *name;
		int resource;
	} resources[] = {{"as", RLIMIT_AS},	  {"data", RLIMIT_DATA},
			 {"fsize", RLIMIT_FSIZE}, {"nofile", RLIMIT_NOFILE},
			 {"nproc", RLIMIT_NPROC}, {"stack", RLIMIT_STACK}};
	const char *value = strchr(text, '=');

	for (size_t i = 0; value && i < sizeof(resources) / sizeof(resources[0]); i++) {
		if (strncmp(text, resources[i].name, (size_t)(value - text)) ||
		    options->limit_count == LIMITS_MAX)
			continue;
		options->limits[options->limit_count].resource = resources[i].resource;
		options->limits[options->limit_count++].value = strtoull(value + 1, NULL, 0);
		return;
	}
	usage();
}

static void read_options(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {{"own", required_argument, NULL, 'o'},
					      {"result", required_argument, NULL, 'r'},
					      {"seconds", required_argument, NULL, 's'},
					      {"list", required_argument, NULL, 'l'},
					      {"at", required_argument, NULL, 'a'},
					      {"nth", required_argument, NULL, 'n'},
					      {"error", required_argument, NULL, 'e'},
					      {"signal", required_argument, NULL, 'k'},
					      {"main", no_argument, NULL, 'm'},
					      {"on-exec", required_argument, NULL, 'x'},
					      {"close", required_argument, NULL, 'c'},
					      {"limit", required_argument, NULL, 'L'},
					      {"user", required_argument, NULL, 'u'},
					      {"hold", required_argument, NULL, 'h'},
					      {0}};

	for (int option; (option = getopt_long(argc, argv, "+", names, NULL)) != -1;) {
		switch (option) {
		case 'o':
			callsite_own(optarg);
			break;
		case 'r':
			options->result = optarg;
			break;
		case 's':
			options->seconds = (unsigned)atoi(optarg);
			break;
		case 'l':
			options->list = optarg;
			break;
		case 'a':
			set_site(options, optarg);
			break;
		case 'n':
			options->nth = (unsigned)atoi(optarg);
			break;
		case 'e':
			options->error = find_error(optarg);
			if (!options->error)
				usage();
			break;
		case 'k':
			options->signal = atoi(optarg);
			break;
		case 'm':
			options->to_main = true;
			break;
		case 'x':
			options->on_exec = optarg;
			break;
		case 'c':
			options->close |= 1u << (atoi(optarg) & 3);
			break;
		case 'L':
			add_limit(options, optarg);
			break;
		case 'h':
			options->hold = optarg;
			break;
		case 'u':
			options->user = (uid_t)atoi(optarg);
			break;
		default:
			usage();
		}
	}
	if (!options->result || optind == argc)
		usage();
}

int main(int argc, char **argv)
{
	static struct tracer tracer = {.options = {.nth = 1, .seconds = 60}};
	const struct sigaction action = {.sa_handler = on_alarm};

	read_options(&tracer.options, argc, argv);
	tracer.sites = calloc(SITES_MAX, sizeof(*tracer.sites));
	tracer.result = fopen(tracer.options.result, "we");
	if (!tracer.sites || !tracer.result)
		die(tracer.options.result);
	sigaction(SIGALRM, &action, NULL);
	start(&tracer, argv + optind);
	set_alarm(tracer.options.seconds);
	follow(&tracer);
	if (tracer.ended && WIFEXITED(tracer.status))
		fprintf(tracer.result, "exit %d\n", WEXITSTATUS(tracer.status));
	else if (tracer.ended)
		fprintf(tracer.result, "signal %d\n", WTERMSIG(tracer.status));
	fprintf(tracer.result, "times %u\n", tracer.times);
	if (fclose(tracer.result))
		die(tracer.options.result);
	if (tracer.options.list)
		put_sites(&tracer);
	return 0;
}
