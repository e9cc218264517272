/* A mean over the runs of a measurement, and its deviation. */
#ifndef CLI_MEAN_H
#define CLI_MEAN_H

struct mean {
	double mean, squares; /* sum of the squared distances from the mean */
};

/** Takes the value of one more run. @param runs  with that one */
void mean_add(struct mean *mean, double value, unsigned runs);

/** Standard deviation of the runs; NAN for fewer than two. */
double mean_deviation(const struct mean *mean, unsigned runs);

#define MEAN_DEVIATION_MAX 32

/** "  (+- 0.5 %)"; "" for fewer than two runs, or a mean that is not known. */
const char *mean_deviation_text(const struct mean *mean, unsigned runs,
				char text[MEAN_DEVIATION_MAX]);
struct json_t *mean_json(const char *name, const struct mean *mean, unsigned runs);

#endif
