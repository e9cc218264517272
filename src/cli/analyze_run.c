#include <math.h>
#include <stdlib.h>

#include "cli/analyze.h"
#include "cli/program.h"

#define CLOCKS                                                                                     \
	{                                                                                          \
		[PMU_CLOCK_UCLK] = "uclk_mhz", [PMU_CLOCK_DCLK] = "dclk_mhz",                      \
		[PMU_CLOCK_CORE] = "core_mhz", [PMU_CLOCK_PCLK] = "pclk_mhz",                      \
		[PMU_CLOCK_QFCLK] = "qfclk_mhz"                                                    \
	}

/* What a formula needs, and the session's event that counts it. */
struct added {
	const struct pmu_selection *selection;
	unsigned event;
};

/* A machine with a session. */
struct measuring {
	struct added *added;
	size_t added_count;
	struct pmu_emul *emul;
	struct pmu_bus *bus;
	struct pmu_session *session;
	struct pmu_program *program;
};

/* As many PMUs as it takes count the same run. */
static int begin(const struct analyze *a, struct measuring *m)
{
	int error = pmu_emul_new(&m->emul, a->cli->ctx, a->machine);

	if (!error)
		error = pmu_emul_bus(&m->bus, a->cli->ctx, m->emul);
	if (!error)
		error = pmu_session_new(&m->session, a->cli->ctx, m->bus);
	if (!error)
		pmu_session_spread(m->session);
	return error;
}

static void end(struct measuring *m)
{
	pmu_program_free(m->program);
	pmu_session_free(m->session);
	pmu_bus_free(m->bus);
	pmu_emul_free(m->emul);
	free(m->added);
	*m = (struct measuring){0};
}

/* @return 0 or the exit code, said */
static int add_formula(const struct analyze *a, struct measuring *m,
		       const struct pmu_formula *formula)
{
	const struct pmu_selection *selections;
	size_t count = pmu_formula_selections(formula, &selections);
	struct added *added = reallocarray(m->added, m->added_count + count + 1, sizeof(*added));

	if (!added)
		return cli_error(a->cli, EXIT_FAILED, "out of memory");
	m->added = added;
	for (size_t i = 0; i < count; i++) {
		int index = pmu_session_add(m->session, a->cli->ctx, &selections[i]);

		if (index < 0)
			return cli_fail(a->cli, index);
		added[m->added_count++] = (struct added){&selections[i], (unsigned)index};
	}
	return 0;
}

int analyze_prepare(struct analyze *a)
{
	size_t count = pmu_analysis_nodes(a->analysis);

	a->lines = calloc(count, sizeof(*a->lines));
	if (!a->lines)
		return cli_error(a->cli, EXIT_FAILED, "out of memory");
	a->line_count = count;
	for (size_t i = 0; i < count; i++) {
		const struct pmu_analysis_node *node = pmu_analysis_node(a->analysis, i);

		a->lines[i] = (struct analyze_line){.node = node, .value = NAN};
		if (node->parent != PMU_ANALYSIS_ROOT)
			a->lines[node->parent].has_parts = true;
	}
	return 0;
}

struct counted {
	const struct measuring *measuring;
	const struct pmu_count *counts;
	size_t count;
	struct pmu_terms terms;
};

/* Of all cores and sockets; NAN where the machine does not model it. */
static double sum_of(const struct counted *c, const struct pmu_selection *selection)
{
	const struct measuring *m = c->measuring;
	bool any = false;
	double sum = 0;
	size_t which = 0;

	while (m->added[which].selection != selection)
		which++;
	for (size_t i = 0; i < c->count; i++) {
		if (c->counts[i].event != m->added[which].event)
			continue;
		if (!c->counts[i].valid)
			return NAN;
		sum += (double)c->counts[i].count;
		any = true;
	}
	return any ? sum : NAN;
}

static double evaluate(const struct counted *c, const struct pmu_formula *formula)
{
	const struct pmu_selection *selections;
	size_t count = pmu_formula_selections(formula, &selections);
	double *values = calloc(count + 1, sizeof(*values)), value;

	if (!values)
		return NAN;
	for (size_t i = 0; i < count; i++)
		values[i] = sum_of(c, &selections[i]);
	value = pmu_formula_evaluate(formula, values, &c->terms);
	free(values);
	return value;
}

/* What parts leave of the line that they are of. */
static void find_rests(struct analyze *a)
{
	for (size_t i = 0; i < a->line_count; i++)
		a->lines[i].rest = a->lines[i].value;
	for (size_t i = 0; i < a->line_count; i++)
		if (a->lines[i].node->parent != PMU_ANALYSIS_ROOT && !isnan(a->lines[i].value))
			a->lines[a->lines[i].node->parent].rest -= a->lines[i].value;
}

static int read_values(struct analyze *a, struct measuring *m)
{
	static const char *const clocks[] = CLOCKS;
	struct counted c = {.measuring = m,
			    .terms = {.size = sizeof(c.terms),
				      .seconds = a->seconds,
				      .tsc_mhz = NAN,
				      .instances = NAN,
				      .core_cycles = NAN,
				      .instructions = NAN}};
	int error = pmu_session_stop(m->session, a->cli->ctx);

	for (int clock = 0; clock < PMU_CLOCK_COUNT; clock++)
		c.terms.clock_mhz[clock] = cli_machine_number(a->machine, clocks[clock]);
	if (!error)
		error = pmu_session_read(m->session, a->cli->ctx, &c.counts, &c.count);
	if (error)
		return cli_fail(a->cli, error);
	for (size_t i = 0; i < a->line_count; i++)
		a->lines[i].value = evaluate(&c, a->lines[i].node->formula);
	find_rests(a);
	return 0;
}

static int measure(struct analyze *a, struct measuring *m, char **argv)
{
	static const struct pmu_program_options options;
	struct pmu_program_result result = {.size = sizeof(result)};
	int code = program_find(a->cli, &m->program, argv, a->machine, &options);
	int error;
	double start;

	if (code)
		return code;
	error = pmu_session_start(m->session, a->cli->ctx);
	if (error)
		return cli_fail(a->cli, error);
	start = pmu_emul_time_ns(m->emul);
	error = pmu_program_run(m->program, a->cli->ctx, m->emul, &result);
	code = program_said(a->cli, error, &result, argv);
	if (code)
		return code;
	a->exit = result.exit;
	a->seconds = (pmu_emul_time_ns(m->emul) - start) * 1e-9;
	return read_values(a, m);
}

int analyze_run(struct analyze *a, char **argv)
{
	struct measuring m = {0};
	int error = begin(a, &m), code = error ? cli_fail(a->cli, error) : 0;

	for (size_t i = 0; i < a->line_count && !code; i++)
		code = add_formula(a, &m, a->lines[i].node->formula);
	if (!code)
		code = measure(a, &m, argv);
	end(&m);
	return code;
}
