/*
 * Makes the tables of the built-in machines. Runs when pmulab is built.
 *
 * usage: machine-table FILE... >machine_table.c
 *
 * A file describes a machine, or, in a folder named parts, what machines are based on.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/machine_keys.h"

#define SOURCES_MAX 64
#define SOURCE_MAX  (1 << 16) /* bytes */
#define NAME_BYTES  64

/* What is built in is made here: there is nothing yet. */
const struct machine_source machine_source_table[] = {{NULL, NULL}};
const size_t machine_source_count = 0;

struct source {
	char name[NAME_BYTES], text[SOURCE_MAX];
	bool is_part;
};

static void print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n\"\n\t\"", stdout);
		else if (*text == '\t')
			fputs("\\t", stdout);
		else
			printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	}
	putchar('"');
}

static void print_list(const struct machine_key *key, const struct pmu_machine *m, size_t index)
{
	size_t count = *(const size_t *)((const char *)m + key->count);

	if (!count)
		return;
	switch (key->kind) {
	case KEY_PARTS:
		printf("static const struct pmu_part parts_%zu[] = {\n", index);
		for (size_t i = 0; i < count; i++)
			printf("\t{\"%s\", %#x},\n", m->parts[i].box, m->parts[i].instances);
		break;
	case KEY_STRAPS:
		printf("static const struct pmu_strap straps_%zu[] = {\n", index);
		for (size_t i = 0; i < count; i++)
			printf("\t{\"%s\", %#llx},\n", m->straps[i].reg,
			       (unsigned long long)m->straps[i].value);
		break;
	case KEY_CPUID:
		printf("static const struct pmu_cpuid cpuid_%zu[] = {\n", index);
		for (const struct pmu_cpuid *c = m->cpuid; c < m->cpuid + count; c++)
			printf("\t{%#x, %#x, %#x, %#x, %#x, %#x},\n", c->leaf, c->subleaf, c->eax,
			       c->ebx, c->ecx, c->edx);
		break;
	case KEY_MSRS:
		printf("static const struct pmu_msr msrs_%zu[] = {\n", index);
		for (size_t i = 0; i < count; i++)
			printf("\t{%#x, %u, %u, %#llx},\n", m->msrs[i].address, m->msrs[i].meter,
			       m->msrs[i].unit, (unsigned long long)m->msrs[i].value);
		break;
	default:
		printf("static const struct pmu_function functions_%zu[] = {\n", index);
		for (const struct pmu_function *f = m->functions; f < m->functions + count; f++)
			printf("\t{%u, %u, %#x, %#x, %#x},\n", f->device, f->function, f->id,
			       f->class_code, f->buses);
	}
	puts("};");
}

static void print_list_member(const struct machine_key *key, const struct pmu_machine *m,
			      size_t index)
{
	static const char *const names[][2] = {
	    [KEY_PARTS] = {"parts", "part_count"},
	    [KEY_STRAPS] = {"straps", "strap_count"},
	    [KEY_CPUID] = {"cpuid", "cpuid_count"},
	    [KEY_MSRS] = {"msrs", "msr_count"},
	    [KEY_FUNCTIONS] = {"functions", "function_count"},
	};
	size_t count = *(const size_t *)((const char *)m + key->count);

	if (count)
		printf("\t\t.%s = %s_%zu, .%s = %zu,\n", names[key->kind][0], names[key->kind][0],
		       index, names[key->kind][1], count);
}

