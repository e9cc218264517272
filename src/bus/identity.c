#include "bus/identity.h"

#include <stdlib.h>
#include <string.h>

static struct identity_field find_in_box(const struct pmu_box *box, enum pmu_field_role role,
					 unsigned number)
{
	for (size_t i = 0; i < box->register_count; i++) {
		const struct pmu_register *reg = &box->registers[i];
		const struct pmu_field *field =
		    reg->role == PMU_ROLE_DISCOVERY ? pmu_field_by_role(reg, role, number) : NULL;

		if (field)
			return (struct identity_field){box, reg, field};
	}
	return (struct identity_field){0};
}

static struct identity_field find(const struct pmu_pmu *pmu, enum pmu_field_role role,
				  unsigned number)
{
	struct identity_field found = {0};

	for (size_t i = 0; i < pmu->box_count && !found.field; i++)
		found = find_in_box(&pmu->boxes[i], role, number);
	return found;
}

struct identity_field identity_node(const struct pmu_pmu *pmu)
{
	return find(pmu, PMU_FIELD_NODE_ID, 0);
}

struct identity_field identity_package(const struct pmu_pmu *pmu, unsigned package)
{
	return find(pmu, PMU_FIELD_PACKAGE_NODE, package);
}

struct identity_field identity_instances(const struct pmu_pmu *pmu, const struct pmu_box *box)
{
	return find(pmu, PMU_FIELD_INSTANCES, (unsigned)(box - pmu->boxes));
}

struct identity_field identity_device(const struct pmu_box *box)
{
	/* Boxes that gather registers of several functions have no device id of their own. */
	if (box->instance_count == 0 || box->instances[0].device_id == 0)
		return (struct identity_field){0};
	return find_in_box(box, PMU_FIELD_DEVICE_ID, 0);
}

const struct pmu_register *identity_witness(const struct pmu_box *box)
{
	bool core = box->scope == PMU_SCOPE_CORE;
	const struct pmu_register *witness = identity_device(box).reg;

	if (!witness)
		witness =
		    pmu_box_register(box, core ? PMU_ROLE_GLOBAL_CTL : PMU_ROLE_BOX_STATUS, 0);
	return witness || !core ? witness : pmu_box_register(box, PMU_ROLE_GLOBAL_STATUS, 0);
}

/* The number behind the box's name in "sbo4.qpi3". */
static bool counted_in(const char *mnemonic, const char *box, unsigned *count)
{
	size_t length = strlen(box);

	for (const char *word = mnemonic; word; word = strchr(word, '.')) {
		word += *word == '.';
		if (!strncasecmp(word, box, length) && word[length] >= '0' && word[length] <= '9') {
			*count = (unsigned)strtoul(word + length, NULL, 10);
			return true;
		}
	}
	return false;
}

/* Whether values of the field have names that say how many @name there are. */
static bool counts(const struct pmu_box *box, const struct pmu_field *field, const char *name)
{
	unsigned count;

	for (size_t i = 0; i < box->mnemonic_count; i++)
		if (!strcasecmp(box->mnemonics[i].field, field->name) &&
		    counted_in(box->mnemonics[i].name, name, &count))
			return true;
	return false;
}

struct identity_field identity_counting(const struct pmu_pmu *pmu, const char *name)
{
	for (const struct pmu_box *box = pmu->boxes; box < pmu->boxes + pmu->box_count; box++)
		for (size_t i = 0; i < box->register_count; i++) {
			const struct pmu_register *reg = &box->registers[i];

			for (size_t f = 0; f < reg->field_count; f++)
				if (reg->role == PMU_ROLE_DISCOVERY &&
				    counts(box, &reg->fields[f], name))
					return (struct identity_field){box, reg, &reg->fields[f]};
		}
	return (struct identity_field){0};
}

bool identity_count(const struct identity_field *counting, const char *name, uint64_t value,
		    unsigned *count)
{
	const struct pmu_box *box = counting->box;

	for (size_t i = 0; i < box->mnemonic_count; i++)
		if (box->mnemonics[i].value == value &&
		    !strcasecmp(box->mnemonics[i].field, counting->field->name) &&
		    counted_in(box->mnemonics[i].name, name, count))
			return true;
	return false;
}

/* The value of a counting field that means most boxes: the catalog has them in rising order. */
static uint64_t fullest(const struct pmu_box *box, const struct pmu_field *field)
{
	uint64_t value = 0;

	for (size_t i = 0; i < box->mnemonic_count; i++)
		if (!strcasecmp(box->mnemonics[i].field, field->name))
			value = box->mnemonics[i].value;
	return value;
}

static uint64_t all_instances(const struct pmu_box *box)
{
	return box->instance_count ? pmu_mask((unsigned)box->instance_count - 1, 0) : 0;
}

uint64_t identity_of_full_part(const struct pmu_pmu *pmu, const struct bus_register_ref *ref,
			       unsigned socket)
{
	const struct pmu_register *reg = ref->reg;
	uint64_t value;

	if (reg->role != PMU_ROLE_DISCOVERY)
		return 0;
	value = pmu_register_reset(ref->box, reg, ref->instance);
	for (size_t i = 0; i < reg->field_count; i++) {
		const struct pmu_field *field = &reg->fields[i];
		uint64_t mask = pmu_mask(field->hi, field->lo);

		if (field->role == PMU_FIELD_INSTANCES)
			value |= mask & all_instances(&pmu->boxes[field->counter]) << field->lo;
		else if (field->role == PMU_FIELD_NODE_ID)
			value |= mask & (uint64_t)socket << field->lo;
		else
			value |= mask & fullest(ref->box, field) << field->lo;
	}
	return value;
}
