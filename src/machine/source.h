/*
 * Where the LLC has a line from that it sends to a core: its own data, by the snoop of another core
 * that it took, or who answered its miss. A number that each on the way adds its part to.
 */
#ifndef MACHINE_SOURCE_H
#define MACHINE_SOURCE_H

#include <stdbool.h>

enum machine_source {
	SOURCE_LLC,	     /* no core was asked */
	SOURCE_LLC_GONE,     /* one was, and had the line no more, */
	SOURCE_LLC_CLEAN,    /* clean, */
	SOURCE_LLC_MODIFIED, /* modified */
	SOURCE_MISS,	     /* the LLC had not the line: by response and home, from here on */
	SOURCES = SOURCE_MISS + 2 * 6,
};

/** @param response  enum snoop_response of the other socket */
static inline unsigned source_of_miss(unsigned response, bool remote)
{
	return SOURCE_MISS + 2 * response + remote;
}

#endif
