/* SPDX-License-Identifier: MIT */
/*
 * An ELF file with its debug file, read by libdw. In a build without libdw every image is left out.
 *
 * Addresses are those of the file's program headers ("file addresses"). libdw reads hostile files as carefully as it
 * can; what it does not limit is held against limits before (elf_limits.h). It maps files, and one that is cut while it is
 * read would end the process, so those that others may change are copied.
 */
#ifndef ETW_SYMBOL_ELF_FILE_H
#define ETW_SYMBOL_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/files.h"
#include "symbol/model.h"
#include "symbol/table.h"

struct etw_symbol_elf;

/*
 * etw_symbol_elf_open() - finds and opens the file of an image; where it is not there, its debug file alone.
 *
 * @files:      borrowed until it is closed
 * @wanted:     borrowed for the call, but for its processes
 * @ret_reason: why there is none
 *
 * Returns 0; -ENOENT with a reason; -ENOMEM.
 */
int etw_symbol_elf_open(const struct etw_symbol_files *files,
			const struct etw_symbol_wanted *wanted, struct etw_symbol_elf **ret,
			enum etw_symbol_reason *ret_reason);

/* etw_symbol_elf_open_fd() - likewise for a file that is open already. @fd: taken */
int etw_symbol_elf_open_fd(const struct etw_symbol_files *files,
			   const struct etw_symbol_wanted *wanted, int fd,
			   struct etw_symbol_elf **ret, enum etw_symbol_reason *ret_reason);

/* etw_symbol_elf_close() - takes NULL. */
void etw_symbol_elf_close(struct etw_symbol_elf *elf);

/*
 * etw_symbol_elf_address() - where something is in the file.
 *
 * @from_base: distance from the place where the file's first piece is mapped
 */
uint64_t etw_symbol_elf_address(const struct etw_symbol_elf *elf, uint64_t from_base);

/*
 * etw_symbol_elf_read() - adds the symbols of functions, by file address.
 *
 * @ret_reason: ETW_SYMBOL_OK, _STRIPPED, _NO_SYMBOLS, _DAMAGED or _TOO_LARGE; what was read before is in the table
 *
 * Returns 0 or -ENOMEM.
 */
int etw_symbol_elf_read(struct etw_symbol_elf *elf, struct etw_symbol_table *table,
			enum etw_symbol_reason *ret_reason);

/*
 * etw_symbol_elf_read_functions() - adds functions without names, by file address: all that the tables of unwinding tell
 * of, whatever symbols there are. What does not fit into the table is left out.
 *
 * Returns 0, also for a file without such tables; -ENOMEM.
 */
int etw_symbol_elf_read_functions(struct etw_symbol_elf *elf, struct etw_symbol_table *table);

/* etw_symbol_elf_path() - the file that the names are from; borrowed from it. */
const char *etw_symbol_elf_path(const struct etw_symbol_elf *elf);

/* etw_symbol_elf_copy_bytes() - of memory, for copies of its files. */
uint64_t etw_symbol_elf_copy_bytes(const struct etw_symbol_elf *elf);

/* A place in the source. Strings are libdw's, until the file is closed. */
struct etw_symbol_source_place {
	const char *
		function; /* as the linker has it, where that is known; NULL: of the symbol table */
	const char *file; /* NULL: unknown */
	uint32_t line;
};

/*
 * etw_symbol_elf_places() - the functions that are inlined at a file address, the innermost first, and then the one
 * whose code it is; with the line in each.
 *
 * @room: 1 or more; with 1 there is the line of the innermost alone
 *
 * Returns how many; 0: the file does not tell.
 */
size_t etw_symbol_elf_places(struct etw_symbol_elf *elf, uint64_t address,
			     struct etw_symbol_source_place *places, size_t room);

/*
 * etw_symbol_elf_keeps_frame() - whether the frame pointer of the function at a file address is in place there, so that
 * who follows frame pointers finds its caller.
 *
 * Returns 1 or 0; -ENOENT: there are no tables of unwinding that tell.
 */
int etw_symbol_elf_keeps_frame(struct etw_symbol_elf *elf, uint64_t address);

#endif
