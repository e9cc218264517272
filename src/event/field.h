/* Fields of counter controls, by what they serve as. */
#ifndef EVENT_FIELD_H
#define EVENT_FIELD_H

#include "pmulab/catalog.h"

/** The field that serves as @what (ev_sel, umask...), by its role or else its name; NULL: none. */
const struct pmu_field *field_for(const struct pmu_register *reg, const char *what);

#endif
