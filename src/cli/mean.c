#include "cli/mean.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

/* Welford's: no difference of large sums. */
void mean_add(struct mean *mean, double value, unsigned runs)
{
	double before = value - mean->mean;

	mean->mean += before / runs;
	mean->squares += before * (value - mean->mean);
}

double mean_deviation(const struct mean *mean, unsigned runs)
{
	return runs > 1 ? sqrt(mean->squares / (runs - 1)) : NAN;
}

json_t *mean_json(const char *name, const struct mean *mean, unsigned runs)
{
	const double deviation = mean_deviation(mean, runs);

	return json_pack("{s:s, s:o, s:o}", "name", name, "mean",
			 isfinite(mean->mean) ? json_real(mean->mean) : json_null(), "deviation",
			 isfinite(deviation) ? json_real(deviation) : json_null());
}

const char *mean_deviation_text(const struct mean *mean, unsigned runs,
				char text[MEAN_DEVIATION_MAX])
{
	*text = '\0';
	if (runs > 1 && isfinite(mean->mean))
		snprintf(text, MEAN_DEVIATION_MAX, "  (+- %.2f %%)",
			 mean->mean != 0 ? 100 * mean_deviation(mean, runs) / fabs(mean->mean)
					 : 0.0);
	return text;
}
