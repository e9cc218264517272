/*
 * The catalog's tables: what is behind the accessors of pmulab/catalog.h, for the layers of the
 * library. Strings and arrays live as long as the program and are never freed.
 */
#ifndef CATALOG_ENTRIES_H
#define CATALOG_ENTRIES_H

#include "pmulab/catalog.h"

struct pmu_encoding;
struct pmu_row;
struct pmu_unit_binding;
struct pmu_address;

#define PMU_COPY_ALL 0xff

/* What the bits of a field, from the first one on, let pass of a signal: qualifiers, 0 for nothing.
 */
struct pmu_select {
	uint8_t first, count;
	const uint32_t *qualifiers;
};

struct pmu_field {
	const char *name; /* the manual's; "rsv" for every reserved one */
	uint8_t hi, lo;	  /* bit numbers, hi >= lo */
	uint8_t access;	  /* enum pmu_access */
	uint8_t must;	  /* enum pmu_must */
	uint8_t role;	  /* enum pmu_field_role */
	uint8_t counter;  /* where the register has the role for each counter, or box: which */
	uint64_t reset;
	uint64_t enabled; /* counter controls: value in one that counts, if the user gives none */
	/* What passes has to have a qualifier of each row; whatever the rows say where one of the
	 * bits of any is set. */
	const struct pmu_select *selects;
	size_t select_count;
	uint64_t any;
	const char *desc;
};

struct pmu_register {
	const char *name; /* with the manual's placeholder for the instance: Cn_MSR_PMON_CTL0 */
	const char *const *names; /* of each instance: C23_MSR_PMON_CTL0; NULL: all have name */
	uint8_t role;		  /* enum pmu_role */
	uint8_t index;		  /* of the counter, for counters and their controls; else 0 */
	uint8_t width;		  /* bits: 32 or 64 */
	uint8_t access;	 /* the weakest statement that covers all its fields, enum pmu_access */
	uint8_t space;	 /* enum pmu_space */
	uint32_t offset; /* from the instance's base */
	const uint16_t *offsets; /* of each instance, where no stride leads to them; else NULL */
	uint64_t reset;		 /* all fields together */
	uint64_t enabled;	 /* all fields together: what lets a counter count */
	uint64_t ones;		 /* reserved bits that have to be written as 1 */
	const struct pmu_field *fields; /* from the top bit down, covering every bit */
	size_t field_count;
	const char *event; /* what a fixed counter counts, as events are named; "": no name */
	uint16_t
	    signal; /* fixed and free counters: what they add up, enum pmu_signal_id; 0: cycles
		       of the box's clock; of the number of the youngest record: what is recorded */
	const char *perf;	/* filters: perf's term for the whole register; "": none */
	const char *model_note; /* free counters: why no machine models it; "": one does */
	const char *source;
};

struct pmu_instance {
	uint32_t base;	    /* address of offset 0, as enum pmu_space says */
	uint16_t device_id; /* PCI device id; 0 in MSR space */
	const char *label;  /* e.g. "MC0 channel 1"; empty where the number says all */
	const char *status; /* field of the global status register its overflow sets; NULL: none */
	uint64_t overflow;  /* bits of that field; 0: none */
	uint64_t fixed_overflow; /* those of the fixed counter's, the same where it has none */
	uint32_t control;	 /* bits in a counter control that mean this instance */
	uint8_t first_counter;	 /* what the manual calls its counter 0 */
};

/* A name for a value of a filter or control field: opc=DRd. */
struct pmu_mnemonic {
	const char *field;
	const char *name;
	const char
	    *class_name; /* value of pmu_modifier.class_field that it goes with; NULL: none */
	uint64_t value;
	const char *desc;
};

/* Whether a modifier can make an event such that no machine models it. */
enum pmu_modifier_model {
	PMU_MODIFIER_MODELLED,
	PMU_MODIFIER_ABSENT_SET,   /* where it is set to anything but 0 */
	PMU_MODIFIER_ABSENT_CLEAR, /* where it is not set */
};

/* A field, or bits of it, that has to hold a value, in a register other than a counter control. */
struct pmu_fixed_field {
	const struct pmu_register *reg;
	uint8_t hi, lo;
	uint8_t copy; /* of the selecting fields: counter number % pmu_event.copies; or all */
	uint64_t value;
};

