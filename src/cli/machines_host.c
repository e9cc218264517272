#include "cli/machines.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "pmulab/host.h"
#include "pmulab/session.h"

#define WHY_MAX 256

/* What has been found out of the computer; what could not be found out says why. */
struct report {
	struct pmu_host *host;
	const struct pmu_pmu *pmu; /* NULL: none of the catalog */
	struct pmu_bus *bus;
	struct pmu_session *session;
	int error;	    /* why there is no session */
	char problem[1024]; /* in words; empty: there is a session */
};

static void look(const struct cli *cli, struct report *report, const char *root)
{
	const struct pmu_host_options options = {.size = sizeof(options), .root = root};
	uint64_t present;
	int error = 0;

	report->pmu = pmu_host_pmu(report->host);
	if (!report->pmu)
		return;
	error = pmu_bus_host(&report->bus, cli->ctx, &options);
	if (!error)
		error = pmu_session_new(&report->session, cli->ctx, report->bus);
	for (size_t i = 0; i < pmu_pmu_boxes(report->pmu) && !error; i++)
		error = pmu_session_instances(report->session, cli->ctx,
					      pmu_pmu_box(report->pmu, i), 0, &present);
	report->error = error;
	if (error)
		snprintf(report->problem, sizeof(report->problem), "%s", pmu_message(cli->ctx));
}

/* All instances have been asked for before: it cannot fail. */
static uint64_t instances(const struct cli *cli, const struct report *report,
			  const struct pmu_box *box, unsigned socket)
{
	uint64_t present = 0;

	pmu_session_instances(report->session, cli->ctx, box, socket, &present);
	return present;
}

static json_t *box_json(const struct cli *cli, const struct report *report,
			const struct pmu_box *box, unsigned socket)
{
	uint64_t present = instances(cli, report, box, socket);
	json_t *found = json_array(), *missing = json_array();

	for (unsigned i = 0; i < pmu_box_instances(box); i++) {
		char why[WHY_MAX];

		if (present >> i & 1) {
			json_array_append_new(found, json_integer(i));
			continue;
		}
		pmu_session_absence(report->session, cli->ctx, box, socket, i, why, sizeof(why));
		json_array_append_new(
		    missing, json_pack("{s:i, s:o}", "instance", i, "why", text_json(why)));
	}
	return json_pack("{s:s, s:o, s:o}", "box", pmu_box_name(box), "found", found, "missing",
			 missing);
}

static json_t *bus_json(const struct report *report, unsigned socket)
{
	unsigned domain, number;
	char text[32];

	if (!pmu_bus_pci_bus(report->bus, socket, &domain, &number))
		return json_null();
	snprintf(text, sizeof(text), "%04x:%02x", domain, number);
	return json_string(text);
}

static json_t *socket_json(const struct cli *cli, const struct report *report, unsigned socket)
{
	const struct pmu_host *host = report->host;
	json_t *boxes = json_array(), *cpus = json_array();

	for (size_t cpu = 0; cpu < pmu_host_cpus(host); cpu++)
		if (pmu_host_cpu_socket(host, cpu) == socket)
			json_array_append_new(cpus, json_integer(pmu_host_cpu_number(host, cpu)));
	for (size_t i = 0; report->session && i < pmu_pmu_boxes(report->pmu); i++)
		if (pmu_box_counters(pmu_pmu_box(report->pmu, i)))
			json_array_append_new(
			    boxes, box_json(cli, report, pmu_pmu_box(report->pmu, i), socket));
	return json_pack("{s:i, s:i, s:o, s:o, s:o}", "socket", socket, "package",
			 pmu_host_package(host, socket), "cpus", cpus, "pci_bus",
			 report->bus ? bus_json(report, socket) : json_null(), "boxes", boxes);
}

static int print_json(const struct cli *cli, const struct report *report)
{
	const struct pmu_host *host = report->host;
	json_t *sockets = json_array(), *pmus = json_array();
	const struct pmu_pmu *pmu;

	for (size_t i = 0; (pmu = pmu_pmu_at(i)); i++)
		if (pmu_host_has_pmu(host, pmu))
			json_array_append_new(pmus, json_string(pmu_pmu_name(pmu)));
	for (unsigned i = 0; i < pmu_host_sockets(host); i++)
		json_array_append_new(sockets, socket_json(cli, report, i));
	return cli_print_json(
	    cli,
	    json_pack("{s:o, s:o, s:i, s:i, s:i, s:b, s:s, s:o, s:s?, s:o, s:o}", "name",
		      text_json(pmu_host_name(host)), "vendor", text_json(pmu_host_vendor(host)),
		      "family", pmu_host_family(host), "model", pmu_host_model(host), "stepping",
		      pmu_host_stepping(host), "virtual_machine", pmu_host_is_virtual(host),
		      "lockdown", pmu_host_lockdown(report->host), "pmus", pmus, "way",
		      report->session ? pmu_bus_transport(report->bus) : NULL, "problem",
		      *report->problem ? text_json(report->problem) : json_null(), "sockets",
		      sockets));
}

