/* What the system would make of a file that is to be executed. */
#ifndef BASE_EXECUTABLE_H
#define BASE_EXECUTABLE_H

#include <stdbool.h>

#define EXECUTABLE_HEAD_BYTES 256 /* of a script, as the kernel reads it */
#define EXECUTABLE_SCRIPTS    5	  /* that may lead to each other */

enum executable_kind {
	EXECUTABLE_PROGRAM, /* ELF for x86-64 */
	EXECUTABLE_SCRIPT,  /* its first line names the interpreter */
	EXECUTABLE_TEXT,    /* the system refuses it, and shells run it themselves */
	EXECUTABLE_FOREIGN, /* ELF that no x86-64 emulator runs */
	EXECUTABLE_OTHER,   /* nothing that can be executed, or not by us */
};

struct executable {
	enum executable_kind kind;
	int errnum;		 /* why a file of the last kind cannot be read; 0: it can be */
	unsigned elf_machine;	 /* of ELF, */
	bool is_64_bit;		 /* which may be neither */
	bool raises_rights;	 /* it runs with other rights than the caller's */
	bool names_loader;	 /* a program for x86-64 is not linked statically, */
	bool lacks_loader;	 /* and the loader that it names is not there */
	const char *interpreter; /* of a script; "": the line names none */
	const char *argument;	 /* the rest of its first line; NULL: none */
	char head[EXECUTABLE_HEAD_BYTES + 1]; /* those two point here */
};

/** Looks into a file. Whether the caller may execute it is not looked at. */
void executable_read(struct executable *file, const char *path);

#endif
