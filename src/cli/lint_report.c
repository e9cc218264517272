#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lint.h"
#include "cli/text.h"

void lint_init(struct lint *lint, const struct pmu_machine *machine)
{
	*lint = (struct lint){.machine = machine};
	pthread_mutex_init(&lint->lock, NULL);
}

void lint_fini(struct lint *lint)
{
	pthread_mutex_destroy(&lint->lock);
	free(lint->findings);
}

static bool same(const struct lint_finding *a, const struct lint_finding *b)
{
	return a->rule == b->rule && a->socket == b->socket && a->instance == b->instance &&
	       a->box == b->box && !strcmp(a->reg, b->reg);
}

static void note(struct lint *lint, const struct lint_finding *finding)
{
	pthread_mutex_lock(&lint->lock);
	for (size_t i = 0; i < lint->count; i++)
		if (same(&lint->findings[i], finding)) {
			lint->findings[i].times++;
			goto noted;
		}
	if (lint->count == lint->capacity) {
		size_t capacity = lint->capacity ? 2 * lint->capacity : 64;
		void *grown = reallocarray(lint->findings, capacity, sizeof(*lint->findings));

		if (!grown) {
			lint->incomplete = true;
			goto noted;
		}
		lint->findings = grown;
		lint->capacity = capacity;
	}
	lint->findings[lint->count] = *finding;
	lint->findings[lint->count++].times = 1;
noted:
	pthread_mutex_unlock(&lint->lock);
}

void lint_violated(void *arg, const struct pmu_violation *violation)
{
	struct lint *lint = arg;
	struct lint_finding finding = {
	    .box = violation->box ? pmu_box_name(violation->box) : NULL,
	    .rule = violation->rule,
	    .source = violation->source,
	    .socket = violation->socket,
	    .instance = violation->instance,
	    .value = violation->value,
	};

	snprintf(finding.reg, sizeof(finding.reg), "%s", violation->reg);
	note(lint, &finding);
}

/* Writes to what is not there. */
void lint_accessed(void *arg, const struct pmu_access_op *access, bool write, int error)
{
	struct lint_finding finding = {
	    .rule = access->space == PMU_SPACE_MSR ? "there is no such register: the write faults"
						   : "there is no such register",
	    .source = "",
	    .socket = access->socket,
	    .value = access->value,
	};

	/* What is there and refuses was reported by its rule. */
	if (!write || error != PMU_E_UNKNOWN)
		return;
	if (access->space == PMU_SPACE_MSR)
		snprintf(finding.reg, sizeof(finding.reg), "MSR 0x%" PRIX32, access->address);
	else if (access->space == PMU_SPACE_PCI)
		snprintf(finding.reg, sizeof(finding.reg), "PCI %02x.%x 0x%03x",
			 access->address >> 15, access->address >> 12 & 7, access->address & 0xFFF);
	else
		snprintf(finding.reg, sizeof(finding.reg), "%s 0x%" PRIX32,
			 pmu_space_name(access->space), access->address);
	note(arg, &finding);
}

static uint64_t all_times(const struct lint *lint)
{
	uint64_t times = 0;

	for (size_t i = 0; i < lint->count; i++)
		times += lint->findings[i].times;
	return times;
}

static json_t *finding_json(const struct lint_finding *finding)
{
	char value[24];
	json_t *json;

	snprintf(value, sizeof(value), "0x%" PRIX64, finding->value);
	json = json_pack("{s:s, s:i, s:s, s:s, s:s, s:o}", "register", finding->reg, "socket",
			 (int)finding->socket, "value", value, "rule", finding->rule, "source",
			 finding->source, "times", cli_json_number(finding->times));
	if (finding->box) {
		json_object_set_new(json, "box", json_string(finding->box));
		json_object_set_new(json, "instance", json_integer(finding->instance));
	}
	return json;
}

static int report_json(const struct cli *cli, const struct lint *lint, char **tool, int tool_exit)
{
	json_t *report, *findings = json_array();

	for (size_t i = 0; i < lint->count; i++)
		json_array_append_new(findings, finding_json(&lint->findings[i]));
	report = json_pack("{s:s, s:i, s:o, s:o, s:b}", "machine", pmu_machine_name(lint->machine),
			   "exit", tool_exit, "findings", findings, "times",
			   cli_json_number(all_times(lint)), "complete", !lint->incomplete);
	return cli_print_json(cli, text_json_set(report, "tool", tool));
}

static int print_findings(const struct cli *cli, const struct lint *lint)
{
	struct table *table = table_new("rlllrll");

	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	for (const char *const *heading =
		 (const char *const[]){"TIMES", "SOCKET", "BOX", "REGISTER", "VALUE", "RULE",
				       "SOURCE", NULL};
	     *heading; heading++)
		table_cell(table, "%s", *heading);
	for (size_t i = 0; i < lint->count; i++) {
		const struct lint_finding *finding = &lint->findings[i];

		table_number(table, finding->times);
		table_cell(table, "%u", finding->socket);
		if (finding->box)
			table_cell(table, "%s%u", finding->box, finding->instance);
		else
			table_cell(table, "-");
		table_cell(table, "%s", finding->reg);
		table_cell(table, "0x%" PRIX64, finding->value);
		table_cell(table, "%s", finding->rule);
		table_cell(table, "%s", finding->source);
	}
	return cli_print_table(cli, table);
}

int lint_report(const struct cli *cli, const struct lint *lint, char **tool, int tool_exit)
{
	int code = EXIT_DONE;

	if (cli->format == CLI_JSON)
		return report_json(cli, lint, tool, tool_exit);
	if (lint->count || cli->format == CLI_CSV)
		code = print_findings(cli, lint);
	if (cli->format == CLI_CSV)
		return code;
	text_print(cli->out, "%s%s on %s, exit code %d: ", lint->count ? "\n" : "", tool[0],
		   pmu_machine_name(lint->machine), tool_exit);
	if (lint->count)
		fprintf(cli->out, "%zu finding%s, %" PRIu64 " time%s%s\n", lint->count,
			lint->count == 1 ? "" : "s", all_times(lint),
			all_times(lint) == 1 ? "" : "s",
			lint->incomplete ? ", and more than memory holds" : "");
	else
		fputs("broke no rule\n", cli->out);
	return code;
}
