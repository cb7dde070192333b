/* SPDX-License-Identifier: MIT */
#include "registry/item.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/path.h"
#include "base/sha1.h"
#include "base/text.h"
#include "registry/definition.h"
#include "registry/folder.h"
#include "registry/item_internal.h"
#include "registry/wpp_controls.h"
#include "schema/compiled/binary_file.h"
#include "schema/compiled/language.h"
#include "schema/compiled/pe.h"
#include "schema/manifest/manifest_limits.h"
#include "schema/wpp/msf.h"
#include "schema/wpp/pdb.h"
#include "schema/wpp/tmf.h"

#define TABLES_A_FILE  (WIRE_REGISTRY_TABLES_MAX / 2)
#define NAME_BYTES_MAX 1024 /* in the index */

void etw_registry_item_done(struct etw_registry_item *item)
{
	etw_arena_done(&item->arena);
	*item = (struct etw_registry_item){0};
}

/* Whether an ASCII word stands in text of one or two bytes a character. */
static bool holds(struct etw_bytes text, const char *word)
{
	char wide[64] = {0};
	size_t bytes = strlen(word);

	for (size_t i = 0; i < bytes && i < sizeof(wide) / 2; i++)
		wide[2 * i] = word[i];
	return memmem(text.at, text.left, word, bytes) ||
	       memmem(text.at, text.left, wide, 2 * bytes);
}

/* Decided by the first bytes; 0: none of the texts that can be read. */
static enum wire_registry_kind kind_of_text(const char *path, struct etw_bytes head)
{
	if (holds(head, "<") &&
	    (holds(head, "instrumentationManifest") || etw_path_ends_with(path, ".man")))
		return WIRE_REGISTRY_MANIFEST;
	if (etw_path_ends_with(path, ".mof"))
		return WIRE_REGISTRY_MOF;
	if (holds(head, "#typev") || etw_path_ends_with(path, ".tmf"))
		return WIRE_REGISTRY_TMF;
	return 0;
}

static struct etw_bytes bytes_of(const struct etw_binary_file *file)
{
	return (struct etw_bytes){file->at, file->bytes};
}

struct packer {
	struct etw_bytes blob;
	struct etw_bytes tables[WIRE_REGISTRY_TABLES_MAX];
	uint32_t languages[WIRE_REGISTRY_TABLES_MAX];
	uint32_t count;
};

/* The tables of a file, the best language first. */
static void pack_tables(struct packer *packer, struct etw_bytes file, const struct etw_pe *pe)
{
	uint32_t first = packer->count;

	for (size_t i = 0; i < pe->table_count; i++) {
		const struct etw_pe_resource *table = &pe->tables[i];
		size_t rank = etw_language_rank(table->language, NULL);
		uint32_t at = packer->count;

		while (at > first && etw_language_rank(packer->languages[at - 1], NULL) > rank)
			at--;
		if (at - first >= TABLES_A_FILE)
			continue;
		if (packer->count - first == TABLES_A_FILE)
			packer->count--;
		for (uint32_t j = packer->count; j > at; j--) {
			packer->tables[j] = packer->tables[j - 1];
			packer->languages[j] = packer->languages[j - 1];
		}
		packer->tables[at] = (struct etw_bytes){file.at + table->offset, table->bytes};
		packer->languages[at] = table->language;
		packer->count++;
	}
}

static int pack_messages(struct packer *packer, struct etw_arena *scratch, struct etw_bytes file,
			 struct etw_fault *reterr)
{
	struct etw_pe pe;

	if (!file.left)
		return 0;
	if (!etw_pe_is(file)) {
		packer->tables[packer->count++] = file;
		return 0;
	}
	TRY(etw_pe_parse(scratch, file, &pe, reterr));
	pack_tables(packer, file, &pe);
	return 0;
}

