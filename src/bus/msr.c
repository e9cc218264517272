#include "bus/msr.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "bus/rights.h"

#define NOT_PINNED SIZE_MAX

struct file {
	int fd;	       /* -1: not opened yet */
	off_t spacing; /* bytes from one register to the next */
	int refused;   /* error number of opening it for writing; 0: it is open for that */
	bool device;   /* not a stand-in */
};

struct msr {
	const struct pmu_host *host; /* the caller's */
	struct file *files;	     /* [CPU] */
	cpu_set_t before;	     /* where the thread may run when it is not pinned */
	bool holding;
	size_t pinned;
};

int msr_new(struct msr **out, struct pmu_ctx *ctx, const struct pmu_host *host)
{
	struct msr *msr = calloc(1, sizeof(*msr));

	if (msr)
		msr->files = calloc(host->cpu_count, sizeof(*msr->files));
	if (!msr || !msr->files) {
		free(msr);
		return error_set(ctx, PMU_E_NOMEM, "out of memory for MSRs");
	}
	for (size_t i = 0; i < host->cpu_count; i++)
		msr->files[i].fd = -1;
	msr->host = host;
	msr->pinned = NOT_PINNED;
	*out = msr;
	return 0;
}

void msr_free(struct msr *msr)
{
	if (!msr)
		return;
	msr_end(msr);
	for (size_t i = 0; i < msr->host->cpu_count; i++)
		if (msr->files[i].fd >= 0)
			close(msr->files[i].fd);
	free(msr->files);
	free(msr);
}

static const char *path_of(const struct msr *msr, size_t cpu, char path[HOST_PATH_MAX])
{
	return host_path(msr->host, path, "/dev/cpu/%u/msr", msr->host->cpus[cpu].number);
}

/*
 * The device takes a register's number for the offset of its eight bytes. A plain file cannot:
 * neighbours would overlap there, and register n stands at byte 8 n. What FUSE shows is a device.
 */
static int tell_kind(struct file *file)
{
	struct statfs emul;
	struct stat status;

	if (fstat(file->fd, &status) || fstatfs(file->fd, &emul))
		return -1;
	file->spacing = S_ISREG(status.st_mode) && emul.f_type != FUSE_SUPER_MAGIC ? 8 : 1;
	file->device = S_ISCHR(status.st_mode);
	return 0;
}

static int open_file(struct msr *msr, struct pmu_ctx *ctx, size_t cpu, struct file *file)
{
	char path[HOST_PATH_MAX];
	int errnum;

	path_of(msr, cpu, path);
	file->fd = open(path, O_RDWR | O_CLOEXEC);
	/* What may only be read can still tell what the computer has. */
	file->refused = file->fd < 0 ? errno : 0;
	if (file->refused == EACCES || file->refused == EPERM || file->refused == EROFS)
		file->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0)
		return rights_msr(ctx, msr->host, path, RIGHTS_OPEN, file->refused);
	if (!tell_kind(file))
		return 0;
	/* At the wrong offsets everything would be another register. */
	errnum = errno;
	close(file->fd);
	file->fd = -1;
	return error_set(ctx, PMU_E_IO, "%s cannot be examined: %s", path, strerror(errnum));
}

static void pin(struct msr *msr, size_t cpu)
{
	cpu_set_t set;

	if (!msr->holding || msr->pinned == cpu || !msr->files[cpu].device)
		return;
	CPU_ZERO(&set);
	CPU_SET(msr->host->cpus[cpu].number, &set);
	/* Only a matter of speed: where it is not allowed, the kernel reaches the CPU by itself. */
	if (!sched_setaffinity(0, sizeof(set), &set))
		msr->pinned = cpu;
}

void msr_begin(struct msr *msr)
{
	msr->holding = !sched_getaffinity(0, sizeof(msr->before), &msr->before);
}

