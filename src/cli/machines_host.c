#include "cli/machines.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "bus/capture.h"
#include "bus/hardware.h"
#include "bus/identity.h"
#include "bus/rights.h"
#include "cli/text.h"
#include "session/session.h"

#define WHY_MAX 256

/* What has been found out of the computer; what could not be found out says why. */
struct report {
	struct host *host;
	const struct pmu_pmu *pmu; /* NULL: none of the catalog */
	struct pmu_bus *bus;
	struct pmu_session *session;
	int error;	    /* why there is no session */
	char problem[1024]; /* in words; empty: there is a session */
	char lockdown[32];
};

static void look(const struct cli *cli, struct report *report, const char *root)
{
	const struct pmu_host_options options = {.root = root};
	int error = 0;

	report->pmu = host_find_pmu(report->host);
	rights_lockdown(report->host, report->lockdown);
	if (!report->pmu)
		return;
	error = pmu_bus_host(&report->bus, cli->ctx, &options);
	if (!error)
		error = pmu_session_new(&report->session, cli->ctx, report->bus);
	for (size_t i = 0; i < report->pmu->box_count && !error; i++)
		error = session_discover_cores(report->session, cli->ctx, &report->pmu->boxes[i]);
	report->error = error;
	if (error)
		snprintf(report->problem, sizeof(report->problem), "%s", pmu_message(cli->ctx));
}

/* Whether a discovery register says which instances there are, so that none is tried. */
static bool says_itself(const struct pmu_pmu *pmu, const struct pmu_box *box, char why[WHY_MAX])
{
	struct identity_field map = identity_instances(pmu, box);
	struct identity_field counting = identity_counting(pmu, box->name);

	if (identity_device(box).field)
		return false;
	if (map.field)
		snprintf(why, WHY_MAX, "%s does not list it", map.reg->name);
	else if (counting.field)
		snprintf(why, WHY_MAX, "%s counts fewer", counting.reg->name);
	return map.field || counting.field;
}

/* Why an instance that the manual documents was not found. */
static void tell_why(const struct cli *cli, const struct report *report, const struct pmu_box *box,
		     unsigned socket, unsigned instance, char why[WHY_MAX])
{
	const struct pmu_register *reg = identity_witness(box);
	struct pmu_access_op op;

	snprintf(why, WHY_MAX, "it does not answer");
	if (says_itself(report->pmu, box, why) || !reg)
		return;
	op = (struct pmu_access_op){
	    .socket = socket,
	    .core = box->scope == PMU_SCOPE_CORE ? instance : 0,
	    .space = reg->space,
	    .width = reg->width,
	    .address = pmu_register_address(box, reg, instance),
	    .reg = reg->name,
	};
	if (pmu_bus_read(report->bus, cli->ctx, &op))
		snprintf(why, WHY_MAX, "%s", pmu_message(cli->ctx));
	else
		snprintf(why, WHY_MAX, "%s reads 0x%llX, another device", reg->name,
			 (unsigned long long)op.value);
}

static bool has_instance(const struct report *report, const struct pmu_box *box, unsigned socket,
			 unsigned instance)
{
	return *session_present(report->session, socket, box) >> instance & 1;
}

static json_t *box_json(const struct cli *cli, const struct report *report,
			const struct pmu_box *box, unsigned socket)
{
	json_t *found = json_array(), *missing = json_array();

	for (unsigned i = 0; i < box->instance_count; i++) {
		char why[WHY_MAX];

		if (has_instance(report, box, socket, i)) {
			json_array_append_new(found, json_integer(i));
			continue;
		}
		tell_why(cli, report, box, socket, i, why);
		json_array_append_new(
		    missing, json_pack("{s:i, s:o}", "instance", i, "why", text_json(why)));
	}
	return json_pack("{s:s, s:o, s:o}", "box", box->name, "found", found, "missing", missing);
}

static json_t *bus_json(const struct report *report, unsigned socket)
{
	const struct config_space *config = bus_hardware_config_space(report->bus);
	struct config_bus bus = config_space_bus(config, socket);
	char text[32];

	if (!bus.found)
		return json_null();
	snprintf(text, sizeof(text), "%04x:%02x", bus.domain, bus.number);
	return json_string(text);
}

static json_t *socket_json(const struct cli *cli, const struct report *report, unsigned socket)
{
	const struct host *host = report->host;
	size_t first = host_first_cpu(host, socket);
	json_t *boxes = json_array(), *cpus = json_array();

	for (size_t cpu = first; cpu < host_first_cpu(host, socket + 1); cpu++)
		json_array_append_new(cpus, json_integer(host->cpus[cpu].number));
	for (size_t i = 0; report->session && i < report->pmu->box_count; i++)
		if (report->pmu->boxes[i].counter_count)
			json_array_append_new(
			    boxes, box_json(cli, report, &report->pmu->boxes[i], socket));
	return json_pack("{s:i, s:i, s:o, s:o, s:o}", "socket", socket, "package",
			 host->cpus[first].package, "cpus", cpus, "pci_bus",
			 report->bus ? bus_json(report, socket) : json_null(), "boxes", boxes);
}

static int print_json(const struct cli *cli, const struct report *report)
{
	const struct host *host = report->host;
	json_t *sockets = json_array(), *pmus = json_array();
	size_t count;
	const struct pmu_pmu *all = pmu_catalog(&count);

	for (size_t i = 0; i < count; i++)
		if (host_has_pmu(host, &all[i]))
			json_array_append_new(pmus, json_string(all[i].name));
	for (unsigned i = 0; i < host->sockets; i++)
		json_array_append_new(sockets, socket_json(cli, report, i));
	return cli_print_json(
	    cli, json_pack("{s:o, s:o, s:i, s:i, s:i, s:b, s:s, s:o, s:s?, s:o, s:o}", "name",
			   text_json(host->name), "vendor", text_json(host->vendor), "family",
			   host->family, "model", host->model, "stepping", host->stepping,
			   "virtual_machine", host->virtual_machine, "lockdown", report->lockdown,
			   "pmus", pmus, "way", report->session ? pmu_bus_way(report->bus) : NULL,
			   "problem", *report->problem ? text_json(report->problem) : json_null(),
			   "sockets", sockets));
}

