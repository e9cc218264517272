#include "cli/emulate_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "pmulab/event.h"

static FILE *open_recording(const char *path, const struct pmu_machine *machine)
{
	FILE *file = fopen(path, "we");

	/* What cannot be written is seen when the file ends. */
	if (file)
		pmu_trace_begin(file, pmu_machine_pmu_name(machine),
				cli_machine_number(machine, "sockets"), true);
	return file;
}

int emulate_watch_begin(const struct cli *cli, struct emulate_watch *watch, const char *path,
			const struct pmu_machine *machine)
{
	*watch = (struct emulate_watch){
	    .cli = cli,
	    .path = path,
	    .pmu = pmu_find_pmu(pmu_machine_pmu_name(machine)),
	};
	if (path) {
		watch->file = open_recording(path, machine);
		if (!watch->file)
			return cli_error(cli, EXIT_FAILED, "cannot write %s: %s", path,
					 strerror(errno));
	}
	pthread_mutex_init(&watch->lock, NULL);
	return 0;
}

int emulate_watch_report(struct emulate_watch *watch)
{
	const struct cli *cli = watch->cli;
	bool failed = watch->file && ferror(watch->file);

	for (unsigned i = 0; i < watch->absent_count; i++)
		cli_error(cli, 0,
			  "warning: %s is not modelled on this machine: its counter reads 0",
			  watch->absent[i]);
	if (watch->more)
		cli_error(cli, 0, "warning: the tool counted more events that are not modelled");
	if ((watch->file && fflush(watch->file)) || failed)
		return cli_error(cli, EXIT_FAILED, "cannot write all of %s", watch->path);
	return 0;
}

void emulate_watch_release(struct emulate_watch *watch)
{
	if (watch->file)
		fclose(watch->file);
	pthread_mutex_destroy(&watch->lock);
}

static void note_absent(struct emulate_watch *watch, const char *name)
{
	pthread_mutex_lock(&watch->lock);
	for (unsigned i = 0; i < watch->absent_count; i++)
		if (!strcmp(watch->absent[i], name))
			goto noted;
	if (watch->absent_count == WATCH_NAMES)
		watch->more = true;
	else
		snprintf(watch->absent[watch->absent_count++], WATCH_NAME_BYTES, "%s", name);
noted:
	pthread_mutex_unlock(&watch->lock);
}

/* An event of the core that is not architectural has no name here. */
static void check_modelled(struct emulate_watch *watch, const struct pmu_located *at,
			   uint64_t control)
{
	const struct pmu_field *enable = pmu_field_by_role(at->reg, PMU_FIELD_ENABLE, 0);
	const struct pmu_field *code = pmu_box_event_select(at->box);
	const struct pmu_field *umask = pmu_box_unit_mask(at->box);
	struct pmu_selection selection;
	char name[WATCH_NAME_BYTES];
	struct pmu_ctx *ctx;

	if (!enable || !pmu_field_value(enable, control) || pmu_ctx_new(&ctx))
		return;
	if (pmu_event_decode(ctx, at->box, control, &selection)) {
		if (pmu_box_scope(at->box) == PMU_SCOPE_CORE && code && umask) {
			snprintf(name, sizeof(name),
				 "%s event 0x%02" PRIX64 ", unit mask 0x%02" PRIX64,
				 pmu_box_name(at->box), pmu_field_value(code, control),
				 pmu_field_value(umask, control));
			note_absent(watch, name);
		}
	} else if (pmu_selection_model(&selection) == PMU_MODEL_ABSENT) {
		pmu_event_print(&selection, name, sizeof(name));
		note_absent(watch, name);
	}
	pmu_ctx_free(ctx);
}

void emulate_watch_access(void *arg, const struct pmu_access_op *access, bool write, int error)
{
	struct emulate_watch *watch = arg;
	struct pmu_access_op op = *access;
	struct pmu_located at;
	bool found = pmu_address_find(watch->pmu, access, &at);

	/* The rest of a configuration space: headers, and what there is nothing of. */
	if (!found && access->space == PMU_SPACE_PCI)
		return;
	op.reg = found ? pmu_register_pattern(at.reg) : "-";
	if (watch->file)
		pmu_trace_access(watch->file, &op, write, error);
	if (found && write && !error && pmu_register_role(at.reg) == PMU_ROLE_COUNTER_CTL)
		check_modelled(watch, &at, access->value);
	if (found && !write && !error && *pmu_register_model_note(at.reg))
		note_absent(watch, pmu_register_pattern(at.reg));
}
