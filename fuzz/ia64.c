/* Fuzz target: any bytes as IA-64 code. The first eight choose the registers. */
#include "random_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fixture *fixture;
	const char *wrong;
	uint64_t seed;

	if (size < sizeof(seed))
		return 0;
	if (!fixture)
		fixture = random_code_fixture();
	memcpy(&seed, data, sizeof(seed));
	wrong = random_code_run(fixture, data + sizeof(seed), size - sizeof(seed), seed);
	if (wrong) {
		fprintf(stderr, "%s\n", wrong);
		abort();
	}
	return 0;
}
