/* SPDX-License-Identifier: MIT */
#include "api/control/flag_extension.h"

#include <winerror.h>

#include <stdbool.h>
#include <string.h>

#include "base/macros.h"

#define WORD           4u
#define LENGTH_ITEMS   0xFF /* in the place of a number of words: items follow */
#define FLAG_EXTENSION 0x80

enum item_type {
	ITEM_ENABLE_FLAGS = 1,
	ITEM_STACKWALK = 3, /* hooks, one in a word */
};

/* Words behind one another, the first of them EnableFlags in their new places. */
static ULONG read_masks(struct etw_bytes words, struct wire_kernel_request *ret)
{
	if (!words.left || words.left > sizeof(ret->group_masks))
		return ERROR_INVALID_PARAMETER;
	memset(ret->group_masks, 0, sizeof(ret->group_masks));
	for (size_t i = 0; i < words.left / WORD; i++)
		ret->group_masks[i] = etw_load32(words.at + i * WORD);
	ret->parts |= WIRE_KERNEL_MASKS;
	return ERROR_SUCCESS;
}

static ULONG read_stacks(struct etw_bytes words, struct wire_kernel_request *ret)
{
	size_t count = words.left / WORD;

	if (count > WIRE_STACK_HOOKS_MAX)
		return ERROR_INVALID_PARAMETER;
	for (size_t i = 0; i < count; i++) {
		uint32_t hook = etw_load32(words.at + i * WORD);

		if (hook > UINT16_MAX)
			return ERROR_INVALID_PARAMETER;
		ret->stack_hooks[i] = (uint16_t)hook;
	}
	ret->stack_hook_count = (uint32_t)count;
	ret->parts |= WIRE_KERNEL_STACKS;
	return ERROR_SUCCESS;
}

/* An item begins with its length in words, its own included, and its type. */
static ULONG read_item(struct etw_bytes *rest, struct wire_kernel_request *ret)
{
	uint16_t words, type;
	struct etw_bytes data;

	if (!etw_bytes_u16(rest, &words) || !etw_bytes_u16(rest, &type) || !words)
		return ERROR_INVALID_PARAMETER;
	data.left = (words - 1u) * WORD;
	data.at = etw_bytes_take(rest, data.left);
	if (!data.at)
		return ERROR_INVALID_PARAMETER;
	if (type == ITEM_ENABLE_FLAGS)
		return read_masks(data, ret);
	return type == ITEM_STACKWALK ? read_stacks(data, ret) : ERROR_NOT_SUPPORTED;
}

/* The head has the length of all in words, its own included, and the number of items. */
static ULONG read_items(struct etw_bytes rest, struct wire_kernel_request *ret)
{
	struct etw_bytes items = rest;
	uint16_t words, count;

	if (!etw_bytes_u16(&items, &words) || !etw_bytes_u16(&items, &count) || !words ||
	    items.left < (words - 1u) * WORD)
		return ERROR_INVALID_PARAMETER;
	items.left = (words - 1u) * WORD;
	for (unsigned i = 0; i < count; i++) {
		ULONG error = read_item(&items, ret);

		if (error)
			return error;
	}
	/* Without masks nothing of the kernel's is asked for: the flags are no flags. */
	ret->parts |= WIRE_KERNEL_MASKS;
	return ERROR_SUCCESS;
}

ULONG etw_flag_extension_read(struct etw_bytes block, size_t struct_bytes, uint32_t enable_flags,
			      struct wire_kernel_request *ret)
{
	size_t offset = enable_flags & UINT16_MAX;
	size_t length = enable_flags >> 16 & UINT8_MAX;
	struct etw_bytes rest = block;

	if (enable_flags >> 24 != FLAG_EXTENSION || offset < struct_bytes ||
	    !etw_bytes_take(&rest, offset))
		return ERROR_INVALID_PARAMETER;
	if (length == LENGTH_ITEMS)
		return read_items(rest, ret);
	if (rest.left < length * WORD)
		return ERROR_INVALID_PARAMETER;
	rest.left = length * WORD;
	return read_masks(rest, ret);
}
