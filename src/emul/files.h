/*
 * The files of a machine that its programs find in the place of the computer's: a folder, made when
 * a program first asks for one of them, and removed with the last run, however that ends.
 *
 * The names lie in memory (/dev/shm), else in TMPDIR or /tmp. A process of its own, the keeper,
 * waits for the end of who made it, and removes it. Where that was killed too, the next folder that
 * is made removes it.
 */
#ifndef EMUL_FILES_H
#define EMUL_FILES_H

#include <sys/types.h>

#include "catalog/description.h"
#include "emul/report.h"

struct emul_files {
	const struct pmu_machine *machine;
	struct emul_report *report; /* by which programs ask, and are told */
	int asked, asking;	    /* a pipe: where it is asked, and its end for others; -1 */
	int lifeline;		    /* whose end the keeper waits for; -1: there is no keeper */
	int lock;		    /* the folder, locked as long as somebody is to remove it; -1 */
	pid_t keeper;
	char folder[EMUL_FOLDER_BYTES];
};

/** Tells the report how to ask. Without a pipe programs do not find the files. */
void emul_files_init(struct emul_files *files, const struct pmu_machine *machine,
		     struct emul_report *report);
/** A program asks (files->asked can be read): makes the folder, and tells it or what failed. */
void emul_files_make(struct emul_files *files);
/** Removes the folder. */
void emul_files_fini(struct emul_files *files);

#endif
