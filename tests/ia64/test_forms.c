/* Runs the programs of forms.txt and compares registers and faults. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "support/cmocka.h"

#define ROWS_MAX   512
#define ROOM	   512 /* bytes of a program */
#define DATA	   (FIXTURE_DATA + 0x1000)
#define DATA_HOST  0x1000
#define ROWS_SPACE (ROWS_MAX * 64)

static const char *forms; /* the file */

struct row {
	char *name, *expectations, *code;
};

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 17);

	if (!f || !text)
		return NULL;
	text[fread(text, 1, (1 << 17) - 1, f)] = 0;
	fclose(f);
	return text;
}

/* Cuts the text into rows, in place. */
static size_t parse(char *text, struct row *rows)
{
	size_t n = 0;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (line[0] == '#')
			continue;
		if (line[0] == '=') {
			char *semicolon = strchr(line, ';');

			assert_true(n < ROWS_MAX);
			if (semicolon)
				*semicolon++ = 0;
			rows[n++] =
			    (struct row){line + 2, semicolon ? semicolon : (char *)"", NULL};
		} else {
			assert_true(n > 0);
			assert_null(rows[n - 1].code);
			rows[n - 1].code = line;
		}
	}
	return n;
}

static char *program_text(const struct row *rows, size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, ".balign %d\n%s\n;;\nbreak 0;;\n", ROOM, rows[i].code);
	fprintf(f, ".balign %d\nbreak 0;;\n", ROOM);
	fclose(f);
	return text;
}

static void reset(struct fixture *b)
{
	struct ia64_cpu *c = b->c;

	memset(c->gr, 0, sizeof(c->gr));
	memset(c->nat, 0, sizeof(c->nat));
	memset(c->saved_nat, 0, sizeof(c->saved_nat));
	memset(c->pr, 0, sizeof(c->pr));
	memset(c->br, 0, sizeof(c->br));
	memset(c->alat, 0, sizeof(c->alat));
	memset(c->fr + 2, 0, 126 * sizeof(c->fr[0]));
	c->alat_filter = 0;
	c->nats = false;
	c->pr[0] = c->pr[6] = 1;
	c->bsp = c->bspstore = FIXTURE_STORE;
	c->bof = c->dirty = 0;
	c->rnat = c->unat = c->ccv = c->csd = c->lc = c->ec = c->pfs = 0;
	c->sof = 8;
	c->sol = c->sor = c->rrb_gr = c->rrb_fr = c->rrb_pr = 0;
	c->rsc = 0xF;
	c->um = 0;
	c->fpsr = IA64_FPSR_RESET;
	memset(b->data, 0, 0x4000);
	for (int i = 0; i < 64; i++)
		b->data[DATA_HOST + i] = (unsigned char)(0x80 + i);
	c->gr[9] = DATA;
	c->gr[10] = DATA + 0x1000;
	c->gr[11] = 0x1122334455667788;
	c->gr[12] = DATA + 0x8000;
}

static const char *const faults[] = {
    [IA64_FAULT_ILLEGAL] = "illegal",
    [IA64_FAULT_PRIVILEGED] = "privileged",
    [IA64_FAULT_RESERVED] = "reserved",
    [IA64_FAULT_NAT] = "nat",
    [IA64_FAULT_DATA] = "data",
    [IA64_FAULT_FETCH] = "fetch",
    [IA64_FAULT_UNALIGNED] = "unaligned",
    [IA64_FAULT_UNSUPPORTED] = "unsupported",
    [IA64_FAULT_FP] = "fp",
    [IA64_FAULT_DISABLED_ISA] = "isa",
};

static uint64_t number(const char *text)
{
	return text[0] == '-' ? (uint64_t)strtoll(text, NULL, 0) : strtoull(text, NULL, 0);
}

/* What an expectation names. */
static uint64_t value_of(const struct ia64_cpu *c, const char *name)
{
	unsigned n = (unsigned)atoi(name + 1);

	if (strcmp(name, "ar.lc") == 0)
		return c->lc;
	if (strcmp(name, "ar.ec") == 0)
		return c->ec;
	switch (name[0]) {
	case 'r':
		return c->gr[n];
	case 'n':
		return c->nat[n];
	case 'p':
		return c->pr[n];
	case 'b':
		return c->br[n];
	default:
		fail_msg("what is %s?", name);
		return 0;
	}
}

/* Whether one expectation holds; prints what was found if not. */
static bool holds(const struct ia64_cpu *c, const char *row, const char *name, const char *want)
{
	if (strcmp(name, "fault") == 0) {
		if (c->stop == IA64_STOP_FAULT && strcmp(faults[c->fault], want) == 0)
			return true;
		print_error("%s: stop %d fault %s, not %s\n", row, c->stop,
			    c->stop == IA64_STOP_FAULT ? faults[c->fault] : "none", want);
		return false;
	}
	if (strcmp(name, "stop") == 0)
		return c->stop == IA64_STOP_BREAK && c->fault_imm == number(want);
	if (strcmp(name, "at") == 0)
		return (c->ip & 3) == number(want);
	if (value_of(c, name) == number(want))
		return true;
	print_error("%s: %s is %#llx, not %s\n", row, name, (unsigned long long)value_of(c, name),
		    want);
	return false;
}

static bool check(const struct ia64_cpu *c, const struct row *row)
{
	char *copy = strdup(row->expectations), *rest = copy, *item;
	bool good = true, stops = strstr(copy, "fault=") || strstr(copy, "stop=");

	while ((item = strsep(&rest, ";"))) {
		char *name = item + strspn(item, " "), *equals = strchr(name, '=');

		if (!equals)
			continue;
		*equals = 0;
		good = holds(c, row->name, name, equals + 1) && good;
	}
	if (!stops && (c->stop != IA64_STOP_BREAK || c->fault_imm != 0)) {
		print_error("%s: stop %d, fault %s at %llx\n", row->name, c->stop,
			    c->stop == IA64_STOP_FAULT ? faults[c->fault] : "none",
			    (unsigned long long)c->ip);
		good = false;
	}
	free(copy);
	return good;
}

static void all(void **unused)
{
	static struct row rows[ROWS_MAX];
	struct fixture *b = fixture_up(NULL);
	char *file = read_text(forms), *text;
	unsigned char *code;
	size_t n, size, bad = 0;
	bool missing;

	(void)unused;
	assert_non_null(file);
	n = parse(file, rows);
	text = program_text(rows, n);
	code = fixture_assemble(text, &size, &missing);
	if (missing)
		skip();
	assert_non_null(code);
	assert_in_range(size, n * ROOM + 1, n * ROOM + 64); /* every program fits its room */
	fixture_load(b, code, size);
	for (size_t i = 0; i < n; i++) {
		reset(b);
		fixture_run(b, FIXTURE_CODE + i * ROOM);
		bad += !check(b->c, &rows[i]);
	}
	assert_int_equal(bad, 0);
	free(code);
	free(text);
	free(file);
	fixture_down(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: test_ia64_forms forms.txt\n");
		return 2;
	}
	forms = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
