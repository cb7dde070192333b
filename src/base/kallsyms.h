/* SPDX-License-Identifier: MIT */
/*
 * The text of /proc/kallsyms: a line for each symbol of the kernel, "ffffffff81000000 T name", and behind a tab "[owner]"
 * for those of modules, BPF programs and trampolines. Whoever may not see addresses reads zeros (kernel.kptr_restrict).
 * Only the reading is here: `source` collects functions of it, `symbol` makes a table of it.
 */
#ifndef ETW_BASE_KALLSYMS_H
#define ETW_BASE_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETW_KALLSYMS_PATH        "/proc/kallsyms"
#define ETW_KALLSYMS_LINE_BYTES  1024
#define ETW_KALLSYMS_NAME_BYTES  512 /* with its NUL; the kernel's own limit */
#define ETW_KALLSYMS_OWNER_BYTES 64  /* with its NUL */

struct etw_kallsyms_line {
	uint64_t address;
	const char *name;
	const char *owner; /* "ext4", "bpf"; NULL: the kernel itself */
	size_t name_bytes, owner_bytes;
	char type; /* as nm(1) has it */
};

/*
 * etw_kallsyms_parse() - one line, with or without its end.
 *
 * @text: borrowed; its name and its owner are NUL-terminated in it
 *
 * Returns whether it is a symbol.
 */
bool etw_kallsyms_parse(char *text, struct etw_kallsyms_line *ret);

/* etw_kallsyms_is_function() - t: local, T: global, w and W: weak. */
static inline bool etw_kallsyms_is_function(const struct etw_kallsyms_line *line)
{
	return line->type == 't' || line->type == 'T' || line->type == 'w' || line->type == 'W';
}

/* etw_kallsyms_take - gets a symbol, whose strings are borrowed until it returns. What is not 0 ends the reading. */
typedef int etw_kallsyms_take(void *context, const struct etw_kallsyms_line *line);

/*
 * etw_kallsyms_read() - hands out all symbols in the order of the file.
 *
 * Lines that are no symbols are passed over. Returns 0; what @take returned; what opening or reading says: -ENOENT where
 * the kernel has no such list.
 */
int etw_kallsyms_read(const char *path, etw_kallsyms_take *take, void *context);

/*
 * etw_kallsyms_shows_addresses() - whether this process may see where functions are; reads little.
 *
 * Returns 1; 0: they are hidden; -ENODATA: there is no function; what opening or reading says.
 */
int etw_kallsyms_shows_addresses(const char *path);

#endif
