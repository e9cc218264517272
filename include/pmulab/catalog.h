/*
 * The catalog: every PMU, box, register, field, event, unit mask, filter and metric, made at build
 * time from the JSON files of catalog/. Offline: nothing here touches hardware.
 *
 * Entries are opaque, so that a program goes on working with a library whose catalog has more to
 * say of them. They and their strings live as long as the program and are never freed. Each cites
 * its source as "document number, section or table". Functions ending in a plural count; an index
 * beyond the end gives NULL:
 *
 *     for (size_t i = 0; (event = pmu_box_event(box, i)); i++)
 *             puts(pmu_event_name(event));
 *
 * Nothing here takes NULL.
 */
#ifndef PMULAB_CATALOG_H
#define PMULAB_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmulab/pmulab.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pmu_pmu;
struct pmu_box;
struct pmu_event;
struct pmu_umask;
struct pmu_register;
struct pmu_field;
struct pmu_modifier;
struct pmu_mnemonic;
struct pmu_metric;
struct pmu_bank;
struct pmu_facts;
struct pmu_fixed_field;
struct pmu_implied;
struct pmu_hwrec;

enum pmu_space {
	PMU_SPACE_MSR,	/* address: MSR number */
	PMU_SPACE_PCI,	/* address: device << 15 | function << 12 | offset; the bus is the package's
			 */
	PMU_SPACE_MMIO, /* address: bytes from the start of a socket's window, see struct
			   pmu_window */
	PMU_SPACE_PMC,	/* Itanium register files; address: number of the register */
	PMU_SPACE_PMD,
	PMU_SPACE_IBR,
	PMU_SPACE_DBR,
	PMU_SPACE_COUNT,
};

/** The word for a space in register traces and reports: "pci". */
const char *pmu_space_name(enum pmu_space space);
/** What is at an address of it, for messages: "PCI configuration address". */
const char *pmu_space_title(enum pmu_space space);

enum pmu_access {
	PMU_ACCESS_RO,
	PMU_ACCESS_RW,
	PMU_ACCESS_RWV,	 /* RW-V: read and write, changed by hardware too */
	PMU_ACCESS_RWS,	 /* RWS: read and write, kept over a warm reset */
	PMU_ACCESS_WO,	 /* reads as 0 */
	PMU_ACCESS_RW1C, /* writing 1 clears */
	PMU_ACCESS_RV,	 /* reserved */
	PMU_ACCESS_IG,	 /* ignored: writes have no effect, reads as 0 */
};

/* What the manual demands of a reserved field. */
enum pmu_must {
	PMU_MUST_NOTHING,
	PMU_MUST_WRITE_0,
	PMU_MUST_WRITE_1,
};

/* What a field is for, so that code finds fields without knowing names. */
enum pmu_field_role {
	PMU_FIELD_NONE,

	/* Controls of counters; in a register for all counters of a box, one of each. */
	PMU_FIELD_ENABLE,	/* the counter counts; wider: a bit a counter */
	PMU_FIELD_FIXED_ENABLE, /* the same of a fixed counter */
	PMU_FIELD_EVENT_SELECT,
	PMU_FIELD_EVENT_SELECT_EXT,
	PMU_FIELD_UNIT_MASK,
	PMU_FIELD_OCCUPANCY_SELECT, /* takes bits 7:6 of the unit mask */
	PMU_FIELD_INSTANCE_SELECT,  /* of instances that share counters: struct pmu_instance */
	PMU_FIELD_THRESHOLD,
	PMU_FIELD_INVERT,
	PMU_FIELD_EDGE,
	PMU_FIELD_OCCUPANCY_INVERT, /* those two, of events that PMU_QUIRK_OCC_CONTROLS means */
	PMU_FIELD_OCCUPANCY_EDGE,
	PMU_FIELD_ANY_THREAD,	 /* of the core, not only the counter's own */
	PMU_FIELD_THREAD_ENABLE, /* only what PMU_FIELD_THREAD of the filter says */
	PMU_FIELD_USER,
	PMU_FIELD_KERNEL,
	PMU_FIELD_PRIVILEGE_LEVELS, /* a bit for each */
	PMU_FIELD_PRIVILEGED_MONITOR,
	PMU_FIELD_INSTRUCTION_SETS,
	PMU_FIELD_PIN_CONTROL,

