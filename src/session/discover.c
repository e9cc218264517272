#include <stdio.h>

#include "base/error.h"
#include "bus/identity.h"
#include "session/registers.h"
#include "session/session.h"

#include <stdlib.h>

static int read_field(struct pmu_session *session, struct pmu_ctx *ctx,
		      const struct identity_field *where, unsigned socket, unsigned instance,
		      uint64_t *value)
{
	struct register_at at = {where->box, where->reg, socket, instance};
	int error = register_read(session->bus, ctx, &at, value);

	if (!error)
		*value = identity_value(where->field, *value);
	return error;
}

/* A PCI function that is not there reads as ones, or not at all. */
static int probe_instances(struct pmu_session *session, struct pmu_ctx *ctx,
			   const struct identity_field *device, unsigned socket, uint32_t *present)
{
	for (unsigned i = 0; i < device->box->instance_count; i++) {
		uint64_t id;
		int error = read_field(session, ctx, device, socket, i, &id);

		if (error && error != PMU_E_UNKNOWN)
			return error;
		if (!error && id == device->box->instances[i].device_id)
			*present |= 1u << i;
	}
	return 0;
}

/* How many instances the part says it has: no more are to be looked for (334291-001 §1.6). */
static int most_instances(struct pmu_session *session, struct pmu_ctx *ctx,
			  const struct pmu_box *box, unsigned socket, unsigned *most)
{
	struct identity_field counting = identity_counting(session->pmu, box->name);
	uint64_t value;
	int error;

	*most = (unsigned)box->instance_count;
	if (!counting.field)
		return 0;
	error = read_field(session, ctx, &counting, socket, 0, &value);
	if (!error)
		identity_count(&counting, box->name, value, most);
	return error;
}

/* Boxes that no discovery register lists one by one are there if they answer. */
static int try_instances(struct pmu_session *session, struct pmu_ctx *ctx,
			 const struct pmu_box *box, unsigned socket, uint32_t *present)
{
	const struct pmu_register *reg = identity_witness(box);
	unsigned most;
	int error = most_instances(session, ctx, box, socket, &most);

	if (error)
		return error;
	for (unsigned i = 0; i < most && i < box->instance_count; i++) {
		struct register_at at = {box, reg, socket, i};
		uint64_t value;

		error = reg ? register_read(session->bus, ctx, &at, &value) : 0;
		if (error && error != PMU_E_UNKNOWN)
			return error;
		if (!error)
			*present |= 1u << i;
	}
	return 0;
}

static int discover_box(struct pmu_session *session, struct pmu_ctx *ctx, const struct pmu_box *box,
			unsigned socket)
{
	struct identity_field device = identity_device(box);
	struct identity_field map = identity_instances(session->pmu, box);
	uint32_t all = box->instance_count ? (uint32_t)pmu_mask(box->instance_count - 1, 0) : 0;
	uint32_t *present = session_present(session, socket, box);
	uint64_t bits;
	int error;

	if (device.field)
		return probe_instances(session, ctx, &device, socket, present);
	if (!map.field)
		return try_instances(session, ctx, box, socket, present);
	error = read_field(session, ctx, &map, socket, 0, &bits);
	if (!error)
		*present = (uint32_t)bits & all;
	return error;
}

void session_leave_out(struct pmu_session *session, unsigned socket, const struct pmu_box *box)
{
	const uint64_t cores = session->only ? session->only[socket] : UINT64_MAX;

	if (!cores)
		*session_present(session, socket, box) = 0;
	else if (box->scope == PMU_SCOPE_CORE)
		*session_present(session, socket, box) &= (uint32_t)cores;
}

int session_discover_cores(struct pmu_session *session, struct pmu_ctx *ctx,
			   const struct pmu_box *box)
{
	int error = 0;

	for (unsigned socket = 0; socket < session->sockets && !error; socket++) {
		if (box->scope != PMU_SCOPE_CORE || *session_present(session, socket, box) ||
		    (session->only && !session->only[socket]))
			continue;
		error = discover_box(session, ctx, box, socket);
		session_leave_out(session, socket, box);
	}
	return error;
}

