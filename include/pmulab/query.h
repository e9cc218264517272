/*
 * The catalog by functions alone: PMUs, boxes, events, unit masks, registers and fields are opaque
 * here, so that a program goes on working with a library whose catalog has more to say of them.
 * catalog.h shows the same entries as structs, which may change.
 *
 * Entries and strings live as long as the program. An index beyond the end gives NULL. Nothing here
 * takes NULL.
 */
#ifndef PMULAB_QUERY_H
#define PMULAB_QUERY_H

#include <stddef.h>
#include <stdint.h>

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
struct pmu_metric;

size_t pmu_pmu_count(void);
const struct pmu_pmu *pmu_pmu_at(size_t index);
const char *pmu_pmu_name(const struct pmu_pmu *pmu);
const char *pmu_pmu_title(const struct pmu_pmu *pmu);
/** The document that describes it. */
const char *pmu_pmu_source(const struct pmu_pmu *pmu);
size_t pmu_pmu_boxes(const struct pmu_pmu *pmu);
const struct pmu_box *pmu_pmu_box(const struct pmu_pmu *pmu, size_t index);

const char *pmu_box_name(const struct pmu_box *box);
const char *pmu_box_title(const struct pmu_box *box);
const char *pmu_box_source(const struct pmu_box *box);
/** Instances that the manual documents; a part may have fewer. */
size_t pmu_box_instances(const struct pmu_box *box);
/** General counters of an instance. */
unsigned pmu_box_counters(const struct pmu_box *box);
/** Bits of a counter. */
unsigned pmu_box_counter_width(const struct pmu_box *box);
size_t pmu_box_events(const struct pmu_box *box);
const struct pmu_event *pmu_box_event(const struct pmu_box *box, size_t index);
size_t pmu_box_registers(const struct pmu_box *box);
const struct pmu_register *pmu_box_register_at(const struct pmu_box *box, size_t index);
size_t pmu_box_metrics(const struct pmu_box *box);
const struct pmu_metric *pmu_box_metric(const struct pmu_box *box, size_t index);

const char *pmu_event_name(const struct pmu_event *event);
const char *pmu_event_desc(const struct pmu_event *event);
const char *pmu_event_source(const struct pmu_event *event);
/** Event select. */
unsigned pmu_event_code(const struct pmu_event *event);
/** Bit i: counter i can count it. */
uint32_t pmu_event_counters(const struct pmu_event *event);
/** The most that it counts in a cycle. */
unsigned pmu_event_max_increment(const struct pmu_event *event);
size_t pmu_event_umasks(const struct pmu_event *event);
const struct pmu_umask *pmu_event_umask(const struct pmu_event *event, size_t index);

const char *pmu_umask_name(const struct pmu_umask *umask);
const char *pmu_umask_desc(const struct pmu_umask *umask);
const char *pmu_umask_source(const struct pmu_umask *umask);
unsigned pmu_umask_value(const struct pmu_umask *umask);

/** With the manual's placeholder for the instance: Cn_MSR_PMON_CTL0. */
const char *pmu_register_pattern(const struct pmu_register *reg);
const char *pmu_register_source(const struct pmu_register *reg);
/** Bits: 32 or 64. */
unsigned pmu_register_width(const struct pmu_register *reg);
size_t pmu_register_fields(const struct pmu_register *reg);
/** From the top bit down; together they cover every bit. */
const struct pmu_field *pmu_register_field(const struct pmu_register *reg, size_t index);

const char *pmu_field_name(const struct pmu_field *field);
const char *pmu_field_desc(const struct pmu_field *field);
/** Its highest and its lowest bit. */
unsigned pmu_field_high(const struct pmu_field *field);
unsigned pmu_field_low(const struct pmu_field *field);

const char *pmu_metric_name(const struct pmu_metric *metric);
const char *pmu_metric_desc(const struct pmu_metric *metric);
const char *pmu_metric_source(const struct pmu_metric *metric);
/** In the manual's notation. */
const char *pmu_metric_equation(const struct pmu_metric *metric);
const char *pmu_metric_unit(const struct pmu_metric *metric);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