	/* Overflow, reset, freeze. */
	PMU_FIELD_OVERFLOW_ENABLE, /* an overflow is reported: message or interrupt */
	PMU_FIELD_OVERFLOW,	   /* it overflowed, or clears that; see pmu_overflow_bit() */
	PMU_FIELD_FIXED_OVERFLOW,
	PMU_FIELD_RESET_COUNTER,
	PMU_FIELD_RESET_OCCUPANCY, /* of the queue that the event counts */
	PMU_FIELD_RESET_CONTROLS,  /* all of the box */
	PMU_FIELD_RESET_COUNTERS,
	PMU_FIELD_HOLD_COUNTERS, /* at 0 for as long as it is 1 */
	PMU_FIELD_FREEZE,	 /* 0 lets go on where the register has no PMU_FIELD_UNFREEZE */
	PMU_FIELD_UNFREEZE,
	PMU_FIELD_FREEZE_ENABLE, /* an overflow freezes */
	PMU_FIELD_INTERRUPT_CORES,

	/* Counts; those of two registers are high << width of low | low. */
	PMU_FIELD_COUNT,
	PMU_FIELD_COUNT_LOW,
	PMU_FIELD_COUNT_HIGH,
	PMU_FIELD_COUNT_LOW_WRITE, /* 1: the write is for PMU_FIELD_COUNT_LOW alone */

	/* Filters. */
	PMU_FIELD_OPCODE,
	PMU_FIELD_NODES,  /* a set */
	PMU_FIELD_STATES, /* a set */
	PMU_FIELD_THREAD,
	PMU_FIELD_NON_COHERENT,
	PMU_FIELD_ISOCHRONOUS,
	PMU_FIELD_ADDRESS_LOW,
	PMU_FIELD_ADDRESS_HIGH,
	PMU_FIELD_BAND, /* pmu_field_counter(): which */

	/* Discovery. */
	PMU_FIELD_DEVICE_ID,
	PMU_FIELD_NODE_ID,	/* of the package */
	PMU_FIELD_PACKAGE_NODE, /* node id of package pmu_field_counter() */
	PMU_FIELD_INSTANCES, /* a bit for each instance of box pmu_field_counter() that is there */

	/* Which instructions and data events are constrained to. pmu_field_counter(): which
	 * matcher, channel or range. */
	PMU_FIELD_MATCH_MASK, /* bits of the encoding that are not compared */
	PMU_FIELD_MATCH_ENCODING,
	PMU_FIELD_MATCH_M, /* slots that match, by their unit */
	PMU_FIELD_MATCH_I,
	PMU_FIELD_MATCH_F,
	PMU_FIELD_MATCH_B,
	PMU_FIELD_ANY_ADDRESS, /* of channel 0 */
	PMU_FIELD_INVERT_ADDRESS,
	PMU_FIELD_ANY_OPCODE, /* of a channel */
	PMU_FIELD_ANY_RANGE,
	PMU_FIELD_FINE_RANGE,
	PMU_FIELD_DATA_TAG, /* 0: instruction and data; 1: instruction; 2: data; 3: anything */
	PMU_FIELD_DATA_TAG_ENABLE,
	PMU_FIELD_RANGE_ADDRESS, /* of instructions */
	PMU_FIELD_RANGE_MASK,	 /* bits that are compared, besides those above the field */
	PMU_FIELD_RANGE_LEVELS,
	PMU_FIELD_DATA_RANGE_ADDRESS,
	PMU_FIELD_DATA_RANGE_MASK,

