/* What is loaded into tools on an emulated machine: what its parts have of each other. */
#ifndef PLUGIN_GUEST_H
#define PLUGIN_GUEST_H

#define EXPORT __attribute__((visibility("default")))

/** The CPU that the calling thread is on, as far as it can tell. Also in a signal handler. */
int guest_cpu(void);
/** Takes up what was handed on by what executed this tool. */
void guest_affinity_begin(void);

#endif
