/* What /proc/bus/pci and /sys/bus/pci say of the functions. */
#include <stdio.h>
#include <stdlib.h>

#include "device/pci.h"
#include "sysfs/topology.h"

#define BARS 7 /* six and the expansion ROM */

/* A line as the kernel writes it: no interrupt, no memory, no driver. */
static void list_function(FILE *file, const struct pci_function *function)
{
	fprintf(file, "%02x%02x\t%04x%04x\t%x", function->bus,
		function->device << 3 | function->function, 0x8086, function->device_id, 0);
	for (int i = 0; i < 2 * BARS; i++)
		fprintf(file, "\t%16x", 0);
	fputs("\t\n", file);
}

static void add_list(struct device_tree *tree, const struct pci_functions *functions)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file) {
		tree->incomplete = true;
		return;
	}
	for (size_t i = 0; i < functions->count; i++)
		list_function(file, &functions->all[i]);
	if (fclose(file))
		tree->incomplete = true;
	else
		tree_text(tree, text, "proc/bus/pci/devices");
	free(text);
}

static void add_resource(struct device_tree *tree, const char *folder)
{
	char text[BARS * 64];
	size_t used = 0;

	for (int i = 0; i < BARS; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "0x%016x 0x%016x 0x%016x\n", 0, 0, 0);
	tree_text(tree, text, "%s/resource", folder);
}

static void add_hex(struct device_tree *tree, unsigned value, int digits, const char *folder,
		    const char *name)
{
	char text[16];

	snprintf(text, sizeof(text), "0x%0*x\n", digits, value);
	tree_text(tree, text, "%s/%s", folder, name);
}

static void add_function(struct device_tree *tree, const struct pci_function *function,
			 uint32_t number, const struct pmu_machine *machine)
{
	char folder[64];

	snprintf(folder, sizeof(folder), "sys/bus/pci/devices/0000:%02x:%02x.%x", function->bus,
		 function->device, function->function);
	add_hex(tree, 0x8086, 4, folder, "vendor");
	add_hex(tree, function->device_id, 4, folder, "device");
	add_hex(tree, 0, 4, folder, "subsystem_vendor");
	add_hex(tree, 0, 4, folder, "subsystem_device");
	add_hex(tree, function->class, 6, folder, "class");
	add_hex(tree, 1, 2, folder, "revision");
	add_resource(tree, folder);
	tree_number(tree, 0, "%s/irq", folder);
	tree_number(tree, 0, "%s/enable", folder);
	tree_number(tree, function->socket, "%s/numa_node", folder);
	topology_add_socket(tree, machine, function->socket, folder, "local_cpus", "local_cpulist");
	tree_device(tree, DEVICE_CONFIG, 0644, number, "%s/config", folder);
	tree_device(tree, DEVICE_CONFIG, 0644, number, "proc/bus/pci/%02x/%02x.%x", function->bus,
		    function->device, function->function);
}

void device_pci_add_files(struct device_tree *tree, const struct pci_functions *functions,
			  const struct pmu_machine *machine)
{
	tree_folder(tree, "sys/bus/pci/drivers");
	tree_folder(tree, "sys/bus/pci/slots");
	tree_folder(tree, "sys/bus/pci/devices");
	for (size_t i = 0; i < functions->count; i++)
		add_function(tree, &functions->all[i], (uint32_t)i, machine);
	add_list(tree, functions);
}
