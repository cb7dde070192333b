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
};

static inline bool etw_symbol_elf_is_code(const struct etw_symbol_elf *elf, uint64_t address)
{
	for (size_t i = 0; i < elf->code_count; i++)
		if (address >= elf->code[i].start && address < elf->code[i].end)
			return true;
	return false;
}
#endif

#endif
