#include "pmulab/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/name.h"
#include "catalog/entries.h"
#include "catalog/method.h"

#define DEPTH_MAX 16

struct pmu_analysis {
	const struct pmu_pmu *pmu;
	struct pmu_analysis_node *nodes;
	size_t count;
	/* While it is read: the last line of each depth. */
	size_t last[DEPTH_MAX];
	unsigned depth, line;
};

const struct pmu_method *pmu_pmu_method(const struct pmu_pmu *pmu, size_t index)
{
	for (size_t i = 0; i < method_table_count; i++)
		if (!strcmp(method_table[i].pmu, pmu->name) && index-- == 0)
			return &method_table[i];
	return NULL;
}

const struct pmu_method *pmu_find_method(const struct pmu_pmu *pmu, const char *name)
{
	const struct pmu_method *method;

	for (size_t i = 0; (method = pmu_pmu_method(pmu, i)); i++)
		if (name_equal(method->name, name))
			return method;
	return NULL;
}

const char *pmu_method_name(const struct pmu_method *method)
{
	return method->name;
}

const char *pmu_method_title(const struct pmu_method *method)
{
	return method->title;
}

const char *pmu_method_text(const struct pmu_method *method)
{
	return method->text;
}

static int no_memory(struct pmu_ctx *ctx)
{
	return error_set(ctx, PMU_E_NOMEM, "out of memory for an analysis");
}

static int wrong(const struct pmu_analysis *a, struct pmu_ctx *ctx, const char *what)
{
	return error_set(ctx, PMU_E_SYNTAX, "line %u: %s", a->line, what);
}

/* The message of an equation gets the line before it. */
static int wrong_equation(const struct pmu_analysis *a, struct pmu_ctx *ctx, int error)
{
	char *message = strdup(pmu_message(ctx));

	if (!message)
		return no_memory(ctx);
	error_set(ctx, error, "line %u: %s", a->line, message);
	free(message);
	return error;
}

static struct pmu_analysis_node *new_node(struct pmu_analysis *a)
{
	struct pmu_analysis_node *nodes = reallocarray(a->nodes, a->count + 1, sizeof(*nodes));

	if (!nodes)
		return NULL;
	a->nodes = nodes;
	nodes[a->count] = (struct pmu_analysis_node){.parent = PMU_ANALYSIS_ROOT};
	return &nodes[a->count++];
}

/* Takes what is before the separator, without blanks around it, out of the line. @return of the
 * heap; NULL: out of memory */
static char *take(const char **line, const char *separators)
{
	const char *begin = *line + strspn(*line, " \t");
	size_t size = strcspn(begin, separators);

	*line = begin + size + (begin[size] != '\0');
	while (size && strchr(" \t", begin[size - 1]))
		size--;
	return strndup(begin, size);
}

static int read_parts(const struct pmu_analysis *a, struct pmu_ctx *ctx, const char *word,
		      enum pmu_parts *parts)
{
	static const char *const words[] = {[PMU_PARTS_NONE] = "",
					    [PMU_PARTS_EXACT] = "exact",
					    [PMU_PARTS_OVERLAP] = "overlap",
					    [PMU_PARTS_ESTIMATE] = "estimate"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i], word)) {
			*parts = (enum pmu_parts)i;
			return 0;
		}
	}
	return wrong(a, ctx, "the second column is exact, overlap, estimate, or empty");
}

static int read_place(struct pmu_analysis *a, struct pmu_ctx *ctx, struct pmu_analysis_node *node,
		      unsigned depth)
{
	if (depth > a->depth || depth == DEPTH_MAX)
		return wrong(a, ctx, "a tab too many: it would be a part of nothing");
	node->depth = depth;
	if (depth) {
		node->parent = a->last[depth - 1];
		if (a->nodes[node->parent].parts == PMU_PARTS_NONE)
			return wrong(a, ctx,
				     "it is a part of a line that does not say what its parts are");
	}
	a->last[depth] = a->count - 1;
	a->depth = depth + 1;
	return 0;
}

static int read_equation(const struct pmu_analysis *a, struct pmu_ctx *ctx,
			 struct pmu_analysis_node *node, const char *equation)
{
	struct pmu_formula *formula;
	int error = pmu_formula_parse(&formula, ctx, a->pmu, equation);

	if (error)
		return wrong_equation(a, ctx, error);
	node->formula = formula;
	return 0;
}