/* 334291-001 §1.6.1: the package's node id; where no register tells, nodes are numbered as sockets.
 */
static int discover_nodes(struct pmu_session *session, struct pmu_ctx *ctx)
{
	struct identity_field where = identity_node(session->pmu);
	uint64_t all = 0;

	for (unsigned socket = 0; socket < session->sockets; socket++) {
		uint64_t node = socket;
		int error = 0;

		if (where.field)
			error = read_field(session, ctx, &where, socket, 0, &node);
		if (error)
			return error;
		session->nodes[socket].mine = UINT64_C(1) << node;
		all |= session->nodes[socket].mine;
	}
	for (unsigned socket = 0; socket < session->sockets; socket++)
		session->nodes[socket].all = all;
	return 0;
}

int session_discover(struct pmu_session *session, struct pmu_ctx *ctx)
{
	for (unsigned socket = 0; socket < session->sockets; socket++) {
		for (size_t i = 0; i < session->pmu->box_count; i++) {
			const struct pmu_box *box = &session->pmu->boxes[i];
			int error = 0;

			/* Cores are asked when something of them is to be counted. */
			if (box->scope != PMU_SCOPE_CORE)
				error = discover_box(session, ctx, box, socket);
			if (error)
				return error;
		}
	}
	return discover_nodes(session, ctx);
}

int pmu_session_only(struct pmu_session *session, struct pmu_ctx *ctx, const uint64_t *cores)
{
	uint64_t any = 0;

	for (unsigned socket = 0; socket < session->sockets; socket++)
		any |= cores[socket];
	if (!any)
		return error_set(ctx, PMU_E_RANGE, "no core is left to count on");
	if (session->event_count || session->only)
		return error_set(ctx, PMU_E_STATE,
				 "which cores count is to be said before the events");
	session->only = calloc(session->sockets, sizeof(*session->only));
	if (!session->only)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a session");
	for (unsigned socket = 0; socket < session->sockets; socket++) {
		session->only[socket] = cores[socket];
		for (size_t b = 0; b < session->pmu->box_count; b++)
			session_leave_out(session, socket, &session->pmu->boxes[b]);
	}
	return 0;
}

int pmu_session_instances(struct pmu_session *session, struct pmu_ctx *ctx,
			  const struct pmu_box *box, unsigned socket, uint64_t *present)
{
	int error;

	if (socket >= session->sockets)
		return error_set(ctx, PMU_E_RANGE, "there is no socket %u", socket);
	error = session_discover_cores(session, ctx, box);
	*present = error ? 0 : *session_present(session, socket, box);
	return error;
}

/* Whether a discovery register says which instances there are, so that none is tried. */
static const struct pmu_register *lists(const struct pmu_session *session,
					const struct pmu_box *box, const char **how)
{
	struct identity_field map = identity_instances(session->pmu, box);

	*how = map.field ? "does not list it" : "counts fewer";
	return map.field ? map.reg : identity_counting(session->pmu, box->name).reg;
}

int pmu_session_absence(struct pmu_session *session, struct pmu_ctx *ctx, const struct pmu_box *box,
			unsigned socket, unsigned instance, char *text, size_t size)
{
	struct identity_field device = identity_device(box);
	const struct pmu_register *reg;
	struct register_at at = {box, identity_witness(box), socket, instance};
	const char *how;
	uint64_t value;

	reg = device.field ? NULL : lists(session, box, &how);
	if (reg)
		return snprintf(text, size, "%s %s", reg->name, how);
	if (!at.reg)
		return snprintf(text, size, "it does not answer");
	if (register_read(session->bus, ctx, &at, &value))
		return snprintf(text, size, "%s", pmu_message(ctx));
	return snprintf(text, size, "%s reads 0x%llX, another device", at.reg->name,
			(unsigned long long)value);
}
