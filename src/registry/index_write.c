/* SPDX-License-Identifier: MIT */
/* A change as the bytes of an index. */
#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "registry/change_internal.h"

/* The pool of strings; equal ones are kept once when they follow each other, as paths do. */
struct pool {
	struct etw_text text;
	const char *last;
	uint32_t last_at;
};

static uint32_t put_string(struct pool *pool, const char *string)
{
	if (!string || !*string)
		return 0;
	if (pool->last && (pool->last == string || !strcmp(pool->last, string)))
		return pool->last_at;
	pool->last = string;
	pool->last_at = (uint32_t)pool->text.bytes;
	etw_text_append(&pool->text, string, strlen(string) + 1);
	return pool->last_at;
}

static struct wire_registry_row wire_row(struct pool *pool, const struct change_row *row)
{
	struct wire_registry_row wire = {
		.name = le32_of(put_string(pool, row->row.name)),
		.file = le32_of(row->file->number),
		.source = le32_of((uint32_t)row->row.source),
		.role = le32_of((uint32_t)row->row.role),
	};

	etw_guid_write(wire.guid, &row->row.guid);
	for (size_t i = 0; i < WIRE_REGISTRY_COUNTS; i++)
		wire.counts[i] = le32_of(row->row.counts[i]);
	return wire;
}

static struct wire_registry_file wire_file(struct pool *pool, const struct etw_registry_file *file)
{
	struct wire_registry_file wire = {
		.kind = le32_of((uint32_t)file->kind),
		.bytes = le64_of(file->bytes),
		.imported_ft = le64_of((uint64_t)file->imported_ft),
		.from = le32_of(put_string(pool, file->from)),
		.resource_file = le32_of(put_string(pool, file->resource_file)),
		.message_file = le32_of(put_string(pool, file->message_file)),
		.parameter_file = le32_of(put_string(pool, file->parameter_file)),
	};

	memcpy(wire.sha1, file->sha1, sizeof(wire.sha1));
	return wire;
}

static int compare(const void *left, const void *right)
{
	return etw_registry_compare_rows(left, right);
}

/* Rows that say the same of the same GUID become one, with the events of all. */
static size_t merge(struct wire_registry_row *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		le32 *events = kept ? &rows[kept - 1].counts[WIRE_REGISTRY_COUNT_EVENTS] : NULL;

		if (events && !compare(&rows[kept - 1], &rows[i]))
			*events = le32_of(le32_get(*events) +
					  le32_get(rows[i].counts[WIRE_REGISTRY_COUNT_EVENTS]));
		else
			rows[kept++] = rows[i];
	}
	return kept;
}

static void number_files(struct etw_registry_change *change)
{
	uint32_t number = 0;

	for (size_t i = 0; i < change->file_count; i++) {
		if (!change->files[i]->is_gone)
			change->files[i]->number = number++;
	}
}

static size_t put_rows(struct etw_registry_change *change, struct pool *pool,
		       struct wire_registry_row *rows)
{
	size_t count = 0;

	for (size_t i = 0; i < change->row_count; i++) {
		if (!change->rows[i]->is_gone)
			rows[count++] = wire_row(pool, change->rows[i]);
	}
	if (count)
		qsort(rows, count, sizeof(*rows), compare);
	return merge(rows, count);
}

static void put_head(const struct etw_registry_change *change, size_t rows, size_t files,
		     size_t strings, const struct etw_text *body, struct wire_registry_head *ret)
{
	*ret = (struct wire_registry_head){
		.version = le32_of(WIRE_REGISTRY_VERSION),
		.head_bytes = le32_of(sizeof(*ret)),
		.file_bytes = le64_of(sizeof(*ret) + body->bytes),
		.check = le64_of(etw_registry_check((const uint8_t *)body->at, body->bytes)),
		.row_count = le32_of((uint32_t)rows),
		.file_count = le32_of((uint32_t)files),
		.string_bytes = le32_of((uint32_t)strings),
		.generation = le64_of(change->old.generation + 1),
	};
	memcpy(ret->magic, WIRE_REGISTRY_MAGIC, sizeof(ret->magic));
}

static int put_index(struct etw_registry_change *change, struct pool *pool,
		     struct wire_registry_row *rows, struct etw_text *text)
{
	CLEANUP(etw_text_done) struct etw_text body = {0};
	struct wire_registry_head head;
	size_t row_count, file_count = 0;

	etw_text_append(&pool->text, "", 1);
	number_files(change);
	row_count = put_rows(change, pool, rows);
	etw_text_append(&body, (const char *)rows, row_count * sizeof(*rows));
	for (size_t i = 0; i < change->file_count; i++) {
		struct wire_registry_file wire;

		if (change->files[i]->is_gone)
			continue;
		wire = wire_file(pool, &change->files[i]->row);
		etw_text_append(&body, (const char *)&wire, sizeof(wire));
		file_count++;
	}
	etw_text_append(&body, pool->text.at, pool->text.bytes);
	if (etw_text_error(&pool->text) || etw_text_error(&body))
		return -ENOMEM;
	if (pool->text.bytes > UINT32_MAX)
		return -EFBIG;
	put_head(change, row_count, file_count, pool->text.bytes, &body, &head);
	etw_text_append(text, (const char *)&head, sizeof(head));
	etw_text_append(text, body.at, body.bytes);
	return etw_text_error(text);
}

int etw_registry_change_index(struct etw_registry_change *change, struct etw_text *text)
{
	CLEANUP(freep)
	struct wire_registry_row *rows = calloc(change->row_count + 1, sizeof(*rows));
	struct pool pool = {0};
	int r = rows ? put_index(change, &pool, rows, text) : -ENOMEM;

	etw_text_done(&pool.text);
	return r;
}
