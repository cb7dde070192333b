/* SPDX-License-Identifier: MIT */
#include "compile/wevt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf.h"
#include "compile/wevt_internal.h"

#define STRUCTURE  "WEVT_TEMPLATE"
#define TAIL_BYTES 2 /* zeros behind the resource, which its size does not count */

int etw_mc_refuse(struct wevt_writer *writer, const struct etw_xml_element *element,
		  const char *sentence)
{
	return etw_fault_set(writer->reterr, -EFBIG, element ? element->line : 1, STRUCTURE, NULL,
			     sentence);
}

size_t etw_mc_append(struct wevt_writer *writer, const void *at, size_t bytes)
{
	size_t offset = writer->out->bytes;

	etw_text_append(writer->out, at, bytes);
	return offset;
}

size_t etw_mc_zeros(struct wevt_writer *writer, size_t bytes)
{
	size_t offset = writer->out->bytes;
	char *to = etw_text_begin(writer->out, bytes);

	if (!to)
		return offset;
	memset(to, 0, bytes);
	etw_text_end(writer->out, to + bytes);
	return offset;
}

void etw_mc_align(struct wevt_writer *writer, size_t to)
{
	(void)etw_mc_zeros(writer, -writer->out->bytes & (to - 1));
}

void etw_mc_set(struct wevt_writer *writer, size_t offset, const void *at, size_t bytes)
{
	if (etw_text_error(writer->out) == 0)
		memcpy(writer->out->at + offset, at, bytes);
}

void etw_mc_set32(struct wevt_writer *writer, size_t offset, size_t value)
{
	le32 raw = le32_of((uint32_t)value);

	etw_mc_set(writer, offset, &raw, sizeof(raw));
}

size_t etw_mc_utf16(struct wevt_writer *writer, const char *text)
{
	size_t bytes = strlen(text);
	size_t units = etw_utf8_put_utf16(text, bytes, NULL);
	size_t offset = etw_mc_zeros(writer, 2 * (units + 1));

	if (etw_text_error(writer->out) == 0)
		(void)etw_utf8_put_utf16(text, bytes, (uint8_t *)writer->out->at + offset);
	return offset;
}

size_t etw_mc_name(struct wevt_writer *writer, const char *text)
{
	size_t offset = etw_mc_zeros(writer, sizeof(le32));

	(void)etw_mc_utf16(writer, text);
	etw_mc_align(writer, 4);
	etw_mc_set32(writer, offset, writer->out->bytes - offset);
	return offset;
}

void etw_mc_begin_list(struct wevt_writer *writer, enum wire_wevt_kind kind, const char *magic,
		       size_t head_bytes)
{
	struct wire_wevt_list_entry entry = {.kind = le32_of(kind)};
	size_t slot = writer->provider_at + sizeof(struct wire_wevt_provider) +
		      writer->list_count++ * sizeof(entry);

	writer->list_at = etw_mc_zeros(writer, head_bytes);
	entry.offset = le32_of((uint32_t)writer->list_at);
	etw_mc_set(writer, slot, &entry, sizeof(entry));
	etw_mc_set(writer, writer->list_at, magic, 4);
}

int etw_mc_end_list(struct wevt_writer *writer, size_t count)
{
	etw_mc_align(writer, 4);
	if (etw_text_error(writer->out) < 0)
		return -ENOMEM;
	if (writer->out->bytes > COMPILE_WEVT_BYTES_MAX)
		return etw_mc_refuse(writer, writer->provider->element,
				     "the provider makes the binary resource larger than 64 MiB");
	if (count)
		etw_mc_set32(writer, writer->list_at + offsetof(struct wire_wevt_list, bytes),
			     writer->out->bytes - writer->list_at);
	etw_mc_set32(writer, writer->list_at + offsetof(struct wire_wevt_list, count), count);
	return 0;
}

int etw_mc_place(struct wevt_writer *writer, const void *object, size_t offset)
{
	if (writer->place_count == writer->place_room) {
		size_t room = writer->place_room ? 2 * writer->place_room : 64;
		struct wevt_place *places = reallocarray(writer->places, room, sizeof(*places));

		if (!places)
			return -ENOMEM;
		writer->places = places;
		writer->place_room = room;
	}
	writer->places[writer->place_count++] = (struct wevt_place){object, (uint32_t)offset};
	writer->is_sorted = false;
	return 0;
}

static int compare_places(const void *left, const void *right)
{
	uintptr_t a = (uintptr_t)((const struct wevt_place *)left)->object;
	uintptr_t b = (uintptr_t)((const struct wevt_place *)right)->object;

	return (a > b) - (a < b);
}

uint32_t etw_mc_find(struct wevt_writer *writer, const void *object)
{
	const struct wevt_place key = {.object = object};
	const struct wevt_place *place;

	if (!object || !writer->place_count)
		return 0;
	if (!writer->is_sorted)
		qsort(writer->places, writer->place_count, sizeof(key), compare_places);
	writer->is_sorted = true;
	place = bsearch(&key, writer->places, writer->place_count, sizeof(key), compare_places);
	return place ? place->offset : 0;
}

struct trait {
	uint32_t key;
	const GUID *guid;
};

