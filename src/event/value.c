#include "event/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/name.h"
#include "event/settings.h"
#include "event/valid.h"

static bool is_one_bit(uint64_t value)
{
	return value && !(value & (value - 1));
}

/*
 * Whether the field's mnemonics are bits that may be added: each is one bit, or stands for all of
 * them.
 */
static bool has_bit_names(const struct pmu_box *box, const struct pmu_modifier *modifier)
{
	uint64_t bits = 0;

	if (modifier->set)
		return true;
	for (size_t i = 0; i < box->mnemonic_count; i++)
		if (name_equal(box->mnemonics[i].field, modifier->name) &&
		    is_one_bit(box->mnemonics[i].value))
			bits |= box->mnemonics[i].value;
	for (size_t i = 0; i < box->mnemonic_count; i++) {
		uint64_t value = box->mnemonics[i].value;

		if (name_equal(box->mnemonics[i].field, modifier->name) && !is_one_bit(value) &&
		    (value & bits) != bits)
			return false;
	}
	return bits && !is_one_bit(bits);
}

bool value_is_set(const struct pmu_box *box, const struct pmu_modifier *modifier)
{
	return name_equal(modifier->name, VALUE_NODE_FILTER) || has_bit_names(box, modifier);
}

/* Values of node filters that differ from socket to socket. */
static const struct {
	const char *name;
	uint8_t nodes; /* enum pmu_nodes */
} node_values[] = {
    {"my_node", PMU_NODES_MINE},
    {"other_nodes", PMU_NODES_OTHERS},
};
#define NODE_VALUES (sizeof(node_values) / sizeof(node_values[0]))

/* @return a set of enum pmu_nodes; 0: @name is none */
static uint8_t find_nodes(const struct pmu_modifier *modifier, const char *name)
{
	for (size_t i = 0; i < NODE_VALUES; i++)
		if (name_equal(node_values[i].name, name) &&
		    name_equal(modifier->name, VALUE_NODE_FILTER))
			return node_values[i].nodes;
	return 0;
}

/* Whether @name is that of a value, with or without its class: DataC_Cmp or DRS.DataC_Cmp. */
static bool has_name(const struct pmu_mnemonic *value, const char *name)
{
	size_t length = value->class_name ? strlen(value->class_name) : 0;

	if (length && !strncasecmp(name, value->class_name, length) && name[length] == '.')
		name += length + 1;
	return name_equal(value->name, name);
}

const struct pmu_mnemonic *value_find(const struct pmu_box *box,
				      const struct pmu_modifier *modifier, const char *name)
{
	for (size_t i = 0; i < box->mnemonic_count; i++)
		if (name_equal(box->mnemonics[i].field, modifier->name) &&
		    has_name(&box->mnemonics[i], name))
			return &box->mnemonics[i];
	return NULL;
}

/* The value of a digit in bases up to 16; 16 for what is none. */
static unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 16;
}

/* Reads 12, 0x1f or 0b101. What does not fit 64 bits becomes the largest value. */
static bool read_number(const char *text, uint64_t *value)
{
	unsigned base = 10;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		base = 16;
	else if (text[0] == '0' && (text[1] == 'b' || text[1] == 'B'))
		base = 2;
	if (base != 10)
		text += 2;
	if (!*text)
		return false;
	*value = 0;
	for (; *text; text++) {
		unsigned digit = digit_value(*text);

		if (digit >= base)
			return false;
		if (__builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, digit, value)) {
			*value = UINT64_MAX;
			return true;
		}
	}
	return true;
}

static int refuse_unknown(const struct expression *expression, const struct pmu_modifier *modifier,
			  const struct word *word)
{
	const struct pmu_box *box = expression->selection->box;
	struct valid valid;

	valid_init(&valid, word->name);
	for (size_t i = 0; i < box->mnemonic_count; i++)
		if (name_equal(box->mnemonics[i].field, modifier->name))
			valid_add(&valid, box->mnemonics[i].name);
	for (size_t i = 0; i < NODE_VALUES && name_equal(modifier->name, VALUE_NODE_FILTER); i++)
		valid_add(&valid, node_values[i].name);
	return valid_refuse(&valid, expression, word->span,
			    *valid.list ? "\"%s\" is neither a number nor a value of %s"
					: "\"%s\" is no number, and %s has no named values",
			    word->name, modifier->name);
}

static int refuse_range(const struct expression *expression, const struct pmu_modifier *modifier,
			const struct word *word)
{
	unsigned width = modifier->hi - modifier->lo + 1u;

	return expression_refuse(expression, PMU_E_RANGE, word->span,
				 "%s does not fit %s, which has %u bit%s: 0 to %" PRIu64,
				 word->name, modifier->name, width, width == 1 ? "" : "s",
				 pmu_mask(width - 1, 0));
}

/* Sets the class that a value is named with, DRS of DRS.DataC_Cmp, in its own field. */
static int set_class(struct expression *expression, const struct pmu_modifier *modifier,
		     const struct pmu_mnemonic *value, const struct word *word)
{
	const struct pmu_modifier *field = modifier->class_field;
	const struct pmu_setting *known;
	const struct pmu_mnemonic *own;

	if (!field || name_equal(value->name, word->name))
		return 0;
	known = settings_of(expression->selection, field);
	own = value_find(expression->selection->box, field, value->class_name);
	if (known && known->value == own->value)
		return 0;
	return settings_add(
	    expression, &(struct pmu_setting){.modifier = field, .value = own->value}, word->span);
}

