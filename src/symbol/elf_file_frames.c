/* SPDX-License-Identifier: MIT */
/* Whether code keeps frame pointers, from its tables of unwinding, by libdw. See elf_file.h. */
#include "symbol/elf_file_internal.h"

#include <errno.h>

#ifdef ETW_SYMBOL_LIBDW
#include <dwarf.h>
#include <elf.h>
#include <gelf.h>
#include <stdlib.h>

#include "base/macros.h"

#define FRAME_X86_64 6
#define FRAME_ARM64  29

/* On x86-64 the frame is told in terms of the frame pointer from where that is in place on. */
static int is_by_register(Dwarf_Frame *frame, unsigned number)
{
	Dwarf_Op *operations = NULL;
	size_t count = 0;

	if (dwarf_frame_cfa(frame, &operations, &count) || !count)
		return -ENOENT;
	if (operations[0].atom == DW_OP_bregx)
		return operations[0].number == number;
	return operations[0].atom == DW_OP_breg0 + number;
}

/* On arm64 the frame is told in terms of the stack pointer in any case; a frame pointer in place means that the caller's is saved. */
static int is_saved(Dwarf_Frame *frame, int number)
{
	Dwarf_Op room[3], *operations = NULL;
	size_t count = 0;

	if (dwarf_frame_register(frame, number, room, &operations, &count))
		return -ENOENT;
	return operations && count > 0;
}

/* Returns as etw_symbol_elf_keeps_frame(). */
static int ask_table(struct etw_symbol_elf *elf, Dwarf_CFI *table, uint64_t address)
{
	CLEANUP(freep) Dwarf_Frame *frame = NULL;
	GElf_Addr bias;
	Elf *file = dwfl_module_getelf(elf->module, &bias);
	GElf_Ehdr header;

	if (!table || !file || !gelf_getehdr(file, &header) ||
	    dwarf_cfi_addrframe(table, address, &frame))
		return -ENOENT;
	if (header.e_machine == EM_X86_64)
		return is_by_register(frame, FRAME_X86_64);
	return header.e_machine == EM_AARCH64 ? is_saved(frame, FRAME_ARM64) : -ENOENT;
}

int etw_symbol_elf_keeps_frame(struct etw_symbol_elf *elf, uint64_t address)
{
	Dwarf_Addr bias = 0;
	Dwarf_CFI *table = dwfl_module_eh_cfi(elf->module, &bias);
	int r = ask_table(elf, table, address - (table ? bias : 0));

	if (r != -ENOENT)
		return r;
	table = dwfl_module_dwarf_cfi(elf->module, &bias);
	return ask_table(elf, table, address - (table ? bias : 0));
}

#else

int etw_symbol_elf_keeps_frame(struct etw_symbol_elf *elf, uint64_t address)
{
	(void)elf;
	(void)address;
	return -ENOENT;
}

#endif
