#include "bus/host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

#define SMALL_FILE	  4096
#define CPUINFO_BYTES_MAX (64u << 20) /* 8,192 CPUs have some 16 MB */

const char *host_path(const struct pmu_host *host, char path[HOST_PATH_MAX], const char *format,
		      ...)
{
	size_t used = strlen(strcpy(path, host->root));
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path + used, HOST_PATH_MAX - used, format, arguments);
	va_end(arguments);
	return path;
}

/* The value behind "@key :" at the beginning of a line, or NULL. */
static const char *value_of(char *line, const char *key)
{
	size_t length = strlen(key);
	char *value;

	if (strncmp(line, key, length))
		return NULL;
	value = line + length + strspn(line + length, " \t");
	if (*value++ != ':')
		return NULL;
	value += strspn(value, " \t");
	value[strcspn(value, "\n")] = '\0';
	return value;
}

static bool take_number(char *line, const char *key, unsigned *number)
{
	const char *value = value_of(line, key);

	if (value)
		*number = (unsigned)strtoul(value, NULL, 10);
	return value;
}

static void take_text(char *line, const char *key, char *text, size_t size)
{
	const char *value = value_of(line, key);

	if (value)
		snprintf(text, size, "%s", value);
}

static int add_cpu(struct pmu_host *host, struct pmu_ctx *ctx, unsigned number)
{
	struct host_cpu *cpus = realloc(host->cpus, (host->cpu_count + 1) * sizeof(*cpus));

	if (!cpus)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for CPU %u", number);
	host->cpus = cpus;
	/* Where a kernel tells no package, all CPUs are in one. */
	cpus[host->cpu_count++] = (struct host_cpu){.number = number, .package = 0};
	return 0;
}

/* Blocks of "key : value", one a CPU that is online. All CPUs are taken to be of one kind. */
static int read_line(struct pmu_host *host, struct pmu_ctx *ctx, char *line)
{
	unsigned number;

	if (take_number(line, "processor", &number))
		return add_cpu(host, ctx, number);
	take_text(line, "vendor_id", host->vendor, sizeof(host->vendor));
	take_text(line, "vendor", host->vendor, sizeof(host->vendor));
	take_text(line, "model name", host->name, sizeof(host->name));
	take_number(line, "cpu family", &host->family);
	take_number(line, "family", &host->family);
	take_number(line, "model", &host->model);
	take_number(line, "stepping", &host->stepping);
	if (!strncmp(line, "flags", 5) && strstr(line, " hypervisor"))
		host->virtual_machine = true;
	if (host->cpu_count)
		take_number(line, "physical id", &host->cpus[host->cpu_count - 1].package);
	return 0;
}

