#include "feed/ia64/run.h"

#include "feed/ia64/alat.h"
#include "feed/ia64/code.h"
#include "feed/ia64/handlers.h"
#include "feed/ia64/observer.h"
#include "feed/ia64/ops.h"
#include "feed/ia64/signal.h"
#include "feed/ia64/space.h"
#include "feed/ia64/sys.h"

#include <errno.h>
#include <stdlib.h>

#define SYSCALL_BREAK 0x100000

int ia64_process_new(struct ia64_process **process, const struct ia64_observer *observer)
{
	struct ia64_process *p = calloc(1, sizeof(*p));
	int rc = -ENOMEM;

	if (!p)
		return rc;
	p->observer = observer;
	pthread_mutex_init(&p->lock, NULL);
	p->actions = calloc(1, sizeof(*p->actions));
	if (p->actions)
		rc = ia64_space_new(&p->space);
	if (rc != 0) {
		free(p->actions);
		free(p);
		return rc;
	}
	*process = p;
	return 0;
}

void ia64_process_free(struct ia64_process *p)
{
	ia64_space_free(p->space);
	pthread_mutex_destroy(&p->lock);
	free(p->actions);
	free(p);
}

void ia64_process_realign(struct ia64_process *p)
{
	__atomic_add_fetch(&p->flushes, 1, __ATOMIC_ACQ_REL);
	ia64_process_attend(p);
}

void ia64_process_end(struct ia64_process *p)
{
	if (p->observer && p->observer->end)
		p->observer->end(p->observer->state);
}

void ia64_process_attend(struct ia64_process *p)
{
	pthread_mutex_lock(&p->lock);
	for (struct ia64_cpu *c = p->cpus; c; c = c->next)
		__atomic_store_n(&c->attention, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&p->lock);
}

static int attach(struct ia64_cpu *c, struct ia64_process *p)
{
	int rc;

	c->process = p;
	c->delta = ia64_space_delta(p->space);
	c->signals = calloc(1, sizeof(*c->signals));
	if (!c->signals)
		return -ENOMEM;
	rc = ia64_code_init(c);
	if (rc != 0) {
		free(c->signals);
		return rc;
	}
	c->changes_seen = ia64_code_flushes(p);
	pthread_mutex_lock(&p->lock);
	c->next = p->cpus;
	p->cpus = c;
	pthread_mutex_unlock(&p->lock);
	return 0;
}

int ia64_cpu_new(struct ia64_cpu **cpu, struct ia64_process *p)
{
	struct ia64_cpu *c = aligned_alloc(64, (sizeof(*c) + 63) & ~(size_t)63);
	int rc;

	if (!c)
		return -ENOMEM;
	memset(c, 0, sizeof(*c));
	c->pr[0] = 1;
	c->fr[1] = IA64_FR_ONE;
	c->fpsr = IA64_FPSR_RESET;
	c->rsc = 0xF; /* eager at privilege level 3, as Linux starts programs */
	rc = attach(c, p);
	if (rc != 0) {
		free(c);
		return rc;
	}
	*cpu = c;
	return 0;
}

int ia64_cpu_clone(struct ia64_cpu **cpu, const struct ia64_cpu *from)
{
	struct ia64_cpu *c = aligned_alloc(64, (sizeof(*c) + 63) & ~(size_t)63);
	int rc;

	if (!c)
		return -ENOMEM;
	*c = *from;
	c->op_count = c->entry_count = 0;
	c->running = c->guarded = false;
	ia64_alat_clear(c);
	rc = attach(c, from->process);
	if (rc != 0) {
		free(c);
		return rc;
	}
	c->signals->mask = from->signals->mask;
	*cpu = c;
	return 0;
}

void ia64_cpu_free(struct ia64_cpu *c)
{
	struct ia64_process *p = c->process;

	if (p->observer && p->observer->ended)
		p->observer->ended(c->observer_own);
	pthread_mutex_lock(&p->lock);
	for (struct ia64_cpu **at = &p->cpus; *at; at = &(*at)->next) {
		if (*at == c) {
			*at = c->next;
			break;
		}
	}
	pthread_mutex_unlock(&p->lock);
	ia64_code_fini(c);
	free(c->signals);
	free(c);
}

/* The host faulted on an access of the program's. Loads that may fault go on without a value. */
static struct ia64_op *host_fault(struct ia64_cpu *c)
{
	struct ia64_signals *s = c->signals;
	uint64_t address = ia64_space_guest(c->process->space, (void *)s->host_address);

	if (c->defer)
		return ia64_defer(c, c->at);
	c->fault = IA64_FAULT_DATA;
	c->fault_address = address ? address : c->gr[c->at->r3];
	c->fault_write = s->host_write;
	c->fault_denied = s->host_signal == SIGSEGV && s->host_code == SEGV_ACCERR &&
			  ia64_space_allows(c->process->space, c->fault_address, 0);
	return NULL;
}

void ia64_execute(struct ia64_cpu *c)
{
	struct ia64_op *volatile start = NULL;
	struct ia64_op *o;
	int why = sigsetjmp(c->escape, 0);

	if (why) {
		c->running = false;
		start = why == 1 ? host_fault(c) : NULL;
		if (!start) {
			ia64_code_until(c, c->at, true);
			c->stop = IA64_STOP_FAULT;
			c->ip = ia64_ip_of(c, c->at);
			return;
		}
	} else {
		ia64_code_refresh(c);
		ia64_code_resume(c);
		start = ia64_goto(c, c->ip);
	}
	c->running = true;
	o = start;
	while (o)
		o = o->run(c, o);
	c->running = false;
}

static uint64_t after_break(uint64_t ip)
{
	return (ip & 3) == 2 ? (ip & ~15ull) + 16 : ip + 1;
}

/* A long break takes the bundle's last two slots. */
static uint64_t next_ip(struct ia64_cpu *c, uint64_t ip)
{
	struct ia64_bundle b;

	if (ia64_space_fetch(c, ip & ~15ull, &b) == 0 && ia64_slots(&b) == 2 && (ip & 3) == 1)
		return (ip & ~15ull) + 16;
	return after_break(ip);
}

void ia64_run(struct ia64_cpu *c)
{
	for (;;) {
		__atomic_store_n(&c->attention, 0, __ATOMIC_RELEASE);
		if (c->signals->head != c->signals->tail)
			ia64_signals_deliver(c);
		ia64_execute(c);
		switch (c->stop) {
		case IA64_STOP_BREAK:
			if (c->fault_imm == SYSCALL_BREAK) {
				c->break_ip = c->ip;
				c->ip = next_ip(c, c->ip);
				if (!ia64_syscall(c))
					return;
			} else {
				ia64_signals_break(c, c->fault_imm);
			}
			break;
		case IA64_STOP_FAULT:
		case IA64_STOP_TRAP:
			ia64_signals_fault(c);
			break;
		default:
			break;
		}
	}
}