/* What the computer has not is an answer; what could not be read is none. */
static bool is_answer(const struct report *report)
{
	return !report->error || report->error == PMU_E_UNKNOWN ||
	       report->error == PMU_E_UNSUPPORTED;
}

/* Which instances there are: "0-3,8", or "-" for none. */
static const char *instances_text(uint64_t present, char text[40])
{
	return present ? cli_counters((uint32_t)present, text) : "-";
}

static void box_row(const struct cli *cli, const struct report *report, struct table *table,
		    const struct pmu_box *box, unsigned socket)
{
	uint64_t present = instances(cli, report, box, socket);
	char text[40], why[WHY_MAX] = "";
	unsigned missing = 0;

	while (missing < pmu_box_instances(box) && present >> missing & 1)
		missing++;
	if (missing < pmu_box_instances(box))
		pmu_session_absence(report->session, cli->ctx, box, socket, missing, why,
				    sizeof(why));
	table_number(table, socket);
	table_cell(table, "%s", pmu_box_name(box));
	table_cell(table, "%d of %zu", __builtin_popcountll(present), pmu_box_instances(box));
	table_cell(table, "%s", instances_text(present, text));
	if (*why)
		table_cell(table, "%s%u: %s", pmu_box_name(box), missing, why);
	else
		table_cell(table, "%s", "");
}

static int print_boxes(const struct cli *cli, const struct report *report)
{
	static const char *const heading[] = {"SOCKET", "BOX", "FOUND", "WHICH", "WHAT IS MISSING"};
	const bool known = report->session && !*report->problem;
	struct table *table = table_new("rlrll");

	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < 5; i++)
		table_cell(table, "%s", heading[i]);
	for (unsigned socket = 0; known && socket < pmu_host_sockets(report->host); socket++)
		for (size_t i = 0; i < pmu_pmu_boxes(report->pmu); i++)
			if (pmu_box_counters(pmu_pmu_box(report->pmu, i)))
				box_row(cli, report, table, pmu_pmu_box(report->pmu, i), socket);
	return cli_print_table(cli, table);
}

static void print_buses(const struct cli *cli, const struct report *report)
{
	unsigned domain, number;

	for (unsigned socket = 0; socket < pmu_host_sockets(report->host); socket++)
		if (pmu_bus_pci_bus(report->bus, socket, &domain, &number))
			fprintf(cli->out, "socket %u: PCI bus %04x:%02x\n", socket, domain, number);
}

static int print_text(const struct cli *cli, const struct report *report)
{
	const struct pmu_host *host = report->host;

	text_print(cli->out, "%s (%s family %u model %u stepping %u)%s\n", pmu_host_name(host),
		   pmu_host_vendor(host), pmu_host_family(host), pmu_host_model(host),
		   pmu_host_stepping(host),
		   pmu_host_is_virtual(host) ? ", in a virtual machine" : "");
	fprintf(cli->out, "%u socket%s, %zu CPUs online\n", pmu_host_sockets(host),
		pmu_host_sockets(host) == 1 ? "" : "s", pmu_host_cpus(host));
	if (strcmp(pmu_host_lockdown(report->host), "none"))
		fprintf(cli->out, "kernel lockdown: %s, registers cannot be written\n",
			pmu_host_lockdown(report->host));
	if (!report->pmu) {
		fprintf(cli->out, "PMU: none of the catalog is for this processor\n");
		return EXIT_DONE;
	}
	fprintf(cli->out, "PMU: %s, %s\n", pmu_pmu_name(report->pmu), pmu_pmu_title(report->pmu));
	if (*report->problem) {
		if (is_answer(report))
			text_print(cli->out, "registers: %s\n", report->problem);
		else
			fputs("registers: cannot be read\n", cli->out);
		return EXIT_DONE;
	}
	fprintf(cli->out, "registers: through %s\n", pmu_bus_transport(report->bus));
	print_buses(cli, report);
	fputc('\n', cli->out);
	return print_boxes(cli, report);
}

/* Where there are no boxes, the heading alone; why is no part of CSV. */
static int print_csv(const struct cli *cli, const struct report *report)
{
	if ((*report->problem || !report->session) && is_answer(report))
		cli_error(cli, 0, "%s",
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
	error = pmu_bus_capture(report->bus, cli->ctx, folder);
	return error ? cli_fail(cli, error) : EXIT_DONE;
}

static int conclude(const struct cli *cli, const struct report *report, int code)
{
	if (code || is_answer(report))
		return code;
	return cli_error(cli, EXIT_FAILED, "the registers cannot be read: %s", report->problem);
}

int machines_host(const struct cli *cli, const char *root, const char *folder)
{
	struct report report = {0};
	int code, error = pmu_host_new(&report.host, cli->ctx, root);

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
	pmu_host_free(report.host);
	return code;
}
