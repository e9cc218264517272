#include <getopt.h>
#include <string.h>

#include "bus/bus.h"
#include "bus/hardware.h"
#include "bus/journal_files.h"
#include "cli/cli.h"

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

static int refuse(struct restoring *restoring, struct journal_file *file, const char *why)
{
	char folder[PATH_MAX];

	restoring->failed++;
	cli_error(restoring->cli, 0, "%s/%s%s: %s", journal_folder_name(folder), file->name,
		  restoring->forget ? " (removed)" : "", why);
	if (restoring->forget)
		journal_remove(file);
	return 0;
}

static void print_writes(const struct cli *cli, const struct journal *journal)
{
	char address[CLI_ADDRESS_MAX];

	for (size_t i = 0; i < journal->count; i++) {
		const struct pmu_access_op *op = &journal->writes[i];

		fprintf(cli->out, "socket %u core %u %s %s = 0x%llX\n", op->socket, op->core,
			op->reg, cli_address(address, op->space, op->address),
			(unsigned long long)op->value);
	}
}

static int open_registers(const struct restoring *restoring, const struct journal *journal,
			  struct pmu_bus **bus)
{
	const struct pmu_host_options options = {
	    .root = journal->root,
	    .pmu = journal->pmu->name,
	};

	return pmu_bus_host(bus, restoring->cli->ctx, &options);
}

static int restore_through(struct restoring *restoring, struct journal_file *file,
			   const struct journal *journal, struct pmu_bus *bus)
{
	struct pmu_ctx *ctx = restoring->cli->ctx;
	struct journal here;
	int error = journal_describe(&here, ctx, bus_hardware_host(bus), journal->pmu);

	if (error)
		return refuse(restoring, file, pmu_message(ctx));
	if (!journal_same_registers(journal, &here))
		return refuse(restoring, file,
			      "is of registers that are not there any more, of an emulated machine "
			      "perhaps; --forget removes it");
	for (size_t i = 0; i < journal->count; i++)
		if (journal->writes[i].socket >= pmu_bus_sockets(bus))
			return refuse(restoring, file, "is of sockets that are not there");
	if (bus_write_all(bus, ctx, journal->writes, journal->count))
		return refuse(restoring, file, pmu_message(ctx));
	if (journal_remove(file))
		return refuse(restoring, file, "is restored, and cannot be removed");
	fprintf(restoring->cli->out, "restored what process %d had found: %zu writes\n",
		(int)journal->owner, journal->count);
	return 0;
}

static int restore(void *arg, struct journal_file *file, const struct journal *journal, int error)
{
	struct restoring *restoring = arg;
	struct pmu_bus *bus;

	restoring->found++;
	if (error)
		return refuse(restoring, file, pmu_message(restoring->cli->ctx));
	if (restoring->dry_run) {
		fprintf(restoring->cli->out, "# process %d, %s\n", (int)journal->owner,
			journal->pmu->name);
		print_writes(restoring->cli, journal);
		return 0;
	}
	if (open_registers(restoring, journal, &bus))
		return refuse(restoring, file, pmu_message(restoring->cli->ctx));
	restore_through(restoring, file, journal, bus);
	pmu_bus_free(bus);
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
	error = journal_each_left(cli->ctx, restore, &restoring);
	if (error)
		return cli_fail(cli, error);
	if (!restoring.found)
		fputs("there is nothing to restore\n", cli->out);
	return restoring.failed || (restoring.dry_run && restoring.found) ? EXIT_FAILED : EXIT_DONE;
}
