/*
 * fma, fms, fnma and their parallel forms against exact arithmetic: test_fp_fma [operations]
 * [seed].
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fp_model.h"
#include "fp_random.h"
#include "support/cmocka.h"

typedef uint32_t operation(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
			   const struct ia64_fr *f2, uint64_t fpsr, unsigned mode);

struct form {
	const char *name;
	operation *scalar, *parallel;
	bool negate_product, negate_addend;
};

static const struct form forms[] = {
    {"fma", ia64_fma, ia64_fpma, false, false},
    {"fms", ia64_fms, ia64_fpms, false, true},
    {"fnma", ia64_fnma, ia64_fpnma, true, false},
};

struct run {
	unsigned long operations;
	uint64_t seed;
};

struct values {
	struct value f3, f4, f2;
};

static int fixture_up(void **state)
{
	struct values *v = malloc(sizeof(*v));

	assert_non_null(v);
	value_init(&v->f3);
	value_init(&v->f4);
	value_init(&v->f2);
	*state = v;
	return 0;
}

static int fixture_down(void **state)
{
	struct values *v = *state;

	value_clear(&v->f3);
	value_clear(&v->f4);
	value_clear(&v->f2);
	free(v);
	return 0;
}

static struct run run = {60000, 0x9E3779B97F4A7C15u};

static void show(const char *name, struct ia64_fr f)
{
	print_error("%s %c %05" PRIx64 " %016" PRIx64 "\n", name, f.se & IA64_FR_SIGN ? '-' : '+',
		    f.se & IA64_FR_EXP, f.sig);
}

static void check(const struct form *form, const struct ia64_fr *f3, const struct ia64_fr *f4,
		  const struct ia64_fr *f2, uint64_t fpsr, unsigned mode, struct ia64_fr got,
		  uint32_t status, const struct outcome *want)
{
	bool fault = want->status & IA64_FP_FAULT;

	if (status == want->status && (fault || (got.sig == want->fr.sig && got.se == want->fr.se)))
		return;
	show("f3  ", *f3);
	show("f4  ", *f4);
	if (f2)
		show("f2  ", *f2);
	show("got ", got);
	show("want", want->fr);
	fail_msg("%s fpsr %" PRIx64 " mode %u: status %x, not %x", form->name, fpsr, mode, status,
		 want->status);
}

static void scalar(void **state)
{
	struct values *v = *state;
	struct fp_random r = {run.seed};

	for (unsigned long i = 0; i < run.operations; i++) {
		const struct form *form = &forms[random_below(&r, 3)];
		uint64_t fpsr = random_fpsr(&r);
		unsigned sf = random_below(&r, 4), precision = random_below(&r, 3);
		unsigned mode = ia64_fp_mode(sf, precision);
		struct environment env = environment_of(fpsr, sf, precision, TO_REGISTER);
		bool adds = random_below(&r, 8);
		struct ia64_fr f3, f4, f2, f1;
		struct outcome want;
		uint32_t status;

		random_operands(&r, &f3, &f4, &f2);
		value_from_register(&v->f3, f3);
		value_from_register(&v->f4, f4);
		value_from_register(&v->f2, f2);
		want = model_fma(&v->f3, &v->f4, adds ? &v->f2 : NULL, form->negate_product,
				 form->negate_addend, &env);
		/* The result may take an operand's place; a fault leaves it. */
		f1 = f2;
		status = form->scalar(&f1, &f3, &f4, adds ? &f1 : NULL, fpsr, mode);
		if (status & IA64_FP_FAULT)
			assert_memory_equal(&f1, &f2, sizeof(f1));
		check(form, &f3, &f4, adds ? &f2 : NULL, fpsr, mode, f1, status, &want);
	}
}

static struct ia64_fr random_pair(struct fp_random *r)
{
	struct ia64_fr f =
	    ia64_fr_from_integer((uint64_t)random_single(r) << 32 | random_single(r));

	if (!random_below(r, 64))
		f = IA64_FR_NATVAL;
	else if (!random_below(r, 8))
		f.se = random_bits(r) & (IA64_FR_SIGN | IA64_FR_EXP); /* of no account */
	return f;
}

static struct outcome half(struct values *v, const struct form *form, unsigned shift,
			   const struct ia64_fr *f3, const struct ia64_fr *f4,
			   const struct ia64_fr *f2, const struct environment *env)
{
	value_from_single(&v->f3, (uint32_t)(f3->sig >> shift));
	value_from_single(&v->f4, (uint32_t)(f4->sig >> shift));
	if (f2)
		value_from_single(&v->f2, (uint32_t)(f2->sig >> shift));
	return model_fma(&v->f3, &v->f4, f2 ? &v->f2 : NULL, form->negate_product,
			 form->negate_addend, env);
}

static void parallel(void **state)
{
	struct values *v = *state;
	struct fp_random r = {run.seed};

	for (unsigned long i = 0; i < run.operations / 2; i++) {
		const struct form *form = &forms[random_below(&r, 3)];
		uint64_t fpsr = random_fpsr(&r);
		unsigned sf = random_below(&r, 4);
		struct environment env = environment_of(fpsr, sf, IA64_FP_SINGLE, TO_SINGLE);
		struct ia64_fr f3 = random_pair(&r), f4 = random_pair(&r), f2 = random_pair(&r), f1;
		struct ia64_fr *addend = random_below(&r, 8) ? &f2 : NULL;
		struct outcome hi, lo, want;
		uint32_t status;

		status = form->parallel(&f1, &f3, &f4, addend, fpsr, sf);
		if (ia64_fr_is_natval(&f3) || ia64_fr_is_natval(&f4) ||
		    (addend && ia64_fr_is_natval(addend))) {
			want = (struct outcome){.fr = IA64_FR_NATVAL};
		} else {
			hi = half(v, form, 32, &f3, &f4, addend, &env);
			lo = half(v, form, 0, &f3, &f4, addend, &env);
			want.status = model_pair_status(hi.status, lo.status);
			want.fr = (struct ia64_fr){(uint64_t)hi.single << 32 | lo.single, 0x1003E};
		}
		check(form, &f3, &f4, addend, fpsr, sf, f1, status, &want);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(scalar, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(parallel, fixture_up, fixture_down),
	};

	if (argc > 1)
		run.operations = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		run.seed = strtoull(argv[2], NULL, 0) | 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
