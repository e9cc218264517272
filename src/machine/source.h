/*
 * Where the LLC has a line from that it sends to a core: its own data, by the snoop of another core
 * that it took and the state in which it had them, or who answered its miss. A number that each on
 * the way adds its part to.
 */
#ifndef MACHINE_SOURCE_H
#define MACHINE_SOURCE_H

#include <stdbool.h>

enum machine_source {
	SOURCE_LLC,			 /* no core was asked */
	SOURCE_LLC_GONE,		 /* one was, and had the line no more, */
	SOURCE_LLC_CLEAN,		 /* clean, */
	SOURCE_LLC_MODIFIED,		 /* modified */
	SOURCE_SNOOPS,			 /* the same by states other than I, from here on */
	SOURCE_MISS = SOURCE_SNOOPS * 4, /* the LLC had not the line: by response and home, */
	SOURCE_MISS_MODIFIED = 6,	 /* in place of RspIFwd where the data are modified */
	SOURCES = SOURCE_MISS + 2 * (SOURCE_MISS_MODIFIED + 1),
};

/** @param response  enum snoop_response of the other socket, or SOURCE_MISS_MODIFIED */
static inline unsigned source_of_miss(unsigned response, bool remote)
{
	return SOURCE_MISS + 2 * response + remote;
}

/**
 * @param source  less than SOURCE_SNOOPS
 * @param state   enum line_state in which the LLC has the line
 */
static inline unsigned source_of_hit(unsigned source, unsigned state)
{
	return source + SOURCE_SNOOPS * (state - 1);
}

/** What a snoop of another core found, of a source that is no miss. */
static inline unsigned source_snoop(unsigned source)
{
	return source % SOURCE_SNOOPS;
}

#endif
