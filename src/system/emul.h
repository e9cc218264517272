/* What the library has of an emulated machine that the API gives out. */
#ifndef SYSTEM_EMUL_H
#define SYSTEM_EMUL_H

#include "pmulab/emul.h"
#include "system/share.h"
#include "system/system.h"

struct system *emul_system(struct pmu_emul *emul);
/** Where the machine is another process's: what system_join() gave. Else NULL. */
const struct system_share *emul_share(const struct pmu_emul *emul);

#endif
