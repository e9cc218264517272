/* Why a device file refuses, and the command that grants it. */
#ifndef BUS_RIGHTS_H
#define BUS_RIGHTS_H

#include "bus/host.h"

enum rights_action {
	RIGHTS_OPEN,
	RIGHTS_READ,
	RIGHTS_WRITE,
};

/** Sets the message for what failed with @errnum. @return PMU_E_RIGHTS or PMU_E_IO */
int rights_msr(struct pmu_ctx *ctx, const struct pmu_host *host, const char *path,
	       enum rights_action action, int errnum);
int rights_pci(struct pmu_ctx *ctx, const struct pmu_host *host, const char *path,
	       enum rights_action action, int errnum);

#endif
