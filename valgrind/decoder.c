/*
 * Zydis, loaded by hand. It needs five functions of the C library, and no initialisation of its
 * own; the tool's threads have a block of thread storage for its stack protector.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include "own.h"

#define PAGE 4096

/* What of the library is called: its own functions by their names. */
static struct {
	ZyanStatus (*init)(ZydisDecoder *, ZydisMachineMode, ZydisStackWidth);
	ZyanStatus (*decode)(const ZydisDecoder *, const void *, ZyanUSize,
			     ZydisDecodedInstruction *, ZydisDecodedOperand *);
	ZydisRegister (*enclosing)(ZydisMachineMode, ZydisRegister);
	ZydisRegisterClass (*class)(ZydisRegister);
	ZyanI8 (*id)(ZydisRegister);
} zydis;

ZyanStatus ZydisDecoderInit(ZydisDecoder *decoder, ZydisMachineMode mode, ZydisStackWidth width)
{
	return zydis.init(decoder, mode, width);
}

ZyanStatus ZydisDecoderDecodeFull(const ZydisDecoder *decoder, const void *bytes, ZyanUSize length,
				  ZydisDecodedInstruction *instruction,
				  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT])
{
	return zydis.decode(decoder, bytes, length, instruction, operands);
}

ZydisRegister ZydisRegisterGetLargestEnclosing(ZydisMachineMode mode, ZydisRegister reg)
{
	return zydis.enclosing(mode, reg);
}

ZydisRegisterClass ZydisRegisterGetClass(ZydisRegister reg)
{
	return zydis.class(reg);
}

ZyanI8 ZydisRegisterGetId(ZydisRegister reg)
{
	return zydis.id(reg);
}

void __stack_chk_fail(void);
void __assert_fail(const char *what, const char *file, unsigned line, const char *function);

static const struct {
	const char *name;
	void *function;
} given[] = {{"memcpy", memcpy},
	     {"memset", memset},
	     {"strlen", strlen},
	     {"__assert_fail", __assert_fail},
	     {"__stack_chk_fail", __stack_chk_fail}};

static const struct {
	const char *name;
	void *pointer;
} wanted[] = {{"ZydisDecoderInit", &zydis.init},
	      {"ZydisDecoderDecodeFull", &zydis.decode},
	      {"ZydisRegisterGetLargestEnclosing", &zydis.enclosing},
	      {"ZydisRegisterGetClass", &zydis.class},
	      {"ZydisRegisterGetId", &zydis.id}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct library {
	char *base;
	const Elf64_Sym *symbols;
	const char *names;
	const Elf64_Rela *relocations[2]; /* data, procedures */
	size_t sizes[2];
	size_t symbol_count;
};

static size_t extent(const Elf64_Phdr *headers, unsigned count)
{
	size_t end = 0;

	for (unsigned i = 0; i < count; i++)
		if (headers[i].p_type == PT_LOAD && headers[i].p_vaddr + headers[i].p_memsz > end)
			end = headers[i].p_vaddr + headers[i].p_memsz;
	return (end + PAGE - 1) / PAGE * PAGE;
}

static const char *read_segments(struct library *library, int fd)
{
	Elf64_Phdr headers[32];
	Elf64_Ehdr head;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_machine != EM_X86_64 ||
	    head.e_type != ET_DYN || head.e_phnum > COUNT(headers))
		return "it is no shared library";
	if (pread(fd, headers, head.e_phnum * sizeof(headers[0]), (long)head.e_phoff) !=
	    (long)(head.e_phnum * sizeof(headers[0])))
		return "it is cut short";
	library->base = own_map(extent(headers, head.e_phnum));
	if (library->base == (void *)-1)
		return "there is no memory for it";
	for (unsigned i = 0; i < head.e_phnum; i++)
		if (headers[i].p_type == PT_LOAD &&
		    pread(fd, library->base + headers[i].p_vaddr, headers[i].p_filesz,
			  (long)headers[i].p_offset) != (long)headers[i].p_filesz)
			return "it is cut short";
	for (unsigned i = 0; i < head.e_phnum; i++)
		if (headers[i].p_type == PT_DYNAMIC)
			library->symbols = (const void *)(library->base + headers[i].p_vaddr);
	return library->symbols ? NULL : "it has no dynamic section";
}

