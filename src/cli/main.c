#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "cli/descriptors.h"
#include "cli/locale.h"
#include "cli/text.h"

static const struct {
	const char *name;
	cli_command *run;
	const char *summary;
} commands[] = {
    {"machines", cli_machines, "list the emulated machines, or describe this computer"},
    {"list", cli_list, "list PMUs, boxes, events, metrics or registers"},
    {"show", cli_show, "describe one of them"},
    {"encode", cli_encode, "print the register writes that program an event"},
    {"decode", cli_decode, "explain register values"},
    {"stat", cli_stat, "count events and metrics while a program runs"},
    {"analyze", cli_analyze, "say where a program's cycles go"},
    {"record", cli_record, "sample a program at counter overflows"},
    {"report", cli_report, "print where the samples of a recording are"},
    {"annotate", cli_annotate, "print a program's source with counts"},
    {"emulate", cli_emulate, "run a tool on an emulated machine"},
    {"lint", cli_lint, "report the documented rules that a tool breaks"},
    {"restore", cli_restore, "restore registers after a killed measurement"},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *file)
{
	fputs("usage: pmulab COMMAND [ARGUMENTS]\n\n", file);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(file, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\nHelp on a command: pmulab help COMMAND. Version: pmulab --version\n", file);
}

static int unknown_command(const char *name)
{
	struct cli_names valid;

	cli_names_init(&valid, name);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		cli_names_add(&valid, commands[i].name);
	text_print(stderr, "pmulab: no command \"%s\"; %s\n", name, cli_names_text(&valid));
	return EXIT_USAGE;
}

/* What did not fit the buffer may have failed long before. */
static int end_output(int code)
{
	bool failed = ferror(stdout);

	/* Whoever failed to write it has said so. */
	if (failed && code)
		return code;
	errno = 0;
	if (!fflush(stdout) && !failed)
		return code;
	if (errno == EPIPE)
		return code;
	fprintf(stderr, "pmulab: cannot write the output%s%s\n", errno ? ": " : "",
		errno ? strerror(errno) : "");
	return EXIT_FAILED;
}

static int run(const char *name, cli_command *command, int argc, char **argv)
{
	struct descriptors inherited;
	struct cli cli = {.command = name, .out = stdout, .inherited = &inherited};
	char full_name[32]; /* that getopt's messages begin with */
	int code;

	snprintf(full_name, sizeof(full_name), "pmulab %s", name);
	argv[0] = full_name;
	if (descriptors_note(&inherited) || pmu_ctx_new(&cli.ctx)) {
		fputs("pmulab: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	code = command(&cli, argc, argv);
	pmu_machine_free(cli.machine);
	pmu_ctx_free(cli.ctx);
	descriptors_release(&inherited);
	return end_output(code);
}

static int run_named(const char *name, int argc, char **argv)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (!strcasecmp(commands[i].name, name))
			return run(commands[i].name, commands[i].run, argc, argv);
	return unknown_command(name);
}

/* pmulab help COMMAND */
static int help(int argc, char **argv)
{
	char option[] = "--help", *arguments[] = {argv[2], option, NULL};

	if (argc == 3)
		return run_named(argv[2], 2, arguments);
	fputs("pmulab help: one COMMAND is enough\n", stderr);
	return EXIT_USAGE;
}

static void nothing(int number)
{
	(void)number;
}

/* A file beyond the limit of its size is an error that is reported; programs get their signal. */
static void survive_limits(void)
{
	struct sigaction before;

	if (!sigaction(SIGXFSZ, NULL, &before) && before.sa_handler == SIG_DFL)
		signal(SIGXFSZ, nothing);
}

int main(int argc, char **argv)
{
	survive_limits();
	locale_init();
	if (descriptors_fill())
		return EXIT_FAILED;
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "help") && argc > 2)
		return help(argc, argv);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return end_output(EXIT_DONE);
	}
	if (!strcmp(argv[1], "--version")) {
		printf("pmulab %s\n", pmu_version());
		return end_output(EXIT_DONE);
	}
	return run_named(argv[1], argc - 1, argv + 1);
}
