/*
 * Integer and multimedia instructions, assembled and executed, on random operands: results against
 * the naive model, NaT bits, and no effect under a false predicate.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "naive_alu.h"
#include "support/cmocka.h"

#define IMMEDIATES 6 /* of an instruction that has one */
#define RUNS	   60
#define CASE_BYTES 64

/* One piece of code: r8 = op(r9 as r2, r10 as r3), then the same under p6 to r11. */
struct sample {
	const struct naive_op *op;
	struct naive_operands o;
};

static uint64_t state = 1;

static int64_t between(int64_t low, int64_t high)
{
	return low + (int64_t)(fixture_random(&state) % (uint64_t)(high - low + 1));
}

static void choose(struct sample *s, const struct naive_op *op)
{
	memset(s, 0, sizeof(*s));
	s->op = op;
	s->o.imm = strncmp(op->mnemonic, "pmpyshr", 7) == 0
		       ? naive_pmpyshr_counts[fixture_random(&state) % 4]
		       : between(op->imm_min, op->imm_max);
	if (op->form == NAIVE_R2_R3_1)
		s->o.imm = 1;
	if (op->len_max) /* the assembler refuses fields beyond bit 63 */
		s->o.len =
		    (unsigned)between(1, 64 - s->o.imm < op->len_max ? 64 - s->o.imm : op->len_max);
	s->o.field = op->form == NAIVE_IMM1_R3_POS_LEN ? between(-1, 0) : between(-128, 127);
}

/* mux1's permutation stands in the model's mnemonic, but is an operand. */
static void print(FILE *f, const struct sample *s, const char *qp, const char *target)
{
	const char *at = strchr(s->op->mnemonic, '@');
	int length = (int)(at ? at - s->op->mnemonic : (long)strlen(s->op->mnemonic));
	long long imm = s->o.imm, field = s->o.field;
	unsigned len = s->o.len;

	fprintf(f, "%s %.*s %s=", qp, length, s->op->mnemonic, target);
	switch (s->op->form) {
	case NAIVE_R2_R3:
		fprintf(f, "r9,r10");
		break;
	case NAIVE_R3_R2:
		fprintf(f, "r10,r9");
		break;
	case NAIVE_R3:
		fprintf(f, "r10");
		break;
	case NAIVE_R2:
		fprintf(f, "r9%s%s", at ? "," : "", at ? at : "");
		break;
	case NAIVE_R2_IMM:
		fprintf(f, "r9,%lld", imm);
		break;
	case NAIVE_R3_IMM:
		fprintf(f, "r10,%lld", imm);
		break;
	case NAIVE_IMM_R3: /* addl takes r0 to r3 only */
		fprintf(f, "%lld,%s", imm, strcmp(s->op->mnemonic, "addl") ? "r10" : "r3");
		break;
	case NAIVE_R2_R3_1:
		fprintf(f, "r9,r10,1");
		break;
	case NAIVE_R2_IMM_R3:
		fprintf(f, "r9,%lld,r10", imm);
		break;
	case NAIVE_R2_R3_IMM:
		fprintf(f, "r9,r10,%lld", imm);
		break;
	case NAIVE_R3_POS_LEN:
		fprintf(f, "r10,%lld,%u", imm, len);
		break;
	case NAIVE_R2_POS_LEN:
		fprintf(f, "r9,%lld,%u", imm, len);
		break;
	case NAIVE_R2_R3_POS_LEN:
		fprintf(f, "r9,r10,%lld,%u", imm, len);
		break;
	case NAIVE_IMM8_POS_LEN:
		fprintf(f, "%lld,%lld,%u", field, imm, len);
		break;
	case NAIVE_IMM1_R3_POS_LEN:
		fprintf(f, "%lld,r10,%lld,%u", field, imm, len);
		break;
	}
	fprintf(f, ";;\n");
}

static bool uses_r2(const struct sample *s)
{
	switch (s->op->form) {
	case NAIVE_R3:
	case NAIVE_R3_IMM:
	case NAIVE_IMM_R3:
	case NAIVE_R3_POS_LEN:
	case NAIVE_IMM8_POS_LEN:
	case NAIVE_IMM1_R3_POS_LEN:
		return false;
	default:
		return true;
	}
}

static bool uses_r3(const struct sample *s)
{
	switch (s->op->form) {
	case NAIVE_R2:
	case NAIVE_R2_IMM:
	case NAIVE_R2_POS_LEN:
	case NAIVE_IMM8_POS_LEN:
		return false;
	default:
		return true;
	}
}

