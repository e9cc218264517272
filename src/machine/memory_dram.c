#include "machine/memory_dram.h"

#include <assert.h>

#include "machine/cause.h"

/* Idle cycles of the data bus when its driver changes: DDR4 needs two from read to write. */
#define BUS_GAP_CYCLES 2

struct dram_addr {
	uint8_t rank, bank, group; /* bank: within the rank; group: of its banks */
	uint32_t row;
};

static bool power_of_two(uint32_t value)
{
	return value && !(value & (value - 1));
}

/* @return the smallest power of two that is not less, as its logarithm */
static uint32_t log2_above(uint32_t value)
{
	uint32_t log2 = 0;

	while (1u << log2 < value)
		log2++;
	return log2;
}

static uint32_t at_least(uint32_t least, uint32_t value)
{
	return value > least ? value : least;
}

/* Without bank groups what holds for two of them holds for all banks of a rank. */
static void set_groups(struct memory_channel *channel, const struct pmu_machine *desc)
{
	struct activate_limits *limits = &channel->activate_limits;
	const bool groups = desc->bank_groups > 1;

	*limits =
	    (struct activate_limits){.other = at_least(1, desc->t_rrd_s), .window = desc->t_faw};
	limits->group = groups ? at_least(limits->other, desc->t_rrd_l) : limits->other;
	channel->group_bits = groups ? (uint32_t)__builtin_ctz(desc->bank_groups) : 0;
	channel->group_shift = (uint32_t)__builtin_ctz(desc->banks) - channel->group_bits;
	channel->group_apart = groups ? desc->t_ccd_l : 0;
	channel->spread_bits = groups;
}

void dram_init(struct memory_channel *channel, const struct pmu_machine *desc)
{
	assert(power_of_two(desc->row_bytes) && desc->row_bytes >= 64 && power_of_two(desc->banks));
	assert(desc->ranks && desc->ranks <= MEMORY_RANKS_MAX);
	assert(desc->ranks * desc->banks <= MEMORY_BANKS_MAX);
	assert(desc->bank_groups <= MEMORY_GROUPS_MAX && desc->bank_groups <= desc->banks);
	assert(desc->t_refi > desc->ranks * desc->t_rfc);

	set_groups(channel, desc);
	channel->block_bits = channel->spread_bits + (uint32_t)__builtin_ctz(desc->row_bytes / 64);
	channel->bank_bits = (uint32_t)__builtin_ctz(desc->banks) - channel->spread_bits;
	channel->read_to_pre = desc->t_rtp ? desc->t_rtp : desc->t_burst;
	channel->per_rank = divisor_of(desc->ranks);
	/* A row that finds no place in a window has one in the next. */
	channel->window_log2 =
	    log2_above(at_least(desc->t_ras + desc->t_rp, desc->rpq_entries * desc->t_burst));
	assert(channel->window_log2 < 16);
	channel->dram.refresh_due = desc->t_refi / desc->ranks;
	for (unsigned i = 0; i < MEMORY_BANKS_MAX; i++)
		channel->dram.banks[i].row = MEMORY_ROW_CLOSED;
}

/* A bit of the bank group where there are some, column, other bits of the group, bank in it, rank,
   row from the low bits up; row bits permute the banks, so that lines a power of two apart spread
   over them. Banks of a group have numbers in a row. */
