/* SPDX-License-Identifier: MIT */
/*
 * Which addresses of the kernel a session's events name: the trace gets the symbols of these, not of all the kernel. A set
 * of fixed room, because what it costs must not depend on what runs; what does not fit has all symbols written.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_CODE_SEEN_H
#define ETW_SOURCE_KERNEL_CODE_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETW_KERNEL_SEEN_MAX (UINT32_C(1) << 16) /* addresses */

struct etw_kernel_seen {
	uint64_t *slots; /* owned; a power of two of them, 0: free; NULL: nothing was seen */
	uint32_t count, slot_count;
	bool is_all;  /* more than the set could hold, or what a former host saw */
	bool is_used; /* something was added */
};

/* etw_kernel_seen_done() - frees the set; takes what was zeroed. */
void etw_kernel_seen_done(struct etw_kernel_seen *seen);

/* etw_kernel_seen_put() - adds what is not there; etw_kernel_seen_add() asks first whether it is worth it. */
void etw_kernel_seen_put(struct etw_kernel_seen *seen, uint64_t address);

/* The home of an address, of which the lowest bits say little. */
static inline uint32_t etw_kernel_seen_home(const struct etw_kernel_seen *seen, uint64_t address)
{
	return (uint32_t)(address * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (seen->slot_count - 1);
}

/* etw_kernel_seen_add() - an event names this address; those that are not the kernel's are passed over. */
static inline void etw_kernel_seen_add(struct etw_kernel_seen *seen, uint64_t address)
{
	if (!(address >> 63))
		return;
	if (seen->slot_count && seen->slots[etw_kernel_seen_home(seen, address)] == address)
		return;
	etw_kernel_seen_put(seen, address);
}

/*
 * etw_kernel_seen_sort() - all addresses in rising order.
 *
 * @ret: owned memory of malloc(), NULL when there are none
 *
 * Returns 0 or -ENOMEM.
 */
int etw_kernel_seen_sort(const struct etw_kernel_seen *seen, uint64_t **ret, uint32_t *ret_count);

#endif
