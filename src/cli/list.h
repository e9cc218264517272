/* What pmulab list shows of the boxes that were chosen. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/cli.h"

#include "pmulab/catalog.h"

/* What the user wants to see. */
struct choice {
	const struct pmu_pmu *pmu;	   /* NULL: all */
	const char *box;		   /* NULL: all */
	const char *text;		   /* NULL: all */
	bool exact;			   /* the text is the whole name */
	const char *umask;		   /* of events, only this unit mask; NULL: all */
	const struct pmu_machine *machine; /* only what it can count; NULL: all */
	enum pmu_tool tool;		   /* whose names list names prints */
};

bool list_chosen(const struct choice *choice, const char *name);
/** Whether a unit mask is listed. @param umask  NULL for an event without named ones */
bool list_chosen_umask(const struct choice *choice, const struct pmu_box *box,
		       const struct pmu_event *event, const struct pmu_umask *umask);

#define LIST_WHY_MAX 512

/** How a unit mask is modelled on a machine. @param machine  NULL: on any. @param why  may be NULL
 */
enum pmu_model list_model(const struct pmu_machine *machine, const struct pmu_box *box,
			  const struct pmu_event *event, const struct pmu_umask *umask,
			  char why[LIST_WHY_MAX]);

/** Prints as JSON all that has a name: PMUs, boxes, events, metrics, registers, records, facts. */
int list_print_named(const struct cli *cli, const struct choice *choice);

/** Rows of one box, into a JSON array or a struct table. */
void list_encodings_json(void *arg, const struct choice *choice, const struct pmu_box *box);
void list_encodings_table(void *arg, const struct choice *choice, const struct pmu_box *box);
void list_settings_json(void *arg, const struct choice *choice, const struct pmu_box *box);
void list_settings_table(void *arg, const struct choice *choice, const struct pmu_box *box);
void list_groups_json(void *arg, const struct choice *choice, const struct pmu_box *box);
void list_groups_table(void *arg, const struct choice *choice, const struct pmu_box *box);
void list_registers_json(void *arg, const struct choice *choice, const struct pmu_box *box);
void list_registers_table(void *arg, const struct choice *choice, const struct pmu_box *box);

/** --as TOOL. @return 0 or EXIT_USAGE, said */
int list_set_tool(const struct cli *cli, struct choice *choice, const char *name);
void list_names_json(void *arg, const struct choice *choice, const struct pmu_box *box);
void list_names_table(void *arg, const struct choice *choice, const struct pmu_box *box);

#define CLI_FACT_COLUMNS 16 /* of a table of facts, at most: the generator sees to it */

/** A table of a manual, for people. */
void list_show_facts(const struct cli *cli, const struct pmu_box *box,
		     const struct pmu_facts *facts);
void list_facts_json(void *arg, const struct choice *choice, const struct pmu_box *box);
void list_facts_table(void *arg, const struct choice *choice, const struct pmu_box *box);

#endif
