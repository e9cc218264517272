/* The process that serves the files of an emulated machine. */
#ifndef DEVICE_SERVING_H
#define DEVICE_SERVING_H

#include "device/access.h"

struct device_options {
	const struct pmu_machine *machine;
	const char *name; /* for others to join; NULL: none */
	bool wall_clock;  /* time goes on while nothing runs */
	/*
	 * See struct device_access; arg is of all of them. They are called in the serving process,
	 * on the state that *arg has when the server begins: the caller's own stays as it is.
	 */
	void (*refused)(void *arg, const struct pmon_access *access, uint64_t value, int error);
	void (*accessed)(void *arg, const struct pmon_access *access, bool write, uint64_t value,
			 int error);
	void (*violated)(void *arg, const struct pmon_violation *violation);
	/* There too, in the end, for what the others noted. @return what the caller gets */
	int (*finished)(void *arg, int result);
	void *arg;
};

/* What the process that uses the files tells, in this order, and the serving one answers. */
enum serving_kind {
	SERVING_MOUNTED, /* the file system is there: serve it */
	SERVING_SHOWN,	 /* it is laid out; its namespace comes along: offer the machine */
	SERVING_FINISH,	 /* value: what finished() is called with */
};

/**
 * Serves one of two kinds of machines, the other being NULL, until it is reported to finish, or
 * until the other end is closed.
 * @param end   of the channel
 * @param fuse  open /dev/fuse; the function's
 */
_Noreturn void serving_run(struct emul *emul, struct emul_epic *epic,
			   const struct device_options *options, int end, int fuse);

#endif
