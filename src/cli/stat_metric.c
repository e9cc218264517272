#include "cli/stat_metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The length of the NAME[UNIT]= before an equation; 0: it is a name alone. */
static size_t title_length(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_");

	if (length && text[length] == '[')
		length += strcspn(text + length, "]") + 1;
	return length && strlen(text) > length && text[length] == '=' ? length + 1 : 0;
}

/* @return 0, PMU_E_NOMEM or an error of pmu_formula_parse() */
static int read_equation(const struct cli *cli, const struct stat_run *run,
			 struct stat_metric *metric, const char *text)
{
	const char *equation = text + title_length(text);
	size_t name = strcspn(text, "[=");

	metric->name = strndup(text, name);
	metric->unit = text[name] == '['
			   ? strndup(text + name + 1, (size_t)(equation - text) - name - 3)
			   : strdup("");
	if (!metric->name || !metric->unit)
		return PMU_E_NOMEM;
	return pmu_formula_parse(&metric->formula, cli->ctx, run->pmu, equation);
}

static const struct pmu_box *box_of(const struct pmu_pmu *pmu, const struct pmu_metric *metric)
{
	for (size_t i = 0; i < pmu_pmu_boxes(pmu); i++)
		if (pmu_find_metric(pmu_pmu_box(pmu, i), pmu_metric_name(metric)) == metric)
			return pmu_pmu_box(pmu, i);
	return NULL;
}

static bool has_namesake(const struct pmu_pmu *pmu, const struct pmu_metric *metric)
{
	size_t boxes = 0;

	for (size_t i = 0; i < pmu_pmu_boxes(pmu); i++)
		boxes += pmu_find_metric(pmu_pmu_box(pmu, i), pmu_metric_name(metric)) != NULL;
	return boxes > 1;
}

static int read_name(const struct cli *cli, const struct stat_run *run, struct stat_metric *metric,
		     const char *name)
{
	unsigned sockets = run->options.raw ? 1 : pmu_bus_sockets(run->bus);
	int error = pmu_formula_new_for(&metric->formula, cli->ctx, run->pmu, name, sockets);
	const struct pmu_metric *found;
	const char *dot = strchr(name, '.');

	if (error)
		return error;
	found = pmu_formula_metric(metric->formula);
	metric->box = box_of(run->pmu, found);
	/* As the user wrote it: a number may stand for a variable of the catalog's name. */
	metric->name = strdup(dot && !has_namesake(run->pmu, found) ? dot + 1 : name);
	metric->unit = strdup(pmu_metric_unit(found));
	return metric->name && metric->unit ? 0 : PMU_E_NOMEM;
}

static struct stat_metric *new_metric(struct stat_run *run)
{
	struct stat_metric *metrics =
	    realloc(run->metrics, (run->metric_count + 1) * sizeof(*run->metrics));

	if (!metrics)
		return NULL;
	run->metrics = metrics;
	metrics[run->metric_count] = (struct stat_metric){0};
	return &metrics[run->metric_count++];
}

static int add_events(const struct cli *cli, struct stat_run *run, struct stat_metric *metric)
{
	const struct pmu_selection *selections;
	size_t count = pmu_formula_selections(metric->formula, &selections);

	metric->events = calloc(count ? count : 1, sizeof(*metric->events));
	if (!metric->events)
		return PMU_E_NOMEM;
	for (size_t i = 0; i < count; i++) {
		int event = pmu_session_add(run->session, cli->ctx, &selections[i]);

		if (event < 0)
			return event;
		metric->events[i] = (unsigned)event;
	}
	/* Together where that is possible: an event may repeat what another one sees. */
	if ((run->emul || stat_divides(run)) && count > 1)
		pmu_session_group(run->session, NULL, metric->events, count);
	return 0;
}

struct adding {
	const struct cli *cli;
	struct stat_run *run;
};

static int add_named(void *arg, const char *name)
{
	const struct adding *adding = arg;
	struct stat_metric *metric = new_metric(adding->run);
	int error = PMU_E_NOMEM;

	if (metric)
		error = read_name(adding->cli, adding->run, metric, name);
	return error ? error : add_events(adding->cli, adding->run, metric);
}

static int add_equation(const struct cli *cli, struct stat_run *run, const char *text)
{
	struct stat_metric *metric = new_metric(run);
	int error = PMU_E_NOMEM;

	if (metric)
		error = read_equation(cli, run, metric, text);
	return error ? error : add_events(cli, run, metric);
}

int stat_metric_add(const struct cli *cli, struct stat_run *run, const char *text)
{
	struct adding adding = {cli, run};
	int error = title_length(text)
			? add_equation(cli, run, text)
			: pmu_metric_expand(cli->ctx, run->pmu, text, add_named, &adding);

	if (error == PMU_E_NOMEM)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	if (!error)
		return 0;
	cli_fail(cli, error);
	if (error == PMU_E_UNKNOWN && !title_length(text))
		cli_error(cli, 0, "pmulab list metrics --pmu %s lists them",
			  pmu_pmu_name(run->pmu));
	return EXIT_USAGE;
}

void stat_metric_fini(struct stat_metric *metric)
{
	pmu_formula_free(metric->formula);
	free(metric->events);
	free(metric->name);
	free(metric->unit);
}

