#include "machine/memory_dram.h"

#include <assert.h>

#include "machine/cause.h"

/* Idle cycles of the data bus when its driver changes: DDR4 needs two from read to write. */
#define BUS_GAP_CYCLES 2

struct dram_addr {
	uint8_t rank, bank; /* bank: within the rank */
	uint32_t row;
};

static bool power_of_two(uint32_t value)
{
	return value && !(value & (value - 1));
}

void dram_init(struct memory_channel *channel, const struct pmu_machine *desc)
{
	assert(power_of_two(desc->row_bytes) && desc->row_bytes >= 64 && power_of_two(desc->banks));
	assert(desc->ranks && desc->ranks <= MEMORY_RANKS_MAX);
	assert(desc->ranks * desc->banks <= MEMORY_BANKS_MAX);
	assert(desc->t_refi > desc->ranks * desc->t_rfc);

	channel->column_bits = (uint32_t)__builtin_ctz(desc->row_bytes / 64);
	channel->bank_bits = (uint32_t)__builtin_ctz(desc->banks);
	channel->per_rank = divisor_of(desc->ranks);
	channel->dram.refresh_due = desc->t_refi / desc->ranks;
	for (unsigned i = 0; i < MEMORY_BANKS_MAX; i++)
		channel->dram.banks[i].row = MEMORY_ROW_CLOSED;
}

/* Column, bank, rank, row from the low bits up; row bits permute the banks, so that lines a power
   of two apart spread over them. */
static struct dram_addr locate(const struct memory_channel *channel, const struct pmu_machine *desc,
			       uint32_t line)
{
	uint32_t bank = line >> channel->column_bits;
	uint32_t rank = bank >> channel->bank_bits;
	uint32_t row = divide(&channel->per_rank, rank);

	return (struct dram_addr){
	    .rank = (uint8_t)(rank - row * desc->ranks),
	    .bank = (uint8_t)((bank ^ row) & (desc->banks - 1)),
	    .row = row,
	};
}

static inline __attribute__((always_inline)) void emit_command(const struct memory_view *view,
							       enum pmu_signal_id id,
							       uint32_t qualifiers,
							       struct dram_addr addr, uint64_t time)
{
	machine_emit(view->port, (struct signal){.id = (uint16_t)id,
						 .socket = view->socket,
						 .unit = view->unit,
						 .qualifiers = qualifiers,
						 .time = time,
						 .rank = addr.rank,
						 .bank = addr.bank});
}

static void refresh_rank(struct memory_channel *channel, const struct memory_view *view)
{
	struct memory_dram *dram = &channel->dram;
	const struct pmu_machine *desc = view->desc;
	struct dram_addr addr = {.rank = (uint8_t)(channel->stats.refreshes % desc->ranks)};
	struct memory_bank *banks = &dram->banks[addr.rank * desc->banks];
	const struct memory_rank *rank = &dram->ranks[addr.rank];
	uint64_t due = dram->refresh_due, precharge = due, start = due;
	bool open = false, used = rank->used_until && due < rank->used_until + MEMORY_IDLE_CYCLES;

	/* What is closed has been so since the rank's last refresh. */
	for (unsigned i = 0; i < desc->banks; i++) {
		if (banks[i].row == MEMORY_ROW_CLOSED)
			continue;
		precharge = later(precharge, banks[i].pre_ready);
		open = true;
	}
	if (open) {
		emit_command(view, SIGNAL_DRAM_PRECHARGE_ALL, 0, addr, precharge);
		start = precharge + desc->t_rp;
	}
	emit_command(view, SIGNAL_DRAM_REFRESH, used ? QUALIFIER_DRAM_REFRESH_HIGH : 0, addr,
		     start);
	dram->refresh_end = start + desc->t_rfc;
	for (unsigned i = 0; i < desc->banks; i++) {
		banks[i].row = MEMORY_ROW_CLOSED;
		banks[i].ready = dram->refresh_end;
	}
	channel->stats.refreshes++;
	dram->refresh_due = (channel->stats.refreshes + 1) * desc->t_refi / desc->ranks;
}

