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

struct emul_report {
	char began;	   /* 1: a guest has executed its first instruction */
	char refusal[512]; /* why it never will; empty: the plugin knows nothing */
	uint32_t native_count;
	uint32_t more; /* programs for which there was no room */
	struct emul_native natives[EMUL_NATIVES_MAX];
};

/**
 * A guest is about to execute a program natively.
 * @param report  NULL: nobody asks
 * @return where it is counted, to be taken back by emul_native_failed(); NULL: nowhere
 */
uint32_t *emul_report_native(struct emul_report *report, const char *path, const char *why);
/** It could not be executed. NULL is allowed. */
void emul_native_failed(uint32_t *counted);

#endif
