/* SPDX-License-Identifier: MIT */
/* The kernel's functions of /proc/kallsyms (base/kallsyms.h) in a table of symbols. */
#ifndef ETW_SYMBOL_KALLSYMS_H
#define ETW_SYMBOL_KALLSYMS_H

#include "symbol/strings.h"
#include "symbol/table.h"

/*
 * etw_symbol_kallsyms_read() - adds the functions of the kernel and its modules.
 *
 * @path:    the file
 * @strings: keeps the names of modules, "[ext4]"
 *
 * Returns 0; -EACCES: all addresses are 0, which is how they are hidden; -EBADMSG: it has no
 * symbol; -E2BIG; -ENOMEM; what reading fails with.
 */
int etw_symbol_kallsyms_read(const char *path, struct etw_symbol_strings *strings,
			     struct etw_symbol_table *table);

#endif
