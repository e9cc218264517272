/* A guest that is a tool: it sees the machine, and is on no core. */
#ifndef PLUGIN_TOOL_H
#define PLUGIN_TOOL_H

#include "qemu_plugin_api.h"

/** @param report  the path of the plugin's; NULL: there is none */
void tool_register(qemu_plugin_id_t id, const char *report);

#endif
