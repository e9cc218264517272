#include <getopt.h>
#include <string.h>

#include "cli/cli.h"
#include "pmulab/journal.h"

static void usage(FILE *file)
{
	fputs("usage: pmulab restore [--dry-run | --forget]\n"
	      "\n"
	      "Restores registers after pmulab stat and its guardian process were both killed.\n"
	      "They leave a journal in /run/pmulab, or for a user in $XDG_RUNTIME_DIR/pmulab.\n"
	      "pmulab restore writes back what the journals hold, and removes each journal when\n"
	      "all its registers are restored. It leaves alone running measurements, and\n"
	      "registers that no longer exist, such as those of an emulated machine.\n"
	      "\n"
	      "  --dry-run  print the writes; make none\n"
	      "  --forget   remove the journals that cannot be restored\n"
	      "\n"
	      "Exit code: 0 nothing is left to restore; 1 something is; 2 wrong use.\n",
	      file);
}

struct restoring {
	const struct cli *cli;
	bool dry_run, forget;
	unsigned found, failed;
};

static int refuse(struct restoring *restoring, struct pmu_journal *journal, const char *hint)
{
	struct pmu_ctx *ctx = restoring->cli->ctx;

	restoring->failed++;
	cli_error(restoring->cli, 0, "%s%s: %s%s", pmu_journal_path(journal),
		  restoring->forget ? " (removed)" : "", pmu_message(ctx), hint);
	if (restoring->forget && pmu_journal_remove(journal, ctx))
		cli_error(restoring->cli, 0, "%s", pmu_message(ctx));
	return 0;
}

static void print_writes(const struct cli *cli, const struct pmu_journal *journal)
{
	const struct pmu_access_op *op;
	char address[CLI_ADDRESS_MAX];

	fprintf(cli->out, "# process %d, %s\n", (int)pmu_journal_process(journal),
		pmu_pmu_name(pmu_journal_pmu(journal)));
	for (size_t i = 0; (op = pmu_journal_write(journal, i)); i++)
		fprintf(cli->out, "socket %u core %u %s %s = 0x%llX\n", op->socket, op->core,
			op->reg, cli_address(address, op->space, op->address),
			(unsigned long long)op->value);
}

static int restore(void *arg, struct pmu_journal *journal)
{
	struct restoring *restoring = arg;
	int error;

	restoring->found++;
	if (pmu_journal_error(journal))
		return refuse(restoring, journal, "");
	if (restoring->dry_run) {
		print_writes(restoring->cli, journal);
		return 0;
	}
	error = pmu_journal_restore(journal, restoring->cli->ctx);
	if (error)
		return refuse(restoring, journal,
			      error == PMU_E_STATE ? "; --forget removes it" : "");
	fprintf(restoring->cli->out, "restored what process %d had found: %zu writes\n",
		(int)pmu_journal_process(journal), pmu_journal_writes(journal));
	return 0;
}

int cli_restore(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {{"dry-run", no_argument, NULL, 'd'},
						{"forget", no_argument, NULL, 'f'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct restoring restoring = {.cli = cli};
	int error;

	for (int option; (option = getopt_long(argc, argv, "+h", options, NULL)) != -1;) {
		switch (option) {
		case 'd':
			restoring.dry_run = true;
			break;
		case 'f':
			restoring.forget = true;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind < argc)
		return cli_error(cli, EXIT_USAGE,
				 "unexpected argument %s; see pmulab restore --help", argv[optind]);
	if (restoring.dry_run && restoring.forget)
		return cli_error(cli, EXIT_USAGE, "--dry-run excludes --forget");
	error = pmu_journals(cli->ctx, restore, &restoring);
	if (error)
		return cli_fail(cli, error);
	if (!restoring.found)
		fputs("there is nothing to restore\n", cli->out);
	return restoring.failed || (restoring.dry_run && restoring.found) ? EXIT_FAILED : EXIT_DONE;
}