/* Whether a value of a modifier is held against the increment of each cycle. */
enum pmu_threshold {
	PMU_THRESHOLD_NONE,
	PMU_THRESHOLD_REACH,  /* increments of this and more count as 1; 0: no comparison */
	PMU_THRESHOLD_EXCEED, /* those of more count as 1; 0: no comparison */
};

/* A field that the user may set beside event and unit mask: a control bit or a filter. */
struct pmu_modifier {
	const char *name; /* as in event expressions: the field's, where no other has the same */
	const struct pmu_register *reg; /* NULL: the counter's control register */
	uint8_t hi, lo;
	uint8_t role;	     /* the field's, enum pmu_field_role */
	uint8_t number;	     /* in the box: its bit in sets of modifiers */
	bool shared;	     /* one register for all counters of the box */
	bool copied;	     /* one for each copy, see struct pmu_event: reg is the first of them */
	bool filter;	     /* only events that list it look at it */
	bool set;	     /* a set of bits: values may be added, and 0 is the empty one */
	uint32_t counters;   /* bit i: counter i looks at it; 0: all do */
	uint64_t enabled;    /* as the field's: the value that need not be given */
	const char *any_of;  /* of those with the same word all are 1 if none is; "": none */
	uint64_t mode_group; /* bit n: modifier n of the box has the same word */
	const char *needs;   /* modifier without which this one does nothing; "": none */
	/* Of a filter: the control bit that makes a counter look at it (tid_en of tid); NULL: none
	 */
	const struct pmu_modifier *enable_bit;
	const struct pmu_modifier *enables; /* of such a bit: its filter; else NULL */
	/* Takes the class of a value that is named CLASS.VALUE: the message class of an opcode.
	 * NULL: values have none. */
	const struct pmu_modifier *class_field;
	const struct pmu_encoding *encoding; /* what it compares: see src/catalog/binding.h */
	const struct pmu_fixed_field *fixed_fields; /* what has to hold where it is set */
	size_t fixed_field_count;
	uint8_t model;	   /* enum pmu_modifier_model */
	uint8_t threshold; /* enum pmu_threshold */
};

/* What of its signal an event counts in a cycle. */
enum pmu_measure {
	PMU_MEASURE_NONE,      /* absent events */
	PMU_MEASURE_CLOCK,     /* 1 in every cycle of the box's clock */
	PMU_MEASURE_COUNT,     /* signals (of a span: its beginning) */
	PMU_MEASURE_OCCUPANCY, /* spans that are open */
	PMU_MEASURE_NONEMPTY,  /* 1 while any span is open */
	PMU_MEASURE_COUNTER0,  /* what counter 0 sees in this cycle */
	PMU_MEASURE_WATERMARK, /* 1 in every cycle with levels on one side of PMU_FIELD_WATERMARK */
};

/*
 * Where the names of an array stand, made with the tables: slot name_hash() & mask, or one of those
 * behind it, holds the entry's number plus 1; a slot that holds 0 ends the search.
 */
struct pmu_index {
	const uint16_t *slots;
	uint32_t mask;
};

/* A modifier that a unit mask implies: cmask and inv make stall cycles of a count of uops. */
struct pmu_implied {
	const struct pmu_modifier *modifier;
	uint64_t value;
};

struct pmu_umask {
	const char *name;
	uint8_t value;	     /* number of the unit mask where its fixed fields say all */
	uint8_t care;	     /* bits the manual prints as 0 or 1; the others are don't-care */
	bool alone;	     /* not to be combined, although the event's others may be */
	bool absent;	     /* not modelled, although others of the event are */
	bool never;	     /* no machine does it: the count is 0 */
	bool narrows;	     /* only qualifies others and counts nothing alone */
	uint16_t signal;     /* where each has its own: what is counted, enum pmu_signal_id */
	uint32_t qualifiers; /* of these any; 0: whatever they are */
	/* What tells cycles where a threshold is set; SIGNAL_NONE: see struct signal_desc.rate */
	uint16_t cycles;
	uint32_t cycles_qualifiers;
	const char *group; /* "" for none */
	const char *needs; /* group of which one more unit mask must be named; "" for none */
	uint64_t filters;  /* modifiers this unit mask needs, a bit each */
	uint64_t uses;	   /* those that it can use besides, and others of the event not */
	const struct pmu_implied *implied; /* in force unless the user gives other values */
	size_t implied_count;
	const struct pmu_fixed_field *fixed_fields;
	size_t fixed_field_count;
	const char *const *sum; /* others of the event that count as much together, NULL last; or
				   NULL */
	const char *desc;
	const char *source;
};