static void check(struct fixture *b, const struct sample *s, uint64_t ip)
{
	struct ia64_cpu *c = b->c;
	struct naive_operands o = s->o;
	bool nat2 = fixture_random(&state) % 8 == 0, nat3 = fixture_random(&state) % 8 == 0;
	bool qp = fixture_random(&state) & 1, nat;
	uint64_t want;

	o.r2 = fixture_operand(&state);
	o.r3 = fixture_operand(&state);
	want = s->op->compute(&o);
	nat = (nat2 && uses_r2(s)) || (nat3 && uses_r3(s));
	memset(c->nat, 0, sizeof(c->nat));
	c->gr[8] = c->gr[11] = 0x5555;
	c->gr[9] = o.r2;
	c->gr[10] = c->gr[3] = o.r3;
	c->nat[9] = nat2;
	c->nat[10] = c->nat[3] = nat3;
	c->nats = nat2 || nat3;
	c->pr[6] = qp;
	fixture_run(b, ip);
	if (c->stop != IA64_STOP_BREAK || c->nat[8] != nat || (!nat && c->gr[8] != want) ||
	    c->nat[11] != (nat && qp) || (!(nat && qp) && c->gr[11] != (qp ? want : 0x5555)))
		fail_msg(
		    "%s imm %lld len %u r2 %llx r3 %llx nat %d %d p6 %d: %llx nat %d, %llx nat %d,"
		    " not %llx nat %d",
		    s->op->mnemonic, (long long)o.imm, o.len, (unsigned long long)o.r2,
		    (unsigned long long)o.r3, nat2, nat3, qp, (unsigned long long)c->gr[8],
		    c->nat[8], (unsigned long long)c->gr[11], c->nat[11], (unsigned long long)want,
		    nat);
}

static void check_all(const struct naive_op *ops, size_t count)
{
	struct sample *samples = calloc(count * IMMEDIATES, sizeof(*samples));
	struct fixture *b = fixture_up(NULL);
	size_t n = count * IMMEDIATES, size = 0;
	unsigned char *code;
	char *text = NULL;
	bool missing;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(samples);
	assert_non_null(f);
	for (size_t i = 0; i < n; i++) {
		choose(&samples[i], &ops[i / IMMEDIATES]);
		fprintf(f, ".balign %d\n", CASE_BYTES);
		print(f, &samples[i], "", "r8");
		print(f, &samples[i], "(p6)", "r11");
		fprintf(f, "break.i 0;;\n");
	}
	fclose(f);
	code = fixture_assemble(text, &size, &missing);
	if (missing)
		skip();
	assert_non_null(code);
	assert_true(size > (n - 1) * CASE_BYTES && size <= n * CASE_BYTES);
	fixture_load(b, code, size);
	for (size_t i = 0; i < n; i++)
		for (unsigned r = 0; r < RUNS; r++)
			check(b, &samples[i], FIXTURE_CODE + i * CASE_BYTES);
	free(code);
	free(text);
	free(samples);
	fixture_down(b);
}

static void integer(void **unused)
{
	(void)unused;
	check_all(naive_integer, naive_integer_count);
}

static void multimedia(void **unused)
{
	(void)unused;
	check_all(naive_multimedia, naive_multimedia_count);
}

/* -- Compares and tests ------------------------------------------------------------------------ */

enum kind { CMP, CMP4, CMP_IMM, CMP4_IMM, CMP_ZERO, CMP4_ZERO, TBIT, TNAT };

struct compare {
	enum kind kind;
	enum naive_relation relation; /* of tbit, tnat: NE for .nz */
	enum naive_ctype ctype;
	int64_t imm;
};

static const char *const relations[] = {"eq", "ne",  "lt",  "le",  "gt",
					"ge", "ltu", "leu", "gtu", "geu"};
static const char *const ctypes[] = {"",	  ".unc",  ".and",   ".or",
				     ".or.andcm", ".orcm", ".andcm", ".and.orcm"};

static void print_compare(FILE *f, const struct compare *x)
{
	const char *relation =
	    x->kind >= TBIT ? (x->relation == NAIVE_NE ? "nz" : "z") : relations[x->relation];
	static const char *const names[] = {"cmp", "cmp4", "cmp",  "cmp4",
					    "cmp", "cmp4", "tbit", "tnat"};

	fprintf(f, "(p6) %s.%s%s p7,p8=", names[x->kind], relation, ctypes[x->ctype]);
	switch (x->kind) {
	case CMP:
	case CMP4:
		fprintf(f, "r9,r10;;\n");
		break;
	case CMP_IMM:
	case CMP4_IMM:
		fprintf(f, "%lld,r10;;\n", (long long)x->imm);
		break;
	case CMP_ZERO:
	case CMP4_ZERO:
		fprintf(f, "r0,r10;;\n");
		break;
	case TBIT:
		fprintf(f, "r10,%lld;;\n", (long long)x->imm);
		break;
	case TNAT:
		fprintf(f, "r10;;\n");
		break;
	}
}

