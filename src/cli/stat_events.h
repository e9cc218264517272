/* What a run under `stat` counts: events, groups of events, metrics. */
#ifndef CLI_STAT_EVENTS_H
#define CLI_STAT_EVENTS_H

#include "cli/report.h"

/* The arguments of one option, each a list; in the order given. */
struct stat_words {
	char **words;
	size_t count;
};

struct stat_wanted {
	struct stat_words events, metrics, groups;
};

/** Makes room for as many words as there are arguments. @return 0 or the exit code, said */
int stat_wanted_init(const struct cli *cli, struct stat_wanted *wanted, int argc);
void stat_wanted_fini(struct stat_wanted *wanted);

/** The first list of events; NULL: none is given. */
const char *stat_first_events(const struct stat_wanted *wanted);

typedef int stat_item(const struct cli *cli, struct stat_run *run, const char *item);

/** Calls @each for every item. @return 0 or the first code that is not; an empty list is an error
 */
int stat_each_of_list(const struct cli *cli, struct stat_run *run, const char *list,
		      stat_item *each);
/** The same of several lists. */
int stat_each_word(const struct cli *cli, struct stat_run *run, const struct stat_words *words,
		   stat_item *each);

/** Adds all that is wanted to the session, or what the machine's description names where nothing
 * is. @return 0 or the exit code, said */
int stat_add(const struct cli *cli, struct stat_run *run, const struct stat_wanted *wanted);
void stat_events_fini(struct stat_run *run);

/** Prints which PMU and counter each event was given, and which events exclude each other. */
int stat_print_assignment(const struct cli *cli, const struct stat_run *run);

/** Says of the events that have no count that they have none. */
void stat_warn_absent(const struct cli *cli, const struct stat_run *run);

#endif
