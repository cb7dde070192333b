/* SPDX-License-Identifier: MIT */
/*
 * The containers, and strings and messages. Parts of a resource may share bytes (strings do, in genuine
 * ones), so every part is charged with what it reads, and all of them together may read the resource a few
 * times over and not more.
 */
#include "schema/compiled/wevt.h"

#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/utf.h"
#include "schema/compiled/wevt_internal.h"

#define HEAD     "CRIM"
#define PROVIDER "WEVT"

/* How often the bytes of a resource may be read, and how much longer joined texts may be than it. */
#define READ_FACTOR   ((size_t)4)
#define JOINED_FACTOR ((size_t)16)

struct wevt_text {
	uint64_t key; /* offset and kind */
	const char *text;
};

int etw_wevt_refuse(struct wevt_reader *reader, uint64_t offset, const char *structure,
		    const char *field, const char *sentence)
{
	return etw_fault_set(reader->reterr, -EBADMSG, offset, structure, field, sentence);
}

int etw_wevt_peek(struct wevt_reader *reader, uint64_t offset, size_t bytes, const char *structure,
		  const uint8_t **ret)
{
	if (offset > reader->bytes || reader->bytes - offset < bytes)
		return etw_wevt_refuse(reader, offset, structure, NULL,
				       "a part goes beyond the resource");
	*ret = reader->at + offset;
	return 0;
}

int etw_wevt_take(struct wevt_reader *reader, uint64_t offset, size_t bytes, const char *structure,
		  const uint8_t **ret)
{
	TRY(etw_wevt_peek(reader, offset, bytes, structure, ret));
	if (bytes > reader->left)
		return etw_wevt_refuse(reader, offset, structure, NULL,
				       "the parts of the resource overlap too much");
	reader->left -= bytes;
	return 0;
}

int etw_wevt_list(struct wevt_reader *reader, enum wire_wevt_kind kind, const char *magic,
		  size_t head_bytes, size_t entry_bytes, struct wevt_list *ret)
{
	uint32_t offset = reader->lists[kind];
	struct wire_wevt_list wire;
	const uint8_t *at;

	*ret = (struct wevt_list){0};
	if (!offset)
		return 0;
	TRY(etw_wevt_take(reader, offset, sizeof(wire), magic, &at));
	memcpy(&wire, at, sizeof(wire));
	if (memcmp(wire.magic, magic, sizeof(wire.magic)) != 0)
		return etw_wevt_refuse(reader, offset, magic, "Signature",
				       "a list is of another kind than its provider says");
	ret->count = le32_get(wire.count);
	if (!ret->count)
		return 0;
	TRY(etw_wevt_peek(reader, offset, head_bytes, magic, &at));
	if ((reader->bytes - offset - head_bytes) / entry_bytes < ret->count)
		return etw_wevt_refuse(reader, offset, magic, "Count",
				       "the entries of a list go beyond the resource");
	ret->offset = (uint32_t)(offset + head_bytes);
	return etw_wevt_take(reader, ret->offset, ret->count * entry_bytes, magic, &ret->at);
}

static bool is_text(const void *item, const void *key)
{
	return ((const struct wevt_text *)item)->key == *(const uint64_t *)key;
}

/* The contents of the reader's text, known by @key from now on. */
static int keep_text(struct wevt_reader *reader, uint64_t key, const char **ret)
{
	struct wevt_text *known = etw_arena_alloc(&reader->scratch, sizeof(*known));

	TRY(etw_text_error(&reader->text));
	if (!known)
		return -ENOMEM;
	known->key = key;
	known->text = etw_arena_strndup(reader->arena, etw_text_string(&reader->text),
					reader->text.bytes);
	if (!known->text)
		return -ENOMEM;
	*ret = known->text;
	return etw_table_insert(&reader->strings, etw_hash_mix(reader->seed, key), known);
}

/* @key of a string: true with its text when it was read before. */
static bool find_text(const struct wevt_reader *reader, uint64_t key, const char **ret)
{
	const struct wevt_text *known =
		etw_table_find(&reader->strings, etw_hash_mix(reader->seed, key), is_text, &key);

	if (known)
		*ret = known->text;
	return known != NULL;
}

int etw_wevt_name(struct wevt_reader *reader, uint32_t offset, const char **ret)
{
	uint64_t key = (uint64_t)offset << 1;
	const uint8_t *at;
	size_t bytes, units;

	*ret = NULL;
	if (!offset || find_text(reader, key, ret))
		return 0;
	TRY(etw_wevt_peek(reader, offset, sizeof(uint32_t), "name", &at));
	bytes = etw_load32(at);
	if (bytes < sizeof(uint32_t))
		return etw_wevt_refuse(reader, offset, "name", "Size",
				       "a name is shorter than its size field");
	TRY(etw_wevt_take(reader, offset, bytes, "name", &at));
	units = (bytes - sizeof(uint32_t)) / 2;
	etw_text_clear(&reader->text);
	etw_text_utf16(&reader->text, at + sizeof(uint32_t),
		       etw_utf16_length(at + sizeof(uint32_t), units));
	return keep_text(reader, key, ret);
}

