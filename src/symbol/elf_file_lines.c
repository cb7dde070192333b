/* SPDX-License-Identifier: MIT */
/* Source places of an address, from DWARF by libdw. See elf_file.h. */
#include "symbol/elf_file_internal.h"

#ifdef ETW_SYMBOL_LIBDW
#include <dwarf.h>
#include <stdlib.h>

#include "base/macros.h"

#define RANGES_MAX   ((size_t)1 << 20)
#define RANGES_FIRST 64

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
static void take_line(Dwarf_Die *unit, uint64_t address, struct etw_symbol_source_place *place)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	int number = 0;

	if (!line)
		return;
	place->file = dwarf_linesrc(line, NULL, NULL);
	if (!dwarf_lineno(line, &number) && number > 0)
		place->line = (uint32_t)number;
}

static int compare_ranges(const void *left_item, const void *right_item)
{
	const struct etw_symbol_unit_range *left = left_item, *right = right_item;

	return (left->start > right->start) - (left->start < right->start);
}

/* Adds what one unit covers. Returns whether there was memory. */
static bool list_unit(struct etw_symbol_elf *elf, size_t *room, Dwarf_Die *unit, Dwarf_Addr bias)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0 &&
	       elf->range_count < RANGES_MAX) {
		if (elf->range_count == *room) {
			size_t more = *room ? 2 * *room : RANGES_FIRST;
			struct etw_symbol_unit_range *ranges;

			ranges = reallocarray(elf->ranges, more, sizeof(*ranges));
			if (!ranges)
				return false;
			elf->ranges = ranges;
			*room = more;
		}
		elf->ranges[elf->range_count++] = (struct etw_symbol_unit_range){
			.start = start + bias,
			.end = end + bias,
			.unit = *unit,
		};
	}
	return true;
}

/* Compilers may leave out the table of which unit covers what (.debug_aranges; clang does): the units say it, too. */
static void list_units(struct etw_symbol_elf *elf)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias = 0;
	size_t room = 0, units = 0;

	elf->has_ranges = true;
	while (units++ < RANGES_MAX && (unit = dwfl_module_nextcu(elf->module, unit, &bias)))
		if (!list_unit(elf, &room, unit, bias))
			break;
	if (elf->range_count)
		qsort(elf->ranges, elf->range_count, sizeof(elf->ranges[0]), compare_ranges);
}

/* The unit that an address is in. @ret_bias: between file addresses and those of the unit */
static Dwarf_Die *find_unit(struct etw_symbol_elf *elf, uint64_t address, Dwarf_Addr *ret_bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(elf->module, address, ret_bias);
	size_t low = 0, high;

	if (unit)
		return unit;
	if (!elf->has_ranges)
		list_units(elf);
	high = elf->range_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (elf->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= elf->ranges[low - 1].end ||
	    !dwfl_module_getdwarf(elf->module, ret_bias))
		return NULL;
	return &elf->ranges[low - 1].unit;
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
	if (!etw_symbol_elf_need_common(elf))
		return 0;
	unit = find_unit(elf, address, &bias);
	if (!unit)
		return 0;
	take_line(unit, address - bias, &places[0]);
	if (room == 1)
		return places[0].file ? 1 : 0;
	/* The innermost scope; those around its code, not those around its definition in the source, are asked for then. */
	if (dwarf_getscopes(unit, address - bias, &innermost) <= 0)
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
