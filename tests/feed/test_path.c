/* Paths that guests name, and which of them the machine has files for. */
#include <string.h>

#include "feed/path.h"
#include "support/cmocka.h"

static void check_joined(const char *folder, const char *path, const char *expected)
{
	char joined[FEED_PATH_BYTES];

	assert_true(feed_path_join(joined, folder, path));
	assert_string_equal(joined, expected);
}

static void joins_as_the_system_walks(void **state)
{
	(void)state;
	check_joined("/", "/sys/devices", "/sys/devices");
	check_joined("/home", "/sys/devices/", "/sys/devices");
	check_joined("/sys", "devices/system", "/sys/devices/system");
	check_joined("/", "//sys/./devices//.", "/sys/devices");
	check_joined("/sys/class", "../devices", "/sys/devices");
	check_joined("/", "/../..", "/");
	check_joined("/a", "..", "/");
	check_joined("/a/b", "../...", "/a/...");
}

static void refuses_what_is_too_long(void **state)
{
	char path[2 * FEED_PATH_BYTES] = "/", joined[FEED_PATH_BYTES];

	(void)state;
	memset(path + 1, 'a', FEED_PATH_BYTES - 2);
	assert_true(feed_path_join(joined, "/", path));
	assert_string_equal(joined, path);
	path[FEED_PATH_BYTES - 1] = 'a';
	assert_false(feed_path_join(joined, "/", path));
}

static void knows_the_files(void **state)
{
	(void)state;
	assert_true(feed_path_is_machine("/proc/cpuinfo"));
	assert_true(feed_path_is_machine("/sys/devices/system"));
	assert_true(feed_path_is_machine("/sys/devices/system/cpu"));
	assert_true(feed_path_is_machine("/sys/devices/system/node/node0/cpulist"));
	assert_false(feed_path_is_machine("/proc/cpuinfo/x"));
	assert_false(feed_path_is_machine("/sys/devices"));
	assert_false(feed_path_is_machine("/sys/devices/systems/cpu"));
	assert_false(feed_path_is_machine("/sys/devices/system/cpus"));
	assert_false(feed_path_is_machine("/sys/devices/system/memory"));
	assert_false(feed_path_is_machine("/"));
}

/* No path of a file of the machine's may be left out. */
static void passes_over_only_others(void **state)
{
	static const char *const possible[] = {
	    "/sys/devices/system",
	    "/proc/cpuinfo",
	    "//sys/x",
	    "/./sys",
	    "/usr/../sys",
	    "sys/devices",
	    "devices/system",
	    "system/cpu",
	    "cpu/online",
	    "node",
	    "./cpu",
	    "../devices",
	    "cpuinfo",
	};
	static const char *const others[] = {"/usr/lib", "/systems", "lib", "cpus", ".", "", "/"};

	(void)state;
	for (size_t i = 0; i < sizeof(possible) / sizeof(possible[0]); i++)
		assert_true(feed_path_may_be_machine(possible[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(feed_path_may_be_machine(others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(joins_as_the_system_walks),
	    cmocka_unit_test(refuses_what_is_too_long),
	    cmocka_unit_test(knows_the_files),
	    cmocka_unit_test(passes_over_only_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