int etw_wevt_string(struct wevt_reader *reader, uint32_t offset, const char **ret)
{
	uint64_t key = (uint64_t)offset << 1 | 1;
	const uint8_t *at;
	size_t units;

	*ret = NULL;
	if (!offset || find_text(reader, key, ret))
		return 0;
	TRY(etw_wevt_peek(reader, offset, 0, "string", &at));
	/* Not further than may be read: a search that is not charged could be repeated. */
	units = (reader->bytes - offset < reader->left ? reader->bytes - offset : reader->left) / 2;
	units = etw_utf16_length(at, units);
	if (2 * (units + 1) > reader->bytes - offset)
		return etw_wevt_refuse(reader, offset, "string", NULL,
				       "a string is not terminated");
	TRY(etw_wevt_take(reader, offset, 2 * (units + 1), "string", &at));
	etw_text_clear(&reader->text);
	etw_text_utf16(&reader->text, at, units);
	return keep_text(reader, key, ret);
}

int etw_wevt_message(struct wevt_reader *reader, uint32_t id, const char **ret)
{
	size_t index;

	*ret = NULL;
	if (id == WIRE_WEVT_NO_MESSAGE)
		return 0;
	for (size_t i = 0; i < reader->table_count; i++) {
		const char **text;

		if (!etw_message_table_find(&reader->tables[i], id, &index))
			continue;
		text = &reader->messages[i][index];
		if (!*text) {
			etw_text_clear(&reader->text);
			etw_message_table_text(&reader->tables[i], index, &reader->text);
			TRY(etw_text_error(&reader->text));
			*text = etw_arena_strndup(reader->arena, etw_text_string(&reader->text),
						  reader->text.bytes);
		}
		*ret = *text;
		return *text ? 0 : -ENOMEM;
	}
	return 0;
}

int etw_wevt_keep_joined(struct wevt_reader *reader, uint32_t offset, const char *structure,
			 const char **ret)
{
	TRY(etw_text_error(&reader->text));
	if (reader->text.bytes > reader->joined_left)
		return etw_wevt_refuse(reader, offset, structure, NULL,
				       "the names of events are out of proportion to the resource");
	reader->joined_left -= reader->text.bytes;
	*ret = etw_arena_strndup(reader->arena, etw_text_string(&reader->text), reader->text.bytes);
	return *ret ? 0 : -ENOMEM;
}

/* Notes where the provider's lists are. Older compilers leave room for kinds that are not there. */
static int find_lists(struct wevt_reader *reader, uint32_t offset, uint32_t count)
{
	const uint8_t *at;

	memset(reader->lists, 0, sizeof(reader->lists));
	if ((reader->bytes - offset) / sizeof(struct wire_wevt_list_entry) < count)
		return etw_wevt_refuse(reader, offset, PROVIDER, "Count",
				       "the table of lists goes beyond the resource");
	TRY(etw_wevt_take(reader, offset, count * sizeof(struct wire_wevt_list_entry), PROVIDER,
			  &at));
	for (uint32_t i = 0; i < count; i++, at += sizeof(struct wire_wevt_list_entry)) {
		struct wire_wevt_list_entry wire;
		uint32_t kind;

		memcpy(&wire, at, sizeof(wire));
		kind = le32_get(wire.kind);
		if (kind < WIRE_WEVT_KINDS && !reader->lists[kind])
			reader->lists[kind] = le32_get(wire.offset);
	}
	return 0;
}

static void forget_provider(struct wevt_reader *reader)
{
	etw_table_done(&reader->templates);
	etw_table_done(&reader->maps);
	etw_table_done(&reader->keywords);
}

static int read_provider(struct wevt_reader *reader, const struct wire_wevt_provider_entry *entry,
			 struct etw_provider_schema *provider)
{
	uint32_t offset = le32_get(entry->offset);
	struct wire_wevt_provider wire;
	const uint8_t *at;

