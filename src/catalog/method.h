/* The table of methods of analysis, made from catalog/PMU/methods. */
#ifndef CATALOG_METHOD_H
#define CATALOG_METHOD_H

#include <stddef.h>

struct pmu_method {
	const char *pmu, *name, *title, *text;
};

extern const struct pmu_method method_table[];
extern const size_t method_table_count;

#endif
