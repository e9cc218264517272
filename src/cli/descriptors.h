/* Descriptors that this process was started with: those of the standard files, and any others. */
#ifndef CLI_DESCRIPTORS_H
#define CLI_DESCRIPTORS_H

#include <stddef.h>

struct descriptors {
	int *numbers; /* above 2, open when the process began */
	size_t count;
};

/**
 * Opens what is closed of 0, 1 and 2, so that no register's file gets such a number and is written
 * to as standard error. To be called before anything else is opened. Writing to the two that are
 * opened here fails, as it did before.
 * @return 0, or -1 where that is not possible
 */
int descriptors_fill(void);

/** Notes what else is open. @return 0, or -1 */
int descriptors_note(struct descriptors *inherited);
void descriptors_release(struct descriptors *inherited);

/** Has exec() close all that are open now but 0, 1, 2 and the @inherited ones. */
void descriptors_close_on_exec(const struct descriptors *inherited);

#endif