	/* Registers that capture events. pmu_field.counter: 1 fetches of code, 2 data accesses, 3
	 * branches, 4 instructions, 6 requests that leave the core; also of their
	 * PMU_FIELD_PRIVILEGE_LEVELS and the like. */
	PMU_FIELD_CAPTURE_MODE,
	PMU_FIELD_CAPTURE_UMASK, /* 5: of fetches, of the cache */
	PMU_FIELD_CAPTURE_LATENCY,
	PMU_FIELD_CAPTURE_OVERFLOW, /* of the latency */
	PMU_FIELD_CAPTURE_STATUS,
	PMU_FIELD_CAPTURE_ADDRESS,
	PMU_FIELD_CAPTURE_IP,
	PMU_FIELD_CAPTURE_VALID,
	PMU_FIELD_CAPTURE_BUNDLE,
	PMU_FIELD_CAPTURE_SLOT,
	/* Of those of requests. */
	PMU_FIELD_REQUEST_ENABLE,
	PMU_FIELD_REQUEST_EACH,	      /* 0: one in eight, at random */
	PMU_FIELD_REQUEST_THREAD,     /* whose freeze stops it */
	PMU_FIELD_REQUEST_CLASSES,    /* a bit each */
	PMU_FIELD_REQUEST_OPCODE,     /* pmu_field.counter 1: of the one that was captured */
	PMU_FIELD_REQUEST_ANY_OPCODE, /* bits that are not compared */
	PMU_FIELD_REQUEST_THRESHOLD,
	PMU_FIELD_REQUEST_PAIRS, /* the time between the halves of a line */
	PMU_FIELD_REQUEST_CLASS,
	PMU_FIELD_REQUEST_HOME,
	PMU_FIELD_REQUEST_ADDRESS_HIGH,
	PMU_FIELD_REQUEST_FROM_HOME,
	PMU_FIELD_TRACE_TAKEN,	/* bit 1: taken ones; bit 0: others */
	PMU_FIELD_TRACE_TARGET, /* bit 1: those whose target was predicted; bit 0: others */
	PMU_FIELD_TRACE_PATH,
	PMU_FIELD_TRACE_KIND,	    /* 0: any; else enum detail_branch_kind + 1 */
	PMU_FIELD_TRACE_NO_DATA,    /* 1: nothing is captured */
	PMU_FIELD_TRACE_NO_TARGETS, /* of IP-relative branches where all taken ones are captured */
	PMU_FIELD_TRACE_INDEX,	    /* of the entry that is written next */
	PMU_FIELD_TRACE_FULL,
	PMU_FIELD_TRACE_SOURCE,
	PMU_FIELD_TRACE_MISPREDICTED,
	PMU_FIELD_TRACE_ADDRESS,
	PMU_FIELD_TRACE_FLUSHED, /* pmu_field.counter: of which entry */
	PMU_FIELD_TRACE_SECOND,	 /* its branch is in the second bundle of two */
	/* Captures of retired addresses: cycles that they go on after a freeze; of an entry, where
	 * a counter is said: which one. */
	PMU_FIELD_CAPTURE_DELAY,
	PMU_FIELD_IP_CYCLES, /* since the entry before, low bits */
	PMU_FIELD_IP_CYCLES_HIGH,
	PMU_FIELD_IP_ADDRESS, /* from bit 12 on */
	PMU_FIELD_IP_LOW,     /* bits 11:4, or what is left of the delay */
	PMU_FIELD_IP_FLUSHED,
	PMU_FIELD_IP_EARLY, /* IP_LOW is that */
	PMU_FIELD_VECTOR,   /* of interruptions that are counted */
	PMU_FIELD_VECTOR_MASK,
	/* Of counters at their overflow; a bit a counter where the register is not its control. */
	PMU_FIELD_OVERFLOW_FREEZE, /* the box freezes */
	PMU_FIELD_OVERFLOW_STOP,   /* the counter stops */
	PMU_FIELD_OVERFLOW_WRAP,   /* it goes on; 0: it stops */
	PMU_FIELD_FROZEN,	   /* reads whether counters are frozen */
	PMU_FIELD_ACCUMULATOR,	   /* adds up what event pmu_field_counter() carries out of it */
	PMU_FIELD_CLASS_MASK,	   /* a bit for each class that is counted */
	PMU_FIELD_LIVE_COUNT,	   /* how many there are now */
	PMU_FIELD_LIVE_FILTER, /* of what a live count takes; a write of its register clears that */
	/* Of a core's prefetchers; 1: it is off. */
	PMU_FIELD_STREAMER_DISABLE,  /* into L2, streams of lines */
	PMU_FIELD_ADJACENT_DISABLE,  /* into L2, the other line of a pair */
	PMU_FIELD_NEXT_LINE_DISABLE, /* into L1D, the line behind those read in order */
	PMU_FIELD_STRIDE_DISABLE,    /* into L1D, by the steps of an instruction */
	/* A change needs a write of the box's other filter right after, while the field 0 of them,
	 * a mode, is below 2
	 */
	PMU_FIELD_FILTER_AFTER,
	/* Of events that count cycles with so many at once: how many at most; or, if the other one
	 * is 1, at least */
	PMU_FIELD_WATERMARK,
	PMU_FIELD_WATERMARK_OR_MORE,
	/* Branch records: */
	PMU_FIELD_BRANCH_ENABLE,   /* branches are recorded */
	PMU_FIELD_BRANCH_FREEZE,   /* until an overflow interrupts */
	PMU_FIELD_BRANCH_LEFT_OUT, /* some kinds of them are not */
	PMU_FIELD_BRANCH_LAST,	   /* number of the youngest record */
	PMU_FIELD_BRANCH_FROM,
	PMU_FIELD_BRANCH_TO,
	PMU_FIELD_BRANCH_SIGN, /* of an address, copies of its highest bit */
	PMU_FIELD_BRANCH_MISPREDICTED,
	PMU_FIELD_INTERRUPTED, /* of a global status: an overflow has asked for an interrupt */
	PMU_FIELD_CHANGED,     /* and one of its other bits has become 1 */
};

