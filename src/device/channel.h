/* Between the process that serves device files and the one that uses them: messages, a socket. */
#ifndef DEVICE_CHANNEL_H
#define DEVICE_CHANNEL_H

#include "pmulab/pmulab.h"

#define CHANNEL_TEXT 1024

struct channel_message {
	int kind;  /* what the sender has done; the two agree on it */
	int value; /* an error, or whatever goes with the kind */
	char text[CHANNEL_TEXT];
};

/** @param ends  receives both ends. @return 0 or PMU_E_IO */
int channel_new(int ends[2], struct pmu_ctx *ctx);

/** @param fd  goes along, and stays the caller's; -1: none. @return 0, or -1 where nobody receives
 * it */
int channel_send(int end, const struct channel_message *message, int fd);

/** @param fd  receives what went along, or -1. @return 0, or -1 where the other end is closed */
int channel_receive(int end, struct channel_message *message, int *fd);

#endif
