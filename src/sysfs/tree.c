#include "sysfs/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 256

#define MODE_FOLDER 0555
#define MODE_TEXT   0444
#define MODE_LINK   0777

void tree_init(struct device_tree *tree)
{
	*tree = (struct device_tree){.capacity = 64};
	tree->nodes = calloc(tree->capacity, sizeof(*tree->nodes));
	if (!tree->nodes) {
		*tree = (struct device_tree){.incomplete = true};
		return;
	}
	tree->nodes[DEVICE_ROOT] = (struct device_node){.kind = DEVICE_FOLDER, .mode = MODE_FOLDER};
	tree->count = 1;
}

void tree_fini(struct device_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		free(tree->nodes[i].name);
		free(tree->nodes[i].text);
	}
	free(tree->nodes);
	*tree = (struct device_tree){0};
}

uint32_t tree_child(const struct device_tree *tree, uint32_t folder, const char *name)
{
	uint32_t child = tree->nodes[folder].first_child;

	while (child != DEVICE_NONE && strcmp(tree->nodes[child].name, name) != 0)
		child = tree->nodes[child].next;
	return child;
}

/* @return DEVICE_NONE where memory has run out */
static uint32_t add_child(struct device_tree *tree, uint32_t folder, const char *name)
{
	uint32_t child = (uint32_t)tree->count;
	char *copy = strdup(name);

	if (copy && tree->count == tree->capacity) {
		void *grown = reallocarray(tree->nodes, tree->capacity * 2, sizeof(*tree->nodes));

		if (!grown) {
			free(copy);
			copy = NULL;
		} else {
			tree->nodes = grown;
			tree->capacity *= 2;
		}
	}
	if (!copy) {
		tree->incomplete = true;
		return DEVICE_NONE;
	}
	tree->count++;
	tree->nodes[child] = (struct device_node){
	    .name = copy, .parent = folder, .kind = DEVICE_FOLDER, .mode = MODE_FOLDER};
	if (tree->nodes[folder].last_child != DEVICE_NONE)
		tree->nodes[tree->nodes[folder].last_child].next = child;
	else
		tree->nodes[folder].first_child = child;
	tree->nodes[folder].last_child = child;
	return child;
}

/* The node of a path, made with all folders on the way; NULL where memory has run out. */
static struct device_node *make(struct device_tree *tree, const char *format, va_list arguments)
{
	char path[PATH_BYTES], *rest = path, *name;
	uint32_t node = DEVICE_ROOT;
	int length = vsnprintf(path, sizeof(path), format, arguments);

	if (tree->incomplete || length < 0 || length >= PATH_BYTES) {
		tree->incomplete = true;
		return NULL;
	}
	while ((name = strsep(&rest, "/"))) {
		uint32_t child = tree_child(tree, node, name);

		node = child == DEVICE_NONE ? add_child(tree, node, name) : child;
		if (node == DEVICE_NONE)
			return NULL;
	}
	return &tree->nodes[node];
}

static void set_text(struct device_tree *tree, struct device_node *node, const char *text)
{
	if (!node)
		return;
	node->text = strdup(text);
	node->length = strlen(text);
	if (!node->text)
		tree->incomplete = true;
}

static void set_content(struct device_tree *tree, struct device_node *node, const char *text,
			enum device_kind kind, uint16_t mode)
{
	set_text(tree, node, text);
	if (!node)
		return;
	node->kind = kind;
	node->mode = mode;
}

void tree_text(struct device_tree *tree, const char *text, const char *path, ...)
{
	struct device_node *node;
	va_list arguments;

	va_start(arguments, path);
	node = make(tree, path, arguments);
	va_end(arguments);
	set_content(tree, node, text, DEVICE_TEXT, MODE_TEXT);
}

void tree_number(struct device_tree *tree, unsigned long long number, const char *path, ...)
{
	struct device_node *node;
	char text[32];
	va_list arguments;

	va_start(arguments, path);
	node = make(tree, path, arguments);
	va_end(arguments);
	snprintf(text, sizeof(text), "%llu\n", number);
	set_content(tree, node, text, DEVICE_TEXT, MODE_TEXT);
}

void tree_link(struct device_tree *tree, const char *target, const char *path, ...)
{
	struct device_node *node;
	va_list arguments;

	va_start(arguments, path);
	node = make(tree, path, arguments);
	va_end(arguments);
	set_content(tree, node, target, DEVICE_LINK, MODE_LINK);
}

void tree_device(struct device_tree *tree, enum device_kind kind, uint16_t mode, uint32_t number,
		 const char *path, ...)
{
	struct device_node *node;
	va_list arguments;

	va_start(arguments, path);
	node = make(tree, path, arguments);
	va_end(arguments);
	if (node) {
		node->kind = (uint8_t)kind;
		node->mode = mode;
		node->number = number;
	}
}

void tree_folder(struct device_tree *tree, const char *path, ...)
{
	va_list arguments;

	va_start(arguments, path);
	make(tree, path, arguments);
	va_end(arguments);
}

const struct device_node *tree_find(const struct device_tree *tree, const char *path)
{
	char copy[PATH_BYTES], *rest = copy, *name;
	uint32_t node = DEVICE_ROOT;

	if (!tree->count || snprintf(copy, sizeof(copy), "%s", path) >= PATH_BYTES)
		return NULL;
	while ((name = strsep(&rest, "/"))) {
		node = tree_child(tree, node, name);
		if (node == DEVICE_NONE)
			return NULL;
	}
	return &tree->nodes[node];
}