/* What a register is for, so that code finds registers without knowing names. */
enum pmu_role {
	PMU_ROLE_COUNTER,
	PMU_ROLE_COUNTER_CTL,
	PMU_ROLE_FIXED_COUNTER,
	PMU_ROLE_FIXED_CTL,
	PMU_ROLE_BOX_CTL,
	PMU_ROLE_BOX_STATUS,
	PMU_ROLE_FILTER,
	PMU_ROLE_GLOBAL_CTL,
	PMU_ROLE_GLOBAL_STATUS,
	PMU_ROLE_GLOBAL_CONFIG,
	PMU_ROLE_DISCOVERY,	/* read-only identification: CAPIDs, node id, PCI ids */
	PMU_ROLE_FREE_COUNTER,	/* counts at all times: no control, no freeze, no overflow */
	PMU_ROLE_GLOBAL_CLEAR,	/* writing 1 clears the bit of the global status */
	PMU_ROLE_SAMPLING,	/* what samples and branch records hold, when they are taken */
	PMU_ROLE_SELECT,	/* selects the events of several counters, one field each */
	PMU_ROLE_SUB_COUNTER,	/* live count and accumulator whose overflow is an event */
	PMU_ROLE_MATCH,		/* addresses or opcodes that events of all boxes are held against */
	PMU_ROLE_CAPTURE_CTL,	/* what is captured: event address and trace buffers */
	PMU_ROLE_CAPTURE,	/* what was captured */
	PMU_ROLE_COUNTER_ALIAS, /* a counter again, where all its bits can be written */
	PMU_ROLE_PREFETCH_CTL,	/* switches a core's prefetchers */
};

/* How the emulated machine models an event. */
enum pmu_model {
	PMU_MODEL_EXACT,       /* what cannot happen on an emulated machine counts 0 */
	PMU_MODEL_APPROXIMATE, /* pmu_event_model_note() says how */
	PMU_MODEL_ABSENT,      /* not modelled: programming it warns, its count is "not modelled" */
};

/* How several unit masks may be named together. */
enum pmu_combine {
	PMU_COMBINE_OR,	   /* any of those that are not alone */
	PMU_COMBINE_ONE,   /* exactly one of the listed values */
	PMU_COMBINE_GROUP, /* any of one group */
};

enum pmu_clock {
	PMU_CLOCK_UCLK,	 /* uncore clock of the socket */
	PMU_CLOCK_DCLK,	 /* DRAM clock of the socket, half the transfer rate */
	PMU_CLOCK_CORE,	 /* clock of the core */
	PMU_CLOCK_PCLK,	 /* clock of the power control unit, of the same frequency at all times */
	PMU_CLOCK_QFCLK, /* clock of the QPI links, an eighth of the transfer rate */
	PMU_CLOCK_COUNT,
};

/* What a box wants from software or does with its registers beyond their fields. */
enum pmu_quirk {
	/* Counter controls are written twice in a row, first with en = 0, or ev_sel is not taken.
	 */
	PMU_QUIRK_CONTROL_TWICE = 1 << 0,
	/* rst of a counter control holds the counter at 0 until it is written as 0. */
	PMU_QUIRK_RST_STAYS = 1 << 1,
	/* Events with bit 7 of ev_sel use occ_invert and occ_edge_det, not invert and edge_det. */
	PMU_QUIRK_OCC_CONTROLS = 1 << 2,
	/* A counter's own address takes 32 bits and copies the highest to all above them. */
	PMU_QUIRK_SIGN_EXTENDS = 1 << 3,
	/* Writes that set reserved bits or what is read-only are refused and change nothing. */
	PMU_QUIRK_FAULTS = 1 << 4,
	/* Freeze and unfreeze act where they change from 0 to 1. */
	PMU_QUIRK_FREEZE_PULSES = 1 << 5,
};

/* To what a box belongs. */
enum pmu_scope {
	PMU_SCOPE_SOCKET, /* instances differ by address; every core of the socket reaches all */
	PMU_SCOPE_CORE,	  /* instance n is that of core n, at the same addresses in every core */
};

