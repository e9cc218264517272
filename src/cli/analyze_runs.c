#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* A machine with a session, for one run. */
struct measuring {
	struct added *added;
	size_t added_count;
	struct pmu_emul *emul;
	struct pmu_bus *bus;
	struct pmu_session *session;
	struct pmu_program *program;
};

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

static int add_formula(const struct analyze *a, struct measuring *m,
		       const struct pmu_formula *formula)
{
	const struct pmu_selection *selections;
	size_t count = pmu_formula_selections(formula, &selections);
	struct added *added = reallocarray(m->added, m->added_count + count + 1, sizeof(*added));

	if (!added)
		return cli_error(a->cli, PMU_E_NOMEM, "out of memory");
	m->added = added;
	for (size_t i = 0; i < count; i++) {
		int index = pmu_session_add(m->session, a->cli->ctx, &selections[i]);

		if (index < 0)
			return index;
		added[m->added_count++] = (struct added){&selections[i], (unsigned)index};
	}
	return 0;
}

/* Whether a line heads a run's share: it is counted there with its parts. */
static bool is_head(const struct analyze_line *line)
{
	return line->has_parts || line->node->parent == PMU_ANALYSIS_ROOT;
}

/* A line and its parts. */
static int add_family(const struct analyze *a, struct measuring *m, size_t head)
{
	int error = add_formula(a, m, a->lines[head].node->formula);

	for (size_t i = head + 1; i < a->line_count && !error; i++)
		if (a->lines[i].node->parent == head)
			error = add_formula(a, m, a->lines[i].node->formula);
	return error;
}

/* The first line is in each run: it tells whether they are alike. */
static int add_run(const struct analyze *a, struct measuring *m, size_t run)
{
	int error = add_formula(a, m, a->lines[0].node->formula);

	for (size_t i = 0; i < a->line_count && !error; i++)
		if (is_head(&a->lines[i]) && a->lines[i].run == run)
			error = add_family(a, m, i);
	return error;
}

/* Whether one run can count what is planned for it. @return 0, or why not */
static int try_run(const struct analyze *a, size_t run)
{
	struct measuring m = {0};
	int error = begin(a, &m);

	if (!error)
		error = add_run(a, &m, run);
	if (!error)
		error = pmu_session_assign(m.session, a->cli->ctx);
	end(&m);
	return error;
}

int analyze_plan(struct analyze *a)
{
	size_t count = pmu_analysis_nodes(a->analysis);

	a->lines = calloc(count, sizeof(*a->lines));
	if (!a->lines)
		return cli_error(a->cli, EXIT_FAILED, "out of memory");
	a->line_count = count;
	for (size_t i = 0; i < count; i++) {
		const struct pmu_analysis_node *node = pmu_analysis_node(a->analysis, i);

		a->lines[i] = (struct analyze_line){
		    .node = node, .run = SIZE_MAX, .value = NAN, .whole = NAN};
		if (node->parent != PMU_ANALYSIS_ROOT)
			a->lines[node->parent].has_parts = true;
	}
	for (size_t i = 0; i < count; i++) {
		int error = PMU_E_CONFLICT;

		if (!is_head(&a->lines[i]))
			continue;
		for (size_t run = 0; run < a->run_count && error == PMU_E_CONFLICT; run++) {
			a->lines[i].run = run;
			error = try_run(a, run);
		}
		if (error == PMU_E_CONFLICT) {
			a->lines[i].run = a->run_count++;
			error = try_run(a, a->lines[i].run);
		}
		if (error)
			return cli_fail(a->cli, error);
	}
	a->seconds = calloc(a->run_count, sizeof(*a->seconds));
	a->firsts = calloc(a->run_count, sizeof(*a->firsts));
	return a->seconds && a->firsts ? 0 : cli_error(a->cli, EXIT_FAILED, "out of memory");
}

/* -- Values -------------------------------------------------------------------------------------
 */

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

