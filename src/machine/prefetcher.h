#ifndef MACHINE_PREFETCHER_H
#define MACHINE_PREFETCHER_H

/* A core's prefetchers, a bit each. */
enum machine_prefetcher {
	MACHINE_PREFETCH_STREAM,   /* into L2: streams of lines in a page */
	MACHINE_PREFETCH_ADJACENT, /* into L2: the other line of 128 bytes */
	MACHINE_PREFETCH_NEXT,	   /* into L1D: the line behind those that are read in order */
	MACHINE_PREFETCH_STRIDE,   /* into L1D: by the steps of an instruction */
};

#endif