/* Programs whose names of events are known. */
enum pmu_tool {
	PMU_TOOL_PERF,
	PMU_TOOL_LIKWID,
	PMU_TOOL_LIBPFM4,
	PMU_TOOL_PCM,
	PMU_TOOL_COUNT,
};

/** All PMUs. */
size_t pmu_pmu_count(void);
const struct pmu_pmu *pmu_pmu_at(size_t index);
/**
 * Where a socket's registers of PMU_SPACE_MMIO stand in physical memory.
 * @param own    receives the address that each socket has for its own
 * @param first  that of socket 0
 * @param size   bytes, and the distance from socket to socket
 * @return false: it has none
 */
bool pmu_pmu_window(const struct pmu_pmu *pmu, uint64_t *own, uint64_t *first, uint32_t *size);

/* PMUs */

const char *pmu_pmu_name(const struct pmu_pmu *pmu);
const char *pmu_pmu_title(const struct pmu_pmu *pmu);
/** The document that describes it. */
const char *pmu_pmu_source(const struct pmu_pmu *pmu);
size_t pmu_pmu_boxes(const struct pmu_pmu *pmu);
const struct pmu_box *pmu_pmu_box(const struct pmu_pmu *pmu, size_t index);

/* Boxes: units of one kind, with registers of their own in each instance. */

const char *pmu_box_name(const struct pmu_box *box);
/** Name of the PMU that it belongs to. */
const char *pmu_box_pmu_name(const struct pmu_box *box);
const char *pmu_box_title(const struct pmu_box *box);
const char *pmu_box_source(const struct pmu_box *box);
/** Of most of its registers; pmu_register_space() is that of each. */
enum pmu_space pmu_box_space(const struct pmu_box *box);
/** What its counters go by. */
enum pmu_clock pmu_box_clock(const struct pmu_box *box);
enum pmu_scope pmu_box_scope(const struct pmu_box *box);
/** A set of enum pmu_quirk. */
unsigned pmu_box_quirks(const struct pmu_box *box);
/** Instances that the manual documents; a part may have fewer. */
size_t pmu_box_instances(const struct pmu_box *box);
/** What the manual calls an instance, MC0 channel 1, where the number does not say all; else "".
 * NULL beyond the end. */
const char *pmu_box_instance_label(const struct pmu_box *box, size_t instance);
/** What the manual calls counter 0 of an instance; 0 beyond the end. */
unsigned pmu_box_first_counter(const struct pmu_box *box, size_t instance);
/** General counters of an instance. */
unsigned pmu_box_counters(const struct pmu_box *box);
/** Bits of a general counter; a fixed one has those of its PMU_FIELD_COUNT. */
unsigned pmu_box_counter_width(const struct pmu_box *box);
/** Fixed counters of an instance. */
unsigned pmu_box_fixed_counters(const struct pmu_box *box);
/** The fields of its counter controls that select event and unit mask; NULL: there is none. */
const struct pmu_field *pmu_box_event_select(const struct pmu_box *box);
const struct pmu_field *pmu_box_unit_mask(const struct pmu_box *box);
size_t pmu_box_events(const struct pmu_box *box);
const struct pmu_event *pmu_box_event(const struct pmu_box *box, size_t index);
size_t pmu_box_registers(const struct pmu_box *box);
const struct pmu_register *pmu_box_register_at(const struct pmu_box *box, size_t index);
size_t pmu_box_metrics(const struct pmu_box *box);
const struct pmu_metric *pmu_box_metric(const struct pmu_box *box, size_t index);
/** What may follow its events in an expression. */
size_t pmu_box_modifiers(const struct pmu_box *box);
const struct pmu_modifier *pmu_box_modifier(const struct pmu_box *box, size_t index);
/** Names of values of its fields. */
size_t pmu_box_mnemonics(const struct pmu_box *box);
const struct pmu_mnemonic *pmu_box_mnemonic(const struct pmu_box *box, size_t index);
size_t pmu_box_banks(const struct pmu_box *box);
const struct pmu_bank *pmu_box_bank(const struct pmu_box *box, size_t index);
/** Its hardware records: hwrec.h. */
size_t pmu_box_hwrecs(const struct pmu_box *box);
const struct pmu_hwrec *pmu_box_hwrec(const struct pmu_box *box, size_t index);
/** Tables of the manual on the hardware. */
size_t pmu_box_fact_tables(const struct pmu_box *box);
const struct pmu_facts *pmu_box_facts(const struct pmu_box *box, size_t index);

/* Events */

