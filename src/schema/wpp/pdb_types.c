/* SPDX-License-Identifier: MIT */
/*
 * Names of enumerations. A message says ItemEnum(NAME), and the type stream has an enumeration of that name, or
 * the global symbols a typedef of one. Types refer to each other by number, always to earlier ones: that is what
 * ends chains. Nothing is read when no message needs it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/table.h"
#include "schema/wpp/pdb_internal.h"

#define STREAM_TYPES       2
#define TYPES_HEADER_BYTES 56
#define TYPES_VERSION      20040203
#define ENUM_FORWARD       0x80 /* of the properties: declared here, defined elsewhere */
#define ENUM_NAME_AT       16   /* from the start of the record */
#define TYPEDEF_NAME_AT    8
#define ENTRY_BYTES_MIN    8 /* of an enumerator in its list */
#define LISTS_FACTOR       2 /* equal lists are kept once, so that enumerations may share one */
#define STRUCTURE          "type stream"
#define SYMBOL_TYPEDEF     0x1108
#define TYPE_ENUM          0x1507
#define TYPE_FIELD_LIST    0x1203
#define FIELD_ENUMERATOR   0x1502
#define FIELD_CONTINUATION 0x1404
#define PADDING            0xF0 /* and how many bytes, the padding included */

/* The form of a number that does not fit 15 bits. */
enum numeric {
	NUMERIC_I8 = 0x8000,
	NUMERIC_I16 = 0x8001,
	NUMERIC_U16 = 0x8002,
	NUMERIC_I32 = 0x8003,
	NUMERIC_U32 = 0x8004,
	NUMERIC_I64 = 0x8009,
	NUMERIC_U64 = 0x800A,
};

/* An enumeration that messages name. */
struct wanted {
	struct wanted *next;
	const char *name;
	uint32_t list; /* number of the type that lists its enumerators; 0: not found */
	const struct etw_map *map;
};

struct types {
	struct etw_arena *arena; /* results */
	struct etw_pdb *pdb;
	struct etw_arena scratch; /* struct wanted; owned */
	struct etw_table names;   /* struct wanted, owned */
	struct wanted *first;
	struct etw_bytes stream;
	uint32_t first_number; /* of the types */
	uint32_t *offsets;     /* owned; of each type in the stream */
	uint32_t count;
	size_t entries_left;
	struct etw_map_entry *entries; /* owned; of the enumeration that is being read */
	size_t entry_count, entry_room;
	struct etw_text text; /* owned */
};

static bool is_wanted(const void *item, const void *key)
{
	const struct tmf_span *name = key;
	const struct wanted *wanted = item;

	return !strncmp(wanted->name, name->at, name->bytes) && !wanted->name[name->bytes];
}

static struct wanted *find(const struct types *types, struct tmf_span name)
{
	return etw_table_find(&types->names, etw_hash_bytes(etw_hash_seed(), name.at, name.bytes),
			      is_wanted, &name);
}

static bool is_enum(const struct etw_wpp_argument *argument)
{
	return (argument->item == ETW_WPP_ENUM || argument->item == ETW_WPP_FLAGS_ENUM) &&
	       argument->list && !argument->names;
}

/* As the types have it: without the keyword. */
static struct tmf_span name_of(const struct etw_wpp_argument *argument)
{
	struct tmf_span name = {argument->list, strlen(argument->list)};

	name = etw_tmf_trim(name);
	if (name.bytes > 5 && !memcmp(name.at, "enum ", 5))
		name = etw_tmf_trim((struct tmf_span){name.at + 5, name.bytes - 5});
	return name;
}

static int want(struct types *types, const struct etw_wpp_argument *argument)
{
	struct tmf_span name = name_of(argument);
	struct wanted *wanted;

	if (!name.bytes || find(types, name))
		return 0;
	wanted = etw_arena_alloc(&types->scratch, sizeof(*wanted));
	if (!wanted)
		return -ENOMEM;
	wanted->name = etw_tmf_copy(&types->scratch, name);
	wanted->next = types->first;
	types->first = wanted;
	if (!wanted->name)
		return -ENOMEM;
	return etw_table_insert(&types->names, etw_hash_bytes(etw_hash_seed(), name.at, name.bytes),
				wanted);
}

static int want_all(struct types *types)
{
	for (size_t i = 0; i < types->pdb->messages.count; i++) {
		const struct etw_wpp_message *message = types->pdb->messages.at[i];

		for (size_t k = 0; k < message->argument_count; k++) {
			if (is_enum(&message->arguments[k]))
				TRY(want(types, &message->arguments[k]));
		}
	}
	return 0;
}

/* The record of a type, from its size on, or nothing. */
static struct etw_bytes record_of(const struct types *types, uint32_t number)
{
	uint32_t at = number - types->first_number;

	if (number < types->first_number || at >= types->count)
		return (struct etw_bytes){0};
	at = types->offsets[at];
	return (struct etw_bytes){types->stream.at + at, etw_load16(types->stream.at + at) + 2u};
}

