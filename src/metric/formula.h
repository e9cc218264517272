/*
 * A formula is an equation in reverse Polish order over counts and terms. While it is built, what
 * is counted is kept as the text of an event expression, to which `with:` may still add settings.
 */
#ifndef METRIC_FORMULA_H
#define METRIC_FORMULA_H

#include "catalog/entries.h"
#include "pmulab/metric.h"

#define FORMULA_STEPS_MAX  64
#define FORMULA_LEAVES_MAX 32
#define FORMULA_EVENT_MAX  256		   /* characters of an event expression */
#define FORMULA_NO_CLOCK   PMU_CLOCK_COUNT /* of an equation that is of no box */
#define FORMULA_NEST_MAX   8		   /* metrics of metrics, and parentheses of each */
#define FORMULA_NAMES_MAX  128		   /* bytes of the names that are missing */

enum formula_op {
	FORMULA_NUMBER,
	FORMULA_COUNT,
	FORMULA_TERM,
	FORMULA_MISSING, /* a name that the manual does not define: never known */
	FORMULA_ADD,
	FORMULA_SUBTRACT,
	FORMULA_MULTIPLY,
	FORMULA_DIVIDE,
};

struct formula_step {
	uint8_t op;	/* enum formula_op */
	uint8_t clock;	/* TERM: enum pmu_clock of the box whose metric it is in */
	unsigned index; /* COUNT: leaf, then selection; TERM: as term_find() says */
	double number;
};

struct pmu_formula {
	const struct pmu_metric *metric; /* NULL: an equation of no metric */
	struct formula_step steps[FORMULA_STEPS_MAX];
	size_t step_count;
	struct pmu_selection selections[FORMULA_LEAVES_MAX];
	size_t selection_count;
	char missing[FORMULA_NAMES_MAX]; /* names, comma separated */
};

/* A counted term while the formula is built. */
struct formula_leaf {
	const struct pmu_event *event; /* NULL: a fixed counter */
	const struct pmu_umask *umask; /* NULL: none is named */
	char text[FORMULA_EVENT_MAX];
};

/* The digits that stand for a lower-case variable in names (334291-001 §1.7). */
struct formula_variable {
	char letter; /* 0: there is none */
	char value[8];
};

struct formula_builder {
	struct pmu_ctx *ctx;
	const struct pmu_pmu *pmu;
	struct pmu_formula *formula;
	struct formula_variable variable;
	const char *unresolved; /* of the metric that is read; "" for none */
	struct formula_leaf leaves[FORMULA_LEAVES_MAX];
	size_t leaf_count;
	unsigned depth;
};

/** formula.c: where a metric is found. */
struct formula_found {
	const struct pmu_box *box;
	const struct pmu_metric *metric;
	struct formula_variable variable;
};

/** [box.]NAME; without a box, only one of them may have it. @return 0, PMU_E_UNKNOWN,
 * PMU_E_CONFLICT
 */
int formula_find_metric(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *name,
			struct formula_found *found);

/**
 * equation.c: appends @text, an equation of a metric of @box, to the formula.
 * @param box  NULL: of the user's own; names are those of metrics, terms and event expressions
 */
int equation_parse(struct formula_builder *builder, const struct pmu_box *box, const char *text);

/** Makes a formula of an equation of @box. @return 0, PMU_E_SYNTAX, PMU_E_UNKNOWN */
int formula_from_equation(struct pmu_formula **formula, struct pmu_ctx *ctx,
			  const struct pmu_pmu *pmu, const struct pmu_box *box,
			  const struct formula_variable *variable, const char *equation);

/** variable.c: whether @name[i] stands for digits: a lower-case letter that ends a word. */
bool variable_at(const char *name, size_t i);
bool variable_in(const char *name);
/** Whether @name is @pattern with digits for its variable, which goes into *variable. */
bool variable_match(const char *pattern, const char *name, struct formula_variable *variable);
/** Replaces the variable in @name. @return false where the result is too long */
bool variable_replace(const struct formula_variable *variable, const char *name, char *text,
		      size_t size);

/** terms.c: number of a term of §1.7.1, or -1. */
int term_find(const char *name);
/** @param clock  of the box, enum pmu_clock. @return NAN where it is not known */
double term_value(unsigned term, unsigned clock, const struct pmu_terms *terms);

#endif
