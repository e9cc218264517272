/* What the library that is loaded into tools (plugin/guest.c) says of itself in its file. */
#ifndef FEED_GUEST_H
#define FEED_GUEST_H

/* In two parts: only the library has them in one. */
#define FEED_GUEST_NAME	   "pmulab library for tools, version"
#define FEED_GUEST_VERSION "1"

#endif