/* The list of an enumeration that is defined; 0: the record is of something else. */
static uint32_t list_of(struct etw_bytes record, struct tmf_span *ret_name)
{
	struct etw_bytes rest = record;

	if (record.left <= ENUM_NAME_AT || etw_load16(record.at + 2) != TYPE_ENUM ||
	    etw_load16(record.at + 6) & ENUM_FORWARD)
		return 0;
	(void)etw_bytes_take(&rest, ENUM_NAME_AT);
	return etw_pdb_take_string(&rest, ret_name) ? etw_load32(record.at + 12) : 0;
}

static void note_enum(struct types *types, struct etw_bytes record)
{
	struct tmf_span name;
	uint32_t list = list_of(record, &name);
	struct wanted *wanted = list ? find(types, name) : NULL;

	if (wanted && !wanted->list)
		wanted->list = list;
}

/* Where each type is, and which of them are wanted. */
static int index_types(struct types *types)
{
	struct etw_bytes left = types->stream;
	uint32_t head_bytes = etw_load32(left.at + 4), bytes = etw_load32(left.at + 16);

	types->first_number = etw_load32(left.at + 8);
	if (etw_load32(left.at) != TYPES_VERSION || head_bytes < TYPES_HEADER_BYTES ||
	    !etw_bytes_take(&left, head_bytes) || bytes > left.left) {
		etw_pdb_note(types->pdb, 0, STRUCTURE, "the head of the types is malformed");
		return 0;
	}
	left.left = bytes;
	types->entries_left = (size_t)LISTS_FACTOR * (bytes / ENTRY_BYTES_MIN);
	types->offsets = malloc((bytes / 4 + 1) * sizeof(*types->offsets));
	if (!types->offsets)
		return -ENOMEM;
	while (left.left >= 4) {
		struct etw_bytes record = {left.at, etw_load16(left.at) + 2u};

		if (record.left < 4 || !etw_bytes_take(&left, record.left)) {
			etw_pdb_note(
				types->pdb, (uint64_t)(left.at - types->stream.at), STRUCTURE,
				"a type is shorter than its head or reaches beyond the stream");
			return 0;
		}
		types->offsets[types->count++] = (uint32_t)(record.at - types->stream.at);
		note_enum(types, record);
	}
	return 0;
}

/* Typedefs stand among the global symbols, with the number of their type. */
static void follow_typedefs(struct types *types, struct etw_bytes symbols)
{
	while (symbols.left >= 4) {
		struct etw_bytes record = {symbols.at, etw_load16(symbols.at) + 2u}, rest;
		struct tmf_span name, unused;
		struct wanted *wanted;

		if (record.left < 4 || !etw_bytes_take(&symbols, record.left))
			return;
		rest = record;
		if (etw_load16(record.at + 2) != SYMBOL_TYPEDEF ||
		    !etw_bytes_take(&rest, TYPEDEF_NAME_AT) || !etw_pdb_take_string(&rest, &name))
			continue;
		wanted = find(types, name);
		if (wanted && !wanted->list)
			wanted->list = list_of(record_of(types, etw_load32(record.at + 4)),
					       &unused);
	}
}

/* How many bytes a number has behind its form; 0: no number. */
static size_t numeric_bytes(uint16_t form)
{
	switch (form) {
	case NUMERIC_I8:
		return 1;
	case NUMERIC_I16:
	case NUMERIC_U16:
		return 2;
	case NUMERIC_I32:
	case NUMERIC_U32:
		return 4;
	case NUMERIC_I64:
	case NUMERIC_U64:
		return 8;
	default:
		return 0;
	}
}

/* A value as a payload of 32 bits holds it. */
static bool take_number(struct etw_bytes *bytes, uint32_t *ret)
{
	const uint8_t *at;
	size_t size;
	uint16_t form;

	if (!etw_bytes_u16(bytes, &form))
		return false;
	if (form < NUMERIC_I8) {
		*ret = form;
		return true;
	}
	size = numeric_bytes(form);
	at = size ? etw_bytes_take(bytes, size) : NULL;
	if (!at)
		return false;
	if (size == 1)
		*ret = (uint32_t)(int8_t)*at;
	else if (size == 2)
		*ret = form == NUMERIC_I16 ? (uint32_t)(int16_t)etw_load16(at) : etw_load16(at);
	else
		*ret = etw_load32(at);
	return true;
}

static int add_entry(struct types *types, struct tmf_span name, uint32_t value)
{
	struct etw_map_entry *entry;

	if (types->entry_count == types->entry_room) {
		size_t room = types->entry_room ? 2 * types->entry_room : 64;

		entry = realloc(types->entries, room * sizeof(*entry));
		if (!entry)
			return -ENOMEM;
		types->entries = entry;
		types->entry_room = room;
	}
	entry = &types->entries[types->entry_count++];
	*entry = (struct etw_map_entry){
		.value = value,
		.text = etw_pdb_copy_name(types->arena, &types->text, name),
	};
	return entry->text ? 0 : -ENOMEM;
}

