/* A report that cannot be written: its reason is given where it is known, and only there. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "support/cmocka.h"

/* A file whose writes fail with these errors in turn; 0: that one is done. */
struct device {
	const int *errors;
	size_t count, writes;
};

static ssize_t device_write(void *cookie, const char *data, size_t size)
{
	struct device *device = cookie;
	int failed = device->writes < device->count ? device->errors[device->writes] : 0;

	(void)data;
	device->writes++;
	if (!failed)
		return (ssize_t)size;
	errno = failed;
	return 0;
}

/* Writes @lines of 100 bytes through a buffer of 1000. @return exit code; @said: standard error */
static int end_report(struct device *device, int lines, char said[200])
{
	static char buffer[1000];
	FILE *out = fopencookie(device, "w", (cookie_io_functions_t){.write = device_write});
	FILE *errors = tmpfile();
	struct cli cli = {.command = "stat", .out = out};
	int code, saved = dup(STDERR_FILENO);

	assert_non_null(out);
	assert_non_null(errors);
	setvbuf(out, buffer, _IOFBF, sizeof(buffer));
	for (int i = 0; i < lines; i++)
		fprintf(out, "%99d\n", i);
	dup2(fileno(errors), STDERR_FILENO);
	errno = ENOENT; /* of something else */
	code = cli_end_report(&cli);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(errors);
	said[fread(said, 1, 199, errors)] = '\0';
	fclose(errors);
	fclose(out);
	return code;
}

static void test_written(void **state)
{
	struct device device = {0};
	char said[200];

	(void)state;
	assert_int_equal(end_report(&device, 25, said), EXIT_DONE);
	assert_string_equal(said, "");
	assert_int_equal(device.writes, 3);
}

/* What is still in the buffer fails now: the reason is this one. */
static void test_fails_at_the_end(void **state)
{
	static const int errors[] = {0, 0, ENOSPC};
	struct device device = {errors, 3, 0};
	char said[200];

	(void)state;
	assert_int_equal(end_report(&device, 25, said), EXIT_FAILED);
	assert_string_equal(said,
			    "pmulab stat: cannot write the report: No space left on device\n");
}

/* A part failed earlier, and the rest is written: nobody knows any more why. */
static void test_failed_before(void **state)
{
	static const int errors[] = {EIO};
	struct device device = {errors, 1, 0};
	char said[200];

	(void)state;
	assert_int_equal(end_report(&device, 25, said), EXIT_FAILED);
	assert_string_equal(said, "pmulab stat: cannot write the report\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_written),
	    cmocka_unit_test(test_fails_at_the_end),
	    cmocka_unit_test(test_failed_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
