/* SPDX-License-Identifier: MIT */
/*
 * The kernel's functions by address, as /proc/kallsyms (base/kallsyms.h) lists them: those of the kernel, of its modules, of
 * BPF programs and of the trampolines that it makes. The list says where each begins, and not where it ends.
 */
#ifndef ETW_SOURCE_KERNEL_CODE_FUNCTIONS_H
#define ETW_SOURCE_KERNEL_CODE_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kallsyms.h"

#define ETW_KERNEL_FUNCTIONS_MAX       (UINT32_C(1) << 20)  /* 150,000 are usual */
#define ETW_KERNEL_FUNCTIONS_NAMES_MAX (UINT32_C(64) << 20) /* bytes */
#define ETW_KERNEL_OWNERS_MAX          4096

/* A function, by the best of the names that its address has. */
struct etw_kernel_function {
	uint64_t address;
	uint32_t name_at;
	uint16_t owner; /* 0: the kernel itself */
	uint16_t rank;  /* of its name; the least is the best */
};

struct etw_kernel_functions {
	struct etw_kernel_function *at; /* owned; in the order of addresses, no two of them alike */
	uint32_t count, room;
	char *names; /* owned; NUL-terminated each */
	uint32_t name_bytes, name_room;
	char (*owners)
		[ETW_KALLSYMS_OWNER_BYTES]; /* owned; "ext4", "bpf"; the first is the kernel's, "" */
	uint32_t owner_count;
	uint64_t text_start, text_end; /* of the kernel itself; 0: not known */
	bool is_hidden;                /* it has symbols, all of them at 0 */
};

/*
 * etw_kernel_functions_read() - reads the list.
 *
 * @path: ETW_KALLSYMS_PATH, or a file like it
 * @ret:  to be done in any case
 *
 * Lines that make no sense are passed over, as is what goes beyond the limits above.
 * Returns 0; -ENOMEM; what opening or reading says: -ENOENT where the kernel has no such list.
 */
int etw_kernel_functions_read(const char *path, struct etw_kernel_functions *ret);

/* etw_kernel_functions_done() - frees everything. */
void etw_kernel_functions_done(struct etw_kernel_functions *symbols);

/* etw_kernel_functions_find() - number of the last function that begins at or before @address; UINT32_MAX: none does. */
uint32_t etw_kernel_functions_find(const struct etw_kernel_functions *symbols, uint64_t address);

/* etw_kernel_functions_name() - borrowed. */
static inline const char *etw_kernel_functions_name(const struct etw_kernel_functions *symbols,
						    uint32_t number)
{
	return symbols->names + symbols->at[number].name_at;
}

#endif