static MACHINE_INLINE struct dram_addr locate(const struct memory_channel *channel,
					      const struct pmu_machine *desc, uint32_t line)
{
	uint32_t block = line >> channel->block_bits;
	uint32_t rank = block >> channel->bank_bits;
	uint32_t row = divide(&channel->per_rank, rank);
	uint32_t bank = block << channel->spread_bits | (line & channel->spread_bits), group;

	bank = (bank ^ row) & (desc->banks - 1);
	group = bank & ((1u << channel->group_bits) - 1);
	return (struct dram_addr){
	    .rank = (uint8_t)(rank - row * desc->ranks),
	    .bank = (uint8_t)(group << channel->group_shift | bank >> channel->group_bits),
	    .group = (uint8_t)group,
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
	struct memory_rank *rank = &dram->ranks[addr.rank];
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
	rank->refresh_from = precharge;
	rank->refresh_until = dram->refresh_end;
	for (unsigned i = 0; i < desc->banks; i++) {
		banks[i].row = MEMORY_ROW_CLOSED;
		banks[i].latest = dram->refresh_end;
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

static MACHINE_INLINE unsigned number_of(const struct memory_view *view, struct dram_addr addr)
{
	return addr.rank * view->desc->banks + addr.bank;
}

/*
 * Activates a row in a window, as far as its bank and its rank allow.
 * @param closes  cycle from which on another row may give way to it
 * @return the cycle of the activate; @end, which is the window's: not in the window
 */
static uint64_t open_in_window(struct memory_channel *channel, const struct memory_view *view,
			       struct dram_addr addr, struct rows_window *window, uint64_t end,
			       uint64_t closes, bool write)
{
	const struct pmu_machine *desc = view->desc;
	const bool open = window->count;
	struct memory_rows *rows = &channel->dram.rows[number_of(view, addr)];
	struct memory_activates *kept = &channel->dram.ranks[addr.rank].activates;
	uint64_t at = later(closes + (open ? desc->t_rp : 0), end - (1u << channel->window_log2));
	uint64_t tried;

	do {
		tried = at;
		at = rows_free(rows, window->number - 1, channel->window_log2,
			       desc->t_ras + desc->t_rp, at);
		at = activates_find(kept, &channel->activate_limits, addr.group, at);
	} while (at != tried && at < end);
	if (at >= end || window->count == ROWS_OPEN)
		return end;
	activates_take(kept, addr.group, at);
	if (open)
		emit_precharge(channel, view, write, addr, at - desc->t_rp);
	emit_activate(channel, view, write, addr, at);
	rows_add(window, addr.row, (uint16_t)(at & ((1u << channel->window_log2) - 1)));
	return at;
}

/* Where a row is open: in which window from which cycle on, and as which of its rows. */
struct open_row {
	struct rows_window *window; /* NULL: of a time that is not known any more */
	uint64_t begin;
	int index;
};

/* Finds the row of a request at @begin, or activates it. @param after  see open_row() */
static MACHINE_OUTLINE struct open_row find_row(struct memory_channel *channel,
						const struct memory_view *view,
						struct dram_addr addr, uint64_t begin,
						uint64_t after, bool write)
{
	const unsigned number = number_of(view, addr), log2 = channel->window_log2;
	const uint64_t refreshed = channel->dram.ranks[addr.rank].refresh_until;
	const uint64_t first = begin < refreshed ? 0 : refreshed >> log2;
	const uint64_t closes = later(begin, after);
	struct rows_window *window;
	uint64_t end;
	int index;

	for (;; begin = end) {
		window = rows_window(&channel->dram.rows[number], begin >> log2, first,
				     channel->dram.banks[number].row);
		if (!window)
			return (struct open_row){.begin = begin};
		index = rows_find(window, addr.row);
		if (index >= 0)
			return (struct open_row){window, begin, index};
		end = ((begin >> log2) + 1) << log2;
		if (open_in_window(channel, view, addr, window, end, closes, write) < end)
			return (struct open_row){window, begin, window->count - 1};
	}
}

/* Most rows are found. */
static MACHINE_INLINE struct open_row find_open_row(struct memory_channel *channel,
						    const struct memory_view *view,
						    struct dram_addr addr, uint64_t begin,
						    uint64_t after, bool write)
{
	const uint64_t number = begin >> channel->window_log2;
	struct rows_window *window = rows_slot(&channel->dram.rows[number_of(view, addr)], number);
	int index = -1;

	if (window->number == number + 1)
		index = rows_find(window, addr.row);
	if (index < 0)
		return find_row(channel, view, addr, begin, after, write);
	return (struct open_row){window, begin, index};
}

/*
 * Opens the row of a request.
 * @param after  no other row gives way to it before
 * @return the cycle from which on its bank can have its CAS
 */
static MACHINE_INLINE uint64_t open_row(struct memory_channel *channel,
					const struct memory_view *view, struct dram_addr addr,
					uint64_t earliest, uint64_t after, bool write)
{
	struct memory_bank *bank = &channel->dram.banks[number_of(view, addr)];
	const uint64_t mask = (1u << channel->window_log2) - 1;
	struct open_row open;
	uint64_t activate;

	open = find_open_row(channel, view, addr, earliest, after, write);
	if (!open.window)
		return open.begin + view->desc->t_rcd;
	rows_use(open.window, (unsigned)open.index, (uint16_t)(open.begin & mask));
	if (open.begin >= bank->latest) {
		bank->latest = open.begin;
		bank->row = addr.row;
	}
	if (open.window->at[open.index] == ROWS_BEFORE)
		return open.begin;
	activate = (open.begin & ~mask) + open.window->at[open.index];
	bank->pre_ready = later(bank->pre_ready, activate + view->desc->t_ras);
	return later(open.begin, activate + view->desc->t_rcd);
}

/* When a bank's row may close for a request at @now: reads that only wait for the bus do not hold
 * it up, as those of its own row go before them. */
static MACHINE_INLINE uint64_t closes_from(const struct memory_channel *channel,
					   const struct memory_bank *bank, uint64_t now)
{
	const uint64_t read = now + channel->read_to_pre;

	return later(bank->written, bank->pre_ready < read ? bank->pre_ready : read);
}

/* After the refreshes that come before the request. @return as open_row() */
static MACHINE_INLINE uint64_t prepare(struct memory_channel *channel,
				       const struct memory_view *view, struct dram_addr addr,
				       uint64_t earliest, bool write)
{
	struct memory_dram *dram = &channel->dram;
	const struct memory_bank *bank = &dram->banks[number_of(view, addr)];

	dram_refresh(channel, view, later(earliest, dram->next_cas));
	earliest = later(earliest, dram->ranks[addr.rank].refresh_until);
	return open_row(channel, view, addr, earliest, closes_from(channel, bank, earliest), write);
}

/* The bank's row is in use by an access until @until. */
static MACHINE_INLINE void keep_open(struct memory_channel *channel, const struct memory_view *view,
				     struct dram_addr addr, uint64_t until)
{
	struct memory_bank *bank = &channel->dram.banks[number_of(view, addr)];

	bank->pre_ready = later(bank->pre_ready, until);
}

/* The cycle at which the data bus can take the next burst. */
static MACHINE_INLINE uint64_t bus_free(const struct memory_dram *dram, uint8_t rank, bool write)
{
	bool turn = dram->data_end && (dram->bus_rank != rank || dram->bus_write != write);

	return dram->data_end + (turn ? BUS_GAP_CYCLES : 0);
}

static MACHINE_INLINE void bus_take(struct memory_dram *dram, struct dram_addr addr, bool write,
				    uint64_t until)
{
	dram->bus_rank = addr.rank;
	dram->bus_write = write;
	dram->data_end = until;
	dram->ranks[addr.rank].used_until = until;
}

/* No read of another rank, and beside a write none, comes close to the data. */
static MACHINE_INLINE void bus_keep(struct memory_channel *channel, const struct memory_view *view,
				    uint8_t rank, bool write, uint64_t data)
{
	struct memory_dram *dram = &channel->dram;

	for (unsigned i = 0; i < view->desc->ranks; i++) {
		const uint32_t gap = i == rank && !write ? 0 : BUS_GAP_CYCLES;

		calendar_take(&dram->ranks[i].bus, data - gap, view->desc->t_burst + 2 * gap);
	}
}

/* A CAS keeps the others of its bank group away for a while. */
static MACHINE_INLINE void group_take(struct memory_channel *channel, struct dram_addr addr,
				      uint64_t cas)
{
	struct memory_rank *rank = &channel->dram.ranks[addr.rank];
	uint64_t *ready = &rank->group_ready[addr.group];

	*ready = later(*ready, cas + channel->group_apart);
	if (channel->group_apart)
		calendar_take(&rank->groups[addr.group], cas, channel->group_apart);
}

/* @return the first cycle from @cas on at which the bank group can have one */
static uint64_t group_free(const struct memory_channel *channel, struct dram_addr addr,
			   uint64_t cas)
{
	const struct memory_rank *rank = &channel->dram.ranks[addr.rank];
	uint64_t found;

	if (!channel->group_apart)
		return cas;
	found = calendar_find(&rank->groups[addr.group], cas, channel->group_apart);
	return found == CALENDAR_NONE ? later(cas, rank->group_ready[addr.group]) : found;
}

/* Whether nothing is left free behind the cycle at which a read's bank is ready. */
static MACHINE_INLINE bool is_after_all(const struct memory_channel *channel,
					const struct memory_view *view, struct dram_addr addr,
					uint64_t ready)
{
	const struct memory_rank *rank = &channel->dram.ranks[addr.rank];

	return ready >= rank->group_ready[addr.group] && ready + view->desc->t_cl >= rank->bus.end;
}

/*
 * A read whose bank is ready from @earliest on has its data in cycles of the bus, and its CAS among
 * those of its bank group, that later ones, or reads that wait for a row, have left free.
 * What waits for its bank group leaves no gap on the bus that is too short for a burst.
 * @return the cycle of its CAS; CALENDAR_NONE: there are none
 */
static MACHINE_OUTLINE uint64_t read_between(struct memory_channel *channel,
					     const struct memory_view *view, struct dram_addr addr,
					     uint64_t earliest)
{
	const struct pmu_machine *desc = view->desc;
	const struct calendar *bus = &channel->dram.ranks[addr.rank].bus;
	uint64_t cas, data = earliest + desc->t_cl;

	do {
		cas = group_free(channel, addr, data - desc->t_cl);
		if (cas + desc->t_cl > data)
			cas = group_free(
			    channel, addr,
			    cas + calendar_fragment(bus, cas + desc->t_cl, desc->t_burst));
		data = calendar_find(bus, cas + desc->t_cl, desc->t_burst);
		if (data == CALENDAR_NONE)
			return CALENDAR_NONE;
	} while (data != cas + desc->t_cl);
	bus_keep(channel, view, addr.rank, false, data);
	return cas;
}

/* @return the cycle of the CAS of a read after all others, from @cas on */
static MACHINE_INLINE uint64_t read_last(struct memory_channel *channel,
					 const struct memory_view *view, struct dram_addr addr,
					 uint64_t cas)
{
	struct memory_dram *dram = &channel->dram;
	const struct pmu_machine *desc = view->desc;
	const uint64_t bus = bus_free(dram, addr.rank, false);
	const uint64_t group = dram->ranks[addr.rank].group_ready[addr.group];

	cas = later(cas, dram->next_cas);
	if (cas + desc->t_cl < bus)
		cas = bus - desc->t_cl;
	if (group > cas)
		cas = group + calendar_fragment(&dram->ranks[addr.rank].bus, group + desc->t_cl,
						desc->t_burst);
	dram->next_cas = cas + 1;
	bus_take(dram, addr, false, dram_read_end(desc, cas));
	bus_keep(channel, view, addr.rank, false, cas + desc->t_cl);
	return cas;
}

static MACHINE_INLINE uint64_t count_read(struct memory_channel *channel,
					  const struct memory_view *view, struct dram_addr addr,
					  uint64_t cas, enum totals_cas kind)
{
	group_take(channel, addr, cas);
	channel->stats.cas_reads++;
	emit_cas(channel, view, kind, addr, cas);
	return cas;
}

MACHINE_PATH uint64_t dram_read(struct memory_channel *channel, const struct memory_view *view,
				uint32_t line, uint64_t earliest, enum totals_cas kind)
{
	struct dram_addr addr = locate(channel, view->desc, line);
	uint64_t ready = prepare(channel, view, addr, earliest, false), cas = CALENDAR_NONE;

	ready = later(ready, channel->dram.ranks[addr.rank].read_ready);
	if (!is_after_all(channel, view, addr, ready))
		cas = read_between(channel, view, addr, ready);
	if (cas == CALENDAR_NONE)
		cas = read_last(channel, view, addr, ready);
	keep_open(channel, view, addr, cas + channel->read_to_pre);
	return count_read(channel, view, addr, cas, kind);
}

/* A refresh may have come since. */
static uint64_t outside_refresh(const struct memory_rank *rank, uint64_t cycle)
{
	return cycle < rank->refresh_from ? cycle : later(cycle, rank->refresh_until);
}

uint64_t dram_read_late(struct memory_channel *channel, const struct memory_view *view,
			uint32_t line, uint64_t earliest, enum totals_cas kind)
{
	struct dram_addr addr = locate(channel, view->desc, line);
	uint64_t cas;

	dram_refresh(channel, view, earliest);
	earliest = outside_refresh(&channel->dram.ranks[addr.rank], earliest);
	cas = read_between(channel, view, addr, open_row(channel, view, addr, earliest, 0, false));
	if (cas == CALENDAR_NONE)
		return dram_read(channel, view, line, earliest, kind);
	return count_read(channel, view, addr, cas, kind);
}

uint64_t dram_write(struct memory_channel *channel, const struct memory_view *view, uint32_t line,
		    uint64_t earliest, enum totals_cas kind)
{
	struct memory_dram *dram = &channel->dram;
	const struct pmu_machine *desc = view->desc;
	struct dram_addr addr = locate(channel, desc, line);
	uint64_t cas = later(prepare(channel, view, addr, earliest, true), dram->next_cas);
	uint64_t bus = bus_free(dram, addr.rank, true), end;

	cas = later(cas, dram->ranks[addr.rank].group_ready[addr.group]);
	if (cas + desc->t_cwl < bus)
		cas = bus - desc->t_cwl;
	end = cas + desc->t_cwl + desc->t_burst;

	dram->next_cas = cas + 1;
	bus_take(dram, addr, true, end);
	bus_keep(channel, view, addr.rank, true, cas + desc->t_cwl);
	group_take(channel, addr, cas);
	dram->ranks[addr.rank].read_ready = end + desc->t_wtr;
	keep_open(channel, view, addr, end + desc->t_wr);
	dram->banks[number_of(view, addr)].written = end + desc->t_wr;
	channel->stats.cas_writes++;
	emit_cas(channel, view, kind, addr, cas);
	return cas;
}
