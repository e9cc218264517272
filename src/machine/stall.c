#include "machine/stall.h"

#include "machine/users.h"

static bool lock_is_taken(const struct machine *machine)
{
	uint32_t owner = lock_owner(&machine->state->lock);

	return owner && lock_thread_lives(owner);
}

static bool is_in_vfork(const struct core_user *user, uint32_t thread)
{
	return __atomic_load_n(&user->in_vfork, __ATOMIC_RELAXED) &&
	       lock_thread_sleeps_deep(thread);
}

/* The place of its child may have its number, too. */
bool stall_in_vfork(const struct core *core, uint32_t thread)
{
	uint32_t users = __atomic_load_n(&core->users_high, __ATOMIC_ACQUIRE);
	bool found = false;

	for (uint32_t i = 0; i < users && !found; i++)
		found = __atomic_load_n(&core->users[i].thread, __ATOMIC_RELAXED) == thread &&
			is_in_vfork(&core->users[i], thread);
	return found;
}

static bool any_in_vfork(const struct core *core, uint32_t process)
{
	const uint32_t users = __atomic_load_n(&core->users_high, __ATOMIC_ACQUIRE);
	bool found = false;

	for (uint32_t i = 0; i < users && !found; i++) {
		const struct core_user *user = &core->users[i];
		const uint32_t thread = __atomic_load_n(&user->thread, __ATOMIC_RELAXED);

		found = thread && __atomic_load_n(&user->process, __ATOMIC_RELAXED) == process &&
			is_in_vfork(user, thread);
	}
	return found;
}

bool stall_by_vfork(const struct machine *machine, uint32_t thread)
{
	const struct core_user *user = users_find(machine, thread);
	const uint32_t process = user ? __atomic_load_n(&user->process, __ATOMIC_RELAXED) : 0;
	bool found = false;

	for (unsigned i = 0; process && i < machine->core_count && !found; i++)
		found = any_in_vfork(&machine->cores[i], process);
	return found;
}

/* Whether a user of a core is a thread of @thread's process that may be awake, and does not wait.
 */
static bool is_awake(const struct core_user *user, uint32_t thread, uint32_t self)
{
	uint32_t other = __atomic_load_n(&user->thread, __ATOMIC_RELAXED);

	if (!other)
		return false;
	if (__atomic_load_n(&user->unnamed, __ATOMIC_RELAXED))
		return lock_thread_sleep(thread, other) != LOCK_GONE;
	return other != thread && other != self &&
	       !__atomic_load_n(&user->waits, __ATOMIC_RELAXED) &&
	       !lock_thread_sleep(thread, other) && !is_in_vfork(user, other);
}

static bool any_awake(const struct core *core, uint32_t thread, uint32_t self)
{
	uint32_t users = __atomic_load_n(&core->users_high, __ATOMIC_ACQUIRE);
	bool awake = false;

	for (uint32_t i = 0; i < users && !awake; i++)
		awake = is_awake(&core->users[i], thread, self);
	return awake;
}

bool stall_any_awake(const struct machine *machine, uint32_t thread, uint32_t self)
{
	bool awake = false;

	for (unsigned i = 0; i < machine->core_count && !awake; i++)
		awake = any_awake(&machine->cores[i], thread, self);
	return awake;
}

/*
 * Who sleeps for a lock of its emulator or of the machine is woken by a thread that is awake, or is
 * so in turn: what holds such a lock never waits for other cores.
 */
static bool may_be_woken(const struct machine *machine, uint32_t thread, uint32_t self)
{
	return lock_is_taken(machine) || users_in_lock(machine, thread) ||
	       stall_any_awake(machine, thread, self);
}

bool stall_look(struct stall *stall, const struct machine *machine, uint32_t thread, uint32_t self)
{
	const struct stall look = {.thread = thread, .sleep = lock_thread_sleep(thread, thread)};

	if (!look.sleep || look.sleep != stall->sleep || thread != stall->thread)
		*stall = look;
	else if (!stall_found(stall) && may_be_woken(machine, thread, self))
		*stall = look;
	else if (!stall_found(stall))
		stall->looks++;
	return stall_found(stall);
}

bool stall_all_dead(const struct core *core)
{
	uint32_t users = __atomic_load_n(&core->users_high, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < users; i++) {
		uint32_t thread = __atomic_load_n(&core->users[i].thread, __ATOMIC_RELAXED);

		if (thread && lock_thread_lives(thread))
			return false;
	}
	return true;
}
