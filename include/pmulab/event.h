/*
 * Event expressions: [PMU/][box[N].]EVENT[.UMASK[+UMASK]...][:field[=value]]...
 *
 *     cbo3.TOR_INSERTS.MISS_OPCODE:opc=DRd
 *     imc.CAS_COUNT.RD
 *     CAS_COUNT.RD                         box found by the event's name, if only one has it
 *     cbo.COUNTER0_OCCUPANCY{edge_det,thresh=0x1}
 *     TOR_INSERTS.OPCODE with:Cn_MSR_PMON_BOX_FILTER1.opc=0x182
 *     cbo.LLC_LOOKUP.DATA_READ:state=M+E   mnemonics of bit fields may be added
 *
 *     core.OFFCORE_RESPONSE_0.DATA_IN.ANY_DRAM   named values of filters stand like unit masks
 *
 * Names without regard to case. A fixed counter is named by its register (UCLK_FIXED,
 * MC_CHy_PCI_PMON_FIXED_CTR), by what it counts (core.INST_RETIRED.ANY), or as "clock" of a box
 * that has one.
 */
#ifndef PMULAB_EVENT_H
#define PMULAB_EVENT_H

#include "pmulab/catalog.h"
#include "pmulab/hwrec.h"
#include "pmulab/machine.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define PMU_EVENT_SETTINGS 16

/* Nodes that differ from socket to socket. A session finds them where it programs; an encoding that
 * is for no socket cannot. */
enum pmu_nodes {
	PMU_NODES_MINE = 1 << 0,   /* my_node: the socket's own */
	PMU_NODES_OTHERS = 1 << 1, /* other_nodes: all but that */
};

/* A modifier and the value it is given. */
struct pmu_setting {
	const struct pmu_modifier *modifier;
	uint64_t value;
	uint8_t nodes; /* of a node filter: a set of enum pmu_nodes, beside those of the value */
};

/*
 * A checked event, ready to be encoded. Plain data: copied freely, nothing to free. Made by
 * pmu_event_parse() and its kind; a program may change the instance.
 */
struct pmu_selection {
	const struct pmu_pmu *pmu;
	const struct pmu_box *box;
	const struct pmu_event *event; /* NULL: the fixed counter */
	bool one_instance;	       /* false: every instance */
	unsigned instance;	       /* which one; else 0 */
	uint8_t fixed;		       /* number of the fixed counter, where event is NULL */
	uint8_t umask;
	uint8_t setting_count;
	struct pmu_setting settings[PMU_EVENT_SETTINGS];
	uint64_t reserved[8]; /* 0 */
};

/**
 * Takes the next item of a list that commas divide. Commas in braces, and between the slashes of
 * perf's notation, belong to the item; items without a character are left out.
 * @param list    moved behind the item and its comma
 * @param item    receives where the item begins, in the list
 * @param length  receives its length, in bytes
 * @return false at the end of the list
 */
bool pmu_event_list_next(const char **list, const char **item, size_t *length);

/**
 * Parses and checks an expression: every name, unit mask combination, field and value.
 * A threshold that no increment of the event meets is refused where the manual says what the event
 * adds at most.
 * @param pmu  where names are looked up; NULL: in all PMUs
 * @return 0, PMU_E_SYNTAX, PMU_E_UNKNOWN, PMU_E_RANGE or PMU_E_CONFLICT; the message shows the
 *         place and names what is valid and the nearest name
 */
int pmu_event_parse(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *text,
		    struct pmu_selection *selection);

/**
 * How the emulated machine models what is selected: as the event's model, or PMU_MODEL_ABSENT where
 * it produces nothing that the unit mask selects, or a field asks for what it cannot tell.
 */
enum pmu_model pmu_selection_model(const struct pmu_selection *selection);
/**
 * The same on one machine: PMU_MODEL_ABSENT also for filters and unit masks that ask for what never
 * happens there, such as an opcode that nothing sends, a core or a node beyond the last.
 * @param machine  NULL: on any machine
 * @param why      receives in words what makes it absent, else ""; NULL: nobody asks
 */
enum pmu_model pmu_selection_model_on(const struct pmu_selection *selection,
				      const struct pmu_machine *machine, char *why, size_t size);

