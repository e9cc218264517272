#include "machine/users.h"

#include "machine/skew.h"

unsigned users_count(const struct core *shared)
{
	unsigned users = 0;

	for (unsigned i = 0; i < shared->users_high; i++)
		users += shared->users[i].thread != 0;
	return users;
}

void users_unlist(struct core_user *user)
{
	__atomic_store_n(&user->thread, 0, __ATOMIC_RELAXED);
}

struct core_user *users_find(const struct machine *machine, uint32_t thread)
{
	for (unsigned number = 0; number < machine->core_count; number++) {
		struct core *shared = &machine->cores[number];
		const uint32_t users = __atomic_load_n(&shared->users_high, __ATOMIC_ACQUIRE);

		for (uint32_t i = 0; i < users; i++)
			if (__atomic_load_n(&shared->users[i].thread, __ATOMIC_RELAXED) == thread)
				return &shared->users[i];
	}
	return NULL;
}

static void await_lock(struct core_user *user, uint32_t thread)
{
	if (user)
		__atomic_store_n(&user->in_lock, thread, __ATOMIC_SEQ_CST);
}

/* A lock that was released wakes who sleeps first, which may take long to take it on a busy host.
 */
void machine_hold_fully(struct machine *machine, uint32_t thread)
{
	struct lock *lock = &machine->state->lock;
	struct core_user *user;

	if (lock_acquire_within(lock, thread, 0))
		return;
	user = users_find(machine, thread);
	await_lock(user, thread);
	lock_acquire_fully(lock, thread);
	await_lock(user, 0);
}

bool users_in_lock(const struct machine *machine, uint32_t thread)
{
	bool found = false;

	for (unsigned number = 0; number < machine->core_count && !found; number++) {
		const struct core *shared = &machine->cores[number];
		const uint32_t users = __atomic_load_n(&shared->users_high, __ATOMIC_ACQUIRE);

		for (uint32_t i = 0; i < users && !found; i++)
			found =
			    __atomic_load_n(&shared->users[i].in_lock, __ATOMIC_SEQ_CST) == thread;
	}
	return found;
}

void users_forget_dead(struct machine *machine, unsigned number, uint32_t caller)
{
	struct core *shared = &machine->cores[number];
	bool died = false;

	for (unsigned i = 0; i < shared->users_high; i++) {
		struct core_user *user = &shared->users[i];

		if (user->thread && user->thread != caller && !lock_thread_lives(user->thread)) {
			users_unlist(user);
			died = true;
		}
	}
	if (died && !users_count(shared)) {
		skew_forget(machine, number);
		machine_vacate(machine, number);
	}
}

void users_name(struct core_user *user, uint32_t thread, bool unnamed)
{
	__atomic_store_n(&user->waits, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&user->unnamed, unnamed, __ATOMIC_RELAXED);
	__atomic_store_n(&user->in_vfork, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&user->thread, thread, __ATOMIC_RELAXED);
}

struct machine_progress *users_list(struct core *shared, uint32_t thread)
{
	unsigned i = 0;

	while (i < shared->users_high && shared->users[i].thread)
		i++;
	users_name(&shared->users[i], thread, true);
	__atomic_store_n(&shared->users[i].begun, 0, __ATOMIC_RELAXED);
	if (i == shared->users_high)
		__atomic_store_n(&shared->users_high, i + 1, __ATOMIC_RELEASE);
	return &shared->progress[i];
}

int users_choose_core(struct machine *machine, uint32_t thread, uint64_t cpus)
{
	unsigned fewest = CORE_USERS_MAX;
	int best = -1;

	for (unsigned i = 0; i < machine->core_count && fewest; i++) {
		unsigned users;

		if (!(cpus >> i & 1))
			continue;
		users_forget_dead(machine, i, thread);
		users = users_count(&machine->cores[i]);
		if (users < fewest) {
			best = (int)i;
			fewest = users;
		}
	}
	return best;
}

bool users_are_one(const struct machine *machine)
{
	unsigned users = 0;

	for (unsigned i = 0; i < machine->core_count; i++)
		users += users_count(&machine->cores[i]);
	return users == 1;
}

static bool any_to_begin(const struct core *core)
{
	const uint32_t users = __atomic_load_n(&core->users_high, __ATOMIC_ACQUIRE);
	bool found = false;

	for (uint32_t i = 0; i < users && !found; i++) {
		const uint32_t thread = __atomic_load_n(&core->users[i].thread, __ATOMIC_RELAXED);

		found = thread && !__atomic_load_n(&core->users[i].begun, __ATOMIC_RELAXED) &&
			lock_thread_lives(thread);
	}
	return found;
}

bool users_any_to_begin(const struct machine *machine)
{
	bool any = false;

	for (unsigned i = 0; i < machine->core_count && !any; i++)
		any = any_to_begin(&machine->cores[i]);
	return any;
}
