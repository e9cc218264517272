#include "cli/stat_repeat.h"

#include <math.h>
#include <stdlib.h>

#include "cli/stat_metric.h"

/* NAN: there is no count, not even 0. */
static double total_of(const struct stat_run *run, unsigned event)
{
	if (stat_is_absent(run, pmu_session_event(run->session, event)) ||
	    !stat_instances(run, event))
		return NAN;
	return (double)stat_total(run, event, -1);
}

int stat_repeat_add(const struct cli *cli, struct stat_run *run)
{
	const size_t events = pmu_session_events(run->session);

	if (!run->event_means)
		run->event_means = calloc(events + 1, sizeof(*run->event_means));
	if (!run->metric_means)
		run->metric_means = calloc(run->metric_count + 1, sizeof(*run->metric_means));
	if (!run->event_means || !run->metric_means)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	run->runs++;
	for (unsigned event = 0; event < events; event++)
		mean_add(&run->event_means[event], total_of(run, event), run->runs);
	for (size_t i = 0; i < run->metric_count; i++) {
		double value = stat_metric_value(run, &run->metrics[i]);

		stat_metric_show(run, &run->metrics[i], &value);
		mean_add(&run->metric_means[i], value, run->runs);
	}
	mean_add(&run->seconds_mean, run->seconds, run->runs);
	return 0;
}

void stat_repeat_fini(struct stat_run *run)
{
	free(run->event_means);
	free(run->metric_means);
}
