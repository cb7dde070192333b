/* SPDX-License-Identifier: MIT */
#include "source/kernel/code/seen.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"

#define FIRST_SLOTS 1024

void etw_kernel_seen_done(struct etw_kernel_seen *seen)
{
	free(seen->slots);
	*seen = (struct etw_kernel_seen){0};
}

/* A slot that has the address, or is free for it. The table is never full. */
static uint64_t *find_slot(const struct etw_kernel_seen *seen, uint64_t address)
{
	uint32_t at = etw_kernel_seen_home(seen, address);

	while (seen->slots[at] && seen->slots[at] != address)
		at = (at + 1) & (seen->slot_count - 1);
	return &seen->slots[at];
}

static int grow(struct etw_kernel_seen *seen)
{
	struct etw_kernel_seen larger = *seen;

	larger.slot_count = seen->slot_count ? seen->slot_count * 2 : FIRST_SLOTS;
	larger.slots = calloc(larger.slot_count, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < seen->slot_count; i++)
		if (seen->slots[i])
			*find_slot(&larger, seen->slots[i]) = seen->slots[i];
	free(seen->slots);
	*seen = larger;
	return 0;
}

void etw_kernel_seen_put(struct etw_kernel_seen *seen, uint64_t address)
{
	uint64_t *slot;

	seen->is_used = true;
	if (seen->is_all)
		return;
	/* At most half full. */
	if (seen->count * 2 >= seen->slot_count &&
	    (seen->count >= ETW_KERNEL_SEEN_MAX || grow(seen))) {
		seen->is_all = true;
		return;
	}
	slot = find_slot(seen, address);
	if (*slot)
		return;
	*slot = address;
	seen->count++;
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

int etw_kernel_seen_sort(const struct etw_kernel_seen *seen, uint64_t **ret, uint32_t *ret_count)
{
	uint32_t count = 0;

	*ret = NULL;
	*ret_count = 0;
	if (!seen->count)
		return 0;
	*ret = calloc(seen->count, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (uint32_t i = 0; i < seen->slot_count; i++)
		if (seen->slots[i])
			(*ret)[count++] = seen->slots[i];
	qsort(*ret, count, sizeof(**ret), compare);
	*ret_count = count;
	return 0;
}
