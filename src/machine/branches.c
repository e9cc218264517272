#include "machine/branches.h"

/* Two threads of a core may run at once. */
static void add(struct core_branches *branches, enum machine_branch kind,
		const struct core_branch *branch)
{
	struct core_branch_ring *ring = &branches->rings[kind];
	const uint64_t number = __atomic_fetch_add(&ring->count, 1, __ATOMIC_RELAXED) + 1;
	const uint64_t order = __atomic_add_fetch(&branches->count, 1, __ATOMIC_RELAXED);
	struct core_branch *entry = &ring->kept[number % CORE_BRANCHES];

	/* Who reads it meanwhile finds that it is none. */
	__atomic_store_n(&entry->number, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&entry->order, order, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->from, branch->from, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->to, branch->to, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->mispredicted, branch->mispredicted, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->number, number, __ATOMIC_RELEASE);
}

/* A conditional one to what stands after it anyway is taken for one that is not taken. */
static bool is_taken(const struct machine_hart *core, uint64_t to)
{
	switch ((enum machine_branch)core->issue.end.branch) {
	case MACHINE_BRANCH_NONE:
	case MACHINE_BRANCH_SYSTEM:
		return false;
	case MACHINE_BRANCH_CONDITIONAL:
		return to != core->issue.next;
	default:
		return true;
	}
}

void branches_note(struct machine_hart *core, uint64_t address, uint64_t last)
{
	const struct core_branch branch = {
	    .from = core->branch_at,
	    .to = address,
	    .mispredicted = core->unforeseen,
	};

	if (branch.from && is_taken(core, address))
		add(&core->core->branches, core->issue.end.branch, &branch);
	core->unforeseen = false;
	core->branch_at = last;
}

/* What is to be emitted. */
struct new_branch {
	struct core_branch branch;
	uint32_t qualifier;
	uint64_t count; /* that it stands for */
};

/* @return whether it is still there */
static bool read_entry(const struct core_branch *entry, uint64_t number, struct core_branch *branch)
{
	if (__atomic_load_n(&entry->number, __ATOMIC_ACQUIRE) != number)
		return false;
	branch->order = __atomic_load_n(&entry->order, __ATOMIC_RELAXED);
	branch->from = __atomic_load_n(&entry->from, __ATOMIC_RELAXED);
	branch->to = __atomic_load_n(&entry->to, __ATOMIC_RELAXED);
	branch->mispredicted = __atomic_load_n(&entry->mispredicted, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&entry->number, __ATOMIC_RELAXED) == number;
}

/* @return how many more there are in @fresh. One that is being written is emitted the next time. */
static unsigned take_new(struct core_branch_ring *ring, uint32_t qualifier,
			 struct new_branch *fresh)
{
	const uint64_t count = __atomic_load_n(&ring->count, __ATOMIC_RELAXED);
	uint64_t number = ring->reported + 1, missed = 0;
	unsigned found = 0;

	if (count - ring->reported > CORE_BRANCHES)
		missed = count - ring->reported - CORE_BRANCHES;
	for (number += missed; number <= count; number++) {
		if (!read_entry(&ring->kept[number % CORE_BRANCHES], number,
				&fresh[found].branch)) {
			missed++;
			continue;
		}
		fresh[found].qualifier = qualifier;
		fresh[found++].count = 1 + missed;
		ring->reported = number;
		missed = 0;
	}
	return found;
}

static void sort(struct new_branch *fresh, unsigned count)
{
	for (unsigned i = 1; i < count; i++) {
		const struct new_branch one = fresh[i];
		unsigned at = i;

		for (; at && fresh[at - 1].branch.order > one.branch.order; at--)
			fresh[at] = fresh[at - 1];
		fresh[at] = one;
	}
}

void branches_report(const struct machine *machine, unsigned core)
{
	static const uint32_t qualifiers[MACHINE_BRANCH_KINDS] = {
	    [MACHINE_BRANCH_CONDITIONAL] = QUALIFIER_CORE_BRANCH_RECORD_CONDITIONAL,
	    [MACHINE_BRANCH_JUMP] = QUALIFIER_CORE_BRANCH_RECORD_JUMP,
	    [MACHINE_BRANCH_JUMP_INDIRECT] = QUALIFIER_CORE_BRANCH_RECORD_JUMP_INDIRECT,
	    [MACHINE_BRANCH_CALL] = QUALIFIER_CORE_BRANCH_RECORD_CALL,
	    [MACHINE_BRANCH_CALL_INDIRECT] = QUALIFIER_CORE_BRANCH_RECORD_CALL_INDIRECT,
	    [MACHINE_BRANCH_RETURN] = QUALIFIER_CORE_BRANCH_RECORD_RETURN,
	};
	struct core_branches *branches = &machine->cores[core].branches;
	struct new_branch fresh[MACHINE_BRANCH_KINDS * CORE_BRANCHES];
	unsigned count = 0;

	for (unsigned kind = 0; kind < MACHINE_BRANCH_KINDS; kind++)
		count += take_new(&branches->rings[kind], qualifiers[kind], &fresh[count]);
	sort(fresh, count);
	for (unsigned i = 0; i < count; i++) {
		const struct core_branch *branch = &fresh[i].branch;
		const struct signal signal = {
		    .id = SIGNAL_CORE_BRANCH_RECORD,
		    .socket = (uint8_t)machine_socket(machine, core),
		    .unit = (uint8_t)(core % machine->desc->cores),
		    .qualifiers =
			fresh[i].qualifier |
			(branch->mispredicted ? QUALIFIER_CORE_BRANCH_RECORD_MISPREDICTED : 0),
		    .duration = fresh[i].count,
		    .address = branch->from,
		    .target = branch->to,
		};

		signal_emit_sum(&machine->port, &signal);
	}
}
