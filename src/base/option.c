#include "base/option.h"

#include <string.h>

#include "base/error.h"

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

int option_take(struct pmu_ctx *ctx, void *own, size_t own_size, const void *given)
{
	const unsigned char *bytes = given;
	size_t size = own_size;

	if (given)
		memcpy(&size, given, sizeof(size));
	if (size < sizeof(size))
		return error_set(ctx, PMU_E_RANGE, "the first member of options is their size");
	for (size_t i = own_size; i < size; i++)
		if (bytes[i])
			return error_set(ctx, PMU_E_UNSUPPORTED,
					 "an option that libpmulab %s has not is set",
					 pmu_version());
	if (given)
		memcpy(own, given, smaller(size, own_size));
	memcpy(own, &own_size, sizeof(own_size));
	return 0;
}

int option_give(void *given, const void *own, size_t own_size)
{
	size_t size;

	memcpy(&size, given, sizeof(size));
	if (size < sizeof(size))
		return PMU_E_RANGE;
	memset((char *)given + sizeof(size), 0, size - sizeof(size));
	memcpy((char *)given + sizeof(size), (const char *)own + sizeof(size),
	       smaller(size, own_size) - sizeof(size));
	return 0;
}