struct pmu_event {
	const char *name;
	const char *title;	/* as the manual heads it, in its words; "" for none */
	const char *category;	/* under which the manual lists it; "" for none */
	uint16_t code;		/* ev_sel */
	bool ext;		/* extended select bit */
	uint16_t max_increment; /* per cycle, errata decided; printed value in docs/errata.md */
	uint32_t counters;	/* bit i: counter i can count it */
	uint8_t umask;		/* of an event without named unit masks */
	const struct pmu_umask *umasks;
	size_t umask_count;
	struct pmu_index umask_index;
	uint8_t combine; /* enum pmu_combine */
	uint8_t model;	 /* enum pmu_model */
	uint8_t measure; /* enum pmu_measure */
	uint16_t per;	 /* it counts once for so much of what it measures; not 0 */
	bool by_umask;	 /* each unit mask has a signal of its own */
	uint16_t signal; /* enum pmu_signal_id of src/catalog/signal.h; 0 for absent ones */
	const struct pmu_row
	    *rows; /* which of its signal's: see src/catalog/binding.h; NULL: all */
	size_t row_count;
	uint64_t filters;	       /* modifiers it can use as filters, a bit each */
	uint64_t needs;		       /* those of which one has to be given */
	const char *set_group;	       /* see struct pmu_bank; "" for none */
	uint8_t set;		       /* number in the group */
	const char *const *attributes; /* what else the manual says of it, NULL last; or NULL */
	const struct pmu_fixed_field *fixed_fields;
	size_t fixed_field_count;
	uint8_t
	    copies; /* of the fields that select it; 0: one. Counter controls have code + copy */
	const char *model_note;
	const char *desc;
	const char *source;
};

/*
 * Counters that can count events of a group only while their lead counts one of the same set. What
 * is of no set is free (323602-001 §4.8.2, §4.8.4).
 */
struct pmu_bank {
	const char *group;
	uint32_t counters; /* bit i: counter i, the lead among them */
	uint8_t lead;
	uint64_t shared; /* bits of counter controls that are those of the lead for all */
};

struct pmu_metric {
	const char *name;
	const char *equation; /* the manual's notation, errata corrected */
	const char
	    *several_sockets;	/* the same for a part with more than one socket; "": no other */
	const char *unresolved; /* names in it that the manual does not define; "" for none */
	const char *unit;
	const char *desc;
	const char *source;
};

/* What a manual tells in a table that describes the hardware and none of its registers. */
struct pmu_facts {
	const char *name;
	const char *title;
	const char *source;
	const char *const *columns; /* their headings */
	size_t column_count;
	const char *const *cells; /* row r, column c: cells[r * column_count + c] */
	size_t row_count;
};

/* The fields of a box's counter controls that say what is counted; NULL: there is none. */
struct pmu_selector {
	const struct pmu_field *ev_sel, *ev_sel_ext, *umask;
	const struct pmu_field *occ_sel; /* takes bits 7:6 of the unit mask */
};

/*
 * What other tools call the box, {i} being the number of an instance and {c} that of a counter;
 * NULL: the tool does not know it.
 */
struct pmu_box_names {
	const char *intel; /* before the names of its events in Intel's lists: "UNC_M_" */
	const char *perf;  /* the PMU, where it is not that of struct pmu_box */
	const char *likwid, *likwid_fixed; /* a counter */
	const char *libpfm4, *pcm;	   /* the PMU */
};

/*
 * An event, with its unit mask, that a tool names otherwise; * stands for any text in both. "" in
 * place of their name: the tool has no such event, or another event of that name. With
 * :field=value...: the tool's name sets these fields too.
 */
struct pmu_rename {
	uint8_t tool; /* enum pmu_tool */
	const char *ours, *theirs;
};

/* An event that the kernel's PMU names in sysfs, and what a count is multiplied by for a unit. */
struct pmu_kernel_event {
	const char *name, *terms; /* cas_count_read, event=0x04,umask=0x03 */
	const char *scale, *unit; /* ""; or 6.1e-5, MiB */
};

