/* SPDX-License-Identifier: MIT */
/* The entries of the tables. See unwind.h. */
#include "base/unwind.h"

#include "base/unwind_internal.h"

#define TABLE_SORTED (POINTER_TO_TABLE | FORMAT_S32)

/* An entry's length, and where it ends. Larger ones than 4 GiB have another form, and there are none. */
static bool take_entry(const struct etw_unwind_object *object, const uint8_t *at,
		       struct etw_unwind_bytes *ret)
{
	uint32_t length;

	if ((uintptr_t)at < object->start || (uintptr_t)at >= object->end)
		return false;
	*ret = (struct etw_unwind_bytes){.at = at, .end = at + (object->end - (uintptr_t)at)};
	length = etw_unwind_take_u32(ret);
	if (ret->is_short || length == UINT32_MAX || length > (size_t)(ret->end - ret->at))
		return false;
	ret->end = ret->at + length;
	return length > 0;
}

/* The letters of a common entry that tell what its data is. */
static bool read_augmentation(struct etw_unwind_bytes letters, struct etw_unwind_bytes *data,
			      struct etw_unwind_entry *entry)
{
	(void)etw_unwind_take_u8(&letters); /* 'z' */
	for (uint8_t letter = etw_unwind_take_u8(&letters); letter;
	     letter = etw_unwind_take_u8(&letters)) {
		uint8_t encoding;

		switch (letter) {
		case 'R':
			entry->pointers = etw_unwind_take_u8(data);
			break;
		case 'P':
			encoding = etw_unwind_take_u8(data);
			(void)etw_unwind_take_pointer(data, encoding & POINTER_FORMAT);
			break;
		case 'L':
			(void)etw_unwind_take_u8(data);
			break;
		case 'S':
			entry->is_signal = true;
			break;
		case 'B':
			break;
		default:
			return false;
		}
	}
	return !data->is_short;
}

/* Of what may be read the bytes of one entry more. */
static bool spend(uint64_t *left, const struct etw_unwind_bytes *entry)
{
	const uint64_t bytes = (uint64_t)(entry->end - entry->at);
	const bool is_enough = bytes <= *left;

	*left = is_enough ? *left - bytes : 0;
	return is_enough;
}

static bool read_common(const struct etw_unwind_object *object, const uint8_t *at, uint64_t *left,
			struct etw_unwind_entry *entry)
{
	struct etw_unwind_bytes bytes, letters, data;
	uint8_t version;

	if (!take_entry(object, at, &bytes) || !spend(left, &bytes) ||
	    etw_unwind_take_u32(&bytes) != 0)
		return false;
	version = etw_unwind_take_u8(&bytes);
	letters = bytes;
	while (etw_unwind_take_u8(&bytes) != 0 && !bytes.is_short)
		;
	entry->code_step = etw_unwind_take_uleb(&bytes);
	entry->data_step = etw_unwind_take_sleb(&bytes);
	entry->address_register = version == 1 ? etw_unwind_take_u8(&bytes)
					       : etw_unwind_take_uleb(&bytes);
	entry->pointers = FORMAT_ADDRESS;
	if (bytes.is_short || entry->address_register != ADDRESS_REGISTER)
		return false;
	if (*letters.at == 'z') {
		entry->has_data = true;
		data = etw_unwind_take_part(&bytes, etw_unwind_take_uleb(&bytes));
		if (!read_augmentation(letters, &data, entry))
			return false;
	} else if (*letters.at != 0) {
		return false;
	}
	entry->common = bytes;
	return !bytes.is_short;
}

static bool read_entry(const struct etw_unwind_object *object, const uint8_t *at, uint64_t *left,
		       struct etw_unwind_entry *ret)
{
	struct etw_unwind_bytes bytes;
	const uint8_t *back;
	uint32_t distance;

	if (!take_entry(object, at, &bytes) || !spend(left, &bytes))
		return false;
	back = bytes.at;
	distance = etw_unwind_take_u32(&bytes);
	*ret = (struct etw_unwind_entry){0};
	if (distance == 0 || distance > (uintptr_t)back - object->start ||
	    !read_common(object, back - distance, left, ret))
		return false;
	ret->begin = etw_unwind_take_pointer(&bytes, ret->pointers);
	ret->end = ret->begin + etw_unwind_take_pointer(&bytes, ret->pointers & POINTER_FORMAT);
	if (ret->has_data)
		etw_unwind_skip(&bytes, etw_unwind_take_uleb(&bytes));
	ret->own = bytes;
	return !bytes.is_short;
}

/* The last entry of the sorted table that begins at @pc or before. */
static const uint8_t *search(const struct etw_unwind_object *object, uintptr_t pc)
{
	const uint8_t *table = object->table;
	struct etw_unwind_bytes bytes = {.at = table};
	uint8_t version, frames, counts, entries;
	uint64_t count, low = 0, high;

	if (!table || (uintptr_t)table < object->start || (uintptr_t)table >= object->end)
		return NULL;
	bytes.end = table + (object->end - (uintptr_t)table);
	version = etw_unwind_take_u8(&bytes);
	frames = etw_unwind_take_u8(&bytes);
	counts = etw_unwind_take_u8(&bytes);
	entries = etw_unwind_take_u8(&bytes);
	if (version != 1 || entries != TABLE_SORTED || counts == POINTER_NONE)
		return NULL;
	(void)etw_unwind_take_pointer(&bytes, frames);
	count = etw_unwind_take_pointer(&bytes, counts);
	if (bytes.is_short || count > (uint64_t)(bytes.end - bytes.at) / 8)
		return NULL;
	for (high = count; low < high;) {
		const uint64_t middle = low + (high - low) / 2;
		const int64_t begin = etw_load_signed(bytes.at + middle * 8, 4);

		if ((uintptr_t)table + (uintptr_t)begin <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	bytes.at += (low - 1) * 8 + 4;
	return table + (int32_t)etw_unwind_take_u32(&bytes);
}

bool etw_unwind_find_rule(const struct etw_unwind_object *object, uintptr_t pc,
			  struct etw_unwind_rule *ret)
{
	uint64_t left = UINT64_MAX;

	return etw_unwind_find_rule_within(object, pc, &left, ret);
}

bool etw_unwind_find_rule_within(const struct etw_unwind_object *object, uintptr_t pc,
				 uint64_t *left, struct etw_unwind_rule *ret)
{
	const uint8_t *at = search(object, pc);
	struct etw_unwind_entry entry;

	if (!at || !read_entry(object, at, left, &entry) || pc < entry.begin || pc >= entry.end)
		return false;
	return etw_unwind_run(&entry, pc, ret);
}
