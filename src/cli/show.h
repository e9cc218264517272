/* What `show` prints of each kind of thing. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "cli/cli.h"

/* Where a printing function puts its text, and how much it has found. */
struct show {
	const struct cli *cli;
	const char *name;
	const char *umask;		   /* of an event, only this one; NULL: all */
	const struct pmu_machine *machine; /* NULL: any */
	int found;
};

/* Nothing where there is no text. */
void show_line(const struct show *show, const char *label, const char *text);
void show_event(const struct show *show, const struct pmu_box *box, const struct pmu_event *event);
void show_register(const struct show *show, const struct pmu_box *box,
		   const struct pmu_register *reg);
void show_metric(const struct show *show, const struct pmu_box *box,
		 const struct pmu_metric *metric);
void show_record(const struct show *show, const struct pmu_box *box,
		 const struct pmu_hwrec *record);
void show_box(const struct show *show, const struct pmu_box *box);
void show_pmu(const struct show *show, const struct pmu_pmu *pmu);
void show_machine(const struct show *show, const struct pmu_machine *m);

#endif