/* Which instances there are: "0-3,8", or "-" for none. */
static const char *instances_text(uint32_t present, char text[40])
{
	return present ? cli_counters(present, text) : "-";
}

static void box_row(const struct cli *cli, const struct report *report, struct table *table,
		    const struct pmu_box *box, unsigned socket)
{
	uint32_t present = *session_present(report->session, socket, box);
	char text[40], why[WHY_MAX] = "";
	unsigned missing = 0;

	while (missing < box->instance_count && present >> missing & 1)
		missing++;
	if (missing < box->instance_count)
		tell_why(cli, report, box, socket, missing, why);
	table_number(table, socket);
	table_cell(table, "%s", box->name);
	table_cell(table, "%d of %zu", __builtin_popcount(present), box->instance_count);
	table_cell(table, "%s", instances_text(present, text));
	if (*why)
		table_cell(table, "%s%u: %s", box->name, missing, why);
	else
		table_cell(table, "%s", "");
}

static int print_boxes(const struct cli *cli, const struct report *report)
{
	static const char *const heading[] = {"SOCKET", "BOX", "FOUND", "WHICH", "WHAT IS MISSING"};
	struct table *table = table_new("rlrll");

	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < 5; i++)
		table_cell(table, "%s", heading[i]);
	for (unsigned socket = 0; socket < report->host->sockets; socket++)
		for (size_t i = 0; i < report->pmu->box_count; i++)
			if (report->pmu->boxes[i].counter_count)
				box_row(cli, report, table, &report->pmu->boxes[i], socket);
	return cli_print_table(cli, table);
}

static void print_buses(const struct cli *cli, const struct report *report)
{
	const struct config_space *config = bus_hardware_config_space(report->bus);

	for (unsigned socket = 0; socket < report->host->sockets; socket++) {
		struct config_bus bus = config_space_bus(config, socket);

		if (bus.found)
			fprintf(cli->out, "socket %u: PCI bus %04x:%02x\n", socket, bus.domain,
				bus.number);
	}
}

static int print_text(const struct cli *cli, const struct report *report)
{
	const struct host *host = report->host;

	text_print(cli->out, "%s (%s family %u model %u stepping %u)%s\n", host->name, host->vendor,
		   host->family, host->model, host->stepping,
		   host->virtual_machine ? ", in a virtual machine" : "");
	fprintf(cli->out, "%u socket%s, %zu CPUs online\n", host->sockets,
		host->sockets == 1 ? "" : "s", host->cpu_count);
	if (strcmp(report->lockdown, "none"))
		fprintf(cli->out, "kernel lockdown: %s, registers cannot be written\n",
			report->lockdown);
	if (!report->pmu) {
		fprintf(cli->out, "PMU: none of the catalog is for this processor\n");
		return EXIT_DONE;
	}
	fprintf(cli->out, "PMU: %s, %s\n", report->pmu->name, report->pmu->title);
	if (*report->problem) {
		if (report->error == PMU_E_UNKNOWN || report->error == PMU_E_UNSUPPORTED)
			text_print(cli->out, "registers: %s\n", report->problem);
		else
			fputs("registers: cannot be read\n", cli->out);
		return EXIT_DONE;
	}
	fprintf(cli->out, "registers: through %s\n", pmu_bus_way(report->bus));
	print_buses(cli, report);
	fputc('\n', cli->out);
	return print_boxes(cli, report);
}

static int print_csv(const struct cli *cli, const struct report *report)
{
	if (*report->problem || !report->session)
		return cli_error(cli, EXIT_FAILED, "%s",
				 *report->problem ? report->problem
						  : "no PMU of the catalog is for this processor");
	return print_boxes(cli, report);
}

static int capture(const struct cli *cli, const struct report *report, const char *folder)
{
	int error;

	if (!report->session)
		return cli_error(cli, EXIT_FAILED, "there is nothing to capture: %s",
				 *report->problem ? report->problem
						  : "no PMU of the catalog is for this processor");
	error = bus_capture(report->bus, cli->ctx, folder);
	return error ? cli_fail(cli, error) : EXIT_DONE;
}

/* What the computer has not is an answer; what could not be read is none. */
static int conclude(const struct cli *cli, const struct report *report, int code)
{
	if (code || !report->error || report->error == PMU_E_UNKNOWN ||
	    report->error == PMU_E_UNSUPPORTED)
		return code;
	return cli_error(cli, EXIT_FAILED, "the registers cannot be read: %s", report->problem);
}

int machines_host(const struct cli *cli, const char *root, const char *folder)
{
	struct report report = {0};
	int code, error = host_new(&report.host, cli->ctx, root);

	if (error)
		return cli_fail(cli, error);
	look(cli, &report, root);
	if (folder)
		code = capture(cli, &report, folder);
	else if (cli->format == CLI_JSON)
		code = print_json(cli, &report);
	else if (cli->format == CLI_CSV)
		code = print_csv(cli, &report);
	else
		code = print_text(cli, &report);
	code = conclude(cli, &report, code);
	pmu_session_free(report.session);
	pmu_bus_free(report.bus);
	host_free(report.host);
	return code;
}
