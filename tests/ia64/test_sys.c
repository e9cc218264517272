/*
 * System calls whose structures, registers or units differ from the host's. Numbers and layouts:
 * arch/ia64 of Linux (syscall.tbl, uapi/asm/stat.h), which has no packed epoll_event, pages of 16
 * KB here, and both ends of a pipe in registers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "feed/ia64/sys.h"
#include "fixture.h"
#include "support/cmocka.h"

#define PAGE	16384u
#define NOWHERE (FIXTURE_DATA + 0x00f00000u) /* is not mapped */
#define BREAK	(FIXTURE_DATA + 0x01000000u)

enum {
	NR_close = 1029,
	NR_execve = 1033,
	NR_brk = 1060,
	NR_pipe = 1058,
	NR_readlink = 1092,
	NR_uname = 1130,
	NR_readv = 1146,
	NR_writev = 1147,
	NR_mmap = 1151,
	NR_munmap = 1152,
	NR_prctl = 1170,
	NR_getpagesize = 1171,
	NR_mmap2 = 1172,
	NR_sendmsg = 1205,
	NR_recvmsg = 1206,
	NR_stat = 1210,
	NR_lstat = 1211,
	NR_fstat = 1212,
	NR_epoll_ctl = 1244,
	NR_epoll_wait = 1245,
	NR_newfstatat = 1286,
	NR_readlinkat = 1291,
	NR_pselect6 = 1294,
	NR_preadv = 1319,
	NR_pwritev = 1320,
};

static struct fixture *fixture;
static char folder[] = "/tmp/ia64-sys-XXXXXX", file[64], name[64];

/* r8, where r10 says that it is a result. */
static int64_t call(unsigned number, const uint64_t a[6])
{
	struct ia64_cpu *c = fixture->c;

	c->sol = 0;
	c->sof = 8;
	c->gr[15] = number;
	for (unsigned i = 0; i < 6; i++)
		c->gr[32 + i] = a[i];
	c->nat[8] = c->nat[10] = 1;
	assert_true(ia64_syscall(c));
	assert_false(c->nat[8] || c->nat[10]);
	assert_true(c->gr[10] == 0 || c->gr[10] == UINT64_MAX);
	return c->gr[10] ? -(int64_t)c->gr[8] : (int64_t)c->gr[8];
}

#define CALL(number, ...) call(number, (const uint64_t[6]){__VA_ARGS__})

static uint64_t put(unsigned offset, const void *bytes, size_t size)
{
	memcpy(fixture->data + offset, bytes, size);
	return FIXTURE_DATA + offset;
}

static uint64_t put_text(unsigned offset, const char *text)
{
	return put(offset, text, strlen(text) + 1);
}

static uint64_t word(unsigned offset)
{
	uint64_t value;

	memcpy(&value, fixture->data + offset, sizeof(value));
	return value;
}

static uint32_t half(unsigned offset)
{
	return (uint32_t)word(offset);
}

static void errors(void)
{
	assert_int_equal(CALL(1023, 0), -ENOSYS);
	assert_int_equal(CALL(1500, 0), -ENOSYS);
	assert_int_equal(CALL(NR_close, (uint64_t)-1), -EBADF);
	assert_int_equal(CALL(NR_uname, NOWHERE), -EFAULT);
	assert_int_equal(CALL(NR_stat, put_text(0, "/"), NOWHERE), -EFAULT);
	assert_int_equal(CALL(NR_stat, NOWHERE, FIXTURE_DATA), -EFAULT);
	assert_int_equal(CALL(NR_writev, 1, NOWHERE, 1), -EFAULT);
	assert_int_equal(CALL(NR_writev, 1, FIXTURE_DATA, 1025), -EINVAL);
	assert_int_equal(CALL(NR_readlink, NOWHERE, FIXTURE_DATA, 10), -EFAULT);
	assert_int_equal(CALL(NR_execve, put_text(0, "/nothing"), 0, 0), -ENOENT);
}

static void identity(void)
{
	assert_int_equal(CALL(NR_uname, FIXTURE_DATA), 0);
	assert_string_equal((char *)fixture->data, "Linux");
	assert_string_equal((char *)fixture->data + 4 * 65, "ia64");
	assert_int_equal(CALL(NR_getpagesize, 0), PAGE);
}

