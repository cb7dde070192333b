/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own list of its functions, /proc/kallsyms: those of the kernel, of its modules, of BPF programs and of
 * the trampolines that it makes. It says where each begins, and not where it ends. Whoever may not see addresses reads
 * zeros (kptr_restrict).
 */
#ifndef ETW_SOURCE_KERNEL_KALLSYMS_H
#define ETW_SOURCE_KERNEL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETW_KALLSYMS_MAX         (UINT32_C(1) << 20)  /* functions; 150,000 are usual */
#define ETW_KALLSYMS_NAMES_MAX   (UINT32_C(64) << 20) /* bytes */
#define ETW_KALLSYMS_OWNERS_MAX  4096
#define ETW_KALLSYMS_NAME_MAX    512 /* of one name; the kernel's own limit */
#define ETW_KALLSYMS_OWNER_BYTES 64

/* A function, by the best of the names that its address has. */
struct etw_kallsym {
	uint64_t address;
	uint32_t name_at;
	uint16_t owner; /* 0: the kernel itself */
	uint16_t rank;  /* of its name; the least is the best */
};

struct etw_kallsyms {
	struct etw_kallsym *at; /* owned; in the order of addresses, no two of them alike */
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
 * etw_kallsyms_read() - reads the list.
 *
 * @path: "/proc/kallsyms"
 * @ret:  to be done in any case
 *
 * Lines that make no sense are passed over, as is what goes beyond the limits above.
 * Returns 0; -ENOMEM; what opening or reading says: -ENOENT where the kernel has no such list.
 */
int etw_kallsyms_read(const char *path, struct etw_kallsyms *ret);

/* etw_kallsyms_done() - frees everything. */
void etw_kallsyms_done(struct etw_kallsyms *symbols);

/* etw_kallsyms_find() - number of the last function that begins at or before @address; UINT32_MAX: none does. */
uint32_t etw_kallsyms_find(const struct etw_kallsyms *symbols, uint64_t address);

/* etw_kallsyms_name() - borrowed. */
static inline const char *etw_kallsyms_name(const struct etw_kallsyms *symbols, uint32_t number)
{
	return symbols->names + symbols->at[number].name_at;
}

/* etw_kallsyms_are_hidden() - whether this process may not see the kernel's addresses; reads little. */
bool etw_kallsyms_are_hidden(const char *path);

#endif