struct pmu_box {
	const char *name;
	const char *pmu; /* name of the PMU it belongs to */
	const char *title;
	const char *source;
	const char *kernel; /* the Linux PMU of instance {i}; NULL: none */
	struct pmu_box_names names;
	const struct pmu_rename *renames;
	size_t rename_count;
	const struct pmu_kernel_event *kernel_events;
	size_t kernel_event_count;
	uint8_t space;	/* enum pmu_space */
	uint8_t clock;	/* enum pmu_clock */
	uint8_t quirks; /* enum pmu_quirk */
	uint8_t scope;	/* enum pmu_scope */
	uint8_t counter_count;
	uint8_t counter_width; /* bits */
	uint8_t fixed_count;
	const struct pmu_instance
	    *instances; /* all that the manual documents; a part may have fewer */
	size_t instance_count;
	const struct pmu_register *registers;
	size_t register_count;
	struct pmu_index register_index;
	struct pmu_selector selector;
	const struct pmu_modifier *modifiers;
	size_t modifier_count;
	struct pmu_index modifier_index;
	const struct pmu_mnemonic *mnemonics;
	size_t mnemonic_count;
	const struct pmu_event *events;
	size_t event_count;
	struct pmu_index event_index;
	const struct pmu_bank *banks;
	size_t bank_count;
	const struct pmu_metric *metrics;
	size_t metric_count;
	struct pmu_index metric_index;
	const struct pmu_hwrec *records; /* see record.h */
	size_t record_count;
	const struct pmu_facts *facts;
	size_t fact_count;
	struct pmu_index instance_index; /* names of registers in instances, one after the other */
};

/* Where a socket's registers of PMU_SPACE_MMIO stand in physical memory; all 0: nowhere. */
struct pmu_window {
	uint64_t own;	/* of the socket that reads */
	uint64_t first; /* of socket 0 */
	uint32_t size;	/* bytes, and the distance from socket to socket */
};

/* A processor that has the PMU, as it identifies itself. */
struct pmu_cpu {
	unsigned family, model;
	const char *source;
};

/* The documented order in which counting is set up and begins. */
enum pmu_step {
	PMU_STEP_FREEZE,	 /* nothing counts */
	PMU_STEP_RESET,		 /* controls and counters of boxes that can reset all theirs */
	PMU_STEP_CLEAR_OVERFLOW, /* what says that a counter overflowed */
	PMU_STEP_FILTERS,	 /* all registers that select and filter, beside controls */
	PMU_STEP_COUNTERS,	 /* to 0, where the reset does not do it */
	PMU_STEP_CONTROLS,
	PMU_STEP_CLEAR_GLOBAL,	 /* the status register of the socket */
	PMU_STEP_UNFREEZE_BOXES, /* each by itself */
	PMU_STEP_UNFREEZE,	 /* everything counts */
};

/* Where the manual says what software must not do; "" where no section is known. */
struct pmu_rules {
	const char *running;	   /* change controls and filters of counters that count */
	const char *overflow;	   /* let counting go on with overflow bits set */
	const char *halves;	   /* read halves of a counter that counts */
	const char *absent;	   /* use boxes that the part does not have */
	const char *sets;	   /* count events of a set that the leader does not count */
	const char *captures;	   /* read captures while the monitors run */
	const char *trace;	   /* trace while data captures of other than caches go on */
	const char *filter_after;  /* let the box's other filter wait (PMU_FIELD_FILTER_AFTER) */
	const char *global_freeze; /* freeze the socket and not tell of it */
};

struct pmu_pmu {
	const char *name;
	const char *title;
	const char *source;
	const struct pmu_box *boxes;
	size_t box_count;
	struct pmu_index box_index;
	struct pmu_window window;
	const struct pmu_cpu *cpus;
	size_t cpu_count;
	const uint8_t *steps; /* enum pmu_step, from the first to the last */
	size_t step_count;
	bool qualified; /* its names count only where it is named itself: another PMU has the same
			 */
	const struct pmu_unit_binding *units; /* see src/catalog/binding.h; NULL: no machine */
	struct pmu_rules rules;
	const struct pmu_address *addresses; /* see src/catalog/address.h */
	uint32_t address_mask;
};

/** All PMUs. @param count receives their number. */
const struct pmu_pmu *catalog_pmus(size_t *count);

#endif
