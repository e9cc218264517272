#!/usr/bin/env python3
"""Files of processors and NUMA nodes: a program on a machine finds the machine's, however it asks."""
import os
import pathlib
import re
import signal
import subprocess
import unittest

from harness import LARGE, SMALL, PMULAB, Guests, OnValgrind
from processes import children_of, lives, wait_until

CPU, NODE = "/sys/devices/system/cpu", "/sys/devices/system/node"
# Of the large machine: two sockets of 22 cores, 55 MB of LLC each.
FILES = {
    CPU + "/online": "0-43",
    CPU + "/possible": "0-43",
    CPU + "/present": "0-43",
    CPU + "/cpu43/topology/core_id": "21",
    CPU + "/cpu43/topology/physical_package_id": "1",
    CPU + "/cpu22/topology/package_cpus_list": "22-43",
    CPU + "/cpu30/cache/index3/size": "56320K",
    CPU + "/cpu30/cache/index3/shared_cpu_list": "22-43",
    CPU + "/cpu30/cache/index2/size": "256K",
    CPU + "/cpu1/cpufreq/scaling_cur_freq": "2200000",
    NODE + "/online": "0-1",
    NODE + "/node1/cpulist": "22-43",
    NODE + "/node0/distance": "10 21",
}
# A line for each file and each way to it: the file's first line, or the error.
READS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(int fd)
{
	char line[256];
	ssize_t length = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

	if (length < 0) {
		puts(strerror(errno));
	} else {
		line[length] = 0;
		line[strcspn(line, "\n")] = 0;
		puts(line);
	}
	if (fd >= 0)
		close(fd);
}

static int in(const char *folder, const char *path)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY), file = openat(fd, path, O_RDONLY | O_CLOEXEC);

	if (file >= 0 && fcntl(file, F_GETFD) != FD_CLOEXEC)
		abort();
	close(fd);
	return file;
}

static void *read_all(void *path)
{
	char line[256] = "", name[256], around[256];
	FILE *file = fopen(path, "r");

	if (!file || !fgets(line, sizeof(line), file))
		snprintf(line, sizeof(line), "%s\n", strerror(errno));
	if (file)
		fclose(file);
	fputs(line, stdout);
	tell(open(path, O_RDONLY));
	strcpy(name, path);
	strcpy(around, path);
	tell(in(dirname(name), basename(around)));
	tell(in("/", (char *)path + 1));
	tell(in("/sys", (char *)path + 5));
	snprintf(around, sizeof(around), "//sys/./class/../%s", (char *)path + 5);
	tell(open(around, O_RDONLY));
	return NULL;
}

int main(int argc, char **argv)
{
	const char *how = argv[1];
	char folder[256];
	pthread_t thread;

	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 2; i < argc; i++) {
		if (!strcmp(how, "thread")) {
			pthread_create(&thread, NULL, read_all, argv[i]);
			pthread_join(thread, NULL);
		} else if (!strcmp(how, "folder")) {
			strcpy(folder, argv[i]);
			if (chdir(dirname(folder)))
				puts("no folder");
			tell(open(basename(argv[i]), O_RDONLY));
			puts(getcwd(folder, sizeof(folder)));
		} else if (strcmp(how, "fork") || !fork()) {
			read_all(argv[i]);
			if (!strcmp(how, "fork"))
				_exit(0);
		} else {
			wait(NULL);
		}
	}
	return 0;
}
"""
WAYS = 6
# What else is asked of files: whether they are there, and what is in folders.
LOOKS = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *path = argv[1];
	char link[256] = "", *real = realpath(path, NULL);
	struct stat status;
	struct statx extended;
	struct dirent *entry;
	ssize_t length;
	DIR *folder;
	int fd;

	printf("%d", stat(path, &status));
	printf(" %d", lstat(path, &status));
	printf(" %d", fstatat(AT_FDCWD, path, &status, AT_NO_AUTOMOUNT));
	printf(" %d", statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &extended));
	printf(" %d", access(path, R_OK));
	printf(" %d", faccessat(AT_FDCWD, path, F_OK, 0));
	errno = 0;
	printf(" %d", euidaccess(path, R_OK));
	printf(" %d\n", errno);
	puts(real ? real : "none");
	errno = 0;
	fd = open(path, O_WRONLY | O_TRUNC);
	printf("%d %s\n", fd, strerror(errno));
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		printf("%s ", entry->d_name);
	puts("");
	length = argc > 2 ? readlink(argv[2], link, sizeof(link)) : 0;
	printf("%zd %s\n", length, link);
	printf("%ld %ld\n", sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_NPROCESSORS_CONF));
	return 0;
}
"""
WAITS = r"""
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	open("/sys/devices/system/cpu/online", O_RDONLY);
	puts("opened");
	fflush(stdout);
	pause();
	return 0;
}
"""