/* Of a machine's description. */
static const char *const clock_keys[] = {
    [PMU_CLOCK_UCLK] = "uclk_mhz", [PMU_CLOCK_DCLK] = "dclk_mhz",   [PMU_CLOCK_CORE] = "core_mhz",
    [PMU_CLOCK_PCLK] = "pclk_mhz", [PMU_CLOCK_QFCLK] = "qfclk_mhz",
};

/* Counts are summed over all instances, and so are the cycles that they are held against. */
static struct pmu_terms terms_of(const struct stat_run *run, size_t instances)
{
	struct pmu_terms terms = {
	    .size = sizeof(terms),
	    .seconds = stat_counted_seconds(run),
	    .tsc_mhz = NAN,
	    .instances = (double)instances,
	    .core_cycles = NAN,
	    .instructions = NAN,
	};

	for (int clock = 0; clock < PMU_CLOCK_COUNT; clock++)
		terms.clock_mhz[clock] =
		    run->machine ? cli_machine_number(run->machine, clock_keys[clock]) : NAN;
	/* Of some cores alone they are not known. */
	if (!run->machine || run->options.cpu_list)
		return terms;
	terms.tsc_mhz = terms.clock_mhz[PMU_CLOCK_CORE];
	terms.core_cycles = (double)(run->statistics.cycles - run->before_counting.cycles);
	terms.instructions =
	    (double)(run->statistics.instructions - run->before_counting.instructions);
	return terms;
}

static double count_of(const struct stat_run *run, const struct stat_metric *metric, size_t which)
{
	const struct pmu_selection *selections;
	const unsigned event = metric->events[which];

	pmu_formula_selections(metric->formula, &selections);
	if (stat_is_absent(run, &selections[which]) || !stat_instances(run, event))
		return NAN;
	return (double)stat_sum(run, event, -1);
}

double stat_metric_value(const struct stat_run *run, const struct stat_metric *metric)
{
	const struct pmu_selection *selections;
	size_t count = pmu_formula_selections(metric->formula, &selections);
	double *counts = calloc(count ? count : 1, sizeof(*counts)), value;
	struct pmu_terms terms = terms_of(run, count ? stat_instances(run, metric->events[0]) : 0);

	if (!counts)
		return NAN;
	for (size_t i = 0; i < count; i++)
		counts[i] = count_of(run, metric, i);
	value = pmu_formula_evaluate(metric->formula, counts, &terms);
	free(counts);
	return value;
}

const char *stat_metric_show(const struct stat_run *run, const struct stat_metric *metric,
			     double *value)
{
	const double seconds = stat_counted_seconds(run);

	/* What is a rate by its unit, or how long something takes. */
	if (run->options.raw || !pmu_formula_metric(metric->formula) || !(seconds > 0))
		return metric->unit;
	if (!strcmp(metric->unit, "bytes") || !strcmp(metric->unit, "MB")) {
		*value *= (*metric->unit == 'M' ? 1e-3 : 1e-9) / seconds;
		return "GB/s";
	}
	if (!strcmp(metric->unit, "uncore cycles") && run->machine) {
		*value *= 1e3 / cli_machine_number(run->machine, "uclk_mhz");
		return "ns";
	}
	return metric->unit;
}

/* Whether it has a value with these terms, if all counts are known. */
static bool has_value(const struct stat_metric *metric, const struct pmu_terms *terms)
{
	const struct pmu_selection *selections;
	size_t count = pmu_formula_selections(metric->formula, &selections);
	double *counts = calloc(count ? count : 1, sizeof(*counts)), value = NAN;

	/* Different ones, so that no difference is 0. */
	for (size_t i = 0; counts && i < count; i++)
		counts[i] = (double)(1u << i % 30) + 0.1 * (double)i;
	if (counts)
		value = pmu_formula_evaluate(metric->formula, counts, terms);
	free(counts);
	return !isnan(value);
}

/* An equation that has no value with any terms divides by 0. */
static bool needs_terms(const struct stat_run *run, const struct stat_metric *metric)
{
	const struct pmu_terms terms = terms_of(run, 1);
	struct pmu_terms any = {
	    .size = sizeof(any),
	    .seconds = 3,
	    .tsc_mhz = 5,
	    .instances = 1,
	    .core_cycles = 7,
	    .instructions = 11,
	};

	for (int clock = 0; clock < PMU_CLOCK_COUNT; clock++)
		any.clock_mhz[clock] = 13 + 2 * clock;
	return !has_value(metric, &terms) && has_value(metric, &any);
}

void stat_metric_why(const struct stat_run *run, const struct stat_metric *metric,
		     char text[STAT_WHY_MAX])
{
	const char *missing = pmu_formula_missing(metric->formula);
	const struct pmu_selection *selections;
	size_t count = pmu_formula_selections(metric->formula, &selections);

	*text = '\0';
	if (*missing) {
		snprintf(text, STAT_WHY_MAX, "the manual does not define %s", missing);
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (stat_is_absent(run, &selections[i])) {
			char event[PMU_EVENT_TEXT_MAX];

			pmu_event_print(&selections[i], event, sizeof(event));
			snprintf(text, STAT_WHY_MAX, "not modelled: %s", event);
			return;
		}
	if (!isnan(stat_metric_value(run, metric)))
		return;
	snprintf(text, STAT_WHY_MAX, "%s",
		 needs_terms(run, metric) ? "needs what is not known here" : "divides by 0");
}
