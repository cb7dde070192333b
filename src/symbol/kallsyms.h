/* SPDX-License-Identifier: MIT */
/* /proc/kallsyms: the kernel's symbols as text. */
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
 * Returns 0; -EACCES: all addresses are 0, which is how they are hidden; -EBADMSG: a line of it is no symbol, or there is
 * none; -E2BIG; -ENOMEM; what reading fails with.
 */
int etw_symbol_kallsyms_read(const char *path, struct etw_symbol_strings *strings,
			     struct etw_symbol_table *table);

/*
 * etw_symbol_kallsyms_line() - one line: "ffffffff81000000 T _text", with "\t[module]" behind those of modules.
 *
 * @line:       without the end of line
 * @ret_module: "[module]" and how many bytes it has; NULL for none
 *
 * Returns 1 for a function; 0 for a symbol of another kind; -EBADMSG.
 */
int etw_symbol_kallsyms_line(const char *line, struct etw_symbol_entry *ret, size_t *ret_name_bytes,
			     size_t *ret_module_bytes);

#endif
