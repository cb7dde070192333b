/* SPDX-License-Identifier: MIT */
/*
 * What is looked at in an ELF file before libelf reads it: libelf takes memory for as many sections, and such sizes, as the
 * file says. A small file can say much, the more so when most of it are holes.
 */
#ifndef ETW_SYMBOL_ELF_LIMITS_H
#define ETW_SYMBOL_ELF_LIMITS_H

#include <stdint.h>

/* Of the tables of sections and of program headers. */
#define ETW_SYMBOL_SECTIONS_MAX ((uint64_t)1 << 16)
/* Of all notes together. */
#define ETW_SYMBOL_NOTE_BYTES_MAX (UINT64_C(16) << 20)
/* Of all tables of symbols, strings, relocations and the like together. */
#define ETW_SYMBOL_TABLE_BYTES_MAX (UINT64_C(2) << 30)
/* Of all compressed sections together, unpacked. */
#define ETW_SYMBOL_UNPACKED_BYTES_MAX (UINT64_C(4) << 30)
/* Of a file that others than root and who asks may change: it is copied, so that it is not cut while it is read. */
#define ETW_SYMBOL_COPY_BYTES_MAX (UINT64_C(2) << 30)
/* Files up to this size may be of holes; of larger ones so much has to be on the disk. */
#define ETW_SYMBOL_HOLE_BYTES_MAX (UINT64_C(64) << 20)
#define ETW_SYMBOL_HOLE_SHARE     64

/*
 * etw_symbol_elf_limits_hold() - holds a file's header, its sections and its notes against the limits.
 *
 * Returns 0, also for what is no ELF file, or a damaged one, which libelf refuses; -EFBIG; -ENOMEM.
 */
int etw_symbol_elf_limits_hold(int fd);

/*
 * etw_symbol_elf_settle() - makes sure that a file stays as it is.
 *
 * @fd:         replaced by a copy in memory, where others may change the file
 * @copy_bytes: what that takes is added
 *
 * Returns 0; -EFBIG; -ENOMEM; what copying fails with.
 */
int etw_symbol_elf_settle(int *fd, uint64_t *copy_bytes);

#endif
