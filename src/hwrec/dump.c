#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/name.h"
#include "catalog/hwrec.h"

#define SEPARATORS	" \t\r\n=:,"
#define NAME_MAX_LENGTH 127
#define SOCKETS_MAX	256 /* windows that follow one another */

/* A piece of the line. */
struct token {
	size_t offset, length;
};

/* Where a register may be meant, and what was found. */
struct search {
	const struct pmu_pmu *only; /* NULL: any */
	char name[NAME_MAX_LENGTH + 1];
	const char *box; /* of "BOX." in front; NULL: any */
	size_t box_length;
	int instance; /* of "BOX3."; -1: not said */
	bool numeric;
	uint64_t address;
	int space; /* of the address, enum pmu_space; -1: an MSR's or a physical one */
	struct pmu_register_value found;
	const struct pmu_box *other; /* another that has it */
};

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

bool pmu_number_parse(const char *text, size_t length, uint64_t *value)
{
	uint64_t base = 10;

	if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
		length -= 2;
	} else if (length > 1 && text[0] == '0') {
		return false;
	}
	*value = 0;
	for (size_t i = 0; i < length; i++) {
		uint64_t digit = (uint64_t)digit_of(text[i]);

		if (digit >= base || *value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
	return length > 0;
}

/* The next token; of length 0 at the end of the line or a comment. */
static struct token next_token(const char *line, size_t offset)
{
	struct token token = {.offset = offset + strspn(line + offset, SEPARATORS)};

	token.length = strcspn(line + token.offset, SEPARATORS "#");
	return token;
}

static void keep(struct search *search, const struct pmu_box *box, unsigned instance,
		 const struct pmu_register *reg)
{
	if (search->found.reg)
		search->other = box;
	else
		search->found =
		    (struct pmu_register_value){.box = box, .instance = instance, .reg = reg};
}

/* Where an address lies in the window of the socket that it is in. */
static uint64_t in_window(const struct pmu_window *window, uint64_t address)
{
	if (address >= window->own && address - window->own < window->size)
		return address - window->own;
	if (address >= window->first &&
	    address - window->first < (uint64_t)SOCKETS_MAX * window->size)
		return (address - window->first) % window->size;
	return address;
}

static bool is_at(const struct search *search, const struct pmu_pmu *pmu, const struct pmu_box *box,
		  const struct pmu_register *reg, unsigned instance)
{
	uint64_t address = search->address;

	if (search->space >= 0 && search->space != reg->space)
		return false;
	if (search->space >= 0 && search->space != PMU_SPACE_MMIO)
		return pmu_register_address(box, reg, instance) == address;
	if (reg->space == PMU_SPACE_MMIO)
		address = in_window(&pmu->window, address);
	else if (reg->space != PMU_SPACE_MSR)
		return false;
	return pmu_register_address(box, reg, instance) == address;
}

static void search_address(struct search *search, const struct pmu_pmu *pmu,
			   const struct pmu_box *box)
{
	for (unsigned instance = 0; instance < box->instance_count; instance++) {
		for (size_t i = 0; i < box->register_count; i++) {
			if (is_at(search, pmu, box, &box->registers[i], instance)) {
				keep(search, box, instance, &box->registers[i]);
				return;
			}
		}
	}
}

static void search_name(struct search *search, const struct pmu_box *box)
{
	const struct pmu_register *reg;
	size_t length = strlen(box->name);
	unsigned instance = 0;

	if (search->box &&
	    (search->box_length != length || strncasecmp(search->box, box->name, length)))
		return;
	if (search->instance >= 0 && (size_t)search->instance >= box->instance_count)
		return;
	reg = pmu_find_register(box, search->name);
	if (!reg) {
		reg = pmu_find_instance_register(box, search->name, &instance);
		if (reg && search->instance >= 0 &&
		    !name_equal(pmu_register_name(reg, (unsigned)search->instance), search->name))
			return;
	}
	if (reg)
		keep(search, box, search->instance < 0 ? instance : (unsigned)search->instance,
		     reg);
}

static void search_all(struct search *search)
{
	size_t count;
	const struct pmu_pmu *pmus = catalog_pmus(&count);

	for (size_t i = 0; i < count; i++) {
		if (search->only && search->only != &pmus[i])
			continue;
		for (size_t j = 0; j < pmus[i].box_count; j++) {
			if (search->numeric)
				search_address(search, &pmus[i], &pmus[i].boxes[j]);
			else
				search_name(search, &pmus[i].boxes[j]);
		}
	}
}

/* Takes "BOX3." apart: names of boxes do not end in digits. */
static void read_box(struct search *search, const char *text, size_t length)
{
	size_t end = length;
	uint64_t instance;

	while (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9')
		end--;
	search->box = text;
	search->box_length = end;
	if (end < length)
		search->instance =
		    pmu_number_parse(text + end, length - end, &instance) && instance < INT16_MAX
			? (int)instance
			: INT16_MAX;
}

/* Takes "PMU/" off a name. @return 0, PMU_E_UNKNOWN, PMU_E_CONFLICT */
static int read_pmu(struct pmu_ctx *ctx, struct search *search, const char *line,
		    struct token *token)
{
	const char *text = line + token->offset, *slash = memchr(text, '/', token->length);
	const struct pmu_pmu *pmu;
	char name[NAME_MAX_LENGTH + 1] = "";
	size_t length;

	if (!slash)
		return 0;
	length = (size_t)(slash - text);
	if (length <= NAME_MAX_LENGTH)
		memcpy(name, text, length);
	pmu = pmu_find_pmu(name);
	if (!pmu)
		return error_set_at(ctx, PMU_E_UNKNOWN, line, token->offset, length,
				    "there is no PMU \"%.*s\"; pmulab list pmus shows them",
				    (int)length, text);
	if (search->only && search->only != pmu)
		return error_set_at(ctx, PMU_E_CONFLICT, line, token->offset, length,
				    "registers of %s were asked for", search->only->name);
	search->only = pmu;
	token->offset += length + 1;
	token->length -= length + 1;
	return 0;
}

static bool read_name(struct search *search, const char *text, size_t length)
{
	const char *dot = memchr(text, '.', length);

	search->numeric = *text >= '0' && *text <= '9';
	if (search->numeric)
		return pmu_number_parse(text, length, &search->address);
	if (dot) {
		read_box(search, text, (size_t)(dot - text));
		length -= (size_t)(dot + 1 - text);
		text = dot + 1;
	}
	if (length > NAME_MAX_LENGTH)
		return false;
	memcpy(search->name, text, length);
	return true;
}

/* Address spaces as encode prints them. */
static const struct {
	const char *name;
	int space;
} spaces[] = {
    {"msr", PMU_SPACE_MSR}, {"pci", PMU_SPACE_PCI}, {"mmio", PMU_SPACE_MMIO},
    {"pmc", PMU_SPACE_PMC}, {"pmd", PMU_SPACE_PMD}, {"ibr", PMU_SPACE_IBR},
    {"dbr", PMU_SPACE_DBR},
};

static int find_space(const char *line, struct token token)
{
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
		if (strlen(spaces[i].name) == token.length &&
		    !strncasecmp(spaces[i].name, line + token.offset, token.length))
			return spaces[i].space;
	return -1;
}

/* "D18" with @letter 'd' is 18. */
static bool read_part(const char *line, struct token token, char letter, uint64_t limit,
		      uint64_t *value)
{
	return token.length > 1 && (line[token.offset] | 0x20) == letter &&
	       pmu_number_parse(line + token.offset + 1, token.length - 1, value) && *value < limit;
}

/* D18:F1:0xD8: @token becomes all of it. */
static bool read_pci(struct search *search, const char *line, struct token *token)
{
	struct token function = next_token(line, token->offset + token->length);
	struct token offset = next_token(line, function.offset + function.length);
	uint64_t device, number, at;

	if (!read_part(line, *token, 'd', 32, &device) ||
	    !read_part(line, function, 'f', 8, &number) ||
	    !pmu_number_parse(line + offset.offset, offset.length, &at) || at >= 1 << 12)
		return false;
	search->space = PMU_SPACE_PCI;
	search->address = device << 15 | number << 12 | at;
	token->length = offset.offset + offset.length - token->offset;
	return true;
}

/*
 * An address with its space, as encode prints it: "msr 0xE35", "pci D18:F1:0xD8", "pmc 4".
 * @token  becomes all of it; unchanged where this is none
 */
static bool read_address(struct search *search, const char *line, struct token *token)
{
	struct token address = next_token(line, token->offset + token->length);
	int space = find_space(line, *token);
	size_t begin = token->offset;

	if (read_pci(search, line, token)) {
		search->numeric = true;
		return true;
	}
	if (space < 0)
		return false;
	if (space != PMU_SPACE_PCI || !read_pci(search, line, &address)) {
		if (!pmu_number_parse(line + address.offset, address.length, &search->address))
			return false;
		search->space = space;
	}
	search->numeric = true;
	*token = (struct token){begin, address.offset + address.length - begin};
	return true;
}

/* The nearest name among those that were searched. */
static const char *guess(const struct search *search)
{
	struct name_guess guess;
	size_t count;
	const struct pmu_pmu *pmus = catalog_pmus(&count);

	name_guess_init(&guess, search->name);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < pmus[i].box_count; j++)
			for (size_t r = 0; r < pmus[i].boxes[j].register_count; r++)
				if (!search->only || search->only == &pmus[i])
					name_guess_offer(&guess,
							 pmus[i].boxes[j].registers[r].name);
	return guess.best;
}

static int find(struct pmu_ctx *ctx, struct search *search, const char *line, struct token token)
{
	const char *nearest;
	int error = search->numeric ? 0 : read_pmu(ctx, search, line, &token);

	if (error)
		return error;
	if (!search->numeric && !read_name(search, line + token.offset, token.length))
		return error_set_at(ctx, PMU_E_SYNTAX, line, token.offset, token.length,
				    "neither a register's name nor an address");
	search_all(search);
	if (search->other)
		return error_set_at(ctx, PMU_E_CONFLICT, line, token.offset, token.length,
				    "%s/%s and %s/%s both have it; say which: PMU/BOX.NAME",
				    search->found.box->pmu, search->found.box->name,
				    search->other->pmu, search->other->name);
	if (search->found.reg)
		return 0;
	nearest = search->numeric ? NULL : guess(search);
	return error_set_at(ctx, PMU_E_UNKNOWN, line, token.offset, token.length,
			    "no register of %s%s%s%s%s",
			    search->only ? search->only->name : "any PMU",
			    search->numeric ? " has that address" : " has that name",
			    nearest ? "; did you mean " : "", nearest ? nearest : "",
			    nearest ? "?" : "; pmulab list registers shows them");
}

int pmu_dump_parse(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *line,
		   struct pmu_register_value *value)
{
	struct search search = {.only = pmu, .instance = -1, .space = -1};
	struct token name = next_token(line, 0), number, rest;
	int error;

	if (name.length == 0)
		return 0;
	read_address(&search, line, &name);
	number = next_token(line, name.offset + name.length);
	rest = next_token(line, number.offset + number.length);
	error = find(ctx, &search, line, name);
	if (error)
		return error;
	if (number.length == 0)
		return error_set_at(ctx, PMU_E_SYNTAX, line, number.offset, 1,
				    "a value is missing");
	*value = search.found;
	if (!pmu_number_parse(line + number.offset, number.length, &value->value))
		return error_set_at(ctx, PMU_E_SYNTAX, line, number.offset, number.length,
				    "no number of 64 bits: decimal, or hexadecimal with 0x");
	if (rest.length)
		return error_set_at(ctx, PMU_E_SYNTAX, line, rest.offset, rest.length,
				    "one register and one value a line");
	if (value->reg->width < 64 && value->value >> value->reg->width)
		return error_set_at(ctx, PMU_E_RANGE, line, number.offset, number.length,
				    "%s has %u bits", value->reg->name, value->reg->width);
	return 1;
}