static int pack(struct etw_arena *arena, const struct packer *packer, struct etw_bytes *ret)
{
	struct wire_registry_binary head = {.table_count = le32_of(packer->count)};
	size_t bytes = sizeof(head) + packer->count * sizeof(struct wire_registry_table);
	uint8_t *at, *to;

	memcpy(head.magic, WIRE_REGISTRY_BINARY_MAGIC, sizeof(head.magic));
	head.template_bytes = le32_of((uint32_t)packer->blob.left);
	bytes += packer->blob.left;
	for (uint32_t i = 0; i < packer->count; i++)
		bytes += packer->tables[i].left;
	/* Tables may share bytes of the file, but not here. */
	if (bytes > ETW_REGISTRY_DEFINITION_BYTES_MAX)
		return -EFBIG;
	at = to = etw_arena_alloc(arena, bytes);
	if (!at)
		return -ENOMEM;
	memcpy(to, &head, sizeof(head));
	to += sizeof(head);
	for (uint32_t i = 0; i < packer->count; i++) {
		const struct wire_registry_table table = {le32_of((uint32_t)packer->tables[i].left),
							  le32_of(packer->languages[i])};

		memcpy(to, &table, sizeof(table));
		to += sizeof(table);
	}
	memcpy(to, packer->blob.at, packer->blob.left);
	to += packer->blob.left;
	for (uint32_t i = 0; i < packer->count; i++) {
		memcpy(to, packer->tables[i].at, packer->tables[i].left);
		to += packer->tables[i].left;
	}
	*ret = (struct etw_bytes){at, bytes};
	return 0;
}

int etw_registry_pack_binary(struct etw_arena *arena, struct etw_bytes file,
			     struct etw_bytes messages, struct etw_bytes *ret,
			     struct etw_fault *reterr)
{
	CLEANUP(etw_arena_done) struct etw_arena scratch = {0};
	struct packer packer = {0};
	struct etw_pe pe = {0};

	if (etw_pe_is(file)) {
		TRY(etw_pe_parse(&scratch, file, &pe, reterr));
		if (!pe.template_count)
			return -ENODATA;
		packer.blob = (struct etw_bytes){file.at + pe.templates[0].offset,
						 pe.templates[0].bytes};
	} else {
		packer.blob = file;
	}
	TRY(pack_messages(&packer, &scratch, messages, reterr));
	pack_tables(&packer, file, &pe);
	return pack(arena, &packer, ret);
}

static int add_row(struct etw_registry_item *item, size_t room, const struct etw_registry_row *row)
{
	/* Rows of one GUID follow each other often; the index drops the rest of the repeated ones. */
	struct etw_registry_row *last = item->row_count ? &item->rows[item->row_count - 1] : NULL;

	if (last && etw_guid_equal(&last->guid, &row->guid) && last->role == row->role) {
		last->counts[WIRE_REGISTRY_COUNT_EVENTS] += row->counts[WIRE_REGISTRY_COUNT_EVENTS];
		return 0;
	}
	if (item->row_count == room)
		return -ENOMEM;
	item->rows[item->row_count++] = *row;
	return 0;
}

/* Rows repeat what schemas share, so that a long name would fill the index; listings do without it. */
static const char *name_of(const char *name)
{
	return name && strnlen(name, NAME_BYTES_MAX + 1) <= NAME_BYTES_MAX ? name : NULL;
}

static struct etw_registry_row row_of(const struct etw_provider_schema *provider)
{
	return (struct etw_registry_row){
		.guid = provider->guid,
		.name = name_of(provider->name),
		.source = provider->source,
		.role = WIRE_REGISTRY_PROVIDER,
		.counts = {[WIRE_REGISTRY_COUNT_EVENTS] = (uint32_t)provider->schema_count,
			   [WIRE_REGISTRY_COUNT_LEVELS] = (uint32_t)provider->level_count,
			   [WIRE_REGISTRY_COUNT_TASKS] = (uint32_t)provider->task_count,
			   [WIRE_REGISTRY_COUNT_OPCODES] = (uint32_t)provider->opcode_count,
			   [WIRE_REGISTRY_COUNT_KEYWORDS] = (uint32_t)provider->keyword_count,
			   [WIRE_REGISTRY_COUNT_CHANNELS] = (uint32_t)provider->channel_count,
			   [WIRE_REGISTRY_COUNT_MAPS] = (uint32_t)provider->map_count,
			   [WIRE_REGISTRY_COUNT_FILTERS] = (uint32_t)provider->filter_count},
	};
}

const GUID *etw_registry_class_of(const struct etw_schema *schema)
{
	return etw_guid_is_null(&schema->event_guid) ? &schema->provider : &schema->event_guid;
}