def folders(process):
    """That a process has made for its programs."""
    return {name for name in os.listdir("/dev/shm")
            if name.startswith(f"pmulab-files-{process.pid}-")}


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def keeper_of(process):
    """It gives itself its name."""
    return wait_until(lambda: [child for child in children_of(process.pid)
                               if name_of(child) == "pmulab-keep\n"])[0]


class Files(Guests):
    options = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, source, *options in (("reads", READS, "-pthread"), ("looks", LOOKS, "-static"),
                                       ("waits", WAITS)):
            (cls.path / (name + ".c")).write_text(source, encoding="utf-8")
            subprocess.run(["gcc", "-O1", *options, "-o", cls.path / name, cls.path / (name + ".c")],
                           check=True)

    def output(self, *command, machine=LARGE, options=()):
        with subprocess.Popen(
                [PMULAB, "stat", "-M", machine, "-o", "/dev/null", *options, *self.options,
                 "--", *command],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            output, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, output)
        self.assertEqual(folders(process), set())
        return output.splitlines()

    def test_read(self):
        expected = [line for line in FILES.values() for _ in range(WAYS)]
        for how in ("itself", "fork", "thread"):
            self.assertEqual(self.output(self.path / "reads", how, *FILES), expected, how)

    def test_executed(self):
        expected = [line for line in FILES.values() for _ in range(WAYS)]
        self.assertEqual(self.output("sh", "-c", '"$0" "$@"; :', self.path / "reads", "itself",
                                     *FILES), expected)

    def test_working_folder(self):
        lines = self.output(self.path / "reads", "folder", *FILES)
        expected = [line for path, text in FILES.items() for line in (text, os.path.dirname(path))]
        self.assertEqual(lines, expected)

    def test_cpuinfo(self):
        lines = self.output("cat", "/proc/cpuinfo")
        self.assertEqual([line for line in lines if line.startswith("processor")],
                         [f"processor\t: {cpu}" for cpu in range(44)])
        self.assertEqual({line for line in lines if line.startswith("model name")},
                         {"model name\t: Intel(R) Xeon(R) CPU E5 v4 @ 2.20GHz"})

    def test_there(self):
        """The machine's CPUs are there, as the computer's with such numbers may not be."""
        lines = self.output(self.path / "looks", CPU, CPU + "/cpu43/node1")
        self.assertEqual(lines[:3], ["0 0 0 0 0 0 0 0", CPU, "-1 Permission denied"])
        names = lines[3].split()
        self.assertEqual({name for name in names if name[3:].isdigit()},
                         {f"cpu{cpu}" for cpu in range(44)})
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(lines[4:], ["16 ../../node/node1", "44 44"])
        lines = self.output(self.path / "looks", NODE)
        self.assertEqual({name for name in lines[3].split() if name.startswith("node")},
                         {"node0", "node1"})
        lines = self.output(self.path / "looks", "/sys/devices/system")
        self.assertLessEqual({"cpu", "node"} | set(os.listdir("/sys/devices/system")),
                             set(lines[3].split()))

    def test_not_there(self):
        lines = self.output(self.path / "looks", CPU + "/cpu4", machine=SMALL)
        self.assertEqual(lines, ["-1 -1 -1 -1 -1 -1 -1 2", "none", "-1 No such file or directory", "", "0 ", "4 4"])

    def test_tools(self):
        self.assertEqual(self.output("getconf", "_NPROCESSORS_ONLN"), ["44"])
        lines = self.output("lscpu", "-p=CPU,SOCKET,NODE")
        self.assertEqual([line for line in lines if line[0] != "#"],
                         [f"{cpu},{cpu // 22},{cpu // 22}" for cpu in range(44)])

    def test_allowed(self):
        """Of 44 CPUs there are 44 bits; of nodes Linux says as many digits as it has room for."""
        lines = self.output("grep", "_allowed", "/proc/self/status")
        self.assertEqual(lines, [
            "Cpus_allowed:\tfff,ffffffff", "Cpus_allowed_list:\t0-43",
            "Mems_allowed:\t" + "00000000," * 31 + "00000003", "Mems_allowed_list:\t0-1"])
        for options, command, expected in (
                (("--pin", "3,40-41"), (), "3,40-41"),
                ((), ("taskset", "-c", "5,7,9-12"), "5,7,9-12")):
            lines = self.output(*command, "grep", "Cpus_allowed_list", "/proc/thread-self/status",
                                options=options)
            self.assertEqual(lines, ["Cpus_allowed_list:\t" + expected])
        lines = self.output("sh", "-c", "cd /proc; grep Cpus_allowed: $$/status", machine=SMALL)
        self.assertEqual(lines, ["Cpus_allowed:\tf"])

    def test_times(self):
        lines = self.output("cat", "/proc/stat")
        own = pathlib.Path("/proc/stat").read_text(encoding="utf-8").splitlines()
        names = [line.split()[0] for line in lines]
        self.assertEqual(names[:46], ["cpu"] + [f"cpu{cpu}" for cpu in range(44)] + ["intr"])
        self.assertIn(next(line for line in own if line.startswith("btime")), lines)

    def test_control_groups(self):
        """Whatever sets there are, as the computer has them."""
        paths = [path for path in pathlib.Path("/sys/fs/cgroup").rglob("cpuset.*")
                 if re.fullmatch(r"cpuset\.(effective_)?(cpus|mems)(\.effective)?", path.name)
                 and path.read_text(encoding="ascii").strip()]
        if paths:
            self.assertEqual(self.output("cat", *paths),
                             ["0-43" if "cpus" in path.name.partition(".")[2] else "0-1" for path in paths])

    def test_topology(self):
        """hwloc takes the CPUs that are online, less those that the process may not use. It tells
        Valgrind's users something of its own."""
        lines = self.output("lstopo-no-graphics", "--only", "pu")
        self.assertEqual(lines[-44:], [f"PU L#{cpu} (P#{cpu})" for cpu in range(44)])
        lines = self.output("lstopo-no-graphics", "--only", "numanode")
        self.assertEqual(lines[-2:], ["NUMANode L#0 (P#0 64GB)", "NUMANode L#1 (P#1 64GB)"])

    def started(self):
        process = subprocess.Popen(
            [PMULAB, "stat", "-M", SMALL, *self.options, "--", self.path / "waits"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), "opened\n")
        return process

    def test_killed(self):
        """The folder goes with who made it; where all that know of it are killed, with the next."""
        process = self.started()
        self.assertEqual(len(folders(process)), 1)
        keeper = keeper_of(process)
        process.kill()
        process.wait(30)
        wait_until(lambda: not folders(process))
        wait_until(lambda: not lives(keeper))
        process = self.started()
        other = self.started()
        self.assertEqual(len(folders(process)), 1, "another's that lives")
        os.kill(keeper_of(process), signal.SIGKILL)
        process.kill()
        process.wait(30)
        other.terminate()
        other.wait(30)
        self.output("getconf", "_NPROCESSORS_ONLN")
        self.assertEqual(folders(process), set())


class Valgrind(OnValgrind, Files):
    pass


if __name__ == "__main__":
    unittest.main(verbosity=2)
