/* What the library that is loaded into tools (plugin/guest.c) says of itself in its file. */
#ifndef EMUL_GUEST_H
#define EMUL_GUEST_H

/* In two parts: only the library has them in one. */
#define GUEST_NAME    "pmulab library for tools, version"
#define GUEST_VERSION "1"

#endif