	forget_provider(reader);
	reader->provider = provider;
	provider->guid = etw_guid_read(entry->guid);
	provider->source = DecodingSourceXMLFile;
	TRY(etw_wevt_take(reader, offset, sizeof(wire), PROVIDER, &at));
	memcpy(&wire, at, sizeof(wire));
	if (memcmp(wire.magic, PROVIDER, sizeof(wire.magic)) != 0)
		return etw_wevt_refuse(reader, offset, PROVIDER, "Signature",
				       "there is no provider where the head says");
	TRY(find_lists(reader, offset + (uint32_t)sizeof(wire), le32_get(wire.list_count)));
	TRY(etw_wevt_message(reader, le32_get(wire.message), &provider->message));
	TRY(etw_wevt_read_traits(reader));
	TRY(etw_wevt_read_names(reader));
	TRY(etw_wevt_read_maps(reader));
	TRY(etw_wevt_read_pattern_maps(reader));
	TRY(etw_wevt_read_filters(reader));
	return etw_wevt_read_events(reader);
}

static int read_head(struct wevt_reader *reader, struct wire_wevt_head *head)
{
	const uint8_t *at;

	if (reader->bytes < sizeof(*head))
		return etw_wevt_refuse(reader, reader->bytes, HEAD, NULL,
				       "the resource ends within its head");
	memcpy(head, reader->at, sizeof(*head));
	if (memcmp(head->magic, HEAD, sizeof(head->magic)) != 0)
		return etw_wevt_refuse(reader, 0, HEAD, "Signature",
				       "the bytes are not a WEVT_TEMPLATE resource");
	if (le16_get(head->major) < WIRE_WEVT_MAJOR_MIN ||
	    le16_get(head->major) > WIRE_WEVT_MAJOR_MAX)
		return etw_wevt_refuse(reader, offsetof(struct wire_wevt_head, major), HEAD,
				       "Version", "the version of the resource is unknown");
	if (le32_get(head->bytes) < sizeof(*head) || le32_get(head->bytes) > reader->bytes)
		return etw_wevt_refuse(reader, offsetof(struct wire_wevt_head, bytes), HEAD, "Size",
				       "the resource is cut short");
	reader->bytes = le32_get(head->bytes);
	if ((reader->bytes - sizeof(*head)) / sizeof(struct wire_wevt_provider_entry) <
	    le32_get(head->provider_count))
		return etw_wevt_refuse(reader, offsetof(struct wire_wevt_head, provider_count),
				       HEAD, "Count", "the providers go beyond the resource");
	return etw_wevt_take(reader, 0, sizeof(*head), HEAD, &at);
}

static int read_definition(struct wevt_reader *reader, struct etw_definition **ret)
{
	struct etw_definition *definition;
	struct wire_wevt_head head;
	const uint8_t *at;
	uint32_t count;

	TRY(read_head(reader, &head));
	count = le32_get(head.provider_count);
	TRY(etw_wevt_take(reader, sizeof(head), count * sizeof(struct wire_wevt_provider_entry),
			  HEAD, &at));
	TRY(etw_definition_create(reader->arena, count, &definition));
	for (uint32_t i = 0; i < count; i++) {
		struct wire_wevt_provider_entry entry;

		memcpy(&entry, at + i * sizeof(entry), sizeof(entry));
		TRY(read_provider(reader, &entry, &definition->providers[i]));
		definition->provider_count++;
		definition->schema_count += definition->providers[i].schema_count;
	}
	*ret = definition;
	return 0;
}

static int prepare_messages(struct wevt_reader *reader)
{
	reader->messages = etw_arena_array(&reader->scratch, reader->table_count,
					   sizeof(*reader->messages));
	if (!reader->messages)
		return -ENOMEM;
	for (size_t i = 0; i < reader->table_count; i++) {
		reader->messages[i] = etw_arena_array(&reader->scratch,
						      reader->tables[i].entry_count,
						      sizeof(*reader->messages[i]));
		if (!reader->messages[i])
			return -ENOMEM;
	}
	return 0;
}

int etw_wevt_parse(struct etw_arena *arena, struct etw_bytes blob,
		   const struct etw_message_table *tables, size_t table_count,
		   struct etw_definition **ret, struct etw_fault *reterr)
{
	struct etw_arena_mark mark = etw_arena_mark(arena);
	struct wevt_reader reader = {
		.arena = arena,
		.at = blob.at,
		.bytes = blob.left,
		.left = READ_FACTOR * blob.left,
		.joined_left = JOINED_FACTOR * blob.left,
		.seed = etw_hash_seed(),
		.tables = tables,
		.table_count = table_count,
		.reterr = reterr,
	};
	int r;

	r = prepare_messages(&reader);
	if (r == 0)
		r = read_definition(&reader, ret);
	forget_provider(&reader);
	etw_table_done(&reader.strings);
	etw_text_done(&reader.text);
	etw_arena_done(&reader.scratch);
	if (r < 0)
		etw_arena_release(arena, mark);
	return r;
}
