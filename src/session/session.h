/*
 * The session's own state. A unit is one instance of a box in one socket; a row is the count of one
 * event in one unit.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "catalog/entries.h"
#include "pmulab/session.h"
#include "session/selection.h"

/* What helps where there is but one PMU; ends the reasons that events exclude each other for. */
#define SESSION_SEPARATELY "; count them in separate runs"

#define SESSION_NONE	      SIZE_MAX
#define SESSION_BUSY_TEXT_MAX 1024
#define SESSION_INSTANCES_MAX 32 /* bits of what is present */

struct session_event {
	struct pmu_selection selection;
	bool counted;	 /* false: not modelled by what is behind the bus, and not programmed */
	uint8_t counter; /* the same in every instance; of a fixed one its own number */
	/* That of each instance, where instances share counters: seats.h. */
	uint8_t counters[SESSION_INSTANCES_MAX];
	unsigned group; /* that it stays together with; 0: none */
	/* Where it is, once the events are divided: groups.h. */
	size_t part;
	unsigned part_event;
};

struct session_unit {
	const struct pmu_box *box;
	unsigned socket, instance;
	size_t first_row;      /* of those that are counted */
	uint64_t enable_found; /* see global_enable.h */
	/* What programs its events, pmu_event_merge(). */
	struct pmu_write *writes;
	size_t write_count;
	bool lost;	 /* somebody else froze or changed what counts: no counts any more */
	uint64_t ran_ns; /* the bus's time up to which it is known to have counted */
};

struct session_row {
	unsigned event;
	uint8_t counter;
	size_t next; /* row of the same unit, or SESSION_NONE */
	uint64_t raw;
	uint64_t wraps; /* carries out of the counter since the start */
};

struct session_writes {
	struct pmu_access_op *ops;
	size_t count, capacity;
};

enum session_state {
	SESSION_NEW,
	SESSION_RUNNING,
	SESSION_STOPPED,
	SESSION_ENDED,
};

struct pmu_session {
	struct pmu_bus *bus;
	const struct pmu_pmu *pmu;
	unsigned sockets;
	enum session_state state;

	/* The registers that freeze everything, one a socket; NULL: all boxes have global enables.
	 */
	const struct pmu_box *global_box;
	const struct pmu_register *global_ctl, *global_status;
	uint64_t *global_found; /* [socket]: what global_ctl has to keep */

	struct selection_nodes *nodes; /* [socket] */
	uint32_t *present;	       /* [socket * boxes + box]: bit i: instance i is there */
	uint64_t *only;		       /* [socket]: cores that are asked for; NULL: all */

	struct session_event *events;
	size_t event_count;
	unsigned group_count;

	bool spread;		    /* events may be divided among several PMUs */
	bool divided;		    /* into groups that others count; it is a plan */
	struct session_part *parts; /* those, with all that follows; else NULL */
	size_t part_count;
	struct pmu_count *part_counts;

	/* Made at the first start. */
	struct session_unit *units;
	size_t unit_count;
	struct session_row *rows;
	struct pmu_count *counts; /* [row] */
	size_t row_count;
	struct session_writes found; /* what the units' registers held */
	struct session_writes plan;  /* all that restores, in order */
	struct guardian *guardian;   /* NULL: none is asked for, or nothing is to be guarded */

	uint64_t started_ns, stopped_ns; /* the bus's time, of the last start and stop */

	/* busy.c: counters that were enabled before. */
	bool forced; /* they are taken, and given back at the end */
	unsigned busy_count;
	char busy[SESSION_BUSY_TEXT_MAX];
};

/** Bits of the instances of @box that @socket has. */
uint32_t *session_present(const struct pmu_session *session, unsigned socket,
			  const struct pmu_box *box);

/** As pmu_session_new(), for some of the events of @whole. */
int session_new_for(struct pmu_session **session, struct pmu_ctx *ctx,
		    const struct pmu_session *whole);

/** Whether anything of the socket is counted, once there are units. */
bool session_counts_on(const struct pmu_session *session, unsigned socket);

/** discover.c: finds the instances that the part has, by its own registers (334291-001 §1.6). */
int session_discover(struct pmu_session *session, struct pmu_ctx *ctx);
/** Finds the cores, if @box is theirs and they are not known yet. */
int session_discover_cores(struct pmu_session *session, struct pmu_ctx *ctx,
			   const struct pmu_box *box);

/** assign.c: gives every counted event a counter. @return 0 or PMU_E_CONFLICT */
int session_assign(struct pmu_session *session, struct pmu_ctx *ctx);
/** The same for the events of one box, which no other box's events get in the way of. */
int session_assign_box(struct pmu_session *session, struct pmu_ctx *ctx, const struct pmu_box *box);

/** Takes away what pmu_session_only() leaves out of a box. */
void session_leave_out(struct pmu_session *session, unsigned socket, const struct pmu_box *box);

/** The counter that it was given in an instance. */
uint8_t session_counter_of(const struct session_event *event, unsigned instance);

/** layout.c: makes units and rows. @return 0 or PMU_E_NOMEM */
int session_lay_out(struct pmu_session *session, struct pmu_ctx *ctx);
void session_layout_free(struct pmu_session *session);

/** restore.c: keeps what the units' registers hold and starts the guardian; writes it back. */
int session_keep(struct pmu_session *session, struct pmu_ctx *ctx);
int session_restore(struct pmu_session *session, struct pmu_ctx *ctx);

/** writes.c: makes the writes of all units. @return 0, or an error of pmu_event_merge() */
int session_encode(struct pmu_session *session, struct pmu_ctx *ctx);
/** Whether a write is for the control of a counter. */
bool session_is_control(const struct pmu_write *write);
/** The last write of the unit to a register; NULL: it does not write it. */
const struct pmu_write *session_write_to(const struct session_unit *unit,
					 const struct pmu_register *reg);

/** program.c: the steps of struct pmu_pmu, and their end. */
int session_program(struct pmu_session *session, struct pmu_ctx *ctx);
int session_freeze(struct pmu_session *session, struct pmu_ctx *ctx);
int session_unfreeze(struct pmu_session *session, struct pmu_ctx *ctx);
/** Lets count what counted before the session. */
int session_unfreeze_others(struct pmu_session *session, struct pmu_ctx *ctx);
/** Whether the box is stopped by its own control: the socket has none, nor the box a global enable.
 */
bool session_freezes_box(const struct pmu_session *session, const struct pmu_box *box);
/** Whether nothing stops the box, so that the controls of its counters are disabled one by one. */
bool session_disables_box(const struct pmu_session *session, const struct pmu_box *box);
/** Whether the session stops and starts whole sockets. */
bool session_uses_sockets(const struct pmu_session *session);
int session_unfreeze_units(struct pmu_session *session, struct pmu_ctx *ctx);

/** Whether programming a box sets all its counters to 0. */
bool session_resets_counters(const struct pmu_box *box);
/** Whether programming the unit changes this register; of counters see the one above. */
bool session_writes(const struct session_unit *unit, const struct pmu_register *reg);

/** collect.c: status bits of the counters that the session uses in a unit. */
uint64_t session_status_bits(const struct pmu_session *session, const struct session_unit *unit);

/** Brings raw and wraps of all rows up to date. */
int session_collect(struct pmu_session *session, struct pmu_ctx *ctx);

#endif
