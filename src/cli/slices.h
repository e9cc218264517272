/*
 * What time slices give: a count that was taken in some slices of a run alone, scaled to the whole
 * run, and how far from the truth it may be.
 */
#ifndef CLI_SLICES_H
#define CLI_SLICES_H

#include <stdbool.h>
#include <stdint.h>

/* Of one event; all 0 at the beginning. */
struct slices {
	unsigned counted, all;		 /* slices */
	double counted_seconds, seconds; /* their lengths */
	double gaps;			 /* of seconds: between slices, when nothing counted */
	double count;			 /* in the slices that were counted */
	double counts2, cross, seconds2; /* sums of squares and products over those */
};

/** Adds a slice. @param count  what happened in it, where @counted */
void slices_add(struct slices *slices, bool counted, uint64_t count, double seconds);

/** Adds time between slices. */
void slices_add_gap(struct slices *slices, double seconds);

/** The share of the time in which it was counted; 0 without any. */
double slices_share(const struct slices *slices);
/** The count scaled to all slices by time, as the kernel scales; NAN where none was counted. */
double slices_estimate(const struct slices *slices);
/**
 * How far the estimate may be from the truth, to either side, in 95 of 100 runs: that of a ratio
 * estimator, whose slices are a sample without replacement, by Student's distribution (W. G.
 * Cochran, Sampling Techniques, 3rd ed., sections 2.6 and 6.4). It holds where a slice says nothing
 * of the next one; a program whose phases keep step with the slices can be farther off.
 * @return NAN where fewer than two slices were counted
 */
double slices_bound(const struct slices *slices);

#endif
