/* Memory that the command which starts the emulator shares with the plugin in it. */
#ifndef EMUL_BEGAN_H
#define EMUL_BEGAN_H

struct emul_began {
	char began;	   /* 1: the guest has executed its first instruction */
	char refusal[512]; /* why it never will; empty: the plugin knows nothing */
};

#endif
