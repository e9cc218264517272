/* What the library has of an emulated machine that the API gives out. */
#ifndef EMUL_EMUL_H
#define EMUL_EMUL_H

#include "emul/block.h"
#include "emul/epic.h"
#include "emul/share.h"
#include "pmulab/emul.h"

/** NULL: it is one of emul_epic_of(). */
struct emul *emul_of(struct pmu_emul *emul);
/** NULL: its cores are not of that kind. */
struct emul_epic *emul_epic_of(struct pmu_emul *emul);
/** Where the machine is another process's: what emul_join() gave. Else NULL. */
const struct emul_share *emul_share(const struct pmu_emul *emul);

#endif