void dram_refresh(struct memory_channel *channel, const struct memory_view *view, uint64_t now)
{
	uint32_t before;

	if (channel->dram.refresh_due > now)
		return;
	before = cause_begin(view->port, 0);
	while (channel->dram.refresh_due <= now)
		refresh_rank(channel, view);
	cause_end(view->port, before);
}

static inline void emit_cas(struct memory_channel *channel, const struct memory_view *view,
			    enum totals_cas kind, struct dram_addr addr, uint64_t time)
{
	if (!MACHINE_EMITS) {
		channel->totals.used = true;
		channel->totals.cas[kind][addr.rank]++;
	}
	emit_command(view, SIGNAL_DRAM_CAS, dram_cas_qualifiers(kind), addr, time);
}

/* Row commands that a column access needs. */
static inline void emit_precharge(struct memory_channel *channel, const struct memory_view *view,
				  bool write, struct dram_addr addr, uint64_t time)
{
	channel->stats.precharges++;
	if (!MACHINE_EMITS)
		channel->totals.precharges[write][addr.rank]++;
	emit_command(view, SIGNAL_DRAM_PRECHARGE, dram_precharge_qualifiers(write), addr, time);
}

static inline void emit_activate(struct memory_channel *channel, const struct memory_view *view,
				 bool write, struct dram_addr addr, uint64_t time)
{
	channel->stats.activates++;
	if (!MACHINE_EMITS)
		channel->totals.activates[write][addr.rank]++;
	emit_command(view, SIGNAL_DRAM_ACTIVATE, dram_activate_qualifiers(write), addr, time);
}

static void open_row(struct memory_channel *channel, const struct memory_view *view,
		     struct memory_bank *bank, struct dram_addr addr, uint64_t earliest, bool write)
{
	struct memory_dram *dram = &channel->dram;
	const struct pmu_machine *desc = view->desc;
	uint64_t activate;

	if (bank->row != MEMORY_ROW_CLOSED) {
		uint64_t precharge = later(later(earliest, bank->pre_ready), dram->next_pre);

		dram->next_pre = precharge + 1;
		bank->ready = precharge + desc->t_rp;
		emit_precharge(channel, view, write, addr, precharge);
	}
	activate = later(later(earliest, bank->ready), dram->next_act);
	dram->next_act = activate + 1;
	bank->row = addr.row;
	bank->ready = activate + desc->t_rcd;
	bank->pre_ready = activate + desc->t_ras;
	emit_activate(channel, view, write, addr, activate);
}

/* The bank of a request with its row open, after the refreshes that come before the request. */
static struct memory_bank *prepare(struct memory_channel *channel, const struct memory_view *view,
				   struct dram_addr addr, uint64_t earliest, bool write)
{
	struct memory_dram *dram = &channel->dram;
	struct memory_bank *bank = &dram->banks[addr.rank * view->desc->banks + addr.bank];

	dram_refresh(channel, view, later(earliest, dram->next_cas));
	if (bank->row != addr.row)
		open_row(channel, view, bank, addr, earliest, write);
	return bank;
}

/* The cycle at which the data bus can take the next burst. */
static uint64_t bus_free(const struct memory_dram *dram, uint8_t rank, bool write)
{
	bool turn = dram->data_end && (dram->bus_rank != rank || dram->bus_write != write);

	return dram->data_end + (turn ? BUS_GAP_CYCLES : 0);
}

static void bus_take(struct memory_dram *dram, struct dram_addr addr, bool write, uint64_t until)
{
	dram->bus_rank = addr.rank;
	dram->bus_write = write;
	dram->data_end = until;
	dram->ranks[addr.rank].used_until = until;
}

