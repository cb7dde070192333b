/* SPDX-License-Identifier: MIT */
/* Source places of an address, from DWARF by libdw. See elf_file.h. */
#include "symbol/elf_file_internal.h"

#ifdef ETW_SYMBOL_LIBDW
#include <dwarf.h>
#include <stdlib.h>

#include "base/macros.h"

static const char *string_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static const char *function_of(Dwarf_Die *die)
{
	const char *name = string_of(die, DW_AT_linkage_name);

	if (!name)
		name = string_of(die, DW_AT_MIPS_linkage_name);
	return name ? name : string_of(die, DW_AT_name);
}

/* Where the code of an inlined function is called: a number in its unit's list of files, and a line. */
static void take_call_place(Dwarf_Die *unit, Dwarf_Die *die, struct etw_symbol_source_place *place)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t count;

	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) &&
	    line <= UINT32_MAX)
		place->line = (uint32_t)line;
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) ||
	    dwarf_getsrcfiles(unit, &files, &count) || file >= count)
		return;
	place->file = dwarf_filesrc(files, file, NULL, NULL);
}

/* The line table's answer: the place in the innermost function. */
static void take_line(struct etw_symbol_elf *elf, uint64_t address,
		      struct etw_symbol_source_place *place)
{
	Dwfl_Line *line = dwfl_module_getsrc(elf->module, address);
	int number = 0;
	const char *file;

	if (!line)
		return;
	file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
	place->file = file;
	place->line = number > 0 ? (uint32_t)number : 0;
}

size_t etw_symbol_elf_places(struct etw_symbol_elf *elf, uint64_t address,
			     struct etw_symbol_source_place *places, size_t room)
{
	CLEANUP(freep) Dwarf_Die *scopes = NULL;
	CLEANUP(freep) Dwarf_Die *innermost = NULL;
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit;
	size_t count = 0;
	int scope_count;

	places[0] = (struct etw_symbol_source_place){0};
	take_line(elf, address, &places[0]);
	if (room == 1)
		return places[0].file ? 1 : 0;
	unit = dwfl_module_addrdie(elf->module, address, &bias);
	/* The innermost scope; those around its code, not those around its definition in the source, are asked for then. */
	if (!unit || dwarf_getscopes(unit, address - bias, &innermost) <= 0)
		return places[0].file ? 1 : 0;
	scope_count = dwarf_getscopes_die(&innermost[0], &scopes);
	for (int i = 0; i < scope_count && count < room; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		places[count++].function = function_of(&scopes[i]);
		if (tag == DW_TAG_subprogram)
			return count;
		if (count < room) {
			places[count] = (struct etw_symbol_source_place){0};
			take_call_place(unit, &scopes[i], &places[count]);
		}
	}
	return count ? count : (places[0].file ? 1 : 0);
}

#else

size_t etw_symbol_elf_places(struct etw_symbol_elf *elf, uint64_t address,
			     struct etw_symbol_source_place *places, size_t room)
{
	(void)elf;
	(void)address;
	(void)places;
	(void)room;
	return 0;
}

#endif
