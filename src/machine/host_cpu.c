#include "machine/host_cpu.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#define WAITS	  16	    /* then the thread is bound */
#define PASSES	  64	    /* then it is let go */
#define CHOICE_NS 200000000 /* then the processor is chosen anew */

static struct machine_host_cpus only(uint32_t cpu)
{
	struct machine_host_cpus cpus = {0};

	cpus.words[cpu / 64] = 1ull << cpu % 64;
	return cpus;
}

static bool get(struct machine_host_cpus *cpus)
{
	*cpus = (struct machine_host_cpus){0};
	return syscall(SYS_sched_getaffinity, 0, sizeof(*cpus), cpus) > 0;
}

static bool set(const struct machine_host_cpus *cpus)
{
	return !syscall(SYS_sched_setaffinity, 0, sizeof(*cpus), cpus);
}

void host_cpu_let_go(struct machine_hart *core)
{
	struct machine_host_cpu *own = &core->host_cpu;
	struct machine_host_cpus now, bound;

	/* A process that ends takes the other threads' cores from them. */
	if (core->thread != lock_thread())
		return;
	own->waits = own->passes = 0;
	if (!own->bound)
		return;
	bound = only(own->bound - 1);
	own->bound = 0;
	/* Else somebody has bound it otherwise since. */
	if (get(&now) && !memcmp(&now, &bound, sizeof(now)))
		set(&own->allowed);
}

/* @return the processor of threads that take turns, plus 1; 0: none can be told */
static uint32_t choose(const struct machine_hart *core)
{
	struct machine_state *state = core->machine->state;
	uint64_t chosen = __atomic_load_n(&state->host_cpu_chosen, __ATOMIC_RELAXED);
	const uint64_t now = clock_ns();
	unsigned cpu;

	if (chosen && now - chosen < CHOICE_NS)
		return __atomic_load_n(&state->host_cpu, __ATOMIC_RELAXED);
	if (syscall(SYS_getcpu, &cpu, NULL, NULL))
		return 0;
	if (__atomic_compare_exchange_n(&state->host_cpu_chosen, &chosen, now, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		__atomic_store_n(&state->host_cpu, cpu + 1, __ATOMIC_RELAXED);
	return __atomic_load_n(&state->host_cpu, __ATOMIC_RELAXED);
}

/* Only where it can run, and not where that cannot be told. */
static void bind(struct machine_hart *core)
{
	struct machine_host_cpu *own = &core->host_cpu;
	const uint32_t cpu = choose(core) - 1;
	struct machine_host_cpus allowed, one;

	if (cpu >= MACHINE_HOST_CPUS || !get(&allowed) ||
	    !(allowed.words[cpu / 64] >> cpu % 64 & 1))
		return;
	one = only(cpu);
	if (!set(&one))
		return;
	own->allowed = allowed;
	own->bound = cpu + 1;
	own->since = clock_ns();
}

/* Whether the others run elsewhere by now, or the host is to say anew where it would run. */
static bool is_stale(const struct machine_hart *core)
{
	const struct machine_state *state = core->machine->state;

	return core->host_cpu.bound != __atomic_load_n(&state->host_cpu, __ATOMIC_RELAXED) ||
	       clock_ns() - core->host_cpu.since > CHOICE_NS;
}

void host_cpu_wait(struct machine_hart *core)
{
	struct machine_host_cpu *own = &core->host_cpu;

	if (core->machine->defer)
		return;
	own->passes = 0;
	if (++own->waits % WAITS)
		return;
	if (own->bound && is_stale(core))
		host_cpu_let_go(core);
	else if (!own->bound)
		bind(core);
}

void host_cpu_pass(struct machine_hart *core)
{
	if (core->host_cpu.bound && ++core->host_cpu.passes == PASSES)
		host_cpu_let_go(core);
}