static int add_provider(struct etw_registry_item *item, size_t room,
			const struct etw_provider_schema *provider)
{
	struct etw_registry_row row = row_of(provider);

	TRY(add_row(item, room, &row));
	if (!etw_guid_is_null(&provider->control_guid)) {
		row.guid = provider->control_guid;
		row.role = WIRE_REGISTRY_EVENTS;
		TRY(add_row(item, room, &row));
	}
	for (size_t i = 0; provider->source == DecodingSourceWbem && i < provider->schema_count;
	     i++) {
		const struct etw_schema *schema = &provider->schemas[i];
		const struct etw_registry_row class_row = {
			.guid = *etw_registry_class_of(schema),
			.name = name_of(schema->task_name),
			.source = DecodingSourceWbem,
			.role = WIRE_REGISTRY_EVENTS,
			.counts = {1},
		};

		TRY(add_row(item, room, &class_row));
	}
	return 0;
}

static int add_message(struct etw_registry_item *item, size_t room,
		       const struct etw_wpp_message *message)
{
	const struct etw_registry_row row = {
		.guid = message->guid,
		.name = name_of(message->module),
		.source = DecodingSourceWPP,
		.role = WIRE_REGISTRY_EVENTS,
		.counts = {1},
	};

	return add_row(item, room, &row);
}

static int make_rows(struct etw_registry_item *item,
		     const struct etw_registry_definition *definition)
{
	const struct etw_definition *whole = definition->definition;
	size_t room = definition->messages.count;

	if (whole)
		room += 2 * whole->provider_count + whole->schema_count;
	item->rows = etw_arena_array(&item->arena, room, sizeof(*item->rows));
	if (room && !item->rows)
		return -ENOMEM;
	for (size_t i = 0; whole && i < whole->provider_count; i++)
		TRY(add_provider(item, room, &whole->providers[i]));
	for (size_t i = 0; i < definition->messages.count; i++)
		TRY(add_message(item, room, definition->messages.at[i]));
	item->event_count = definition->messages.count + (whole ? whole->schema_count : 0);
	if (whole) {
		item->complaints = whole->complaints;
		item->complaint_count = whole->complaint_count;
		item->complaint_total = whole->complaint_total;
	}
	return item->row_count ? 0 : -ENODATA;
}

static int finish(struct etw_registry_item *item, const char *from)
{
	etw_sha1(item->stored.at, item->stored.left, item->sha1);
	item->from = etw_arena_strdup(&item->arena, from);
	return item->from ? 0 : -ENOMEM;
}

static int parse_item(struct etw_registry_item *item, enum wire_registry_kind kind,
		      struct etw_bytes stored, const char *from, struct etw_fault *reterr)
{
	struct etw_registry_definition definition;

	if (stored.left > ETW_REGISTRY_DEFINITION_BYTES_MAX)
		return -EFBIG;
	item->kind = kind;
	item->stored = stored;
	TRY(etw_registry_definition_parse(&item->arena, kind, stored, &definition, reterr));
	TRY(make_rows(item, &definition));
	return finish(item, from);
}

int etw_registry_item_parse(enum wire_registry_kind kind, struct etw_bytes bytes, const char *from,
			    struct etw_registry_item *ret, struct etw_fault *reterr)
{
	CLEANUP(etw_registry_item_done) struct etw_registry_item item = {0};
	const uint8_t *copy = etw_arena_copy(&item.arena, bytes.at, bytes.left);

	if (!copy)
		return -ENOMEM;
	TRY(parse_item(&item, kind, (struct etw_bytes){copy, bytes.left}, from, reterr));
	*ret = item;
	item = (struct etw_registry_item){0};
	return 0;
}

/* Messages become TMF text: all that a PDB holds beside them is large and not needed. */
static int read_pdb(struct etw_registry_item *item, struct etw_bytes file, const char *path,
		    struct etw_fault *reterr)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	struct etw_pdb pdb;
	const uint8_t *stored;

	TRY(etw_pdb_read(&item->arena, file, &pdb, reterr));
	etw_registry_controls_write(pdb.controls, pdb.control_count, &text);
	etw_tmf_write(&pdb.messages, &text);
	TRY(etw_text_error(&text));
	stored = etw_arena_copy(&item->arena, etw_text_string(&text), text.bytes);
	if (!stored)
		return -ENOMEM;
	return parse_item(item, WIRE_REGISTRY_TMF, (struct etw_bytes){stored, text.bytes}, path,
			  reterr);
}

