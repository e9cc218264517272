/* Serves a tree of device files as a FUSE file system, with a few threads of this process. */
#ifndef DEVICE_FILES_H
#define DEVICE_FILES_H

#include "device/access.h"
#include "device/pci.h"
#include "sysfs/tree.h"

struct device_files;

/* What the files are and lead to; all outlives the server. */
struct device_contents {
	/* A request cannot be answered, so that who made it would wait for ever. No return. */
	void (*broken)(void);
	const struct device_tree *tree;
	const struct device_access *access;
	const struct pci_functions *functions;
	struct perf *perf;
};

/**
 * Serves requests that come over @fuse, an open /dev/fuse that is mounted; it belongs to the files
 * from now on, also in failure.
 * @return 0, PMU_E_NOMEM or PMU_E_IO
 */
int device_files_new(struct device_files **files, struct pmu_ctx *ctx,
		     const struct device_contents *contents, int fuse);
/** Ends the threads; who still has a file open gets errors. NULL is allowed. */
void device_files_free(struct device_files *files);

#endif
