#include "event/umask.h"

static unsigned bits_in(unsigned value)
{
	return (unsigned)__builtin_popcount(value);
}

/* The row that adds most to what is covered of @umask, without setting any other bit. */
static const struct pmu_umask *widest_row(const struct pmu_event *event, unsigned umask,
					  unsigned covered)
{
	const struct pmu_umask *widest = NULL;
	unsigned most = 0;

	for (size_t i = 0; i < event->umask_count; i++) {
		const struct pmu_umask *row = &event->umasks[i];
		unsigned gain = bits_in(row->value & ~covered);

		if (!row->alone && !(row->value & ~umask) && gain > most) {
			widest = row;
			most = gain;
		}
	}
	return widest;
}

size_t umask_rows(const struct pmu_event *event, uint8_t umask,
		  const struct pmu_umask *rows[UMASK_ROWS])
{
	unsigned covered = 0;
	size_t count = 0;

	for (size_t i = 0; i < event->umask_count; i++) {
		if (event->umasks[i].value == umask) {
			rows[0] = &event->umasks[i];
			return 1;
		}
	}
	if (event->combine == PMU_COMBINE_ONE)
		return 0;
	while (covered != umask) {
		const struct pmu_umask *row = widest_row(event, umask, covered);

		if (!row)
			return 0;
		rows[count++] = row;
		covered |= row->value;
	}
	return count;
}
