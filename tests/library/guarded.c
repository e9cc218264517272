/*
 * A program that measures with a guardian, or gives back what such a one has left.
 *
 *     guarded ROOT count|twice|unguarded|list|restore
 *
 * The exit code is 0, or the error without its sign.
 */
#include <pmulab/journal.h>
#include <pmulab/session.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WRONG_USE 99

struct measurement {
	struct pmu_bus *bus;
	struct pmu_session *session;
};

static void warn(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "warning: %s\n", text);
}

static int start(struct measurement *measurement, struct pmu_ctx *ctx, const char *root,
		 const char *event, bool guard)
{
	struct pmu_host_options host = {.size = sizeof(host), .root = root};
	struct pmu_guard_options options = {.size = sizeof(options), .warn = warn};
	struct pmu_selection selection;
	int error = pmu_bus_host(&measurement->bus, ctx, &host);

	if (!error)
		error = pmu_session_new(&measurement->session, ctx, measurement->bus);
	if (!error)
		error = pmu_event_parse(ctx, pmu_bus_pmu(measurement->bus), event, &selection);
	if (!error)
		error = pmu_session_add(measurement->session, ctx, &selection);
	if (!error && guard)
		error = pmu_session_guard(measurement->session, ctx, &options);
	return error ? error : pmu_session_start(measurement->session, ctx);
}

static void finish(struct measurement *measurement)
{
	pmu_session_free(measurement->session);
	pmu_bus_free(measurement->bus);
}

/* Counts until its input ends. */
static int count(struct pmu_ctx *ctx, const char *root, bool guard)
{
	struct measurement measurement = {0};
	int error = start(&measurement, ctx, root, "cbo0.LLC_LOOKUP.ANY:state=any", guard);

	if (!error) {
		puts("counting");
		fflush(stdout);
		getchar();
	}
	finish(&measurement);
	return error;
}

static int twice(struct pmu_ctx *ctx, const char *root)
{
	struct measurement first = {0}, second = {0};
	int error = start(&first, ctx, root, "cbo0.LLC_LOOKUP.ANY:state=any", true);

	if (!error) {
		pmu_session_stop(first.session, ctx);
		error = start(&second, ctx, root, "cbo1.LLC_LOOKUP.ANY:state=any", true);
	}
	finish(&second);
	finish(&first);
	return error;
}

static int list(void *arg, struct pmu_journal *journal)
{
	const struct pmu_access_op *write;

	(void)arg;
	printf("%d %s\n", (int)pmu_journal_process(journal),
	       pmu_journal_failed(journal) ? "failed" : "killed");
	for (size_t i = 0; (write = pmu_journal_write(journal, i)); i++)
		if (!strcmp(write->reg, "Cn_MSR_PMON_CTL0"))
			printf("0x%x 0x%llx\n", (unsigned)write->address,
			       (unsigned long long)write->value);
	return 0;
}

static int restore(void *arg, struct pmu_journal *journal)
{
	return pmu_journal_restore(journal, arg);
}

int main(int argc, char **argv)
{
	struct pmu_ctx *ctx;
	int error;

	if (argc != 3 || pmu_ctx_new(&ctx))
		return WRONG_USE;
	if (!strcmp(argv[2], "list"))
		error = pmu_journals(ctx, list, NULL);
	else if (!strcmp(argv[2], "restore"))
		error = pmu_journals(ctx, restore, ctx);
	else if (!strcmp(argv[2], "twice"))
		error = twice(ctx, argv[1]);
	else
		error = count(ctx, argv[1], !strcmp(argv[2], "count"));
	if (error)
		fprintf(stderr, "%s\n", pmu_message(ctx));
	pmu_ctx_free(ctx);
	return -error;
}
