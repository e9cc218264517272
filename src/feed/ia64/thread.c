/* Processes and threads: clone, clone2, exit. */
#include "feed/ia64/observer.h"
#include "feed/ia64/process.h"
#include "feed/ia64/rse.h"
#include "feed/ia64/run.h"
#include "feed/ia64/signal.h"
#include "feed/ia64/space.h"
#include "feed/ia64/sys.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NUMBER_FUTEX 1230
#define THREAD_FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)

/* Arguments of clone2; clone has no stack size. */
struct request {
	uint64_t flags, stack, stack_size, parent_tid, child_tid, tls;
};

/* What the new thread waits for, and the one that makes it. */
struct start {
	struct ia64_cpu *c;
	struct request request;
	pthread_mutex_t lock;
	pthread_cond_t told;
	int tid;
};

/* The register stack starts anew at the bottom of the memory whose top is the stack. */
static void enter_stack(struct ia64_cpu *c, const struct request *r)
{
	if (r->stack) {
		c->gr[12] = r->stack + r->stack_size - 16;
		c->dirty = 0;
		c->rnat = 0;
		c->bspstore = c->bsp = r->stack;
	}
	if (r->flags & CLONE_SETTLS)
		c->gr[13] = r->tls;
	c->gr[8] = 0;
	c->gr[10] = 0;
}

static void put_tid(struct ia64_cpu *c, uint64_t at, int tid)
{
	ia64_copy_out(c, at, &tid, sizeof(tid));
}

/* Who waits for the thread's end waits on its word. */
static void tell_end(struct ia64_cpu *c)
{
	const struct ia64_observer *w = c->process->observer;
	const uint64_t a[8] = {c->clear_tid, FUTEX_WAKE, 1};
	int64_t result;

	put_tid(c, c->clear_tid, 0);
	if (w && w->syscall && w->syscall(c->observer_own, c, NUMBER_FUTEX, a, &result))
		return;
	syscall(SYS_futex, ia64_pointer(c, c->clear_tid), FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void *thread(void *argument)
{
	struct start *s = argument;
	struct ia64_cpu *c = s->c;

	ia64_signals_thread(c);
	pthread_mutex_lock(&s->lock);
	if (s->request.flags & CLONE_CHILD_SETTID)
		put_tid(c, s->request.child_tid, gettid());
	if (s->request.flags & CLONE_PARENT_SETTID)
		put_tid(c, s->request.parent_tid, gettid());
	s->tid = gettid();
	pthread_cond_signal(&s->told);
	pthread_mutex_unlock(&s->lock);
	ia64_run(c);
	ia64_signals_thread_end(c);
	if (c->clear_tid)
		tell_end(c);
	ia64_cpu_free(c);
	return NULL;
}

static int64_t make_thread(struct ia64_cpu *c, const struct request *r)
{
	struct start s = {
	    .request = *r, .lock = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER};
	pthread_attr_t attributes;
	pthread_t id;
	int rc = ia64_cpu_clone(&s.c, c);

	if (rc != 0)
		return rc;
	__atomic_store_n(&c->process->threaded, true, __ATOMIC_RELEASE);
	enter_stack(s.c, r);
	s.c->clear_tid = r->flags & CLONE_CHILD_CLEARTID ? r->child_tid : 0;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&id, &attributes, thread, &s);
	pthread_attr_destroy(&attributes);
	if (rc != 0) {
		ia64_cpu_free(s.c);
		return -rc;
	}
	pthread_mutex_lock(&s.lock);
	while (!s.tid)
		pthread_cond_wait(&s.told, &s.lock);
	pthread_mutex_unlock(&s.lock);
	return s.tid;
}

/* A child with a copy of everything, vfork's too: it does not share what it may change. */
static int64_t make_process(struct ia64_cpu *c, const struct request *r)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid > 0) {
		c->process->forked = true;
		if (r->flags & CLONE_PARENT_SETTID)
			put_tid(c, r->parent_tid, pid);
		return pid;
	}
	if (c->process->observer && c->process->observer->forked)
		c->process->observer->forked(c->process->observer->state);
	c->process->cpus = c; /* the other threads are not here */
	c->next = NULL;
	c->process->threaded = false;
	enter_stack(c, r);
	c->clear_tid = r->flags & CLONE_CHILD_CLEARTID ? r->child_tid : 0;
	if (r->flags & CLONE_CHILD_SETTID)
		put_tid(c, r->child_tid, getpid());
	return 0;
}

static int64_t make(struct ia64_cpu *c, const struct request *r)
{
	if ((r->flags & THREAD_FLAGS) == THREAD_FLAGS)
		return make_thread(c, r);
	if (r->flags & (CLONE_THREAD | CLONE_SIGHAND))
		return -EINVAL;
	return make_process(c, r);
}

int64_t ia64_sys_clone2(struct ia64_cpu *c, const uint64_t *a)
{
	const struct request r = {a[0], a[1], a[2], a[3], a[4], a[5]};

	return make(c, &r);
}

int64_t ia64_sys_clone(struct ia64_cpu *c, const uint64_t *a)
{
	const struct request r = {a[0], a[1], 16, a[2], a[3], a[4]};

	return make(c, &r);
}

int64_t ia64_sys_set_tid_address(struct ia64_cpu *c, const uint64_t *a)
{
	c->clear_tid = a[0];
	return gettid();
}

int64_t ia64_sys_exit_group(struct ia64_cpu *c, const uint64_t *a)
{
	ia64_process_end(c->process);
	_exit((int)a[0]);
}

/* The last thread's exit is the process's. */
int64_t ia64_sys_exit(struct ia64_cpu *c, const uint64_t *a)
{
	bool last;

	pthread_mutex_lock(&c->process->lock);
	last = c->process->cpus == c && !c->next;
	pthread_mutex_unlock(&c->process->lock);
	if (last)
		return ia64_sys_exit_group(c, a);
	c->thread_ended = true;
	return 0;
}
