/*
 * A machine's description as one piece of memory without pointers, for processes that share it:
 * struct pmu_machine with offsets in place of pointers, then what they point to.
 */
#ifndef CATALOG_MACHINE_IMAGE_H
#define CATALOG_MACHINE_IMAGE_H

#include <stddef.h>

#include "catalog/description.h"

/** Bytes of the image of @desc, a machine of x86 cores. */
size_t machine_image_size(const struct pmu_machine *desc);

/** Writes machine_image_size() bytes to @image, which is aligned to 8. */
void machine_image_write(const struct pmu_machine *desc, void *image);

/**
 * Makes a description of a copy of an image. Nothing in the image is taken on trust but what
 * machine_check() looks at.
 * @param size  bytes of the image, or more
 * @return 0, PMU_E_NOMEM, or PMU_E_UNSUPPORTED where an offset leads outside; free() *desc
 */
int machine_image_read(struct pmu_machine **desc, struct pmu_ctx *ctx, const void *image,
		       size_t size);

#endif