/* A line of the tree. */
static int read_node(struct pmu_analysis *a, struct pmu_ctx *ctx, const char *line)
{
	const unsigned depth = (unsigned)strspn(line, "\t");
	struct pmu_analysis_node *node = new_node(a);
	char *parts = NULL, *equation = NULL;
	int error;

	if (!node)
		return no_memory(ctx);
	error = read_place(a, ctx, node, depth);
	if (error)
		return error;
	node->name = take(&line, "|");
	parts = take(&line, "|");
	equation = take(&line, "|");
	node->desc = take(&line, "|");
	if (!node->name || !node->desc || !parts || !equation)
		error = no_memory(ctx);
	else if (!*equation || !*node->desc)
		error = wrong(a, ctx, "it is not NAME | PARTS | EQUATION | DESCRIPTION");
	if (!error)
		error = read_parts(a, ctx, parts, &node->parts);
	if (!error)
		error = read_equation(a, ctx, node, equation);
	free(parts);
	free(equation);
	return error;
}

/* NAME, or NAME[UNIT]=EQUATION. */
static int read_measure(struct pmu_analysis *a, struct pmu_ctx *ctx, const char *text)
{
	struct pmu_analysis_node *node = new_node(a);
	const char *unit = strchr(text, '['), *end = strstr(text, "]=");
	struct pmu_formula *formula;
	int error;

	if (!node)
		return no_memory(ctx);
	node->measure = true;
	if (unit && end && unit < end) {
		node->name = strndup(text, (size_t)(unit - text));
		node->desc = strndup(unit + 1, (size_t)(end - unit - 1));
		error = node->name && node->desc ? read_equation(a, ctx, node, end + 2)
						 : no_memory(ctx);
		return error;
	}
	error = pmu_formula_new(&formula, ctx, a->pmu, text);
	if (error)
		return wrong_equation(a, ctx, error);
	node->formula = formula;
	node->name = strdup(text);
	node->desc = strdup(pmu_metric_unit(pmu_formula_metric(formula)));
	return node->name && node->desc ? 0 : no_memory(ctx);
}

static int read_measures(struct pmu_analysis *a, struct pmu_ctx *ctx, const char *list)
{
	const char *item;
	size_t length;
	int error = 0;

	while (!error && pmu_event_list_next(&list, &item, &length)) {
		size_t blank = strspn(item, " \t");
		char *text = strndup(item + blank, length > blank ? length - blank : 0);

		error = text ? read_measure(a, ctx, text) : no_memory(ctx);
		free(text);
	}
	return error;
}

static int read_line(struct pmu_analysis *a, struct pmu_ctx *ctx, const char *line)
{
	static const char word[] = "measures ";

	a->line++;
	if (!line[strspn(line, " \t\r")] || *line == '#')
		return 0;
	if (!strncmp(line, word, strlen(word)))
		return read_measures(a, ctx, line + strlen(word));
	return read_node(a, ctx, line);
}

static int read_text(struct pmu_analysis *a, struct pmu_ctx *ctx, const char *text)
{
	int error = 0;

	while (*text && !error) {
		size_t size = strcspn(text, "\n");
		char *line = strndup(text, size);

		error = line ? read_line(a, ctx, line) : no_memory(ctx);
		free(line);
		text += size + (text[size] != '\0');
	}
	if (!error && !a->count)
		error = error_set(ctx, PMU_E_SYNTAX, "the method has no lines");
	return error;
}

int pmu_analysis_new(struct pmu_analysis **out, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		     const char *text)
{
	struct pmu_analysis *a = calloc(1, sizeof(*a));
	int error;

	if (!a)
		return no_memory(ctx);
	a->pmu = pmu;
	error = read_text(a, ctx, text);
	if (error)
		pmu_analysis_free(a);
	else
		*out = a;
	return error;
}

void pmu_analysis_free(struct pmu_analysis *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->count; i++) {
		free((char *)a->nodes[i].name);
		free((char *)a->nodes[i].desc);
		pmu_formula_free((struct pmu_formula *)a->nodes[i].formula);
	}
	free(a->nodes);
	free(a);
}

size_t pmu_analysis_nodes(const struct pmu_analysis *a)
{
	return a->count;
}

const struct pmu_analysis_node *pmu_analysis_node(const struct pmu_analysis *a, size_t index)
{
	return index < a->count ? &a->nodes[index] : NULL;
}
