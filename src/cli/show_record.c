#include "cli/show.h"

#include "pmulab/hwrec.h"

static void show_kind(const struct show *show, const char *label, const struct pmu_hwrec_kind *kind)
{
	fprintf(show->cli->out, "  %-12s %-12s %s\n", label, pmu_hwrec_kind_name(kind),
		pmu_hwrec_kind_desc(kind));
}

static void show_record_field(const struct show *show, const char *label,
			      const struct pmu_hwrec_field *field)
{
	const struct pmu_mnemonic *mnemonic;

	fprintf(show->cli->out, "  %-12s %-20s %s\n", label, pmu_hwrec_field_name(field),
		pmu_hwrec_field_desc(field));
	for (size_t i = 0; (mnemonic = pmu_hwrec_field_mnemonic(field, i)); i++)
		fprintf(show->cli->out, "  %-12s   %3llu %-18s %s\n", "",
			(unsigned long long)pmu_mnemonic_value(mnemonic),
			pmu_mnemonic_name(mnemonic), pmu_mnemonic_desc(mnemonic));
}

/* The entries of a circular buffer. */
static void show_entries(const struct show *show, const struct pmu_hwrec *record)
{
	const struct pmu_hwrec_field *field;
	const struct pmu_hwrec_kind *kind;

	fprintf(show->cli->out, "  %-12s %zu, the youngest first\n", "entries",
		pmu_hwrec_entries(record));
	for (size_t i = 0; (kind = pmu_hwrec_entry_kind(record, i)); i++)
		show_kind(show, i ? "" : "of kinds", kind);
	for (size_t i = 0; (field = pmu_hwrec_entry_field(record, i)); i++)
		show_record_field(show, i ? "" : "fields", field);
}

/* The registers that it reads, each once. */
static void show_record_registers(const struct show *show, const struct pmu_box *box,
				  const struct pmu_hwrec *record)
{
	const char *label = "registers";

	for (size_t i = 0; i < pmu_box_registers(box); i++) {
		if (pmu_hwrec_register(record, pmu_box_register_at(box, i)) !=
		    pmu_box_register_at(box, i))
			continue;
		fprintf(show->cli->out, "  %-12s %s\n", label,
			pmu_register_pattern(pmu_box_register_at(box, i)));
		label = "";
	}
}

void show_record(const struct show *show, const struct pmu_box *box, const struct pmu_hwrec *record)
{
	const struct pmu_hwrec_field *field;
	const struct pmu_hwrec_kind *kind;
	const char *note;

	fprintf(show->cli->out, "record %s/%s.%s\n", pmu_box_pmu_name(box), pmu_box_name(box),
		pmu_hwrec_name(record));
	show_line(show, "is", pmu_hwrec_title(record));
	if (pmu_hwrec_size(record))
		fprintf(show->cli->out, "  %-12s %zu bytes in memory\n", "size",
			pmu_hwrec_size(record));
	show_record_registers(show, box, record);
	for (size_t i = 0; (kind = pmu_hwrec_kind(record, i)); i++)
		show_kind(show, i ? "" : "kinds", kind);
	for (size_t i = 0; (field = pmu_hwrec_field(record, i)); i++)
		show_record_field(show, i ? "" : "fields", field);
	if (pmu_hwrec_entries(record))
		show_entries(show, record);
	for (size_t i = 0; (note = pmu_hwrec_note(record, i)); i++)
		show_line(show, i ? "" : "notes", note);
	show_line(show, "source", pmu_hwrec_source(record));
}
