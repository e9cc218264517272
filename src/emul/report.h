/* Memory in which emulators tell the command that started the first of them what became of it. */
#ifndef EMUL_REPORT_H
#define EMUL_REPORT_H

#include <stdint.h>

#define EMUL_NATIVES_MAX 64 /* others are counted only */

/* A program that a guest has executed and that runs on the computer, outside the machine. */
struct emul_native {
	uint32_t times;
	uint32_t named; /* 1: what follows is complete */
	char path[256]; /* its end, where it is longer */
	char why[64];
};

#define EMUL_FOLDER_BYTES 208

enum emul_files_state {
	EMUL_FILES_NONE,
	EMUL_FILES_MADE,
	EMUL_FILES_FAILED,
};

/* The folder of a machine's files (files.h): made when the first guest asks for it. */
struct emul_report_files {
	uint32_t state;	 /* enum emul_files_state; a futex */
	int32_t errnum;	 /* why it failed */
	char asking[48]; /* path of a pipe, by which to ask; empty: nobody makes it */
	char folder[EMUL_FOLDER_BYTES]; /* its path, once it is made */
};

struct emul_report {
	char began;		/* 1: a guest has executed its first instruction */
	char refusal[512];	/* why it never will; empty: the plugin knows nothing */
	uint32_t hints_ignored; /* 1: code with prefetches or flushes, which the emulator does not
				   tell */
	uint32_t native_count;
	uint32_t more; /* programs for which there was no room */
	struct emul_native natives[EMUL_NATIVES_MAX];
	struct emul_report_files files;
};

/**
 * A guest is about to execute a program natively.
 * @param report  NULL: nobody asks
 * @return where it is counted, to be taken back by emul_native_failed(); NULL: nowhere
 */
uint32_t *emul_report_native(struct emul_report *report, const char *path, const char *why);
/** It could not be executed. NULL is allowed. */
void emul_native_failed(uint32_t *counted);

/** The folder of files is there, or @errnum says why not: tells who waits. */
void emul_report_made(struct emul_report *report, int errnum);
/**
 * The folder of the machine's files, whose making is waited for.
 * @param report  NULL: nobody makes it
 * @return NULL where there is none: *errnum is why, or 0 where nobody makes it
 */
const char *emul_report_folder(struct emul_report *report, int *errnum);
/** The same, where it is there already; else NULL. */
const char *emul_report_made_folder(const struct emul_report *report);

#endif
