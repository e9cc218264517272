/*
 * How a part says which boxes it has (334291-001 §1.6), in the catalog's terms: fields of discovery
 * registers. One has a bit for each instance of a box; a device id at the beginning of a box's PCI
 * function says that the function is there; another is the package's node. Mnemonics of a field
 * that are names of boxes with numbers (sbo4.qpi3) say how many instances a value means.
 */
#ifndef BUS_IDENTITY_H
#define BUS_IDENTITY_H

#include "bus/map.h"
#include "catalog/entries.h"
#include "pmulab/bus.h"

/* A field and where it is. */
struct identity_field {
	const struct pmu_box *box;
	const struct pmu_register *reg;
	const struct pmu_field *field; /* NULL: there is none */
};

/** The package's node id; the node id of a package; which instances of a box there are. */
struct identity_field identity_node(const struct pmu_pmu *pmu);
struct identity_field identity_package(const struct pmu_pmu *pmu, unsigned package);
struct identity_field identity_instances(const struct pmu_pmu *pmu, const struct pmu_box *box);
/** The device id of the box's own PCI functions. */
struct identity_field identity_device(const struct pmu_box *box);

/** What an instance of a box answers with if it is there; NULL: nothing tells. */
const struct pmu_register *identity_witness(const struct pmu_box *box);

/** The field whose mnemonics say how many instances of a box there are. */
struct identity_field identity_counting(const struct pmu_pmu *pmu, const char *box);
/** Instances of a box that a value of such a field means. @return false: the value says nothing */
bool identity_count(const struct identity_field *counting, const char *box, uint64_t value,
		    unsigned *count);

static inline uint64_t identity_value(const struct pmu_field *field, uint64_t reg_value)
{
	return (reg_value & pmu_mask(field->hi, field->lo)) >> field->lo;
}

/** What a register reads where everything is there that the catalog has, and nothing was written.
 */
uint64_t identity_of_full_part(const struct pmu_pmu *pmu, const struct bus_register_ref *ref,
			       unsigned socket);

#endif
