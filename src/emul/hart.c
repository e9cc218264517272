/* Harts that are driven by hand. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/option.h"
#include "emul/emul.h"
#include "machine/access.h"

#define ADDRESS_BITS 47
#define ACCESS_MAX   64
#define CODE_MAX     65536

/* An address space, with its last hart gone. */
struct space {
	struct machine_address_space *machine_address_space;
	atomic_uint users;
};

struct pmu_hart {
	struct machine *machine;
	struct machine_hart *core;
	struct space *space;
	bool paused;
};

static void space_leave(struct space *space)
{
	if (!space || atomic_fetch_sub(&space->users, 1) > 1)
		return;
	machine_address_space_free(space->machine_address_space);
	free(space);
}

static struct space *space_new(struct machine *machine)
{
	struct space *space = calloc(1, sizeof(*space));

	if (!space || machine_address_space_new(&space->machine_address_space, machine)) {
		free(space);
		return NULL;
	}
	atomic_init(&space->users, 1);
	return space;
}

static struct space *space_join(struct space *space)
{
	atomic_fetch_add(&space->users, 1);
	return space;
}

static uint64_t ticks_of(const struct machine *machine, uint64_t ns)
{
	uint64_t ticks_per_us = machine_ticks_per_second(machine) / 1000000;

	return ns / 1000 * ticks_per_us + ns % 1000 * ticks_per_us / 1000;
}

int pmu_hart_new(struct pmu_hart **out, struct pmu_ctx *ctx, struct pmu_emul *emul,
		 const struct pmu_hart_options *given)
{
	struct pmu_hart_options options = {0};
	int error = option_take(ctx, &options, sizeof(options), given);
	struct machine *machine;
	struct pmu_hart *hart;

	if (error)
		return error;
	if (!emul_of(emul))
		return error_set(ctx, PMU_E_UNSUPPORTED, "cores of %s are driven by programs only",
				 pmu_machine_name(pmu_emul_machine(emul)));
	machine = emul_machine(emul_of(emul));
	if (options.sharer && options.sharer->machine != machine)
		return error_set(ctx, PMU_E_CONFLICT,
				 "harts of two machines cannot share an address space");
	hart = calloc(1, sizeof(*hart));
	if (hart)
		hart->space =
		    options.sharer ? space_join(options.sharer->space) : space_new(machine);
	if (!hart || !hart->space) {
		free(hart);
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a hart");
	}
	hart->machine = machine;
	hart->core = machine_hart_enter(machine, hart->space->machine_address_space,
					ticks_of(machine, options.not_before_ns));
	*out = hart;
	return 0;
}

void pmu_hart_free(struct pmu_hart *hart)
{
	if (!hart)
		return;
	machine_hart_leave(hart->core);
	space_leave(hart->space);
	free(hart);
}

void pmu_hart_pause(struct pmu_hart *hart)
{
	if (!hart->paused)
		machine_hart_pause(hart->core);
	hart->paused = true;
}

static void go_on(struct pmu_hart *hart)
{
	if (hart->paused)
		machine_hart_resume(hart->core);
	hart->paused = false;
}

static bool is_address(uint64_t address, uint32_t bytes)
{
	return address + bytes <= UINT64_C(1) << ADDRESS_BITS && address + bytes > address;
}

int pmu_hart_execute(struct pmu_hart *hart, const struct pmu_code *code)
{
	struct machine_block block;

	if (code->bytes > CODE_MAX || !is_address(code->address, code->bytes) ||
	    !code->instructions || code->instructions > code->bytes ||
	    code->loads > code->instructions || code->stores > code->instructions ||
	    code->branches > code->instructions)
		return PMU_E_RANGE;
	machine_block_init(hart->machine, &block, code->address, code->bytes, code->instructions,
			   code->loads, code->stores);
	block.branches = code->branches;
	go_on(hart);
	machine_run(hart->core, &block);
	return 0;
}

/* @return 0, and the hart goes on; or PMU_E_RANGE */
static int begin(struct pmu_hart *hart, uint64_t address, uint32_t bytes,
		 const struct pmu_dependence *dependence, struct machine_insn *insn)
{
	if (bytes > ACCESS_MAX || !is_address(address, bytes))
		return PMU_E_RANGE;
	*insn = (struct machine_insn){0};
	if (dependence)
		*insn = (struct machine_insn){
		    .address_registers = dependence->address_registers,
		    .loads_registers = dependence->loaded_registers,
		};
	go_on(hart);
	return 0;
}

int pmu_hart_load(struct pmu_hart *hart, uint64_t address, uint32_t bytes,
		  const struct pmu_dependence *dependence)
{
	struct machine_insn insn;
	int error = begin(hart, address, bytes, dependence, &insn);

	if (!error)
		machine_load(hart->core, address, bytes, &insn);
	return error;
}

int pmu_hart_store(struct pmu_hart *hart, uint64_t address, uint32_t bytes,
		   const struct pmu_dependence *dependence)
{
	struct machine_insn insn;
	int error = begin(hart, address, bytes, dependence, &insn);

	if (!error)
		machine_store(hart->core, address, bytes, &insn);
	return error;
}

int pmu_hart_locked(struct pmu_hart *hart, uint64_t address, uint32_t bytes,
		    const struct pmu_dependence *dependence)
{
	struct machine_insn insn;
	int error = begin(hart, address, bytes, dependence, &insn);

	if (!error)
		machine_locked(hart->core, address, bytes, &insn);
	return error;
}

int pmu_hart_store_non_temporal(struct pmu_hart *hart, uint64_t address, uint32_t bytes)
{
	struct machine_insn insn;
	int error = begin(hart, address, bytes, NULL, &insn);

	if (!error)
		machine_store_nt(hart->core, address, bytes);
	return error;
}

double pmu_hart_time_ns(const struct pmu_hart *hart)
{
	return (double)machine_hart_time(hart->core) * 1e9 /
	       (double)machine_ticks_per_second(hart->machine);
}

uint64_t pmu_hart_instructions(const struct pmu_hart *hart)
{
	return *machine_hart_instructions(hart->core);
}
