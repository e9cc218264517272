/* The manual's notation for equations (334291-001 §1.7), while it is read. */
#ifndef METRIC_EQUATION_H
#define METRIC_EQUATION_H

#include "metric/formula.h"
#include "metric/reader.h"

struct equation {
	struct formula_builder *builder;
	const struct pmu_box *box;
	struct reader reader;
};

/** Adds ":field=value" to a counted term's event expression. @return 0 or PMU_E_SYNTAX */
int equation_set(struct equation *equation, struct formula_leaf *leaf, const char *field,
		 const char *value);

/**
 * with.c: reads what follows `with:` and sets it in all counted terms from @first_leaf on that can
 * use it. @return 0, PMU_E_SYNTAX, PMU_E_UNKNOWN
 */
int equation_with(struct equation *equation, size_t first_leaf);

#endif