const char *pmu_event_name(const struct pmu_event *event);
/** As the manual heads it; "" for none. */
const char *pmu_event_title(const struct pmu_event *event);
/** Under which the manual lists it; "" for none. */
const char *pmu_event_category(const struct pmu_event *event);
/** What it counts. */
const char *pmu_event_desc(const struct pmu_event *event);
const char *pmu_event_source(const struct pmu_event *event);
/** Event select. */
unsigned pmu_event_code(const struct pmu_event *event);
/** The extended event select bit. */
bool pmu_event_ext(const struct pmu_event *event);
/** The unit mask of an event without named ones. */
unsigned pmu_event_unit_mask(const struct pmu_event *event);
/** Bit i: counter i can count it. */
uint32_t pmu_event_counters(const struct pmu_event *event);
/** The most that it counts in a cycle; 0: the manual does not say. */
unsigned pmu_event_max_increment(const struct pmu_event *event);
size_t pmu_event_umasks(const struct pmu_event *event);
const struct pmu_umask *pmu_event_umask(const struct pmu_event *event, size_t index);
/** How unit masks may be named together. */
enum pmu_combine pmu_event_combine(const struct pmu_event *event);
/** How an emulated machine models it; pmu_selection_model() knows its unit masks too. */
enum pmu_model pmu_event_model(const struct pmu_event *event);
/** In what the model differs from the hardware; "" where there is nothing to say. */
const char *pmu_event_model_note(const struct pmu_event *event);
/** Whether it looks at a modifier of its box as a filter. */
bool pmu_event_takes(const struct pmu_event *event, const struct pmu_modifier *modifier);
/** Events of a set share counters: see struct pmu_bank; "" for none. */
const char *pmu_event_set_group(const struct pmu_event *event);
/** The number of the set in that group. */
unsigned pmu_event_set(const struct pmu_event *event);
/** What else the manual says of it; NULL beyond the end. */
const char *pmu_event_attribute(const struct pmu_event *event, size_t index);
/** Fields of other registers that have to hold a value. */
size_t pmu_event_fixed_fields(const struct pmu_event *event);
const struct pmu_fixed_field *pmu_event_fixed_field(const struct pmu_event *event, size_t index);

/* Unit masks */

const char *pmu_umask_name(const struct pmu_umask *umask);
const char *pmu_umask_desc(const struct pmu_umask *umask);
const char *pmu_umask_source(const struct pmu_umask *umask);
unsigned pmu_umask_value(const struct pmu_umask *umask);
/** Bits that the manual prints as 0 or 1; the others do not matter. */
unsigned pmu_umask_care(const struct pmu_umask *umask);
/** Unit masks of one group may be named together; "" for none. */
const char *pmu_umask_group(const struct pmu_umask *umask);
/** It is not to be combined, although others of the event may be. */
bool pmu_umask_is_alone(const struct pmu_umask *umask);
/** No machine models it, although others of the event are modelled. */
bool pmu_umask_is_absent(const struct pmu_umask *umask);
/** Whether it needs a modifier of its box. */
bool pmu_umask_needs(const struct pmu_umask *umask, const struct pmu_modifier *modifier);
/** Others of the event that count as much together; NULL beyond the end. */
const char *pmu_umask_part(const struct pmu_umask *umask, size_t index);
size_t pmu_umask_fixed_fields(const struct pmu_umask *umask);
const struct pmu_fixed_field *pmu_umask_fixed_field(const struct pmu_umask *umask, size_t index);
/** Modifiers that go with it unless the user gives other values. */
size_t pmu_umask_implied_count(const struct pmu_umask *umask);
const struct pmu_implied *pmu_umask_implied(const struct pmu_umask *umask, size_t index);

/* A field, or bits of it, of another register that has to hold a value. */

const struct pmu_register *pmu_fixed_field_register(const struct pmu_fixed_field *fixed_field);
/** The highest and the lowest bit. */
unsigned pmu_fixed_field_high(const struct pmu_fixed_field *fixed_field);
unsigned pmu_fixed_field_low(const struct pmu_fixed_field *fixed_field);
uint64_t pmu_fixed_field_value(const struct pmu_fixed_field *fixed_field);
/** Whether it goes with one copy of an event only. @param copy  receives its number */
bool pmu_fixed_field_copy(const struct pmu_fixed_field *fixed_field, unsigned *copy);

/* A modifier that goes with a unit mask, and its value. */

const struct pmu_modifier *pmu_implied_modifier(const struct pmu_implied *implied);
uint64_t pmu_implied_value(const struct pmu_implied *implied);

