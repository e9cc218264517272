/*
 * Laws between what boxes count, and witnesses: statistics of the machine that say the same. The
 * traffic is the same in every run, so that laws may take events that do not fit the counters
 * together.
 */
#ifndef TESTS_LAWS_CONSERVATION_H
#define TESTS_LAWS_CONSERVATION_H

#include "bus/emulated.h"
#include "emul/block.h"
#include "pmulab/session.h"

#define EVENTS_MAX 96
#define TERMS_MAX  9
#define CORES_MAX  44
#define CORES_USED 4
#define DATA	   0x10000000u
#define CODE	   0x400000u

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* How the sum of the events on the left stands to that of those on the right. */
enum relation {
	EQUAL,
	AT_MOST,
	EQUAL_ON_ONE, /* on machines of one socket */
	EQUAL_ON_TWO,
	EQUAL_OF_DEMANDS, /* without prefetchers; with them the left is at most the right */
};

struct law {
	enum relation relation;
	const char *left[TERMS_MAX], *right[TERMS_MAX];
};

/* The machine's own statistics, as one more witness. */
#define STATISTIC(field) offsetof(struct machine_statistics, field)

struct witness {
	const char *events[TERMS_MAX];
	size_t statistic;
};

struct rules {
	const struct law *laws;
	const struct witness *witnesses;
	size_t law_count, witness_count;
};

/*
 * Every event of the laws once, in packs that fit the counters together, and what was counted of it
 * over all sockets and instances.
 */
struct counts {
	const char *events[EVENTS_MAX];
	unsigned packs[EVENTS_MAX]; /* that it is in */
	uint64_t values[EVENTS_MAX];
	size_t count;
	unsigned pack_count;
	struct machine_statistics stats;
};

struct fixture {
	const struct pmu_machine *desc;
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	struct pmu_session *session;
	struct machine *machine;
	struct machine_address_space *space;
	size_t events[EVENTS_MAX]; /* indices in struct counts, by that in the session */
};

/** Chooses the events of the rules. */
void choose_events(struct counts *counts, const struct rules *rules,
		   const struct pmu_machine *desc);
/** Runs the traffic as often as it takes to count every event. */
void count_all(struct counts *counts, const struct pmu_machine *desc,
	       void (*drive)(struct fixture *fixture, const void *argument), const void *argument);
/** Of what was counted; of an event that was chosen, and of several. */
uint64_t counted(const struct counts *counts, const char *event);
uint64_t sum(const struct counts *counts, const char *const *events);
/** Whether a law is one of machines of so many sockets. */
bool applies(const struct law *law, unsigned sockets);
/** Fails unless all rules hold. */
void check_rules(const struct counts *counts, const struct rules *rules, unsigned sockets);
/** Fails unless so much was counted of the event. */
void expect(const struct counts *counts, const char *event, uint64_t expected);

/**
 * Whatever cores can do, on lines that the others want too: four cores, spread over all sockets.
 * @param on  a uint32_t: the prefetchers
 */
void drive_random(struct fixture *fixture, const void *on);

#endif