/* Always with the name, whatever `includeName` says: that is for the traits in the header. */
static int write_traits(struct wevt_writer *writer)
{
	const struct mc_provider *provider = writer->provider;
	const struct trait traits[] = {
		{WIRE_WEVT_TRAIT_NAME, NULL},
		{WIRE_WEVT_TRAIT_CONTROL_GUID,
		 provider->has_control_guid ? &provider->control_guid : NULL},
		{WIRE_WEVT_TRAIT_GROUP_GUID, provider->has_group ? &provider->group_guid : NULL},
	};
	size_t count = 1u + provider->has_control_guid + provider->has_group;
	size_t at;

	etw_mc_begin_list(writer, WIRE_WEVT_TRAITS, "PRVA", sizeof(struct wire_wevt_list));
	at = etw_mc_zeros(writer, count * sizeof(struct wire_wevt_trait));
	for (size_t i = 0; i < ARRAY_SIZE(traits); i++) {
		struct wire_wevt_trait entry = {.key = le32_of(traits[i].key)};

		if (i > 0 && !traits[i].guid)
			continue;
		etw_mc_align(writer, 4);
		entry.value = le32_of(
			(uint32_t)(i == 0 ? etw_mc_utf16(writer, provider->name)
					  : etw_mc_append(writer, traits[i].guid, sizeof(GUID))));
		etw_mc_set(writer, at, &entry, sizeof(entry));
		at += sizeof(entry);
	}
	return etw_mc_end_list(writer, count);
}

static bool has_attributes(const struct mc_provider *provider)
{
	for (const struct mc_event *event = provider->events; event; event = event->next) {
		const char *text = etw_xml_attribute(event->element, "attributes");

		if (event->name || (text && *text))
			return true;
	}
	return false;
}

static bool has_queries(const struct mc_provider *provider)
{
	const struct etw_xml_element *queries = etw_xml_first(provider->element, "namedQueries");
	const struct etw_xml_element *maps;

	for (; queries; queries = etw_xml_next(queries, "namedQueries")) {
		maps = etw_xml_first(queries, "patternMaps");
		if (maps && etw_xml_first(maps, "patternMap"))
			return true;
	}
	return false;
}

/* The lists in their order in the resource. */
struct list {
	int (*write)(struct wevt_writer *writer);
	bool is_written;
};

static int write_provider(struct wevt_writer *writer, size_t entry_at)
{
	const struct mc_provider *provider = writer->provider;
	bool is_new = writer->major >= COMPILE_WEVT_MAJOR;
	const struct list lists[] = {
		{etw_mc_channels, provider->channels},
		{etw_mc_maps, provider->maps},
		{etw_mc_queries, has_queries(provider)},
		{etw_mc_templates, provider->templates},
		{write_traits, is_new},
		{etw_mc_opcodes, true},
		{etw_mc_levels, true},
		{etw_mc_tasks, true},
		{etw_mc_keywords, true},
		{etw_mc_events, provider->events},
		{etw_mc_attributes, is_new && has_attributes(provider)},
		{etw_mc_filters, provider->filters},
	};
	struct wire_wevt_provider head = {.magic = "WEVT",
					  .message = etw_mc_message(provider->message)};
	size_t count = 0;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		count += lists[i].is_written;
	head.list_count = le32_of((uint32_t)count);
	writer->list_count = 0;
	writer->place_count = 0;
	writer->provider_at = etw_mc_append(writer, &head, sizeof(head));
	etw_mc_set32(writer, entry_at + offsetof(struct wire_wevt_provider_entry, offset),
		     writer->provider_at);
	(void)etw_mc_zeros(writer,
			   (is_new ? count : WEVT_LISTS_MAX) * sizeof(struct wire_wevt_list_entry));
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		r = lists[i].is_written ? lists[i].write(writer) : 0;
		if (r < 0)
			return r;
	}
	etw_mc_set32(writer, writer->provider_at + offsetof(struct wire_wevt_provider, bytes),
		     writer->out->bytes - writer->provider_at);
	etw_arena_done(&writer->arena);
	return 0;
}

static int write_resource(struct wevt_writer *writer, const struct mc_manifest *manifest)
{
	struct wire_wevt_head head = {
		.magic = "CRIM",
		.major = le16_of((uint16_t)writer->major),
		.minor = le16_of(1),
		.provider_count = le32_of((uint32_t)manifest->provider_count),
	};
	size_t at;
	int r;

	(void)etw_mc_append(writer, &head, sizeof(head));
	at = etw_mc_zeros(writer,
			  manifest->provider_count * sizeof(struct wire_wevt_provider_entry));
	for (const struct mc_provider *provider = manifest->providers; provider;
	     provider = provider->next) {
		etw_mc_set(writer, at, &provider->guid, sizeof(GUID));
		writer->provider = provider;
		r = write_provider(writer, at);
		if (r < 0)
			return r;
		at += sizeof(struct wire_wevt_provider_entry);
	}
	etw_mc_set32(writer, offsetof(struct wire_wevt_head, bytes), writer->out->bytes);
	(void)etw_mc_zeros(writer, TAIL_BYTES);
	return etw_text_error(writer->out);
}

int etw_compile_wevt(const struct mc_manifest *manifest, unsigned major, struct etw_text *out,
		     struct etw_fault *reterr)
{
	struct wevt_writer writer = {.out = out, .major = major, .reterr = reterr};
	int r = write_resource(&writer, manifest);

	etw_arena_done(&writer.arena);
	free(writer.places);
	return r;
}
