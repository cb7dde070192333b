/* SPDX-License-Identifier: MIT */
/* See wire/filter_list.h. */
#include "wire/filter_list.h"

#include <assert.h>
#include <errno.h>

#include <evntprov.h>

#include "base/macros.h"
#include "wire/payload_filter.h"

#define IDS_AT    offsetof(EVENT_FILTER_EVENT_ID, Events)
#define LEVEL_END (offsetof(EVENT_FILTER_LEVEL_KW, FilterIn) + 1)
static_assert(LEVEL_END == offsetof(EVENT_FILTER_EVENT_NAME, NameCount), "one head for both");

enum wire_filter_use wire_filter_use_of(uint32_t type)
{
	switch (type) {
	case EVENT_FILTER_TYPE_SCHEMATIZED:
		return WIRE_FILTER_CALLBACK;
	case EVENT_FILTER_TYPE_PID:
	case EVENT_FILTER_TYPE_EXECUTABLE_NAME:
	case EVENT_FILTER_TYPE_PACKAGE_ID:
	case EVENT_FILTER_TYPE_PACKAGE_APP_ID:
		return WIRE_FILTER_SCOPE;
	case EVENT_FILTER_TYPE_PAYLOAD:
	case EVENT_FILTER_TYPE_EVENT_ID:
	case EVENT_FILTER_TYPE_EVENT_NAME:
	case EVENT_FILTER_TYPE_STACKWALK:
	case EVENT_FILTER_TYPE_STACKWALK_NAME:
	case EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW:
		return WIRE_FILTER_EVENT;
	default:
		return type < WIRE_FILTER_TYPE_RESERVED ? WIRE_FILTER_CALLBACK
							: WIRE_FILTER_REFUSED;
	}
}

static size_t padded(size_t bytes)
{
	return ALIGN_UP(bytes, 4);
}

bool wire_filter_next(struct etw_bytes *list, struct wire_filter *ret)
{
	struct etw_bytes rest = *list;
	uint32_t type, bytes;

	if (!etw_bytes_u32(&rest, &type) || !etw_bytes_u32(&rest, &bytes) ||
	    bytes > WIRE_FILTER_LIST_BYTES_MAX)
		return false;
	ret->type = type;
	ret->data = (struct etw_bytes){rest.at, bytes};
	if (!etw_bytes_take(&rest, padded(bytes)))
		return false;
	*list = rest;
	return true;
}

bool wire_filter_find(struct etw_bytes list, uint32_t type, struct etw_bytes *ret)
{
	struct wire_filter filter;

	while (wire_filter_next(&list, &filter)) {
		if (filter.type == type) {
			*ret = filter.data;
			return true;
		}
	}
	return false;
}

struct wire_filter wire_filter_of_callback(struct etw_bytes list)
{
	struct wire_filter filter;

	while (wire_filter_next(&list, &filter)) {
		if (wire_filter_use_of(filter.type) == WIRE_FILTER_CALLBACK)
			return filter;
	}
	return (struct wire_filter){0};
}

size_t wire_filter_put(uint8_t *at, size_t left, const struct wire_filter *filter)
{
	const size_t bytes = WIRE_FILTER_HEAD_BYTES + padded(filter->data.left);

	if (filter->data.left > WIRE_FILTER_LIST_BYTES_MAX || bytes > left)
		return 0;
	memset(at + bytes - 4, 0, 4); /* the padding, or the size, which comes now */
	etw_store32(at, filter->type);
	etw_store32(at + 4, (uint32_t)filter->data.left);
	if (filter->data.left)
		memcpy(at + WIRE_FILTER_HEAD_BYTES, filter->data.at, filter->data.left);
	return bytes;
}

size_t wire_filter_put_names(uint8_t *at, size_t left, struct etw_bytes names, uint16_t count)
{
	uint8_t data[MAX_EVENT_FILTER_EVENT_NAME_SIZE] = {0};
	const size_t head = offsetof(EVENT_FILTER_EVENT_NAME, Names);
	const struct wire_filter filter = {EVENT_FILTER_TYPE_EVENT_NAME, {data, head + names.left}};

	if (names.left > sizeof(data) - head)
		return 0;
	data[offsetof(EVENT_FILTER_EVENT_NAME, FilterIn)] = 1;
	etw_store16(data + offsetof(EVENT_FILTER_EVENT_NAME, NameCount), count);
	memcpy(data + head, names.at, names.left);
	return wire_filter_put(at, left, &filter);
}

/* UTF-16 with at least one character that separates nothing. */
static bool has_names(struct etw_bytes data)
{
	if (data.left % 2 || data.left > MAX_EVENT_FILTER_DATA_SIZE)
		return false;
	for (size_t i = 0; i < data.left; i += 2) {
		const uint16_t unit = etw_load16(data.at + i);

		if (unit == 0)
			return false;
		if (unit != ';')
			return true;
	}
	return false;
}