/* What may follow an event in an expression: control bits and filters. */

const char *pmu_modifier_name(const struct pmu_modifier *modifier);
/** Where it stands; NULL: in the control of the counter. */
const struct pmu_register *pmu_modifier_register(const struct pmu_modifier *modifier);
/** Its highest and its lowest bit there. */
unsigned pmu_modifier_high(const struct pmu_modifier *modifier);
unsigned pmu_modifier_low(const struct pmu_modifier *modifier);
/** A set of bits: values may be added. */
bool pmu_modifier_is_set(const struct pmu_modifier *modifier);
/** There is one for each copy of the event; pmu_modifier_register() has the first. */
bool pmu_modifier_is_copied(const struct pmu_modifier *modifier);
/** Bit i: counter i looks at it; 0: all do. */
uint32_t pmu_modifier_counters(const struct pmu_modifier *modifier);
/** Of those with the same word all are 1 where none is given; "" for none. */
const char *pmu_modifier_any_of(const struct pmu_modifier *modifier);
/** The modifier without which it does nothing; "" for none. */
const char *pmu_modifier_needs(const struct pmu_modifier *modifier);
/** Takes the class of a value that is named CLASS.VALUE: the message class of an opcode. NULL:
 * values have none. */
const struct pmu_modifier *pmu_modifier_class_field(const struct pmu_modifier *modifier);
size_t pmu_modifier_fixed_fields(const struct pmu_modifier *modifier);
const struct pmu_fixed_field *pmu_modifier_fixed_field(const struct pmu_modifier *modifier,
						       size_t index);

/* A name for a value of a field: opc=DRd. */

/** Name of the field. */
const char *pmu_mnemonic_field(const struct pmu_mnemonic *mnemonic);
const char *pmu_mnemonic_name(const struct pmu_mnemonic *mnemonic);
/** The value of pmu_modifier_class_field() that it goes with; NULL: none. */
const char *pmu_mnemonic_class(const struct pmu_mnemonic *mnemonic);
uint64_t pmu_mnemonic_value(const struct pmu_mnemonic *mnemonic);
const char *pmu_mnemonic_desc(const struct pmu_mnemonic *mnemonic);

/* Counters that can count events of a group only while one of them, the lead, counts one of the
 * same set. */

const char *pmu_bank_group(const struct pmu_bank *bank);
/** Bit i: counter i, the lead among them. */
uint32_t pmu_bank_counters(const struct pmu_bank *bank);
unsigned pmu_bank_lead(const struct pmu_bank *bank);
/** Bits of counter controls that are those of the lead for all. */
uint64_t pmu_bank_shared(const struct pmu_bank *bank);

/* Registers */

/** With the manual's placeholder for the instance: Cn_MSR_PMON_CTL0. */
const char *pmu_register_pattern(const struct pmu_register *reg);
/** Of a counter that always counts: why it stands still on every machine; "" where it does not. */
const char *pmu_register_model_note(const struct pmu_register *reg);
const char *pmu_register_source(const struct pmu_register *reg);
enum pmu_role pmu_register_role(const struct pmu_register *reg);
/** Of the counter, for counters and their controls; else 0. */
unsigned pmu_register_index(const struct pmu_register *reg);
/** Bits: 32 or 64. */
unsigned pmu_register_width(const struct pmu_register *reg);
/** What covers all its fields. */
enum pmu_access pmu_register_access(const struct pmu_register *reg);
enum pmu_space pmu_register_space(const struct pmu_register *reg);
/** Whether its instances have names of their own, pmu_register_name(). */
bool pmu_register_has_instance_names(const struct pmu_register *reg);
/** What it holds after reset, less what differs between instances: pmu_register_reset(). */
uint64_t pmu_register_common_reset(const struct pmu_register *reg);
/** What a fixed counter counts, as events are named; "" for none. */
const char *pmu_register_event(const struct pmu_register *reg);
/** From the top bit down; together they cover every bit. */
size_t pmu_register_fields(const struct pmu_register *reg);
const struct pmu_field *pmu_register_field(const struct pmu_register *reg, size_t index);

/* Fields of registers */

/** The manual's; "rsv" for every reserved one. */
const char *pmu_field_name(const struct pmu_field *field);
const char *pmu_field_desc(const struct pmu_field *field);
/** Its highest and its lowest bit. */
unsigned pmu_field_high(const struct pmu_field *field);
unsigned pmu_field_low(const struct pmu_field *field);
enum pmu_access pmu_field_access(const struct pmu_field *field);
enum pmu_must pmu_field_must(const struct pmu_field *field);
enum pmu_field_role pmu_field_role(const struct pmu_field *field);
/** Where the register has the role for each counter, or box of the PMU: which. Registers for all
 * counters of a box have one such field for each. */