static void evaluate_family(struct analyze *a, const struct counted *c, size_t head)
{
	struct analyze_line *line = &a->lines[head];

	line->whole = evaluate(c, line->node->formula);
	if (line->node->parent == PMU_ANALYSIS_ROOT)
		line->value = line->whole;
	line->rest = line->whole;
	for (size_t i = head + 1; i < a->line_count; i++) {
		if (a->lines[i].node->parent != head)
			continue;
		a->lines[i].value = evaluate(c, a->lines[i].node->formula);
		if (!isnan(a->lines[i].value))
			line->rest -= a->lines[i].value;
	}
}

static int read_values(struct analyze *a, struct measuring *m, size_t run)
{
	static const char *const clocks[] = CLOCKS;
	struct counted c = {.measuring = m,
			    .terms = {.size = sizeof(c.terms),
				      .seconds = a->seconds[run],
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
	a->firsts[run] = evaluate(&c, a->lines[0].node->formula);
	for (size_t i = 0; i < a->line_count; i++)
		if (is_head(&a->lines[i]) && a->lines[i].run == run)
			evaluate_family(a, &c, i);
	return 0;
}

/* -- Runs ---------------------------------------------------------------------------------------
 */

/* What a program reads from a pipe is kept, for the runs after the first. @return 0 or -1 */
static int keep_input(void)
{
	char bytes[65536];
	ssize_t got;
	int file;

	if (isatty(STDIN_FILENO) || lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0)
		return 0;
	if (fcntl(STDIN_FILENO, F_GETFD) < 0)
		return 0;
	file = memfd_create("input", MFD_CLOEXEC);
	if (file < 0)
		return -1;
	while ((got = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
		if (write(file, bytes, (size_t)got) != got)
			break;
	if (!got && !lseek(file, 0, SEEK_SET) && dup2(file, STDIN_FILENO) == STDIN_FILENO)
		got = 0;
	else
		got = -1;
	close(file);
	return (int)got;
}

/* Later runs print nothing: what the program says was said. @return the old output, or -1 */
static int silence(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int before = null < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);

	if (before >= 0)
		dup2(null, STDOUT_FILENO);
	if (null >= 0)
		close(null);
	return before;
}

static int run_program(struct analyze *a, struct measuring *m, size_t run, char **argv)
{
	static const struct pmu_program_options options;
	struct pmu_program_result result = {.size = sizeof(result)};
	int code = program_find(a->cli, &m->program, argv, a->machine, &options);
	int error, before = -1;
	double start;

	if (code)
		return code;
	error = pmu_session_start(m->session, a->cli->ctx);
	if (error)
		return cli_fail(a->cli, error);
	fflush(NULL);
	if (run)
		before = silence();
	start = pmu_emul_time_ns(m->emul);
	error = pmu_program_run(m->program, a->cli->ctx, m->emul, &result);
	if (before >= 0) {
		dup2(before, STDOUT_FILENO);
		close(before);
	}
	code = program_said(a->cli, error, &result, argv);
	if (code)
		return code;
	if (run && result.exit != a->exit)
		return cli_error(a->cli, EXIT_FAILED,
				 "run %zu of %s ended with %d, the first with %d: the program does "
				 "not repeat itself",
				 run + 1, argv[0], result.exit, a->exit);
	a->exit = result.exit;
	a->seconds[run] = (pmu_emul_time_ns(m->emul) - start) * 1e-9;
	return 0;
}

int analyze_run(struct analyze *a, char **argv)
{
	off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	int code = 0;

	if (a->run_count > 1 && keep_input())
		return cli_error(a->cli, EXIT_FAILED, "cannot keep the program's input: %s",
				 strerror(errno));
	for (size_t run = 0; run < a->run_count && !code; run++) {
		struct measuring m = {0};
		int error = begin(a, &m);

		if (!error)
			error = add_run(a, &m, run);
		if (run)
			lseek(STDIN_FILENO, input < 0 ? 0 : input, SEEK_SET);
		code = error ? cli_fail(a->cli, error) : run_program(a, &m, run, argv);
		code = code ? code : read_values(a, &m, run);
		end(&m);
	}
	return code;
}
