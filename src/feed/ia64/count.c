#include "feed/ia64/count.h"

#include "feed/ia64/isa.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ia64_counter {
	struct ia64_observer observer;
	FILE *file;
	char *path;
	/* Predicate true, false, none. */
	uint64_t count[IA64_ENCODINGS][3];
};

struct record {
	uint32_t encoding, predicated;
};

static enum ia64_observing decode(void *state, void *record, const struct ia64_insn *n,
				  const struct ia64_bundle *bundle)
{
	struct record r = {n->encoding, n->qp != 0};

	(void)state;
	(void)bundle;
	memcpy(record, &r, sizeof(r));
	return IA64_OBSERVE_NOW;
}

static void insn(void *own, const struct ia64_cpu *c, void *record, bool on, uint64_t address)
{
	struct ia64_counter *t = own;
	const struct record *r = record;

	(void)c;
	(void)address;
	__atomic_fetch_add(&t->count[r->encoding][r->predicated ? !on : 2], 1, __ATOMIC_RELAXED);
}

struct row {
	const char *name;
	const uint64_t *count;
};

static uint64_t total(const struct row *r)
{
	return r->count[0] + r->count[1] + r->count[2];
}

static int by_total(const void *a, const void *b)
{
	uint64_t x = total(a), y = total(b);

	return x < y ? 1 : x > y ? -1 : 0;
}

/* A program cannot end well whose counts are lost. */
static void end(void *state)
{
	static struct row rows[IA64_ENCODINGS];
	struct ia64_counter *t = state;
	bool failed;

	for (unsigned i = 0; i < IA64_ENCODINGS; i++)
		rows[i] = (struct row){ia64_encodings[i].name, t->count[i]};
	qsort(rows, IA64_ENCODINGS, sizeof(rows[0]), by_total);
	for (unsigned i = 0; i < IA64_ENCODINGS && total(&rows[i]); i++)
		fprintf(t->file, "%-36s %12llu %10llu %10llu %10llu\n", rows[i].name,
			(unsigned long long)total(&rows[i]), (unsigned long long)rows[i].count[0],
			(unsigned long long)rows[i].count[1], (unsigned long long)rows[i].count[2]);
	failed = ferror(t->file);
	errno = 0;
	if (!fclose(t->file) && !failed)
		return;
	fprintf(stderr, "pmulab-ia64: cannot write %s%s%s\n", t->path, errno ? ": " : "",
		errno ? strerror(errno) : "");
	_exit(EXIT_FAILURE);
}

int ia64_counter_new(struct ia64_counter **counter, const char *path)
{
	struct ia64_counter *t = calloc(1, sizeof(*t));
	int rc = -ENOMEM;

	if (!t)
		return rc;
	t->path = strdup(path);
	if (!t->path)
		goto fail;
	t->file = fopen(path, "we");
	if (!t->file) {
		rc = -errno;
		goto fail;
	}
	t->observer = (struct ia64_observer){.state = t,
					     .record_size = sizeof(struct record),
					     .decode = decode,
					     .insn = insn,
					     .end = end};
	*counter = t;
	return 0;
fail:
	free(t->path);
	free(t);
	return rc;
}

void ia64_counter_free(struct ia64_counter *t)
{
	if (!t)
		return;
	fclose(t->file);
	free(t->path);
	free(t);
}

const struct ia64_observer *ia64_counter_observer(const struct ia64_counter *t)
{
	return &t->observer;
}