static bool holds(const struct compare *x, uint64_t r2, uint64_t r3, bool nat3)
{
	switch (x->kind) {
	case CMP:
		return naive_cmp(x->relation, r2, r3);
	case CMP4:
		return naive_cmp4(x->relation, r2, r3);
	case CMP_IMM:
		return naive_cmp(x->relation, (uint64_t)x->imm, r3);
	case CMP4_IMM:
		return naive_cmp4(x->relation, (uint64_t)x->imm, r3);
	case CMP_ZERO:
		return naive_cmp(x->relation, 0, r3);
	case CMP4_ZERO:
		return naive_cmp4(x->relation, 0, r3);
	case TBIT:
		return naive_tbit(r3, (unsigned)x->imm) == (x->relation == NAIVE_NE);
	default:
		return nat3 == (x->relation == NAIVE_NE);
	}
}

static void check_compare(struct fixture *b, const struct compare *x, uint64_t ip)
{
	struct ia64_cpu *c = b->c;
	bool two = x->kind == CMP || x->kind == CMP4;
	bool nat2 = two && fixture_random(&state) % 8 == 0, nat3 = fixture_random(&state) % 6 == 0;
	bool qp = fixture_random(&state) & 1,
	     p[2] = {fixture_random(&state) & 1, fixture_random(&state) & 1};
	uint64_t r2 = fixture_operand(&state), r3 = fixture_operand(&state);

	if (fixture_random(&state) % 4 == 0)
		r3 = two ? r2 : (uint64_t)x->imm;
	memset(c->nat, 0, sizeof(c->nat));
	c->gr[9] = r2;
	c->gr[10] = r3;
	c->nat[9] = nat2;
	c->nat[10] = nat3;
	c->nats = nat2 || nat3;
	c->pr[6] = qp;
	c->pr[7] = p[0];
	c->pr[8] = p[1];
	naive_predicates(p, qp, x->ctype, holds(x, r2, r3, nat3),
			 x->kind != TNAT && (nat2 || nat3));
	fixture_run(b, ip);
	if (c->stop != IA64_STOP_BREAK || c->pr[7] != p[0] || c->pr[8] != p[1])
		fail_msg("kind %d %s%s imm %lld r2 %llx r3 %llx nat %d %d p6 %d: %d %d, not %d %d",
			 x->kind, relations[x->relation], ctypes[x->ctype], (long long)x->imm,
			 (unsigned long long)r2, (unsigned long long)r3, nat2, nat3, qp, c->pr[7],
			 c->pr[8], p[0], p[1]);
}

/* Which relations and types an encoding or pseudo-instruction exists for. */
static bool exists(const struct compare *x)
{
	bool parallel = x->ctype >= NAIVE_AND, equality = x->relation <= NAIVE_NE;

	if (x->kind >= TBIT)
		return equality;
	if (x->kind == CMP_ZERO || x->kind == CMP4_ZERO)
		return parallel && !equality && x->relation <= NAIVE_GE;
	return !parallel || equality;
}

static int64_t immediate(const struct compare *x)
{
	if (x->kind == TBIT)
		return between(0, 63);
	/* le and its like are encoded as lt of a neighbour, which must be there */
	return between(-120, 120);
}

static void compares(void **unused)
{
	struct compare list[2048];
	struct fixture *b = fixture_up(NULL);
	size_t n = 0, size = 0;
	unsigned char *code;
	char *text = NULL;
	bool missing;
	FILE *f = open_memstream(&text, &size);

	(void)unused;
	for (int kind = CMP; kind <= TNAT; kind++)
		for (int relation = NAIVE_EQ; relation <= NAIVE_GEU; relation++)
			for (int ctype = NAIVE_NORMAL; ctype <= NAIVE_AND_ORCM; ctype++)
				for (int again = 0; again < 3; again++) {
					struct compare x = {kind, relation, ctype, 0};

					if (!exists(&x))
						continue;
					do
						x.imm = immediate(&x);
					while (relation >= NAIVE_LTU && kind != TBIT && x.imm <= 0);
					fprintf(f, ".balign 32\n");
					print_compare(f, &x);
					fprintf(f, "break.i 0;;\n");
					list[n++] = x;
				}
	fclose(f);
	code = fixture_assemble(text, &size, &missing);
	if (missing)
		skip();
	assert_non_null(code);
	assert_true(size > (n - 1) * 32 && size <= n * 32);
	fixture_load(b, code, size);
	for (size_t i = 0; i < n; i++)
		for (unsigned r = 0; r < RUNS; r++)
			check_compare(b, &list[i], FIXTURE_CODE + i * 32);
	free(code);
	free(text);
	fixture_down(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(integer),
	    cmocka_unit_test(multimedia),
	    cmocka_unit_test(compares),
	};

	if (argc > 1)
		state = strtoull(argv[1], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
