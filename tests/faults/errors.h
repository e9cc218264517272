/* Which errors a system call can give, by its name. */
#ifndef FAULTS_ERRORS_H
#define FAULTS_ERRORS_H

#define ERRORS_MAX 4

struct call_errors {
	int number; /* of the system call */
	const char *name;
	int errors[ERRORS_MAX]; /* the likeliest first; 0 ends them */
};

/** @return NULL for a call that cannot fail where its arguments are right */
const struct call_errors *find_call_errors(int number);
/** @return the error of that name; 0: none of the table's */
int find_error(const char *name);
const char *error_name(int error);

#endif