unsigned pmu_field_counter(const struct pmu_field *field);
/** Its value after reset. */
uint64_t pmu_field_reset(const struct pmu_field *field);

/* Metrics */

const char *pmu_metric_name(const struct pmu_metric *metric);
const char *pmu_metric_desc(const struct pmu_metric *metric);
const char *pmu_metric_source(const struct pmu_metric *metric);
/** In the manual's notation. */
const char *pmu_metric_equation(const struct pmu_metric *metric);
const char *pmu_metric_unit(const struct pmu_metric *metric);

/* A table of the manual that describes the hardware and none of its registers. */

const char *pmu_facts_name(const struct pmu_facts *facts);
const char *pmu_facts_title(const struct pmu_facts *facts);
const char *pmu_facts_source(const struct pmu_facts *facts);
size_t pmu_facts_columns(const struct pmu_facts *facts);
size_t pmu_facts_rows(const struct pmu_facts *facts);
/** The heading of a column; NULL beyond the end. */
const char *pmu_facts_column(const struct pmu_facts *facts, size_t column);
/** NULL beyond the end. */
const char *pmu_facts_cell(const struct pmu_facts *facts, size_t row, size_t column);

/*
 * Look-ups by name, without regard to case. NULL where there is none: these are for code that has
 * its own words for the failure; event expressions and the command line use pmu_event_parse().
 */
const struct pmu_pmu *pmu_find_pmu(const char *name);
const struct pmu_box *pmu_find_box(const struct pmu_pmu *pmu, const char *name);
const struct pmu_event *pmu_find_event(const struct pmu_box *box, const char *name);
const struct pmu_umask *pmu_find_umask(const struct pmu_event *event, const char *name);
const struct pmu_register *pmu_find_register(const struct pmu_box *box, const char *name);
/**
 * A register by its name in an instance, as manuals print it: C23_MSR_PMON_CTL0.
 * @param instance  receives the first instance where it has that name
 */
const struct pmu_register *pmu_find_instance_register(const struct pmu_box *box, const char *name,
						      unsigned *instance);
const struct pmu_metric *pmu_find_metric(const struct pmu_box *box, const char *name);
const struct pmu_modifier *pmu_find_modifier(const struct pmu_box *box, const char *name);
const struct pmu_field *pmu_find_field(const struct pmu_register *reg, const char *name);

/**
 * The next event of the same name: the manual has names with several codes, whose unit masks tell
 * which is meant. NULL where there is none.
 */
const struct pmu_event *pmu_next_event(const struct pmu_box *box, const struct pmu_event *event);

/** The register of a role and counter index; NULL where the box has none. */
const struct pmu_register *pmu_box_register(const struct pmu_box *box, enum pmu_role role,
					    unsigned index);

/** Name of @reg in @instance, as manuals print it: C23_MSR_PMON_CTL0. */
const char *pmu_register_name(const struct pmu_register *reg, unsigned instance);

/**
 * The field of a role and, where the register has the role for each counter, of that counter; NULL
 * where it has none.
 */
const struct pmu_field *pmu_field_by_role(const struct pmu_register *reg, enum pmu_field_role role,
					  unsigned counter);
/** The bits of that field; 0 where there is none. */
uint64_t pmu_field_bits(const struct pmu_register *reg, enum pmu_field_role role, unsigned counter);

/** The bit of a status register that a general or fixed counter sets on overflow; 0: none does. */
uint64_t pmu_overflow_bit(const struct pmu_box *box, const struct pmu_register *status, bool fixed,
			  unsigned counter);

/** Address of @reg in @instance, as the box's enum pmu_space says. */
uint32_t pmu_register_address(const struct pmu_box *box, const struct pmu_register *reg,
			      unsigned instance);

/** What @reg holds after reset in @instance: a PCI function's own device id is in its
 * identification. */
uint64_t pmu_register_reset(const struct pmu_box *box, const struct pmu_register *reg,
			    unsigned instance);

/** Bits hi..lo set. */
static inline uint64_t pmu_mask(unsigned hi, unsigned lo)
{
	return (UINT64_MAX >> (63 - (hi - lo))) << lo;
}

/** Value of @field in a register that holds @value. */
uint64_t pmu_field_value(const struct pmu_field *field, uint64_t value);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