bool wire_filter_read_ids(struct etw_bytes data, struct wire_filter_ids *ret)
{
	const struct etw_bytes all = data;
	const uint8_t *head = etw_bytes_take(&data, IDS_AT);

	if (!head || all.left > MAX_EVENT_FILTER_DATA_SIZE)
		return false;
	ret->is_in = head[offsetof(EVENT_FILTER_EVENT_ID, FilterIn)];
	ret->count = etw_load16(head + offsetof(EVENT_FILTER_EVENT_ID, Count));
	ret->at = data.at;
	return ret->count <= WIRE_FILTER_IDS_MAX && etw_bytes_take(&data, 2u * ret->count);
}

static bool read_category(struct etw_bytes *data, struct wire_filter_category *ret)
{
	const uint8_t *at = etw_bytes_take(data, LEVEL_END);

	if (!at)
		return false;
	*ret = (struct wire_filter_category){
		.match_any = etw_load64(at + offsetof(EVENT_FILTER_LEVEL_KW, MatchAnyKeyword)),
		.match_all = etw_load64(at + offsetof(EVENT_FILTER_LEVEL_KW, MatchAllKeyword)),
		.level = at[offsetof(EVENT_FILTER_LEVEL_KW, Level)],
		.is_in = at[offsetof(EVENT_FILTER_LEVEL_KW, FilterIn)],
	};
	return true;
}

bool wire_filter_read_level(struct etw_bytes data, struct wire_filter_category *ret)
{
	return data.left <= MAX_EVENT_FILTER_DATA_SIZE && read_category(&data, ret);
}

bool wire_filter_read_names(struct etw_bytes data, struct wire_filter_category *ret)
{
	if (data.left > MAX_EVENT_FILTER_EVENT_NAME_SIZE || !read_category(&data, ret) ||
	    !etw_bytes_u16(&data, &ret->name_count))
		return false;
	ret->names = data;
	for (unsigned i = 0; i < ret->name_count; i++) {
		const uint8_t *end = data.left ? memchr(data.at, 0, data.left) : NULL;

		if (!end)
			return false;
		(void)etw_bytes_take(&data, (size_t)(end - data.at) + 1);
	}
	ret->names.left -= data.left; /* what follows the last one is no name */
	return true;
}

static bool is_sound(const struct wire_filter *filter)
{
	const struct etw_bytes data = filter->data;

	struct wire_filter_category category;
	struct wire_filter_ids ids;

	switch (filter->type) {
	case EVENT_FILTER_TYPE_PID:
		return data.left && data.left % 4 == 0 && data.left / 4 <= WIRE_FILTER_PIDS_MAX;
	case EVENT_FILTER_TYPE_EXECUTABLE_NAME:
	case EVENT_FILTER_TYPE_PACKAGE_ID:
	case EVENT_FILTER_TYPE_PACKAGE_APP_ID:
		return has_names(data);
	case EVENT_FILTER_TYPE_PAYLOAD:
		return wire_payload_filter_check(data.at, data.left, NULL) == 0;
	case EVENT_FILTER_TYPE_EVENT_ID:
	case EVENT_FILTER_TYPE_STACKWALK:
		return wire_filter_read_ids(data, &ids);
	case EVENT_FILTER_TYPE_EVENT_NAME:
	case EVENT_FILTER_TYPE_STACKWALK_NAME:
		return wire_filter_read_names(data, &category);
	case EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW:
		return wire_filter_read_level(data, &category);
	default:
		return data.left <= MAX_EVENT_FILTER_DATA_SIZE;
	}
}

/* Of one kind there is one, and the callback gets one descriptor. */
static bool is_double(struct etw_bytes before, const struct wire_filter *filter)
{
	const enum wire_filter_use use = wire_filter_use_of(filter->type);
	struct wire_filter other;

	while (wire_filter_next(&before, &other)) {
		if (other.type == filter->type ||
		    (use == WIRE_FILTER_CALLBACK && wire_filter_use_of(other.type) == use))
			return true;
	}
	return false;
}

int wire_filter_list_check(struct etw_bytes list)
{
	const struct etw_bytes all = list;
	struct wire_filter filter;
	unsigned count = 0;

	if (list.left > WIRE_FILTER_LIST_BYTES_MAX)
		return -EINVAL;
	while (list.left) {
		const uint8_t *at = list.at;

		if (!wire_filter_next(&list, &filter) || ++count > MAX_EVENT_FILTERS_COUNT)
			return -EINVAL;
		if (wire_filter_use_of(filter.type) == WIRE_FILTER_REFUSED)
			return -EOPNOTSUPP;
		if (!is_sound(&filter) ||
		    is_double((struct etw_bytes){all.at, (size_t)(at - all.at)}, &filter))
			return -EINVAL;
	}
	return 0;
}
