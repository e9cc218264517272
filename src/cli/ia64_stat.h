/* Counts events of an emulated core while pmulab-ia64 runs a program. */
#ifndef CLI_IA64_STAT_H
#define CLI_IA64_STAT_H

struct ia64_stat;
struct ia64_observer;

/**
 * Counts what the expressions in `events` name, divided by commas; prints it to standard error when
 * the process ends.
 * @return 0; else an exit status, after a message
 */
int ia64_stat_new(struct ia64_stat **stat, const char *events);

/** NULL is allowed. */
void ia64_stat_free(struct ia64_stat *stat);

/** What to give ia64_process_new(). */
const struct ia64_observer *ia64_stat_observer(const struct ia64_stat *stat);

#endif
