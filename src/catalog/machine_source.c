/*
 * The sources of machines' descriptions: files and JSON, and what a description is based on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/name.h"
#include "catalog/machine_keys.h"

#define FILE_MAX  (1 << 20) /* bytes */
#define BASES_MAX 8	    /* one on the other */

static int parse(struct pmu_ctx *ctx, const char *from, const char *text, size_t length,
		 json_t **root)
{
	json_error_t error;

	*root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
	if (!*root)
		return error_set(ctx, PMU_E_SYNTAX, "%s:%d:%d: %s", from, error.line, error.column,
				 error.text);
	if (json_is_object(*root))
		return 0;
	json_decref(*root);
	*root = NULL;
	return error_set(ctx, PMU_E_SYNTAX, "%s: not an entry", from);
}

/* RFC 7396: entries are changed key by key, all else is replaced. What is null stays so until all
   bases are there, as a base of the base may have the key. */
static int change(json_t *base, json_t *changes)
{
	const char *name;
	json_t *value;

	json_object_foreach(changes, name, value)
	{
		json_t *old = json_object_get(base, name);
		int failed = 0;

		if (json_is_object(value) && json_is_object(old))
			failed = change(old, value);
		else
			failed = json_object_set(base, name, value);
		if (failed)
			return failed;
	}
	return 0;
}

static void drop_nulls(json_t *object)
{
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, name, value)
	{
		if (json_is_null(value))
			json_object_del(object, name);
		else if (json_is_object(value))
			drop_nulls(value);
	}
}

static const struct machine_source *find_source(const struct machine_sources *bases,
						const char *name)
{
	for (size_t i = 0; i < bases->count; i++)
		if (name_equal(bases->all[i].name, name))
			return &bases->all[i];
	return NULL;
}

static int refuse_base(struct pmu_ctx *ctx, const char *from, const struct machine_sources *bases,
		       const char *name)
{
	struct name_guess guess;

	name_guess_init(&guess, name);
	for (size_t i = 0; i < bases->count; i++)
		name_guess_offer(&guess, bases->all[i].name);
	return error_set(ctx, PMU_E_UNKNOWN,
			 "%s: base: no machine or part of machines is \"%s\"%s%s%s", from, name,
			 guess.best ? "; did you mean " : "", guess.best ? guess.best : "",
			 guess.best ? "?" : "");
}

/* Lays *root over what it is based on. */
static int resolve(struct pmu_ctx *ctx, const char *from, const struct machine_sources *bases,
		   json_t **root)
{
	for (int depth = 0; json_object_get(*root, "base"); depth++) {
		json_t *named = json_object_get(*root, "base"), *base;
		const struct machine_source *source = NULL;
		int error;

		if (!json_is_string(named) || depth == BASES_MAX)
			return error_set(ctx, PMU_E_UNKNOWN, "%s: base: names no known description",
					 from);
		source = find_source(bases, json_string_value(named));
		if (!source)
			return refuse_base(ctx, from, bases, json_string_value(named));
		error = parse(ctx, source->name, source->text, strlen(source->text), &base);
		if (error)
			return error;
		json_object_del(*root, "base");
		error = change(base, *root);
		json_decref(*root);
		*root = base;
		if (error)
			return error_set(ctx, PMU_E_NOMEM, "out of memory for a machine");
	}
	drop_nulls(*root);
	return 0;
}

int machine_source_load(json_t **root, struct pmu_ctx *ctx, const struct machine_sources *bases,
			const char *text, size_t length, const char *from)
{
	int error = parse(ctx, from, text, length, root);

	return error ? error : resolve(ctx, from, bases, root);
}

int pmu_machine_parse(struct pmu_machine **machine, struct pmu_ctx *ctx, const char *text,
		      size_t length, const char *from)
{
	const struct machine_sources built_in = {machine_source_table, machine_source_count};

	return machine_parse(machine, ctx, &built_in, text, length, from);
}

/* The file's bytes, at most FILE_MAX; a pipe or a device is no description. */
static int read_file(struct pmu_ctx *ctx, const char *path, char **text, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error = 0;
	struct stat status;
	ssize_t got = 0;

	*text = NULL;
	*length = 0;
	if (fd < 0 || fstat(fd, &status)) {
		error = error_set(ctx, PMU_E_IO, "cannot read %s: %s", path, strerror(errno));
	} else if (!S_ISREG(status.st_mode) || status.st_size > FILE_MAX) {
		error = error_set(ctx, PMU_E_IO, "%s is not a file of at most %d bytes", path,
				  FILE_MAX);
	} else if (!(*text = malloc((size_t)status.st_size + 1))) {
		error = error_set(ctx, PMU_E_NOMEM, "out of memory for %s", path);
	}
	while (!error && *length < (size_t)status.st_size) {
		got = read(fd, *text + *length, (size_t)status.st_size - *length);
		if (got <= 0)
			break;
		*length += (size_t)got;
	}
	if (!error && got < 0)
		error = error_set(ctx, PMU_E_IO, "cannot read %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return error;
}

int pmu_machine_read(struct pmu_machine **machine, struct pmu_ctx *ctx, const char *path)
{
	char *text;
	size_t length;
	int error = read_file(ctx, path, &text, &length);

	if (!error)
		error = pmu_machine_parse(machine, ctx, text, length, path);
	free(text);
	return error;
}
