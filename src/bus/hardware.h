/* What is behind a bus to real registers, for who reports on the computer. */
#ifndef BUS_HARDWARE_H
#define BUS_HARDWARE_H

#include "bus/host.h"
#include "bus/pci.h"
#include "pmulab/bus.h"

/** @return the computer, which stays the bus's; NULL where @bus leads to no hardware */
const struct pmu_host *bus_hardware_host(const struct pmu_bus *bus);
/** Its PCI configuration space, likewise. */
const struct config_space *bus_hardware_config_space(const struct pmu_bus *bus);

#endif