static void check_stat(unsigned at, mode_t mode)
{
	assert_int_equal(word(at + 16), 1);    /* nlink */
	assert_int_equal(half(at + 24), mode); /* with the type */
	assert_int_equal(half(at + 28), geteuid());
	assert_int_equal(half(at + 32), getegid());
	assert_int_equal(word(at + 48), 12345); /* size */
	assert_int_equal(word(at + 56), 1000000001);
	assert_int_equal(word(at + 64), 1);
	assert_int_equal(word(at + 72), 1000000002);
	assert_int_equal(word(at + 80), 999999999);
}

static void status(void)
{
	const struct timespec times[2] = {{1000000001, 1}, {1000000002, 999999999}};
	uint64_t path, link;
	struct stat host;
	int fd = open(file, O_RDWR);

	assert_int_equal(ftruncate(fd, 12345), 0);
	assert_int_equal(fchmod(fd, 0640), 0);
	assert_int_equal(futimens(fd, times), 0);
	path = put_text(0, file);
	link = put_text(100, name);
	assert_int_equal(CALL(NR_stat, link, FIXTURE_DATA + 1024), 0);
	check_stat(1024, S_IFREG | 0640);
	assert_int_equal(CALL(NR_fstat, (uint64_t)fd, FIXTURE_DATA + 2048), 0);
	check_stat(2048, S_IFREG | 0640);
	assert_int_equal(CALL(NR_newfstatat, (uint64_t)AT_FDCWD, path, FIXTURE_DATA + 3072, 0), 0);
	check_stat(3072, S_IFREG | 0640);
	assert_int_equal(stat(file, &host), 0);
	assert_int_equal(word(1024), host.st_dev);
	assert_int_equal(word(1024 + 8), host.st_ino);
	assert_int_equal(word(1024 + 104), host.st_blksize);
	assert_int_equal(word(1024 + 112), host.st_blocks);
	assert_int_equal(CALL(NR_lstat, link, FIXTURE_DATA + 1024), 0);
	assert_int_equal(half(1024 + 24), S_IFLNK | 0777);
	assert_int_equal(word(1024 + 48), strlen(file));
	assert_int_equal(
	    CALL(NR_newfstatat, (uint64_t)AT_FDCWD, link, FIXTURE_DATA + 1024, AT_SYMLINK_NOFOLLOW),
	    0);
	assert_int_equal(half(1024 + 24), S_IFLNK | 0777);
	close(fd);
}

static void links(void)
{
	assert_int_equal(CALL(NR_readlink, put_text(0, name), FIXTURE_DATA + 1024, 100),
			 strlen(file));
	assert_memory_equal(fixture->data + 1024, file, strlen(file));
	assert_int_equal(
	    CALL(NR_readlinkat, (uint64_t)AT_FDCWD, FIXTURE_DATA, FIXTURE_DATA + 1024, 4), 4);
	/* The program itself is the one that is emulated. */
	fixture->process->path = name;
	assert_int_equal(CALL(NR_readlink, put_text(0, "/proc/self/exe"), FIXTURE_DATA + 1024, 100),
			 strlen(file));
	assert_memory_equal(fixture->data + 1024, file, strlen(file));
	memset(fixture->data + 1024, 'x', 8);
	assert_int_equal(CALL(NR_readlink, FIXTURE_DATA, FIXTURE_DATA + 1024, 3), 3);
	assert_memory_equal(fixture->data + 1024, "/tmx", 4);
}

/* A vector of two at 0, of the guest's addresses: 3 bytes at 1024, 5 bytes at 2048. */
static uint64_t put_vector(void)
{
	const uint64_t vector[] = {FIXTURE_DATA + 1024, 3, FIXTURE_DATA + 2048, 5};

	return put(0, vector, sizeof(vector));
}

static void vectors(void)
{
	int fd = open(file, O_RDWR | O_TRUNC);
	char text[9] = "";

	put_text(1024, "one");
	put_text(2048, "three");
	assert_int_equal(CALL(NR_writev, (uint64_t)fd, put_vector(), 2), 8);
	assert_int_equal(CALL(NR_pwritev, (uint64_t)fd, FIXTURE_DATA, 2, 100), 8);
	assert_int_equal(pread(fd, text, 8, 100), 8);
	assert_string_equal(text, "onethree");
	memset(fixture->data + 1024, 0, 4096);
	assert_int_equal(CALL(NR_preadv, (uint64_t)fd, FIXTURE_DATA, 2, 1), 8);
	assert_memory_equal(fixture->data + 1024, "net\0", 4);
	assert_memory_equal(fixture->data + 2048, "hree\0\0", 6);
	lseek(fd, 100, SEEK_SET);
	assert_int_equal(CALL(NR_readv, (uint64_t)fd, FIXTURE_DATA, 2), 8);
	assert_string_equal((char *)fixture->data + 1024, "one");
	assert_string_equal((char *)fixture->data + 2048, "three");
	close(fd);
}