/**
 * Whether it counts the cycles of its box's clock: every instance counts the same, and their sum
 * means nothing.
 */
bool pmu_selection_is_clock(const struct pmu_selection *selection);

/* Bytes that hold the canonical expression of any event of the catalog, the terminator included. */
#define PMU_EVENT_TEXT_MAX 2048

/** Writes the canonical expression, as snprintf(). */
int pmu_event_print(const struct pmu_selection *selection, char *text, size_t size);

/* One register write of an encoding, in the order in which they are to be made. */
struct pmu_write {
	const struct pmu_register *reg;
	uint8_t space;
	uint32_t address;
	uint64_t value; /* of the whole register: bits that nothing asks for are neutral */
	uint64_t mask;	/* bits that the event depends on: another event may set the others */
	uint64_t reserved[2];
};
#define PMU_EVENT_WRITES 20

/** Value of the counter control register for @selection, enable bit not set. */
uint64_t pmu_event_control(const struct pmu_selection *selection);

/**
 * The writes that program @selection on counter @counter of @instance: filters, then control (with
 * the enable bit; where the box wants it twice, once without before). Every filter that the event
 * looks at is written; one that is not named lets everything pass. The fixed counter has no number:
 * @counter is ignored.
 * @param writes  receives up to PMU_EVENT_WRITES entries
 * @return their number, or a negative error
 */
int pmu_event_encode(struct pmu_ctx *ctx, const struct pmu_selection *selection, unsigned instance,
		     unsigned counter, struct pmu_write *writes);

/* An event on a counter. */
struct pmu_placed {
	const struct pmu_selection *selection;
	unsigned instance, counter;
	uint64_t reserved; /* 0 */
};

/**
 * The writes that program several events of a box at once: what pmu_event_encode() gives for each,
 * one value for each register; filters first, in the catalog's order, then controls in that of the
 * events.
 * @param writes  receives up to @size entries; PMU_EVENT_WRITES an event are enough
 * @return their number, or a negative error: PMU_E_CONFLICT with two events that need different
 *         values of the same bits, and which
 */
int pmu_event_merge(struct pmu_ctx *ctx, const struct pmu_placed *events, size_t count,
		    struct pmu_write *writes, size_t size);

/**
 * What a value means in a register: the fields, and in a counter control the event and unit masks.
 * Calls @field for each field from the top bit down.
 */
void pmu_register_decode(const struct pmu_register *reg, uint64_t value,
			 void (*field)(void *arg, const struct pmu_field *field, uint64_t value),
			 void *arg);
/**
 * Writes what event expressions call a field's value, DRd or E+M, as snprintf().
 * @return its length; 0 and no text where the value has no name
 */
int pmu_field_value_name(const struct pmu_box *box, const struct pmu_register *reg,
			 const struct pmu_field *field, uint64_t value, char *text, size_t size);
/**
 * What a counter of a box instance counts, by the registers of a dump: its control, fields of other
 * registers that select the event or its unit mask, and filters. The inverse of pmu_event_encode().
 * @param values  registers; of those given twice the last one holds, others are ignored
 * @return 0, or PMU_E_UNKNOWN where no event is selected so, or where a register that decides is
 *         not given, which the message names
 */
int pmu_event_decode_dump(struct pmu_ctx *ctx, const struct pmu_box *box, unsigned instance,
			  unsigned counter, const struct pmu_register_value *values, size_t count,
			  struct pmu_selection *selection);
/**
 * The same of a control value of counter 0 alone: filters stand in other registers and are not in
 * it. @return 0 or PMU_E_UNKNOWN
 */
int pmu_event_decode(struct pmu_ctx *ctx, const struct pmu_box *box, uint64_t control,
		     struct pmu_selection *selection);
/**
 * What a fixed counter counts by the value of its control, which may be that of all fixed counters.
 * @param fixed  the counter's number, below pmu_box_fixed_counters()
 * @return 0, or PMU_E_UNKNOWN where the control lets it count nothing
 */
int pmu_fixed_decode(struct pmu_ctx *ctx, const struct pmu_box *box, unsigned fixed,
		     uint64_t control, struct pmu_selection *selection);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