uint64_t dram_read(struct memory_channel *channel, const struct memory_view *view, uint32_t line,
		   uint64_t earliest, enum totals_cas kind)
{
	struct memory_dram *dram = &channel->dram;
	const struct pmu_machine *desc = view->desc;
	struct dram_addr addr = locate(channel, desc, line);
	struct memory_bank *bank = prepare(channel, view, addr, earliest, false);
	uint64_t cas = later(later(earliest, bank->ready), dram->next_cas);
	uint64_t bus = bus_free(dram, addr.rank, false);

	cas = later(cas, dram->ranks[addr.rank].read_ready);
	if (cas + desc->t_cl < bus)
		cas = bus - desc->t_cl;

	dram->next_cas = cas + 1;
	bus_take(dram, addr, false, dram_read_end(desc, cas));
	if (view->shared)
		calendar_take(&dram->bus, cas + desc->t_cl, desc->t_burst);
	/* t_rtp is not a parameter; its lower bound in DDR4 is the length of a burst. */
	bank->pre_ready = later(bank->pre_ready, cas + desc->t_burst);
	channel->stats.cas_reads++;
	emit_cas(channel, view, kind, addr, cas);
	return cas;
}

/* @return the cycle from which on a late read can have its CAS */
static uint64_t open_row_late(struct memory_channel *channel, const struct memory_view *view,
			      struct dram_addr addr, uint64_t earliest)
{
	const struct pmu_machine *desc = view->desc;
	struct memory_bank *bank = &channel->dram.banks[addr.rank * desc->banks + addr.bank];
	uint64_t activate = earliest;

	if (bank->row == addr.row)
		return bank->ready < earliest + desc->t_rcd ? later(earliest, bank->ready)
							    : earliest + desc->t_rcd;
	if (bank->row != MEMORY_ROW_CLOSED) {
		activate += desc->t_rp;
		emit_precharge(channel, view, false, addr, earliest);
	}
	emit_activate(channel, view, false, addr, activate);
	bank->row = addr.row;
	bank->ready = later(bank->ready, activate + desc->t_rcd);
	bank->pre_ready = later(bank->pre_ready, activate + desc->t_ras);
	return activate + desc->t_rcd;
}

uint64_t dram_read_late(struct memory_channel *channel, const struct memory_view *view,
			uint32_t line, uint64_t earliest, enum totals_cas kind)
{
	const struct pmu_machine *desc = view->desc;
	struct dram_addr addr = locate(channel, desc, line);
	struct calendar *bus = &channel->dram.bus;
	uint64_t cas = open_row_late(channel, view, addr, earliest);
	uint64_t data = calendar_find(bus, cas + desc->t_cl, desc->t_burst);

	if (data == CALENDAR_NONE)
		return dram_read(channel, view, line, earliest, kind);
	calendar_take(bus, data, desc->t_burst);
	channel->stats.cas_reads++;
	emit_cas(channel, view, kind, addr, data - desc->t_cl);
	return data - desc->t_cl;
}

uint64_t dram_write(struct memory_channel *channel, const struct memory_view *view, uint32_t line,
		    uint64_t earliest, enum totals_cas kind)
{
	struct memory_dram *dram = &channel->dram;
	const struct pmu_machine *desc = view->desc;
	struct dram_addr addr = locate(channel, desc, line);
	struct memory_bank *bank = prepare(channel, view, addr, earliest, true);
	uint64_t cas = later(later(earliest, bank->ready), dram->next_cas);
	uint64_t bus = bus_free(dram, addr.rank, true), end;

	if (cas + desc->t_cwl < bus)
		cas = bus - desc->t_cwl;
	end = cas + desc->t_cwl + desc->t_burst;

	dram->next_cas = cas + 1;
	bus_take(dram, addr, true, end);
	if (view->shared)
		calendar_take(&dram->bus, cas + desc->t_cwl, desc->t_burst);
	dram->ranks[addr.rank].read_ready = end + desc->t_wtr;
	bank->pre_ready = later(bank->pre_ready, end + desc->t_wr);
	channel->stats.cas_writes++;
	emit_cas(channel, view, kind, addr, cas);
	return cas;
}
