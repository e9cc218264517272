#include "cli/stat_cpus.h"

#include <stdlib.h>

#include "pmulab/host.h"

#define CORES_MAX 64 /* of a socket, that pmu_session_only() can name */

/* @return what follows a number, or NULL */
static const char *read_number(const char *text, unsigned *number)
{
	char *end;
	unsigned long value;

	if (*text < '0' || *text > '9')
		return NULL;
	value = strtoul(text, &end, 10);
	*number = (unsigned)value;
	return value < STAT_CPUS_MAX ? end : NULL;
}

/* One that is named twice is counted once. */
static void add_cpu(struct stat_cpus *cpus, unsigned number)
{
	for (size_t i = 0; i < cpus->count; i++)
		if (cpus->numbers[i] == number)
			return;
	cpus->numbers[cpus->count++] = number;
}

int stat_cpus_read(const struct cli *cli, struct stat_cpus *cpus, const char *list)
{
	const char *at = list;

	cpus->count = 0;
	do {
		unsigned first, last;

		at = read_number(at, &first);
		last = first;
		if (at && *at == '-')
			at = read_number(at + 1, &last);
		if (last < first)
			at = NULL;
		while (at && first <= last)
			add_cpu(cpus, first++);
	} while (at && *at++ == ',');
	if (at && !at[-1])
		return 0;
	return cli_error(cli, EXIT_USAGE,
			 "-C takes CPUs, numbers below %d and ranges as in 0,2-3, not \"%s\"",
			 STAT_CPUS_MAX, list);
}

int stat_cpus_all(const struct cli *cli, struct stat_cpus *cpus)
{
	struct pmu_host *host;
	int error = pmu_host_new(&host, cli->ctx, NULL);

	if (error)
		return cli_fail(cli, error);
	for (cpus->count = 0; cpus->count < pmu_host_cpus(host) && cpus->count < STAT_CPUS_MAX;
	     cpus->count++)
		cpus->numbers[cpus->count] = pmu_host_cpu_number(host, cpus->count);
	pmu_host_free(host);
	return 0;
}

static int no_cpu(const struct cli *cli, const struct stat_run *run, unsigned number)
{
	return cli_error(cli, EXIT_USAGE, "%s has no CPU %u", run->target, number);
}

static int put(uint64_t *cores, unsigned sockets, unsigned socket, unsigned core)
{
	if (socket >= sockets || core >= CORES_MAX)
		return EXIT_USAGE;
	cores[socket] |= UINT64_C(1) << core;
	return 0;
}

/* CPUs of a machine are numbered over its sockets. */
static int find_emulated(const struct cli *cli, const struct stat_run *run, uint64_t *cores)
{
	const unsigned threads = (unsigned)cli_machine_number(run->machine, "threads_per_core");
	const unsigned a_socket =
	    (unsigned)cli_machine_number(run->machine, "cores") * (threads ? threads : 1);
	const struct stat_cpus *cpus = &run->options.cpus;

	for (size_t i = 0; i < cpus->count; i++)
		if (put(cores, pmu_bus_sockets(run->bus), cpus->numbers[i] / a_socket,
			cpus->numbers[i] % a_socket))
			return no_cpu(cli, run, cpus->numbers[i]);
	return 0;
}

/* Core n of a socket is its n-th CPU online. */
static bool find_cpu(const struct pmu_host *host, unsigned number, unsigned *socket, unsigned *core)
{
	*core = 0;
	for (size_t i = 0; i < pmu_host_cpus(host); i++) {
		if (i && pmu_host_cpu_socket(host, i) != pmu_host_cpu_socket(host, i - 1))
			*core = 0;
		*socket = pmu_host_cpu_socket(host, i);
		if (pmu_host_cpu_number(host, i) == number)
			return true;
		++*core;
	}
	return false;
}

static int find_online(const struct cli *cli, const struct stat_run *run, uint64_t *cores)
{
	const struct stat_cpus *cpus = &run->options.cpus;
	struct pmu_host *host;
	int code = 0, error = pmu_host_new(&host, cli->ctx, run->options.root);

	if (error)
		return cli_fail(cli, error);
	for (size_t i = 0; i < cpus->count && !code; i++) {
		unsigned socket, core;

		if (!find_cpu(host, cpus->numbers[i], &socket, &core) ||
		    put(cores, pmu_bus_sockets(run->bus), socket, core))
			code = no_cpu(cli, run, cpus->numbers[i]);
	}
	pmu_host_free(host);
	return code;
}

int stat_cpus_limit(const struct cli *cli, const struct stat_run *run)
{
	uint64_t *cores;
	int code, error;

	if (!run->options.cpus.count)
		return 0;
	cores = calloc(pmu_bus_sockets(run->bus), sizeof(*cores));
	if (!cores)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	code = run->machine ? find_emulated(cli, run, cores) : find_online(cli, run, cores);
	error = code ? 0 : pmu_session_only(run->session, cli->ctx, cores);
	free(cores);
	return error ? cli_fail(cli, error) : code;
}
