#include "base/eventcount.h"

#include <assert.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define NS_PER_SECOND 1000000000u

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low half comes first");

void eventcount_advance(struct eventcount *event)
{
	/* It is taken back before the number rises: who sees the new one may wait for the next. */
	bool waited = __atomic_load_n(&event->waited, __ATOMIC_SEQ_CST) &&
		      __atomic_exchange_n(&event->waited, 0, __ATOMIC_SEQ_CST);

	/* Who waits says so, then reads the number: it sees this one, or is seen here. */
	__atomic_fetch_add(&event->count, 1, __ATOMIC_SEQ_CST);
	if (waited || __atomic_load_n(&event->waited, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &event->count, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool eventcount_await(struct eventcount *event, uint64_t seen, uint64_t ns)
{
	const uint64_t begin = clock_ns();

	while (eventcount_read(event) == seen) {
		const uint64_t passed = clock_ns() - begin;
		struct timespec timeout;

		if (passed >= ns)
			return false;
		timeout = (struct timespec){
		    .tv_sec = (time_t)((ns - passed) / NS_PER_SECOND),
		    .tv_nsec = (long)((ns - passed) % NS_PER_SECOND),
		};
		__atomic_store_n(&event->waited, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&event->count, __ATOMIC_SEQ_CST) == seen)
			syscall(SYS_futex, &event->count, FUTEX_WAIT, (uint32_t)seen, &timeout,
				NULL, 0);
	}
	return true;
}
