/*
 * The session's own state. A unit is one instance of a box in one socket; a row is the count of one
 * event in one unit.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "pmulab/session.h"
#include "session/selection.h"

#define SESSION_NONE SIZE_MAX

struct session_event {
	struct pmu_selection selection;
	bool counted;	 /* false: not modelled by what is behind the bus, and not programmed */
	uint8_t counter; /* the same in every instance; not for fixed counters */
};

struct session_unit {
	const struct pmu_box *box;
	unsigned socket, instance;
	size_t first_row; /* of those that are counted */
};

struct session_row {
	unsigned event;
	size_t next; /* row of the same unit, or SESSION_NONE */
	uint64_t raw;
	uint64_t wraps; /* carries out of the counter since the start */
};

enum session_state {
	SESSION_NEW,
	SESSION_RUNNING,
	SESSION_STOPPED,
};

struct pmu_session {
	struct pmu_bus *bus;
	const struct pmu_pmu *pmu;
	unsigned sockets;
	enum session_state state;

	/* The registers that freeze everything, one a socket. */
	const struct pmu_box *global_box;
	const struct pmu_register *global_ctl, *global_status;
	uint64_t *global_found; /* [socket]: what global_ctl has to keep */

	struct selection_nodes *nodes; /* [socket] */
	uint32_t *present;	       /* [socket * boxes + box]: bit i: instance i is there */

	struct session_event *events;
	size_t event_count;

	/* Made at the first start. */
	struct session_unit *units;
	size_t unit_count;
	struct session_row *rows;
	struct pmu_count *counts; /* [row] */
	size_t row_count;
	struct pmu_access_op *found; /* writes that restore what the session found */
	size_t found_count, found_capacity;
};

/** Bits of the instances of @box that @socket has. */
uint32_t *session_present(const struct pmu_session *session, unsigned socket,
			  const struct pmu_box *box);

/** discover.c: finds the instances that the part has, by its own registers (334291-001 §1.6). */
int session_discover(struct pmu_session *session, struct pmu_ctx *ctx);

/** assign.c: gives every counted event a counter. @return 0 or PMU_E_CONFLICT */
int session_assign(struct pmu_session *session, struct pmu_ctx *ctx);

/** layout.c: makes units and rows. @return 0 or PMU_E_NOMEM */
int session_lay_out(struct pmu_session *session, struct pmu_ctx *ctx);
void session_layout_free(struct pmu_session *session);

/** restore.c: keeps what the units' registers hold; writes it back. */
int session_keep(struct pmu_session *session, struct pmu_ctx *ctx);
int session_restore(struct pmu_session *session, struct pmu_ctx *ctx);

/** program.c: 334291-001 §2.1.2, and its end. */
int session_program(struct pmu_session *session, struct pmu_ctx *ctx);
int session_freeze(struct pmu_session *session, struct pmu_ctx *ctx);
int session_unfreeze(struct pmu_session *session, struct pmu_ctx *ctx);
int session_unfreeze_units(struct pmu_session *session, struct pmu_ctx *ctx);

/** Whether programming the unit changes this control. */
bool session_writes_control(const struct pmu_session *session, const struct session_unit *unit,
			    const struct pmu_register *ctl);
/** The value of a filter register of the unit. @return false: nothing depends on it */
bool session_filter(const struct pmu_session *session, const struct session_unit *unit,
		    const struct pmu_register *reg, uint64_t *value);

/** collect.c: brings raw and wraps of all rows up to date. */
int session_collect(struct pmu_session *session, struct pmu_ctx *ctx);

#endif
