/* What passes over the files that run programs on a machine with IA-64 cores. */
#ifndef DEVICE_RUN_FILE_H
#define DEVICE_RUN_FILE_H

#include <stdint.h>

#define REGISTER_FILE_RUN "dev/cpu/run"

/* What a tool asks for, and reads from the same descriptor when it is over. */
struct register_file_result {
	int error; /* 0: it ran */
	int exit;
	char message[256];
};
/* In front of the words of the arguments, and of the environment, each with its end. */
struct register_file_request {
	uint32_t arguments, settings;
};
#define REGISTER_FILE_REQUEST_MAX (100u << 10) /* bytes */

/*
 * The same request to this file starts the program. The descriptor then becomes readable, and gives
 * messages: of each overflow that interrupts, and of the end. The number of an overflow's message,
 * written to it, lets the program go on.
 */
#define REGISTER_FILE_WATCH "dev/cpu/watch"

struct register_file_message {
	uint64_t number; /* of this overflow; 0: the program has ended */
	uint64_t overflowed, ip, time_ns;
	uint32_t cpu, thread;
	struct register_file_result result; /* in the end */
};

#endif
