/*
 * Journals in their folder: /run/pmulab, for a user $XDG_RUNTIME_DIR/pmulab, or whatever
 * PMULAB_RUNTIME_DIR names. A journal is locked as long as a process lives that restores by itself:
 * a lock is not mistaken about who lives, as process numbers are, which come again.
 */
#ifndef BUS_JOURNAL_FILES_H
#define BUS_JOURNAL_FILES_H

#include "bus/journal.h"

#define JOURNAL_NAME_MAX 64
/* Behind the name of one that is being written; of one that could not be restored. */
#define JOURNAL_UNFINISHED ".new"
#define JOURNAL_FAILED	   ".failed"

/* A journal that is written. */
struct journal_file {
	int folder, fd; /* -1: there is none; fd holds the lock */
	char name[JOURNAL_NAME_MAX];
};

/**
 * Writes a journal, whole or not at all, and locks it until the last process that has file->fd
 * ends or closes it.
 * @return 0, PMU_E_IO, PMU_E_RIGHTS
 */
int journal_write(struct journal_file *file, struct pmu_ctx *ctx, const struct journal *journal);
/** Removes it: there is nothing left to be restored. */
int journal_remove(struct journal_file *file);
/** Lets it go, for another process that has it, or for a later run. */
void journal_leave(struct journal_file *file);
/** Leaves it to a later run, which is reported that restoring was tried and failed. */
void journal_fail(struct journal_file *file);

/** The folder's name, in words for people. */
const char *journal_folder_name(char path[PATH_MAX]);
/**
 * Opens it, if it can be trusted.
 * @param make  where there is none yet
 * @return a descriptor; PMU_E_UNKNOWN: there is no such folder; PMU_E_IO; PMU_E_RIGHTS
 */
int journal_folder_open(struct pmu_ctx *ctx, bool make);

#endif
