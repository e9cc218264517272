#include "catalog/machine_keys.h"

#define EVERY (MACHINE_X86 | MACHINE_EPIC)

#define KEY(machines, key_kind, member)                                                            \
	{                                                                                          \
		.name = #member, .kind = (key_kind), .of = (machines),                             \
		.offset = offsetof(struct pmu_machine, member)                                     \
	}
#define TEXT(member)   KEY(MACHINE_X86, KEY_TEXT, member)
#define NUMBER(member) KEY(MACHINE_X86, KEY_NUMBER, member)
/* 0, as without it: there is no such limit. */
#define LIMIT(member)                                                                              \
	{                                                                                          \
		.name = #member, .kind = KEY_NUMBER, .of = MACHINE_X86, .optional = true,          \
		.offset = offsetof(struct pmu_machine, member)                                     \
	}
#define CACHE(member) KEY(MACHINE_X86, KEY_CACHE, member)
#define LIST(key_name, key_kind, member, counter)                                                  \
	{                                                                                          \
		.name = (key_name), .kind = (key_kind), .of = MACHINE_X86,                         \
		.offset = offsetof(struct pmu_machine, member),                                    \
		.count = offsetof(struct pmu_machine, counter)                                     \
	}

const struct machine_key machine_keys[] = {
    KEY(EVERY, KEY_TEXT, name),
    KEY(EVERY, KEY_TEXT, title),
    KEY(EVERY, KEY_TEXT, pmu),
    KEY(EVERY, KEY_TEXT, events),
    KEY(EVERY, KEY_TEXT, source),
    KEY(MACHINE_EPIC, KEY_TEXT, core),
    NUMBER(stepping),
    TEXT(brand),
    TEXT(flags),
    TEXT(qemu_cpu),
    LIST("cpuid", KEY_CPUID, cpuid, cpuid_count),
    LIST("msrs", KEY_MSRS, msrs, msr_count),
    KEY(MACHINE_X86, KEY_POWER, power),
    NUMBER(first_uncore_device),
    LIST("functions", KEY_FUNCTIONS, functions, function_count),
    KEY(EVERY, KEY_NUMBER, sockets),
    KEY(EVERY, KEY_NUMBER, cores),
    KEY(MACHINE_EPIC, KEY_NUMBER, threads_per_core),
    NUMBER(slices),
    NUMBER(home_agents),
    NUMBER(channels),
    NUMBER(ranks),
    NUMBER(banks),
    NUMBER(row_bytes),
    KEY(EVERY, KEY_NUMBER, core_mhz),
    NUMBER(uclk_mhz),
    NUMBER(dclk_mhz),
    NUMBER(bclk_mhz),
    NUMBER(pclk_mhz),
    NUMBER(qfclk_mhz),
    KEY(EVERY, KEY_LONG, memory_bytes),
    CACHE(l1i),
    CACHE(l1d),
    CACHE(l2),
    CACHE(llc),
    TEXT(uarch),
    TEXT(translation),
    TEXT(large_pages),
    NUMBER(issue_width),
    NUMBER(reorder_window),
    NUMBER(fill_buffers),
    NUMBER(locked_cycles),
    NUMBER(prefetchers),
    NUMBER(superqueue_entries),
    NUMBER(streams),
    NUMBER(stream_lines),
    NUMBER(irq_entries),
    NUMBER(tor_entries),
    NUMBER(tracker_entries),
    NUMBER(rpq_entries),
    NUMBER(wpq_entries),
    NUMBER(wpq_high),
    NUMBER(wpq_low),
    NUMBER(ring_hop),
    NUMBER(ha_cycles),
    NUMBER(link_cycles),
    NUMBER(link_line_cycles),
    NUMBER(snoop_cycles),
    NUMBER(t_cl),
    NUMBER(t_cwl),
    NUMBER(t_rcd),
    NUMBER(t_rp),
    NUMBER(t_ras),
    NUMBER(t_burst),
    NUMBER(t_refi),
    NUMBER(t_rfc),
    NUMBER(t_wr),
    NUMBER(t_wtr),
    LIMIT(bank_groups),
    LIMIT(t_ccd_l),
    LIMIT(t_rrd_s),
    LIMIT(t_rrd_l),
    LIMIT(t_faw),
    LIMIT(t_rtp),
    LIST("instances", KEY_PARTS, parts, part_count),
    LIST("straps", KEY_STRAPS, straps, strap_count),
};
const size_t machine_key_count = sizeof(machine_keys) / sizeof(machine_keys[0]);
