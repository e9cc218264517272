/* The files that stand for an emulated machine: names and contents, without how they are served. */
#ifndef SYSFS_TREE_H
#define SYSFS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum device_kind {
	DEVICE_FOLDER,
	DEVICE_TEXT,	  /* contents do not change */
	DEVICE_LINK,	  /* text: where it leads */
	DEVICE_MSR,	  /* number: the CPU */
	DEVICE_CPUID,	  /* number: the CPU */
	DEVICE_CONFIG,	  /* number: index in struct pci_functions */
	DEVICE_PERF,	  /* each descriptor is an event of perf_event */
	DEVICE_REGISTERS, /* number: the CPU and its register file */
	DEVICE_RUN,	  /* each descriptor runs programs on the machine */
	DEVICE_WATCH,	  /* the same, and hears of their overflows */
};

#define DEVICE_ROOT 0
#define DEVICE_NONE 0 /* the root is nobody's child */

struct device_node {
	char *name;
	char *text;
	size_t length;					/* of text */
	uint32_t parent, first_child, last_child, next; /* indices; DEVICE_NONE: none */
	uint32_t number;
	uint16_t mode; /* permission bits */
	uint8_t kind;  /* enum device_kind */
};

struct device_tree {
	struct device_node *nodes; /* [DEVICE_ROOT] is the root folder */
	size_t count, capacity;
	bool incomplete; /* memory ran out on the way; sticky */
};

void tree_init(struct device_tree *tree);
void tree_fini(struct device_tree *tree);

/*
 * Adding: paths are printf-style, relative to the root; folders on the way are made. What fails is
 * remembered in tree->incomplete.
 */
__attribute__((format(printf, 3, 4))) void tree_text(struct device_tree *tree, const char *text,
						     const char *path, ...);
__attribute__((format(printf, 3, 4))) void tree_link(struct device_tree *tree, const char *target,
						     const char *path, ...);
__attribute__((format(printf, 5, 6))) void tree_device(struct device_tree *tree,
						       enum device_kind kind, uint16_t mode,
						       uint32_t number, const char *path, ...);
/** As tree_text(), a number in decimal and a line end. */
__attribute__((format(printf, 3, 4))) void
tree_number(struct device_tree *tree, unsigned long long number, const char *path, ...);
__attribute__((format(printf, 2, 3))) void tree_folder(struct device_tree *tree, const char *path,
						       ...);

/** The child of that name, or DEVICE_NONE. */
uint32_t tree_child(const struct device_tree *tree, uint32_t folder, const char *name);
/** The node at a path relative to the root, or NULL. */
const struct device_node *tree_find(const struct device_tree *tree, const char *path);

#endif