static void print_member(const struct machine_key *key, const struct pmu_machine *m, size_t index)
{
	const char *member = (const char *)m + key->offset;
	const struct pmu_cache *cache = (const void *)member;

	switch (key->kind) {
	case KEY_TEXT:
		printf("\t\t.%s = ", key->name);
		print_string(*(const char *const *)(const void *)member);
		puts(",");
		break;
	case KEY_NUMBER:
		printf("\t\t.%s = %u,\n", key->name, *(const uint32_t *)(const void *)member);
		break;
	case KEY_LONG:
		printf("\t\t.%s = %llu,\n", key->name,
		       (unsigned long long)*(const uint64_t *)(const void *)member);
		break;
	case KEY_CACHE:
		printf("\t\t.%s = {%u, %u, %u},\n", key->name, cache->sets, cache->ways,
		       cache->latency);
		break;
	case KEY_POWER:
		printf("\t\t.%s = {%u, %u, %u, %u, %u},\n", key->name, m->power.static_mw,
		       m->power.core_mw, m->power.lookup_pj, m->power.dram_mw, m->power.cas_pj);
		break;
	default:
		print_list_member(key, m, index);
	}
}

static void print_machines(struct pmu_machine *const *machines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < machine_key_count; k++)
			if (machine_keys[k].count)
				print_list(&machine_keys[k], machines[i], i);
	puts("const struct pmu_machine machine_table[] = {");
	for (size_t i = 0; i < count; i++) {
		puts("\t{");
		for (size_t k = 0; k < machine_key_count; k++)
			if (machine_keys[k].of & machine_family_of(machines[i]))
				print_member(&machine_keys[k], machines[i], i);
		fputs("\t\t.text = ", stdout);
		print_string(machines[i]->text);
		puts(",\n\t},");
	}
	printf("};\nconst size_t machine_table_count = %zu;\n", count);
}

static void print_sources(const struct machine_source *sources, size_t count)
{
	puts("const struct machine_source machine_source_table[] = {");
	for (size_t i = 0; i < count; i++) {
		printf("\t{\"%s\",\n\t", sources[i].name);
		print_string(sources[i].text);
		puts("},");
	}
	printf("};\nconst size_t machine_source_count = %zu;\n", count);
}

/* A description's name is its file's, less ".json"; one in a folder named parts is no machine. */
static int read_source(struct source *source, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	FILE *file = fopen(path, "re");
	size_t length = strcspn(name, ".");
	int failed = 0;

	if (!file)
		return -1;
	/* What is longer is cut, and then is not the machine's name. */
	memcpy(source->name, name, length < NAME_BYTES ? length : NAME_BYTES - 1);
	source->is_part = strstr(path, "/parts/") != NULL;
	length = fread(source->text, 1, SOURCE_MAX, file);
	failed = ferror(file) || length == SOURCE_MAX;
	return fclose(file) || failed ? -1 : 0;
}

int main(int argc, char **argv)
{
	static struct source sources[SOURCES_MAX];
	static struct machine_source bases[SOURCES_MAX];
	static struct pmu_machine *machines[SOURCES_MAX];
	struct pmu_ctx *ctx;
	size_t count = 0;

	if (argc < 2 || argc > SOURCES_MAX || pmu_ctx_new(&ctx))
		return 2;
	for (int i = 1; i < argc; i++) {
		if (read_source(&sources[i - 1], argv[i])) {
			perror(argv[i]);
			return 1;
		}
		bases[i - 1] = (struct machine_source){sources[i - 1].name, sources[i - 1].text};
	}
	for (int i = 0; i < argc - 1; i++) {
		if (sources[i].is_part)
			continue;
		if (machine_parse(&machines[count], ctx,
				  &(struct machine_sources){bases, (size_t)argc - 1}, bases[i].text,
				  strlen(bases[i].text), argv[i + 1])) {
			fprintf(stderr, "%s\n", pmu_message(ctx));
			return 1;
		}
		if (strcmp(machines[count]->name, bases[i].name)) {
			fprintf(stderr, "%s: name: is not the file's\n", argv[i + 1]);
			return 1;
		}
		count++;
	}
	puts("/* Generated from machines/. */\n#include \"catalog/machine_keys.h\"\n"
	     "#include \"catalog/tables.h\"\n");
	print_sources(bases, (size_t)argc - 1);
	print_machines(machines, count);
	pmu_ctx_free(ctx);
	return ferror(stdout) || fflush(stdout);
}
