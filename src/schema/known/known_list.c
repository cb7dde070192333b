/* SPDX-License-Identifier: MIT */
/* Providers, their names, and maps. */
#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/known/known_internal.h"

size_t etw_known_provider_count(const struct etw_known *known)
{
	return etw_known_count(known, WIRE_KNOWN_PROVIDERS);
}

static int read_provider(struct etw_known *known, uint32_t index, struct etw_known_provider *ret)
{
	const struct wire_known_provider *from = etw_known_item(known, WIRE_KNOWN_PROVIDERS, index,
								known->bytes.at);
	struct etw_known_provider provider = {.index = index};

	if (!from)
		return -EBADMSG;
	provider.has_guid = le16_get(from->flags) & WIRE_KNOWN_HAS_GUID;
	provider.guid = etw_guid_read(from->guid);
	TRY(etw_known_string(known, from->name, from, &provider.name));
	TRY(etw_known_string(known, from->formerly, from, &provider.formerly));
	TRY(etw_known_string(known, from->builds, from, &provider.builds));
	TRY(etw_known_string(known, from->sources, from, &provider.sources));
	provider.first_event = le32_get(from->first_event);
	provider.event_count = le32_get(from->event_count);
	provider.first_class = le32_get(from->first_class);
	provider.class_count = le32_get(from->class_count);
	provider.first_map = le32_get(from->first_map);
	provider.map_count = le32_get(from->map_count);
	provider.first_named = le32_get(from->first_named);
	for (size_t i = 0; i < WIRE_KNOWN_LISTS; i++)
		provider.named_counts[i] = le16_get(from->named_counts[i]);
	*ret = provider;
	return 0;
}

int etw_known_provider_at(struct etw_known *known, size_t index, struct etw_known_provider *ret)
{
	if (index >= etw_known_provider_count(known))
		return -ENOENT;
	return read_provider(known, (uint32_t)index, ret);
}

/* Those without a GUID are behind all others. */
static int compare_guid(const struct wire_known_provider *item, const uint8_t guid[16])
{
	if (!(le16_get(item->flags) & WIRE_KNOWN_HAS_GUID))
		return 1;
	return memcmp(item->guid, guid, sizeof(item->guid));
}

int etw_known_find(struct etw_known *known, const GUID *guid, struct etw_known_provider *ret)
{
	uint32_t low = 0, high = etw_known_count(known, WIRE_KNOWN_PROVIDERS);
	uint8_t wanted[16];

	etw_guid_write(wanted, guid);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct wire_known_provider *item = etw_known_item(known, WIRE_KNOWN_PROVIDERS,
									middle, known->bytes.at);
		int r = item ? compare_guid(item, wanted) : 0;

		if (!item)
			return -EBADMSG;
		if (!r)
			return read_provider(known, middle, ret);
		if (r < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -ENOENT;
}

/* The name at this place of the part NAMES, compared with @name. Returns 0 or -EBADMSG. */
static int compare_name(struct etw_known *known, uint32_t index, const char *name, int *ret,
			uint32_t *ret_provider)
{
	const struct wire_known_name *item = etw_known_item(known, WIRE_KNOWN_NAMES, index,
							    known->bytes.at);
	const char *text;

	if (!item)
		return -EBADMSG;
	TRY(etw_known_string(known, item->name, item, &text));
	*ret = wire_known_compare_names(text, name);
	*ret_provider = le32_get(item->provider);
	return 0;
}

int etw_known_find_name(struct etw_known *known, const char *name, size_t nth,
			struct etw_known_provider *ret)
{
	uint32_t count = etw_known_count(known, WIRE_KNOWN_NAMES);
	uint32_t low = 0, high = count, provider;
	int order;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		TRY(compare_name(known, middle, name, &order, &provider));
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (nth >= count - low)
		return -ENOENT;
	TRY(compare_name(known, low + (uint32_t)nth, name, &order, &provider));
	return order ? -ENOENT : read_provider(known, provider, ret);
}

/* A number in a list that begins at @first; UINT32_MAX, which no part has, where it does not fit. */
static uint32_t number_in(uint32_t first, size_t index)
{
	return index > UINT32_MAX - (uint64_t)first ? UINT32_MAX : first + (uint32_t)index;
}

static int read_named(struct etw_known *known, uint32_t number, bool is_keyword,
		      struct etw_known_named *ret)
{
	const struct wire_known_named *item = etw_known_item(known, WIRE_KNOWN_NAMED, number,
							     known->bytes.at);
	const le64 *mask;

	if (!item)
		return -EBADMSG;
	*ret = (struct etw_known_named){.value = le32_get(item->value),
					.task = le16_get(item->task),
					.has_task = le16_get(item->flags) & 1};
	if (is_keyword) {
		mask = etw_known_item(known, WIRE_KNOWN_MASKS, le32_get(item->value), item);
		if (!mask)
			return -EBADMSG;
		ret->value = le64_get(*mask);
	}
	return etw_known_string(known, item->name, item, &ret->name);
}

int etw_known_named_at(struct etw_known *known, const struct etw_known_provider *provider,
		       enum wire_known_list list, size_t index, struct etw_known_named *ret)
{
	uint32_t first = provider->first_named;
	struct etw_known_named named;

	if (index >= provider->named_counts[list])
		return -ENOENT;
	for (unsigned i = 0; i < (unsigned)list; i++)
		first = number_in(first, provider->named_counts[i]);
	TRY(read_named(known, number_in(first, index), list == WIRE_KNOWN_KEYWORDS, &named));
	*ret = named;
	return 0;
}

int etw_known_map_get(struct etw_known *known, uint32_t index, struct etw_known_map *ret)
{
	const struct wire_known_map *item = etw_known_item(known, WIRE_KNOWN_MAPS, index,
							   known->bytes.at);
	const char *name;

	if (!item)
		return -EBADMSG;
	TRY(etw_known_string(known, item->name, item, &name));
	*ret = (struct etw_known_map){.index = index,
				      .name = name,
				      .is_bits = le32_get(item->kind) == WIRE_KNOWN_BITS,
				      .entry_count = le32_get(item->entry_count),
				      .first_entry = le32_get(item->first_entry)};
	return 0;
}

int etw_known_map_at(struct etw_known *known, const struct etw_known_provider *provider,
		     size_t index, struct etw_known_map *ret)
{
	if (index >= provider->map_count)
		return -ENOENT;
	return etw_known_map_get(known, number_in(provider->first_map, index), ret);
}

int etw_known_entry_at(struct etw_known *known, const struct etw_known_map *map, size_t index,
		       uint32_t *ret_value, const char **ret_text)
{
	const struct wire_known_entry *item;
	const char *text = NULL;

	if (index >= map->entry_count)
		return -ENOENT;
	item = etw_known_item(known, WIRE_KNOWN_ENTRIES, number_in(map->first_entry, index),
			      known->bytes.at);
	if (!item)
		return -EBADMSG;
	if (le32_get(item->text) != WIRE_KNOWN_NONE)
		TRY(etw_known_string(known, item->text, item, &text));
	*ret_value = le32_get(item->value);
	*ret_text = text;
	return 0;
}