static int read_binary(struct etw_registry_item *item, const struct etw_binary_file *file,
		       const char *path, const char *message_path, struct etw_fault *reterr)
{
	CLEANUP(etw_binary_file_close) struct etw_binary_file messages = {0};
	CLEANUP(etw_binary_file_close) struct etw_binary_file language = {0};
	struct etw_bytes stored;
	struct etw_pe pe = {0};

	/* Most of a system's files have no schemas: this is the way out for them. */
	if (etw_pe_is(bytes_of(file))) {
		TRY(etw_pe_parse(&item->arena, bytes_of(file), &pe, reterr));
		if (!pe.template_count)
			return -ENODATA;
	}
	if (message_path)
		TRY(etw_binary_file_open(message_path, &messages));
	TRY(etw_binary_file_open_messages(message_path ? message_path : path,
					  message_path ? &messages : file, NULL, &language));
	TRY(etw_registry_pack_binary(&item->arena, bytes_of(file),
				     bytes_of(language.at ? &language : &messages), &stored,
				     reterr));
	return parse_item(item, WIRE_REGISTRY_BINARY, stored, path, reterr);
}

static int read_text(struct etw_registry_item *item, const struct etw_binary_file *file,
		     const char *path, struct etw_fault *reterr)
{
	struct etw_bytes head = bytes_of(file), stored;
	enum wire_registry_kind kind;

	if (head.left > ETW_REGISTRY_HEAD_BYTES)
		head.left = ETW_REGISTRY_HEAD_BYTES;
	kind = kind_of_text(path, head);
	if (!kind)
		return -ENODATA;
	if (file->bytes > ETW_MANIFEST_BYTES_MAX)
		return -EFBIG;
	stored.at = etw_arena_copy(&item->arena, file->at, file->bytes);
	stored.left = file->bytes;
	return stored.at ? parse_item(item, kind, stored, path, reterr) : -ENOMEM;
}

static int read_item(struct etw_registry_item *item, const char *path, const char *message_path,
		     struct etw_fault *reterr)
{
	CLEANUP(etw_binary_file_close) struct etw_binary_file file = {0};
	enum etw_registry_form form;

	TRY(etw_registry_look(path, &form));
	TRY(etw_binary_file_open(path, &file));
	if (!file.at)
		return -ENODATA;
	if (form == ETW_REGISTRY_BINARY)
		return read_binary(item, &file, path, message_path, reterr);
	if (form == ETW_REGISTRY_PDB)
		return read_pdb(item, bytes_of(&file), path, reterr);
	return read_text(item, &file, path, reterr);
}

static int look_at_head(const char *path, struct etw_bytes head, enum etw_registry_form *ret)
{
	if (etw_binary_is(head)) {
		*ret = ETW_REGISTRY_BINARY;
		return 0;
	}
	if (etw_msf_is(head)) {
		*ret = ETW_REGISTRY_PDB;
		return 0;
	}
	switch (kind_of_text(path, head)) {
	case WIRE_REGISTRY_MANIFEST:
		*ret = ETW_REGISTRY_MANIFEST;
		return 0;
	case WIRE_REGISTRY_MOF:
		*ret = ETW_REGISTRY_MOF;
		return 0;
	case WIRE_REGISTRY_TMF:
		*ret = ETW_REGISTRY_TMF;
		return 0;
	default:
		return -ENODATA;
	}
}

int etw_registry_look(const char *path, enum etw_registry_form *ret)
{
	CLEANUP(etw_file_closep) int fd = -1;
	uint8_t head[ETW_REGISTRY_HEAD_BYTES];
	size_t bytes;

	TRY(etw_file_open_regular(path, SIZE_MAX, &fd, &bytes));
	TRY(etw_file_read_all(fd, head, sizeof(head), &bytes));
	return look_at_head(path, (struct etw_bytes){head, bytes}, ret);
}

static int copy_word(struct etw_registry_item *item, const char *word, const char **ret)
{
	*ret = word ? etw_arena_strdup(&item->arena, word) : NULL;
	return word && !*ret ? -ENOMEM : 0;
}

int etw_registry_item_read(const char *path, const struct etw_registry_words *words,
			   struct etw_registry_item *ret, struct etw_fault *reterr)
{
	static const struct etw_registry_words none;
	CLEANUP(etw_registry_item_done) struct etw_registry_item item = {0};
	CLEANUP(freep) char *full = NULL;

	if (!words)
		words = &none;
	TRY(read_item(&item, path, words->message_file, reterr));
	full = realpath(path, NULL);
	TRY(copy_word(&item, full ? full : path, &item.from));
	TRY(copy_word(&item, words->resource_file, &item.words.resource_file));
	TRY(copy_word(&item, words->message_file, &item.words.message_file));
	TRY(copy_word(&item, words->parameter_file, &item.words.parameter_file));
	*ret = item;
	item = (struct etw_registry_item){0};
	return 0;
}