/* struct msghdr: name 0, its length 8, vector 16, its length 24, control 32, its length 40, flags
 * 48
 */
static void messages(void)
{
	const uint64_t message[7] = {0, 0, put_vector(), 2, 0, 0, 0};
	uint64_t at = put(512, message, sizeof(message));
	char sent[9] = "";
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, fd), 0);
	put_text(1024, "one");
	put_text(2048, "three");
	assert_int_equal(CALL(NR_sendmsg, (uint64_t)fd[0], at, 0), 8);
	assert_int_equal(recv(fd[1], sent, sizeof(sent), 0), 8);
	assert_string_equal(sent, "onethree");
	assert_int_equal(send(fd[0], "more than 8", 11, 0), 11);
	assert_int_equal(CALL(NR_recvmsg, (uint64_t)fd[1], at, 0), 8);
	assert_memory_equal(fixture->data + 1024, "mor", 3);
	assert_memory_equal(fixture->data + 2048, "e tha", 5);
	assert_int_equal(half(512 + 48), MSG_TRUNC);
	assert_int_equal(word(512 + 16), FIXTURE_DATA); /* still the guest's address */
	close(fd[0]);
	close(fd[1]);
}

static void pipes(void)
{
	int64_t from = CALL(NR_pipe, 0);
	uint64_t to = fixture->c->gr[9];
	char text[4] = "";

	assert_true(from >= 0);
	assert_int_equal(write((int)to, "abc", 3), 3);
	assert_int_equal(read((int)from, text, 3), 3);
	assert_string_equal(text, "abc");
	assert_int_equal(CALL(NR_close, (uint64_t)from), 0);
	assert_int_equal(CALL(NR_close, to), 0);
}

/* struct epoll_event: events 0, data 8; 16 bytes */
static void waiting(void)
{
	const uint64_t event[2] = {EPOLLIN, 0x1122334455667788};
	const uint64_t none[2] = {0, 0};
	uint64_t set, mask;
	int fd[2], epoll = epoll_create1(0);

	assert_int_equal(pipe(fd), 0);
	assert_int_equal(CALL(NR_epoll_ctl, (uint64_t)epoll, EPOLL_CTL_ADD, (uint64_t)fd[0],
			      put(0, event, sizeof(event))),
			 0);
	assert_int_equal(CALL(NR_epoll_wait, (uint64_t)epoll, FIXTURE_DATA + 1024, 4, 0), 0);
	assert_int_equal(write(fd[1], "x", 1), 1);
	assert_int_equal(CALL(NR_epoll_wait, (uint64_t)epoll, FIXTURE_DATA + 1024, 4, 0), 1);
	assert_int_equal(half(1024), EPOLLIN);
	assert_int_equal(word(1024 + 8), 0x1122334455667788);
	assert_int_equal(CALL(NR_epoll_wait, (uint64_t)epoll, FIXTURE_DATA + 1024, 0, 0), -EINVAL);

	/* The mask's address stands in a structure. */
	set = UINT64_C(1) << fd[0];
	put(512, &set, 8);
	set = 0;
	put(600, &set, 8);
	mask = put(700, (const uint64_t[2]){FIXTURE_DATA + 600, 8}, 16);
	assert_int_equal(CALL(NR_pselect6, (uint64_t)fd[0] + 1, FIXTURE_DATA + 512, 0, 0,
			      put(800, none, sizeof(none)), mask),
			 1);
	put(700, (const uint64_t[2]){NOWHERE, 8}, 16);
	assert_int_equal(CALL(NR_pselect6, (uint64_t)fd[0] + 1, FIXTURE_DATA + 512, 0, 0,
			      FIXTURE_DATA + 800, mask),
			 -EFAULT);
	close(fd[0]);
	close(fd[1]);
	close(epoll);
}

