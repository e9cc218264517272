#include "base/executable.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* One argument at most, whatever blanks are in it; none at the end of the line. */
static void read_first_line(struct executable *file)
{
	char *text = file->head + 2, *end = text + strcspn(text, "\n");

	while (end > text && is_blank(end[-1]))
		end--;
	*end = '\0';
	while (is_blank(*text))
		text++;
	file->kind = EXECUTABLE_SCRIPT;
	file->interpreter = text;
	text += strcspn(text, " \t");
	if (!*text)
		return;
	*text++ = '\0';
	while (is_blank(*text))
		text++;
	file->argument = text;
}

static enum executable_kind kind_of_elf(struct executable *file, const Elf64_Ehdr *elf)
{
	file->elf_machine = elf->e_machine;
	file->is_64_bit = elf->e_ident[EI_CLASS] == ELFCLASS64;
	return file->is_64_bit && elf->e_machine == EM_X86_64 ? EXECUTABLE_PROGRAM
							      : EXECUTABLE_FOREIGN;
}

static bool is_missing(int fd, const Elf64_Phdr *named)
{
	char path[PATH_MAX];

	return named->p_filesz > 0 && named->p_filesz < sizeof(path) &&
	       pread(fd, path, named->p_filesz, (off_t)named->p_offset) ==
		   (ssize_t)named->p_filesz &&
	       !path[named->p_filesz - 1] && access(path, X_OK);
}

static void read_loader(struct executable *file, int fd, const Elf64_Ehdr *elf)
{
	for (unsigned i = 0; i < elf->e_phnum && elf->e_phentsize == sizeof(Elf64_Phdr); i++) {
		Elf64_Phdr header;

		if (pread(fd, &header, sizeof(header),
			  (off_t)(elf->e_phoff + i * sizeof(header))) != sizeof(header))
			return;
		if (header.p_type != PT_INTERP)
			continue;
		file->names_loader = true;
		file->lacks_loader = is_missing(fd, &header);
		return;
	}
}

/* As shells tell a script from what they cannot run: by its first line. */
static bool is_text(const char *head, size_t length)
{
	for (size_t i = 0; i < length && head[i] != '\n'; i++)
		if (!head[i])
			return false;
	return true;
}

static void read_head(struct executable *file, int fd, long length)
{
	Elf64_Ehdr elf;

	memcpy(&elf, file->head, sizeof(elf));
	if (length >= 2 && file->head[0] == '#' && file->head[1] == '!')
		read_first_line(file);
	else if (length >= (long)sizeof(Elf64_Ehdr) && !memcmp(file->head, ELFMAG, SELFMAG))
		file->kind = kind_of_elf(file, &elf);
	else if (is_text(file->head, (size_t)length))
		file->kind = EXECUTABLE_TEXT;
	if (file->kind == EXECUTABLE_PROGRAM)
		read_loader(file, fd, &elf);
}

/* Ids of its file, or capabilities, that the emulator, which is started in its place, has not. */
static bool raises_rights(int fd, const struct stat *status)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return false;
	if (status->st_mode & S_ISUID && status->st_uid != geteuid())
		return true;
	if (status->st_mode & S_ISGID && status->st_mode & S_IXGRP && status->st_gid != getegid())
		return true;
	return geteuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

static int read_file(struct executable *file, int fd)
{
	struct stat status;
	long length;

	if (fstat(fd, &status))
		return errno;
	if (!S_ISREG(status.st_mode))
		return EACCES;
	length = read(fd, file->head, EXECUTABLE_HEAD_BYTES);
	if (length < 0)
		return errno;
	read_head(file, fd, length);
	file->raises_rights = raises_rights(fd, &status);
	return 0;
}

void executable_read(struct executable *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	memset(file, 0, sizeof(*file));
	file->kind = EXECUTABLE_OTHER;
	file->errnum = fd < 0 ? errno : read_file(file, fd);
	if (fd >= 0)
		close(fd);
}
