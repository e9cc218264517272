/* Groups of events and metrics. */
#include "cli/cli.h"
#include "cli/list.h"
#include "pmulab/group.h"

void list_groups_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(pmu_box_pmu_name(box));
	const struct pmu_group *group;

	for (size_t i = 0; box == pmu_pmu_box(pmu, 0) && (group = pmu_pmu_group(pmu, i)); i++)
		if (list_chosen(choice, pmu_group_name(group)))
			json_array_append_new(
			    arg, json_pack("{s:s, s:s, s:s, s:s}", "pmu", pmu_pmu_name(pmu),
					   "group", pmu_group_name(group), "title",
					   pmu_group_title(group), "text", pmu_group_text(group)));
}

void list_groups_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(pmu_box_pmu_name(box));
	const struct pmu_group *group;

	for (size_t i = 0; box == pmu_pmu_box(pmu, 0) && (group = pmu_pmu_group(pmu, i)); i++) {
		if (!list_chosen(choice, pmu_group_name(group)))
			continue;
		table_cell(arg, "%s", pmu_pmu_name(pmu));
		table_cell(arg, "%s", pmu_group_name(group));
		table_cell(arg, "%s", pmu_group_title(group));
	}
}
