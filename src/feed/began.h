/* One byte of memory between the command that starts the emulator and the plugin in it. */
#ifndef FEED_BEGAN_H
#define FEED_BEGAN_H

enum feed_began {
	FEED_NOT_BEGUN,
	FEED_BEGAN,   /* the guest has executed its first instruction */
	FEED_REFUSED, /* it never will, and the plugin has said why */
};

#endif