static int by_package(const void *a, const void *b)
{
	const struct host_cpu *left = a, *right = b;

	if (left->package != right->package)
		return left->package < right->package ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

static void count_sockets(struct pmu_host *host)
{
	qsort(host->cpus, host->cpu_count, sizeof(*host->cpus), by_package);
	for (size_t i = 0; i < host->cpu_count; i++)
		host->sockets += i == 0 || host->cpus[i].package != host->cpus[i - 1].package;
}

static int read_cpuinfo(struct pmu_host *host, struct pmu_ctx *ctx)
{
	char path[HOST_PATH_MAX], *text, *saved;
	int error =
	    file_read(ctx, host_path(host, path, "/proc/cpuinfo"), CPUINFO_BYTES_MAX, &text, NULL);

	if (error)
		return error == PMU_E_UNKNOWN ? PMU_E_IO : error;
	for (char *line = strtok_r(text, "\n", &saved); line && !error;
	     line = strtok_r(NULL, "\n", &saved))
		error = read_line(host, ctx, line);
	free(text);
	if (!error && host->cpu_count == 0)
		error = error_set(ctx, PMU_E_IO, "%s names no processor", path);
	if (!error)
		count_sockets(host);
	return error;
}

/* Text of a small file, to be freed; NULL: there is none. */
static char *read_setting(const struct pmu_host *host, const char *name)
{
	char path[HOST_PATH_MAX], *text;

	return file_read(NULL, host_path(host, path, "%s", name), SMALL_FILE, &text, NULL) ? NULL
											   : text;
}

/* "none [integrity] confidentiality" */
static void read_lockdown(struct pmu_host *host)
{
	char *text = read_setting(host, "/sys/kernel/security/lockdown");
	const char *chosen = text ? strchr(text, '[') : NULL;

	strcpy(host->lockdown, "none");
	if (chosen)
		sscanf(chosen, "[%31[^]]", host->lockdown);
	free(text);
}

int pmu_host_new(struct pmu_host **out, struct pmu_ctx *ctx, const char *root)
{
	struct pmu_host *host = calloc(1, sizeof(*host));
	int error;

	if (!host)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for the computer's description");
	if (!root || !strcmp(root, "/"))
		root = "";
	if (strlen(root) >= sizeof(host->root)) {
		error = error_set(ctx, PMU_E_RANGE, "the path of the root is too long");
		goto fail;
	}
	strcpy(host->root, root);
	error = read_cpuinfo(host, ctx);
	if (error)
		goto fail;
	read_lockdown(host);
	*out = host;
	return 0;
fail:
	pmu_host_free(host);
	return error;
}

void pmu_host_free(struct pmu_host *host)
{
	if (!host)
		return;
	free(host->cpus);
	free(host);
}

size_t host_first_cpu(const struct pmu_host *host, unsigned socket)
{
	size_t cpu = 0;

	for (; socket > 0 && cpu < host->cpu_count; socket--) {
		unsigned package = host->cpus[cpu].package;

		while (cpu < host->cpu_count && host->cpus[cpu].package == package)
			cpu++;
	}
	return cpu;
}

bool host_find_socket(const struct pmu_host *host, unsigned package, unsigned *socket)
{
	for (*socket = 0; *socket < host->sockets; ++*socket)
		if (host->cpus[host_first_cpu(host, *socket)].package == package)
			return true;
	return false;
}

bool pmu_host_has_pmu(const struct pmu_host *host, const struct pmu_pmu *pmu)
{
	if (strcmp(host->vendor, "GenuineIntel"))
		return false;
	for (size_t i = 0; i < pmu->cpu_count; i++)
		if (pmu->cpus[i].family == host->family && pmu->cpus[i].model == host->model)
			return true;
	return false;
}

const struct pmu_pmu *pmu_host_pmu(const struct pmu_host *host)
{
	size_t count;
	const struct pmu_pmu *pmus = catalog_pmus(&count);

	for (size_t i = 0; i < count; i++)
		if (pmu_host_has_pmu(host, &pmus[i]))
			return &pmus[i];
	return NULL;
}

const char *pmu_host_name(const struct pmu_host *host)
{
	return host->name;
}

const char *pmu_host_vendor(const struct pmu_host *host)
{
	return host->vendor;
}

unsigned pmu_host_family(const struct pmu_host *host)
{
	return host->family;
}

unsigned pmu_host_model(const struct pmu_host *host)
{
	return host->model;
}

unsigned pmu_host_stepping(const struct pmu_host *host)
{
	return host->stepping;
}

bool pmu_host_is_virtual(const struct pmu_host *host)
{
	return host->virtual_machine;
}

unsigned pmu_host_sockets(const struct pmu_host *host)
{
	return host->sockets;
}

unsigned pmu_host_package(const struct pmu_host *host, unsigned socket)
{
	return host->cpus[host_first_cpu(host, socket)].package;
}

size_t pmu_host_cpus(const struct pmu_host *host)
{
	return host->cpu_count;
}

unsigned pmu_host_cpu_number(const struct pmu_host *host, size_t cpu)
{
	return host->cpus[cpu].number;
}

unsigned pmu_host_cpu_socket(const struct pmu_host *host, size_t cpu)
{
	unsigned socket = 0;

	host_find_socket(host, host->cpus[cpu].package, &socket);
	return socket;
}

const char *pmu_host_lockdown(const struct pmu_host *host)
{
	return host->lockdown;
}

bool pmu_host_watchdog(const struct pmu_host *host)
{
	char *text = read_setting(host, "/proc/sys/kernel/nmi_watchdog");
	bool on = text && *text == '1';

	free(text);
	return on;
}
