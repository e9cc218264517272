#include <math.h>

#include "cli/slices.h"

void slices_add(struct slices *slices, bool counted, uint64_t count, double seconds)
{
	const double value = (double)count;

	slices->all++;
	slices->seconds += seconds;
	if (!counted)
		return;
	slices->counted++;
	slices->counted_seconds += seconds;
	slices->count += value;
	slices->counts2 += value * value;
	slices->cross += value * seconds;
	slices->seconds2 += seconds * seconds;
}

void slices_add_gap(struct slices *slices, double seconds)
{
	slices->seconds += seconds;
	slices->gaps += seconds;
}

double slices_share(const struct slices *slices)
{
	return slices->seconds > 0 ? slices->counted_seconds / slices->seconds : 0;
}

double slices_estimate(const struct slices *slices)
{
	const double share = slices_share(slices);

	return share > 0 ? slices->count / share : NAN;
}

/* Student's t of which 97.5 % lie below; beyond 2 by Cornish and Fisher, to 1 %. */
static double student(unsigned freedom)
{
	static const double z = 1.959963984540054;
	const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, n = freedom;

	if (freedom <= 2)
		return freedom == 1 ? 12.706 : 4.303;
	return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

double slices_bound(const struct slices *slices)
{
	const double n = slices->counted, sliced = slices->seconds - slices->gaps;
	double rate, squares, all;

	if (slices->counted == slices->all && slices->all && slices->gaps <= 0)
		return 0;
	/* As many as the gaps would have held too. */
	all = slices->all * (sliced > 0 ? slices->seconds / sliced : 1);
	if (slices->counted < 2 || slices->counted_seconds <= 0)
		return NAN;
	rate = slices->count / slices->counted_seconds;
	squares = slices->counts2 - 2 * rate * slices->cross + rate * rate * slices->seconds2;
	squares = squares > 0 ? squares / (n - 1) : 0;
	return student(slices->counted - 1) * all * sqrt((1 - n / all) * squares / n);
}