void msr_end(struct msr *msr)
{
	if (msr->pinned != NOT_PINNED)
		sched_setaffinity(0, sizeof(msr->before), &msr->before);
	msr->pinned = NOT_PINNED;
	msr->holding = false;
}

/* Only the first CPU of a package is accessed often enough to move there. */
static void prepare(struct msr *msr, size_t cpu)
{
	const struct host_cpu *cpus = msr->host->cpus;

	if (cpu == 0 || cpus[cpu - 1].package != cpus[cpu].package)
		pin(msr, cpu);
}

static int access_error(const struct msr *msr, struct pmu_ctx *ctx, size_t cpu, uint32_t number,
			enum rights_action action, ssize_t done, int errnum)
{
	char path[HOST_PATH_MAX];

	path_of(msr, cpu, path);
	/* The kernel answers EIO where the processor raised a fault; a file just ends. */
	if (done >= 0 || errnum == EIO)
		return error_set(
		    ctx, PMU_E_UNKNOWN, "%s: the processor %s MSR 0x%X (%s)", path,
		    action == RIGHTS_READ ? "does not answer for" : "refuses a write to", number,
		    done < 0 ? "input/output error" : "the file ends before it");
	return rights_msr(ctx, msr->host, path, action, errnum);
}

/* Again where a signal came between, and once where the device failed: not every failure stays. */
static ssize_t read_number(const struct file *file, uint32_t number, uint64_t *value)
{
	ssize_t done;
	bool again = true;

	do {
		done = pread(file->fd, value, sizeof(*value), (off_t)number * file->spacing);
		if (done >= 0 || (errno != EINTR && !(errno == EIO && again)))
			return done;
		again = errno == EINTR && again;
	} while (true);
}

/*
 * All CPUs are of one kind: what another one answers for is not missing in this one. Uncore
 * registers that a package lacks are not asked for where a register lists them.
 */
static bool others_answer(struct msr *msr, size_t cpu, uint32_t number)
{
	size_t other = cpu ? 0 : msr->host->cpu_count - 1;
	struct file *file = &msr->files[other];
	uint64_t value;

	if (other == cpu || (file->fd < 0 && open_file(msr, NULL, other, file)))
		return false;
	return read_number(file, number, &value) == sizeof(value);
}

int msr_read(struct msr *msr, struct pmu_ctx *ctx, size_t cpu, uint32_t number, uint64_t *value)
{
	struct file *file = &msr->files[cpu];
	int error = file->fd < 0 ? open_file(msr, ctx, cpu, file) : 0;
	char path[HOST_PATH_MAX];
	ssize_t done;
	int errnum;

	if (error)
		return error;
	prepare(msr, cpu);
	done = read_number(file, number, value);
	if (done == sizeof(*value))
		return 0;
	errnum = errno;
	if (done < 0 && errnum == EIO && others_answer(msr, cpu, number))
		return error_set(ctx, PMU_E_IO,
				 "%s: MSR 0x%X cannot be read (input/output error), though other "
				 "processors answer for it",
				 path_of(msr, cpu, path), number);
	return access_error(msr, ctx, cpu, number, RIGHTS_READ, done, errnum);
}

int msr_write(struct msr *msr, struct pmu_ctx *ctx, size_t cpu, uint32_t number, uint64_t value)
{
	struct file *file = &msr->files[cpu];
	int error = file->fd < 0 ? open_file(msr, ctx, cpu, file) : 0;
	char path[HOST_PATH_MAX];
	ssize_t done;

	if (error)
		return error;
	if (file->refused)
		return rights_msr(ctx, msr->host, path_of(msr, cpu, path), RIGHTS_OPEN,
				  file->refused);
	prepare(msr, cpu);
	do
		done = pwrite(file->fd, &value, sizeof(value), (off_t)number * file->spacing);
	while (done < 0 && errno == EINTR);
	return done == sizeof(value)
		   ? 0
		   : access_error(msr, ctx, cpu, number, RIGHTS_WRITE, done, errno);
}