/* The symbol table's end is not told; the strings come after it in what linkers write. */
static void read_dynamic(struct library *library)
{
	const Elf64_Dyn *entry = (const void *)library->symbols;

	for (; entry->d_tag != DT_NULL; entry++) {
		void *place = library->base + entry->d_un.d_ptr;

		switch (entry->d_tag) {
		case DT_SYMTAB:
			library->symbols = place;
			break;
		case DT_STRTAB:
			library->names = place;
			break;
		case DT_RELA:
			library->relocations[0] = place;
			break;
		case DT_JMPREL:
			library->relocations[1] = place;
			break;
		case DT_RELASZ:
			library->sizes[0] = entry->d_un.d_val;
			break;
		case DT_PLTRELSZ:
			library->sizes[1] = entry->d_un.d_val;
			break;
		}
	}
	library->symbol_count =
	    (size_t)(library->names - (const char *)library->symbols) / sizeof(Elf64_Sym);
}

/* NULL for what nobody has to give: weak, or never called. */
static void *resolve(const struct library *library, const Elf64_Sym *symbol)
{
	if (symbol->st_shndx != SHN_UNDEF)
		return library->base + symbol->st_value;
	for (size_t i = 0; i < COUNT(given); i++)
		if (!strcmp(library->names + symbol->st_name, given[i].name))
			return given[i].function;
	return NULL;
}

static const char *relocate(const struct library *library, const Elf64_Rela *relocation)
{
	const Elf64_Sym *symbol = &library->symbols[ELF64_R_SYM(relocation->r_info)];
	char *place = library->base + relocation->r_offset, *value;

	switch (ELF64_R_TYPE(relocation->r_info)) {
	case R_X86_64_RELATIVE:
		value = library->base + relocation->r_addend;
		break;
	case R_X86_64_64:
	case R_X86_64_GLOB_DAT:
	case R_X86_64_JUMP_SLOT:
		value = resolve(library, symbol);
		if (!value && ELF64_ST_BIND(symbol->st_info) != STB_WEAK)
			return library->names + symbol->st_name;
		if (ELF64_R_TYPE(relocation->r_info) == R_X86_64_64)
			value += relocation->r_addend;
		break;
	default:
		return "a relocation of a kind that is not known";
	}
	memcpy(place, &value, sizeof(value));
	return NULL;
}

static const char *find_functions(const struct library *library)
{
	size_t found = 0;

	for (size_t i = 0; i < library->symbol_count; i++) {
		const Elf64_Sym *symbol = &library->symbols[i];
		const char *name = library->names + symbol->st_name;

		for (size_t j = 0; j < COUNT(wanted); j++)
			if (symbol->st_shndx != SHN_UNDEF && !strcmp(name, wanted[j].name)) {
				void *function = library->base + symbol->st_value;

				memcpy(wanted[j].pointer, &function, sizeof(function));
				found++;
			}
	}
	return found == COUNT(wanted) ? NULL : "a function of the decoder is missing";
}

const char *own_load_decoder(const char *path)
{
	struct library library = {0};
	const char *wrong;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return "it cannot be opened";
	wrong = read_segments(&library, fd);
	close(fd);
	if (wrong)
		return wrong;
	read_dynamic(&library);
	for (unsigned table = 0; table < 2; table++)
		for (size_t i = 0; i < library.sizes[table] / sizeof(Elf64_Rela); i++) {
			wrong = relocate(&library, &library.relocations[table][i]);
			if (wrong)
				return wrong;
		}
	return find_functions(&library);
}