static void memory(void)
{
	int fd = open(file, O_RDWR | O_TRUNC);
	int64_t at;

	assert_int_equal(ftruncate(fd, 3 * PAGE), 0);
	assert_int_equal(pwrite(fd, "b", 1, PAGE), 1);
	assert_int_equal(pwrite(fd, "c", 1, 2 * PAGE), 1);
	/* Offsets: in bytes, and in pages. */
	at = CALL(NR_mmap, 0, PAGE, 1, 2, (uint64_t)fd, PAGE);
	assert_true(at > 0 && at % PAGE == 0);
	assert_int_equal(
	    CALL(NR_writev, (uint64_t)fd, put(0, (const uint64_t[2]){(uint64_t)at, 1}, 16), 1), 1);
	assert_int_equal(CALL(NR_munmap, (uint64_t)at, PAGE), 0);
	assert_int_equal(CALL(NR_writev, (uint64_t)fd, FIXTURE_DATA, 1), -EFAULT);
	at = CALL(NR_mmap2, 0, PAGE, 1, 2, (uint64_t)fd, 2);
	assert_true(at > 0);
	put(0, (const uint64_t[2]){(uint64_t)at, 1}, 16);
	assert_int_equal(CALL(NR_writev, (uint64_t)fd, FIXTURE_DATA, 1), 1);
	assert_int_equal(pread(fd, fixture->data + 1024, 2, 0), 2);
	assert_memory_equal(fixture->data + 1024, "bc", 2);
	assert_int_equal(CALL(NR_mmap, FIXTURE_DATA + 4096, PAGE, 1, 0x32, (uint64_t)-1, 0),
			 -EINVAL);
	close(fd);
}

/* The break, moved or not. */
static void break_of_data(void)
{
	fixture->process->brk_start = fixture->process->brk = BREAK;
	assert_int_equal(CALL(NR_brk, 0), BREAK);
	assert_int_equal(CALL(NR_brk, BREAK - 1), BREAK);
	assert_int_equal(CALL(NR_stat, put_text(0, "/"), BREAK), -EFAULT);
	assert_int_equal(CALL(NR_brk, BREAK + 100), BREAK + 100);
	assert_int_equal(CALL(NR_stat, FIXTURE_DATA, BREAK), 0);
	assert_int_equal(CALL(NR_stat, FIXTURE_DATA, BREAK + PAGE), -EFAULT);
	assert_int_equal(CALL(NR_brk, BREAK + PAGE + 1), BREAK + PAGE + 1);
	assert_int_equal(CALL(NR_stat, FIXTURE_DATA, BREAK + PAGE), 0);
	assert_int_equal(CALL(NR_brk, BREAK), BREAK);
	assert_int_equal(CALL(NR_stat, FIXTURE_DATA, BREAK), -EFAULT);
}

static void controls(void)
{
	assert_int_equal(CALL(NR_prctl, PR_SET_UNALIGN, 2), 0);
	assert_int_equal(CALL(NR_prctl, PR_GET_UNALIGN, FIXTURE_DATA), 0);
	assert_int_equal(half(0), 2);
	assert_int_equal(CALL(NR_prctl, PR_SET_NAME, put_text(0, "ia64-name")), 0);
	assert_int_equal(CALL(NR_prctl, PR_GET_NAME, FIXTURE_DATA + 100), 0);
	assert_string_equal((char *)fixture->data + 100, "ia64-name");
	assert_int_equal(CALL(NR_prctl, 12345, 0), -EINVAL);
}

typedef void body(void);

/* The faults of the host that a fixture catches are cmocka's between the tests. */
static void with_fixture(void **state)
{
	body *const *test = *state;

	fixture = fixture_up(NULL);
	(*test)();
}

static int take_down(void **state)
{
	(void)state;
	fixture_down(fixture);
	return 0;
}

int main(void)
{
#define TEST(name)                                                                                 \
	{                                                                                          \
#name, with_fixture, NULL, take_down, &(body *)                                    \
		{                                                                                  \
			name                                                                       \
		}                                                                                  \
	}
	const struct CMUnitTest tests[] = {
	    TEST(errors),  TEST(identity),	TEST(status),	TEST(links),
	    TEST(vectors), TEST(messages),	TEST(pipes),	TEST(waiting),
	    TEST(memory),  TEST(break_of_data), TEST(controls),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	snprintf(file, sizeof(file), "%s/file", folder);
	snprintf(name, sizeof(name), "%s/link", folder);
	close(open(file, O_RDWR | O_CREAT, 0600));
	failed = symlink(file, name) ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
	unlink(name);
	unlink(file);
	rmdir(folder);
	return failed;
}
