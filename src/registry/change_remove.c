/* SPDX-License-Identifier: MIT */
/* Taking out of a registry: rows and files are marked here, and left out of the index that is written. */
#include <string.h>

#include "base/guid.h"
#include "registry/change_internal.h"

/* A definition goes with the last of its providers, or, of messages, with the last of its GUIDs. */
static void drop_empty_files(struct etw_registry_change *change)
{
	for (size_t i = 0; i < change->file_count; i++)
		change->files[i]->is_gone = true;
	for (size_t i = 0; i < change->row_count; i++) {
		const struct change_row *row = change->rows[i];

		if (!row->is_gone &&
		    (row->row.role == WIRE_REGISTRY_PROVIDER || !row->file->has_providers ||
		     row->file->row.kind == WIRE_REGISTRY_TMF))
			row->file->is_gone = false;
	}
}

static size_t drop_rows_of_gone_files(struct etw_registry_change *change)
{
	size_t count = 0;

	for (size_t i = 0; i < change->row_count; i++) {
		struct change_row *row = change->rows[i];

		count += !row->is_gone && row->file->is_gone;
		row->is_gone |= row->file->is_gone;
	}
	return count;
}

/* @count: rows that the caller has marked; files may be marked too. Returns how many it became. */
static size_t settle(struct etw_registry_change *change, size_t count)
{
	count += drop_rows_of_gone_files(change);
	if (!count)
		return 0;
	drop_empty_files(change);
	change->is_changed = true;
	return count + drop_rows_of_gone_files(change);
}

/* Returns how many rows were marked; of WPP, files are, whose rows settle() counts. */
static size_t mark(struct change_row *rows, bool with_wpp)
{
	size_t count = 0;

	for (struct change_row *row = rows; row; row = row->next) {
		bool is_wpp = row->row.source == DecodingSourceWPP;

		if (row->is_gone)
			continue;
		if (is_wpp && with_wpp)
			row->file->is_gone = true;
		if (is_wpp || row->row.role != WIRE_REGISTRY_PROVIDER)
			continue;
		row->is_gone = true;
		count++;
	}
	return count;
}

size_t etw_registry_change_remove(struct etw_registry_change *change, const GUID *guid)
{
	return settle(change, mark(etw_registry_change_rows(change, guid), /* with_wpp= */ true));
}

static bool mark_contents(const struct etw_registry_change *change,
			  const struct etw_registry_item *item)
{
	struct etw_registry_file wanted = {.kind = item->kind};
	struct change_file *file;

	memcpy(wanted.sha1, item->sha1, sizeof(wanted.sha1));
	file = etw_registry_change_newest(etw_registry_change_content(change, &wanted));
	if (!file || file->is_gone)
		return false;
	file->is_gone = true;
	return true;
}

static bool is_below(const char *from, const char *path)
{
	size_t bytes = strlen(path);

	if (!from || strncmp(from, path, bytes) != 0)
		return false;
	return !from[bytes] || from[bytes] == '/' || (bytes && path[bytes - 1] == '/');
}

/* Returns how many files were marked. */
static size_t mark_from(struct etw_registry_change *change, const char *path)
{
	size_t count = 0;

	for (size_t i = 0; i < change->file_count; i++) {
		struct change_file *file = change->files[i];

		if (file->is_gone || !is_below(file->row.from, path))
			continue;
		file->is_gone = true;
		count++;
	}
	return count;
}

size_t etw_registry_change_remove_item(struct etw_registry_change *change,
				       const struct etw_registry_item *item)
{
	size_t count = 0;

	if (!mark_contents(change, item) && !mark_from(change, item->from)) {
		for (size_t i = 0; i < item->row_count; i++) {
			const struct etw_registry_row *row = &item->rows[i];

			if (row->role == WIRE_REGISTRY_PROVIDER && row->source != DecodingSourceWPP)
				count += mark(etw_registry_change_rows(change, &row->guid),
					      /* with_wpp= */ false);
		}
	}
	return settle(change, count);
}

size_t etw_registry_change_remove_from(struct etw_registry_change *change, const char *path,
				       size_t *ret_definitions)
{
	size_t definitions = mark_from(change, path);

	if (ret_definitions)
		*ret_definitions = definitions;
	return settle(change, 0);
}
