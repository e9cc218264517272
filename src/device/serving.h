/* The process that serves the files of an emulated machine. */
#ifndef DEVICE_SERVING_H
#define DEVICE_SERVING_H

#include "device/server.h"

/* What the process that uses the files tells, in this order, and the serving one answers. */
enum serving_kind {
	SERVING_MOUNTED, /* the file system is there: serve it */
	SERVING_SHOWN,	 /* it is laid out; its namespace comes along: offer the machine */
	SERVING_FINISH,	 /* value: what finished() is called with */
};

/**
 * Serves until it is reported to finish, or until the other end is closed.
 * @param end   of the channel
 * @param fuse  open /dev/fuse; the function's
 */
_Noreturn void serving_run(struct emul *emul, const struct device_options *options, int end,
			   int fuse);

#endif
