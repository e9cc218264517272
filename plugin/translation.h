/* The guest's code as QEMU translates it: decoded, planned, and told what to call. */
#ifndef PLUGIN_TRANSLATION_H
#define PLUGIN_TRANSLATION_H

#include <stddef.h>

#include "qemu_plugin_api.h"

void translation_register(qemu_plugin_id_t id);

/** Memory as long as what is translated; without any the process ends. */
void *translation_keep(size_t size);

#endif
