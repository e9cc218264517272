#include "cli/symbols.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MODULES_MAX 1024

struct file {
	const char *path;
	Dwfl_Module *module; /* NULL: it cannot be read, or was changed */
};

struct symbols {
	Dwfl *dwfl;
	time_t since;
	struct file files[MODULES_MAX];
	unsigned file_count;
	void *paths; /* of sources: a tree of texts */
};

static char *debug_path; /* of elfutils: where it looks by default */

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_path,
};

struct symbols *symbols_new(time_t since)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	symbols->since = since;
	symbols->dwfl = dwfl_begin(&callbacks);
	if (symbols->dwfl)
		return symbols;
	free(symbols);
	return NULL;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	dwfl_end(symbols->dwfl);
	tdestroy(symbols->paths, free);
	free(symbols);
}

static Dwfl_Module *open_module(const struct symbols *symbols, const char *path)
{
	Dwfl_Module *module;
	struct stat status;

	if (*path != '/' || stat(path, &status) || !S_ISREG(status.st_mode) ||
	    status.st_mtime > symbols->since)
		return NULL;
	dwfl_report_begin_add(symbols->dwfl);
	module = dwfl_report_offline(symbols->dwfl, path, path, -1);
	dwfl_report_end(symbols->dwfl, NULL, NULL);
	return module;
}

static Dwfl_Module *module_of(struct symbols *symbols, const char *path)
{
	struct file *file = symbols->files;

	for (unsigned i = 0; i < symbols->file_count; i++, file++)
		if (file->path == path || !strcmp(file->path, path))
			return file->module;
	if (symbols->file_count == MODULES_MAX)
		return NULL;
	file->path = path;
	file->module = open_module(symbols, path);
	symbols->file_count++;
	return file->module;
}

/* @return whether a loaded segment holds the byte at @offset; code before data that share a page */
static bool address_of(Elf *elf, uint64_t offset, uint64_t *address)
{
	bool found = false;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    offset < header.p_offset || offset - header.p_offset >= header.p_filesz ||
		    (found && !(header.p_flags & PF_X)))
			continue;
		*address = header.p_vaddr + (offset - header.p_offset);
		found = true;
	}
	return found;
}

/* Where no symbol says, what unwinds the stack knows where a function begins. */
static uint64_t begin_of(Dwfl_Module *module, uint64_t address)
{
	Dwarf_Addr bias, begin = 0, end;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &bias);
	Dwarf_Frame *frame;

	if (!cfi || dwarf_cfi_addrframe(cfi, address - bias, &frame))
		return address;
	if (dwarf_frame_info(frame, &begin, &end, NULL) < 0)
		begin = address - bias;
	free(frame);
	return begin + bias;
}

static void find_function(Dwfl_Module *module, uint64_t address, struct symbol *symbol)
{
	GElf_Off offset;
	GElf_Sym sym;
	const char *name = dwfl_module_addrinfo(module, address, &offset, &sym, NULL, NULL, NULL);

	if (name && (!sym.st_size || offset < sym.st_size)) {
		symbol->function = name;
		symbol->address = address - offset;
	} else {
		symbol->address = begin_of(module, address);
	}
}

/* One text for each path, so that it lives long enough. */
static const char *keep_path(struct symbols *symbols, const char *folder, const char *name)
{
	const void *const *found;
	char *path;

	if (asprintf(&path, "%s%s%s", *name == '/' || !folder ? "" : folder,
		     *name == '/' || !folder ? "" : "/", name) < 0)
		return NULL;
	found = tsearch(path, &symbols->paths, (int (*)(const void *, const void *))strcmp);
	if (!found || *found != path)
		free(path);
	return found ? *found : NULL;
}

static void find_line(struct symbols *symbols, Dwfl_Module *module, uint64_t address,
		      struct symbol *symbol)
{
	Dwfl_Line *line = dwfl_module_getsrc(module, address);
	const char *name;
	int number = 0;

	name = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	if (!name || number <= 0)
		return;
	symbol->file = keep_path(symbols, dwfl_line_comp_dir(line), name);
	symbol->line = (unsigned)number;
}

void symbols_find(struct symbols *symbols, const char *path, uint64_t offset, struct symbol *symbol)
{
	Dwfl_Module *module = module_of(symbols, path);
	GElf_Addr bias;
	uint64_t address = 0;
	Elf *elf;

	*symbol = (struct symbol){.address = offset};
	if (!module)
		return;
	elf = dwfl_module_getelf(module, &bias);
	if (!elf || !address_of(elf, offset, &address))
		return;
	find_function(module, address + bias, symbol);
	symbol->address -= bias;
	find_line(symbols, module, address + bias, symbol);
}

void symbols_find_address(struct symbols *symbols, const char *path, uint64_t address,
			  struct symbol *symbol)
{
	Dwfl_Module *module = module_of(symbols, path);
	GElf_Addr bias;

	*symbol = (struct symbol){.address = address};
	if (!module || !dwfl_module_getelf(module, &bias))
		return;
	find_function(module, address + bias, symbol);
	symbol->address -= bias;
	find_line(symbols, module, address + bias, symbol);
}
