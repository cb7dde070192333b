/* SPDX-License-Identifier: MIT */
/* What the sources of elf_file.h share. */
#ifndef ETW_SYMBOL_ELF_FILE_INTERNAL_H
#define ETW_SYMBOL_ELF_FILE_INTERNAL_H

#include "symbol/elf_file.h"

#ifdef ETW_SYMBOL_LIBDW
#include <elfutils/libdwfl.h>

#define ETW_SYMBOL_SEGMENTS_MAX 128

/* Code of one unit of the debugging information. */
struct etw_symbol_unit_range {
	uint64_t start, end; /* file addresses */
	Dwarf_Die unit;
};

struct etw_symbol_elf {
	const struct etw_symbol_files *files;
	struct etw_symbol_wanted wanted; /* path and build id are this struct's */
	char *path;                      /* owned */
	uint8_t build_id[64];            /* of the file; it has 20, mostly */
	char *file;       /* owned: the image's, or the debug file's where that is all there is */
	char *debug_file; /* owned; NULL: none */
	Dwfl *dwfl;       /* owned */
	Dwfl_Module *module;
	uint64_t base; /* file address of the first byte of the first piece */
	struct {
		uint64_t start, end;
	} code[ETW_SYMBOL_SEGMENTS_MAX];
	size_t code_count;
	struct etw_symbol_unit_range *ranges; /* owned; by start, once they are listed */
	size_t range_count;
	bool has_ranges;
	bool has_own_symbols; /* a full table, in the image itself */
	uint64_t copy_bytes;  /* of memory: files that others may change */
	/* What its debugging information has in common with other files'; owned; NULL, and -1: none. */
	Dwarf *common;
	Elf *common_file;
	int common_fd;
	bool has_sought_common, lacks_common;
};

/*
 * etw_symbol_elf_begin() - an ELF file as libelf has it.
 *
 * @fd:         the caller's; replaced by a copy where others may change the file
 * @copy_bytes: what that takes is added
 *
 * Returns 0; -ENOEXEC for what is none; -EFBIG beyond the limits; -ENOMEM; what reading fails with.
 */
int etw_symbol_elf_begin(int *fd, uint64_t *copy_bytes, Elf **ret);

/* etw_symbol_elf_has_build_id() - whether a file's build id begins as the wanted one; a file without one is none that is known. */
bool etw_symbol_elf_has_build_id(Elf *elf, const uint8_t *build_id, size_t bytes);

/*
 * etw_symbol_elf_need_common() - finds the file that the debugging information has in common with others, if there is one.
 *
 * To be called before anything else is asked of that information: libdw opens by itself what a file names, be it a FIFO,
 * where it has no such file yet. It does so for units that are split (.dwo) only when it is asked for their other half.
 *
 * Returns whether the information may be used.
 */
bool etw_symbol_elf_need_common(struct etw_symbol_elf *elf);

/* etw_symbol_elf_end_common() - when nothing asks it any more; also when there is none. */
void etw_symbol_elf_end_common(struct etw_symbol_elf *elf);

static inline bool etw_symbol_elf_is_code(const struct etw_symbol_elf *elf, uint64_t address)
{
	for (size_t i = 0; i < elf->code_count; i++)
		if (address >= elf->code[i].start && address < elf->code[i].end)
			return true;
	return false;
}
#endif

#endif