/* Adds a term to the setting's value. */
static int read_term(struct expression *expression, struct pmu_setting *setting, struct word *word)
{
	const struct pmu_modifier *modifier = setting->modifier;
	const struct pmu_mnemonic *mnemonic;
	int code = expression_word_with(expression, ".", "a value", word);
	uint64_t value;
	uint8_t nodes;

	if (code)
		return code;
	if (word->name[0] >= '0' && word->name[0] <= '9') {
		if (!read_number(word->name, &value))
			return refuse_unknown(expression, modifier, word);
		if (value > pmu_mask(modifier->hi, modifier->lo) >> modifier->lo)
			return refuse_range(expression, modifier, word);
		setting->value |= value;
		return 0;
	}
	nodes = find_nodes(modifier, word->name);
	setting->nodes |= nodes;
	if (nodes)
		return 0;
	mnemonic = value_find(expression->selection->box, modifier, word->name);
	if (!mnemonic)
		return refuse_unknown(expression, modifier, word);
	setting->value |= mnemonic->value;
	return set_class(expression, modifier, mnemonic, word);
}

int value_read(struct expression *expression, const struct pmu_modifier *modifier,
	       struct pmu_setting *setting)
{
	struct word word;
	size_t start = expression->at;
	int code;

	*setting = (struct pmu_setting){.modifier = modifier};
	code = read_term(expression, setting, &word);
	while (!code && expression->text[expression->at] == '+') {
		expression->at++;
		code = read_term(expression, setting, &word);
		if (!code && !has_bit_names(expression->selection->box, modifier))
			return expression_refuse(
			    expression, PMU_E_CONFLICT,
			    (struct text_span){start, expression->at - start},
			    "values of %s cannot be added: it holds one number, not a set of bits",
			    modifier->name);
	}
	return code;
}

static int print_number(const struct pmu_modifier *modifier, uint64_t value, char *text,
			size_t size)
{
	return modifier->shared ? snprintf(text, size, "0x%" PRIx64, value)
				: snprintf(text, size, "%" PRIu64, value);
}

static int print_set(const struct pmu_box *box, const struct pmu_modifier *modifier, uint64_t value,
		     char *text, size_t size)
{
	uint64_t left = value;
	int length = 0;

	for (size_t i = 0; i < box->mnemonic_count; i++) {
		const struct pmu_mnemonic *bit = &box->mnemonics[i];
		size_t used = (size_t)length < size ? (size_t)length : size;

		if (!name_equal(bit->field, modifier->name) || !is_one_bit(bit->value) ||
		    !(bit->value & left))
			continue;
		length += snprintf(text + used, size - used, "%s%s", length ? "+" : "", bit->name);
		left &= ~bit->value;
	}
	if (!left)
		return length;
	if (size)
		*text = '\0';
	return 0;
}

/* A mnemonic's name without its class: RdData of HOM0.RdData. */
static const char *bare_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/* The name of a value; NULL where it has none, or several that mean different things. */
static const char *name_of_value(const struct pmu_box *box, const struct pmu_modifier *modifier,
				 uint64_t value)
{
	const char *name = NULL;

	for (size_t i = 0; i < box->mnemonic_count; i++) {
		const struct pmu_mnemonic *mnemonic = &box->mnemonics[i];

		if (mnemonic->value != value || !name_equal(mnemonic->field, modifier->name))
			continue;
		if (name && !modifier->set &&
		    !name_equal(bare_name(name), bare_name(mnemonic->name)))
			return NULL;
		if (!name)
			name = mnemonic->name;
	}
	return name;
}

int value_name(const struct pmu_box *box, const struct pmu_modifier *modifier, uint64_t value,
	       char *text, size_t size)
{
	const char *name;

	if (size)
		*text = '\0';
	name = name_of_value(box, modifier, value);
	if (name)
		return snprintf(text, size, "%s", name);
	if (value && has_bit_names(box, modifier))
		return print_set(box, modifier, value, text, size);
	return 0;
}

/* Nodes by what they are to a socket. */
static int print_nodes(uint8_t nodes, char *text, size_t size)
{
	int length = 0;

	for (size_t i = 0; i < NODE_VALUES; i++) {
		size_t used = (size_t)length < size ? (size_t)length : size;

		if (nodes & node_values[i].nodes)
			length += snprintf(text + used, size - used, "%s%s", length ? "+" : "",
					   node_values[i].name);
	}
	return length;
}

int value_print(const struct pmu_box *box, const struct pmu_setting *setting, char *text,
		size_t size)
{
	const struct pmu_modifier *modifier = setting->modifier;
	int length = print_nodes(setting->nodes, text, size);
	size_t used;

	if (length && !setting->value)
		return length;
	if (length) {
		used = (size_t)length < size ? (size_t)length : size;
		length += snprintf(text + used, size - used, "+");
		used = (size_t)length < size ? (size_t)length : size;
		return length + print_number(modifier, setting->value, text + used, size - used);
	}
	length = value_name(box, modifier, setting->value, text, size);
	return length ? length : print_number(modifier, setting->value, text, size);
}