static void skip_padding(struct etw_bytes *bytes)
{
	if (bytes->left && *bytes->at >= PADDING)
		(void)etw_bytes_take(bytes, bytes->left < (*bytes->at & 15u) ? bytes->left
									     : *bytes->at & 15u);
}

/*
 * One list of enumerators. *next becomes the list that continues it, or 0. Returns 1 when all was read, 0 when
 * something is wrong, -ENOMEM.
 */
static int read_list(struct types *types, struct etw_bytes list, uint32_t *next)
{
	*next = 0;
	while (list.left >= 2) {
		uint16_t kind = etw_load16(list.at);
		struct tmf_span name;
		uint32_t value;

		if (!etw_bytes_take(&list, 4))
			return 0;
		if (kind == FIELD_CONTINUATION)
			return etw_bytes_u32(&list, next);
		if (kind != FIELD_ENUMERATOR || !take_number(&list, &value) ||
		    !etw_pdb_take_string(&list, &name) || !types->entries_left ||
		    types->entry_count == ETW_SCHEMA_MAP_ENTRIES_MAX)
			return 0;
		types->entries_left--;
		TRY(add_entry(types, name, value));
		skip_padding(&list);
	}
	return 1;
}

static int read_lists(struct types *types, uint32_t number)
{
	int r = 1;

	types->entry_count = 0;
	while (r == 1 && number) {
		struct etw_bytes record = record_of(types, number);
		uint32_t next;

		if (record.left < 4 || etw_load16(record.at + 2) != TYPE_FIELD_LIST)
			return 0;
		(void)etw_bytes_take(&record, 4);
		r = read_list(types, record, &next);
		/* Only earlier types: the chain ends. */
		if (r == 1 && next >= number)
			return 0;
		number = next;
	}
	return r;
}

static int make_map(struct types *types, struct wanted *wanted)
{
	struct etw_arena_mark mark = etw_arena_mark(types->arena);
	struct etw_map *map;
	int r = read_lists(types, wanted->list);

	if (r < 0)
		return r;
	if (!r || !types->entry_count) {
		etw_arena_release(types->arena, mark);
		etw_pdb_note(types->pdb, wanted->list, STRUCTURE,
			     "the names of an enumeration cannot be read");
		return 0;
	}
	map = etw_arena_alloc(types->arena, sizeof(*map));
	if (!map)
		return -ENOMEM;
	map->flags = EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP;
	map->count = (uint32_t)types->entry_count;
	map->entries = etw_arena_copy(types->arena, types->entries,
				      types->entry_count * sizeof(*types->entries));
	wanted->map = map;
	return map->entries ? 0 : -ENOMEM;
}

static int name_argument(struct types *types, struct etw_wpp_argument *argument)
{
	const struct wanted *wanted = find(types, name_of(argument));
	struct etw_map *map;

	if (!wanted || !wanted->map)
		return 0;
	map = etw_arena_copy(types->arena, wanted->map, sizeof(*map));
	if (!map)
		return -ENOMEM;
	map->name = argument->list;
	if (argument->item == ETW_WPP_FLAGS_ENUM)
		map->flags = EVENTMAP_INFO_FLAG_MANIFEST_BITMAP;
	argument->names = map;
	return 0;
}

static int name_all(struct types *types)
{
	for (struct wanted *wanted = types->first; wanted; wanted = wanted->next) {
		if (wanted->list)
			TRY(make_map(types, wanted));
	}
	for (size_t i = 0; i < types->pdb->messages.count; i++) {
		const struct etw_wpp_message *message = types->pdb->messages.at[i];
		/* Made by the reader of the symbols, and not handed out yet. */
		struct etw_wpp_argument *arguments = (struct etw_wpp_argument *)message->arguments;

		for (size_t k = 0; k < message->argument_count; k++) {
			if (is_enum(&arguments[k]))
				TRY(name_argument(types, &arguments[k]));
		}
	}
	return 0;
}

static int read_types(struct types *types, const struct etw_msf *msf, uint16_t global)
{
	CLEANUP(etw_msf_stream_done) struct etw_msf_stream stream = {0};
	CLEANUP(etw_msf_stream_done) struct etw_msf_stream symbols = {0};
	int r = etw_msf_stream(msf, STREAM_TYPES, &stream);

	if (r == -ENOENT || (!r && stream.bytes.left < TYPES_HEADER_BYTES))
		return 0;
	TRY(r);
	types->stream = stream.bytes;
	TRY(index_types(types));
	r = etw_msf_stream(msf, global, &symbols);
	if (r < 0 && r != -ENOENT)
		return r;
	if (!r)
		follow_typedefs(types, symbols.bytes);
	return name_all(types);
}

int etw_pdb_name_enums(const struct etw_msf *msf, uint16_t global, struct etw_arena *arena,
		       struct etw_pdb *pdb)
{
	struct types types = {.arena = arena, .pdb = pdb};
	int r = want_all(&types);

	if (!r && types.first)
		r = read_types(&types, msf, global);
	free(types.offsets);
	free(types.entries);
	etw_text_done(&types.text);
	etw_table_done(&types.names);
	etw_arena_done(&types.scratch);
	return r;
}
