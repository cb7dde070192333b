/* SPDX-License-Identifier: MIT */
#include "registry/change.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/table.h"
#include "base/time.h"
#include "registry/change_internal.h"
#include "registry/folder.h"

#define NEW_INDEX      "index.new" /* there while a change lasts: the next one sees a crash by it */
#define NEW_DEFINITION "definitions/new"

void etw_registry_change_end(struct etw_registry_change *change)
{
	if (!change)
		return;
	if (change->folder_fd >= 0) {
		if (change->has_begun) {
			if (!change->is_committed)
				etw_registry_change_sweep(change);
			(void)unlinkat(change->folder_fd, NEW_INDEX, 0);
		}
		(void)close(change->folder_fd);
	}
	if (change->lock_fd >= 0)
		(void)close(change->lock_fd);
	etw_registry_index_close(&change->old);
	etw_table_done(&change->by_content);
	etw_table_done(&change->by_guid);
	etw_arena_done(&change->arena);
	free(change->rows);
	free(change->files);
	free(change);
}

void etw_registry_change_endp(struct etw_registry_change **change)
{
	etw_registry_change_end(*change);
}

/* mkdir -p. A folder that others may look into, as they may into the index. */
static int make_folder(const char *folder)
{
	CLEANUP(freep) char *path = strdup(folder);

	if (!path)
		return -ENOMEM;
	for (char *at = path + 1; *path; at++) {
		char kept = *at;

		if (kept && kept != '/')
			continue;
		*at = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return -errno;
		*at = kept;
		if (!kept)
			break;
	}
	return 0;
}

static int lock_folder(struct etw_registry_change *change, const char *folder)
{
	TRY(make_folder(folder));
	change->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (change->folder_fd < 0)
		return -errno;
	change->lock_fd = openat(change->folder_fd, "lock",
				 O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (change->lock_fd < 0)
		return -errno;
	while (flock(change->lock_fd, LOCK_EX) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (mkdirat(change->folder_fd, "definitions", 0755) < 0 && errno != EEXIST)
		return -errno;
	return 0;
}

static bool is_content(const void *item, const void *key)
{
	const struct change_file *file = item;
	const struct change_file *wanted = key;

	return file->row.kind == wanted->row.kind &&
	       !memcmp(file->row.sha1, wanted->row.sha1, sizeof(file->row.sha1));
}

static uint64_t content_hash(const struct etw_registry_file *file)
{
	return etw_hash_bytes((uint64_t)file->kind, file->sha1, sizeof(file->sha1));
}

static bool is_provider(const void *item, const void *key)
{
	return etw_guid_equal(&((const struct change_row *)item)->row.guid, key);
}

static int grow(void *list, size_t count, size_t item_bytes)
{
	void **items = list, *grown;

	/* Doubled at powers of two. */
	if (count & (count - 1))
		return 0;
	grown = realloc(*items, (count ? 2 * count : 1) * item_bytes);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	return 0;
}

static int add_file(struct etw_registry_change *change, const struct etw_registry_file *row,
		    bool is_new)
{
	struct change_file *file = etw_arena_alloc(&change->arena, sizeof(*file));

	if (!file)
		return -ENOMEM;
	TRY(grow(&change->files, change->file_count, sizeof(struct change_file *)));
	*file = (struct change_file){.row = *row, .is_new = is_new};
	TRY(etw_table_insert(&change->by_content, content_hash(row), file));
	change->files[change->file_count++] = file;
	return 0;
}

static int add_row(struct etw_registry_change *change, const struct etw_registry_row *row)
{
	struct change_row *kept = etw_arena_alloc(&change->arena, sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	TRY(grow(&change->rows, change->row_count, sizeof(struct change_row *)));
	*kept = (struct change_row){.row = *row, .file = change->files[row->file]};
	change->rows[change->row_count++] = kept;
	if (row->role != WIRE_REGISTRY_PROVIDER)
		return 0;
	kept->file->has_providers = true;
	return etw_table_insert(&change->by_guid, etw_guid_hash(&row->guid), kept);
}

static int read_old(struct etw_registry_change *change, const char *folder,
		    struct etw_fault *reterr)
{
	int r = etw_registry_index_open(folder, &change->old, reterr);

	if (r == -ENOENT)
		return 0;
	TRY(r);
	for (uint32_t i = 0; i < change->old.file_count; i++) {
		const struct etw_registry_file file = etw_registry_index_file(&change->old, i);

		TRY(add_file(change, &file, /* is_new= */ false));
	}
	for (uint32_t i = 0; i < change->old.row_count; i++) {
		const struct etw_registry_row row = etw_registry_index_row(&change->old, i);

		TRY(add_row(change, &row));
	}
	return 0;
}

/* Leaves the mark of a change, and cleans up behind one that did not come to its end. */
static int mark_begin(struct etw_registry_change *change)
{
	bool was_crash = !faccessat(change->folder_fd, NEW_INDEX, F_OK, AT_SYMLINK_NOFOLLOW);
	int fd;

	if (was_crash) {
		etw_registry_change_sweep(change);
		(void)unlinkat(change->folder_fd, NEW_INDEX, 0);
	}
	fd = openat(change->folder_fd, NEW_INDEX, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	(void)close(fd);
	change->has_begun = true;
	return 0;
}

int etw_registry_change_begin(const char *folder, struct etw_registry_change **ret,
			      struct etw_fault *reterr)
{
	CLEANUP(etw_registry_change_endp)
	struct etw_registry_change *change = calloc(1, sizeof(*change));

	if (!change)
		return -ENOMEM;
	change->folder_fd = change->lock_fd = -1;
	TRY(lock_folder(change, folder));
	TRY(read_old(change, folder, reterr));
	TRY(mark_begin(change));
	*ret = TAKE(change);
	return 0;
}

static int write_all(int fd, const uint8_t *at, size_t bytes)
{
	while (bytes) {
		ssize_t done = write(fd, at, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		at += done;
		bytes -= (size_t)done;
	}
	return 0;
}

static int write_file(int folder_fd, const char *name, const uint8_t *at, size_t bytes)
{
	int fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			0644);
	int r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, at, bytes);
	if (close(fd) < 0 && !r)
		r = -errno;
	return r;
}

static int store_definition(struct etw_registry_change *change,
			    const struct etw_registry_file *file, struct etw_bytes bytes)
{
	char name[ETW_REGISTRY_NAME_BYTES];

	etw_registry_definition_name(file, name);
	TRY(write_file(change->folder_fd, NEW_DEFINITION, bytes.at, bytes.left));
	if (renameat(change->folder_fd, NEW_DEFINITION, change->folder_fd, name) < 0)
		return -errno;
	return 0;
}

static int copy_text(struct etw_registry_change *change, const char *text, const char **ret)
{
	*ret = text ? etw_arena_strdup(&change->arena, text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

static int add_item_file(struct etw_registry_change *change, const struct etw_registry_item *item,
			 struct etw_registry_file *file)
{
	file->imported_ft = etw_filetime_now();
	TRY(copy_text(change, item->from, &file->from));
	TRY(copy_text(change, item->words.resource_file, &file->resource_file));
	TRY(copy_text(change, item->words.message_file, &file->message_file));
	TRY(copy_text(change, item->words.parameter_file, &file->parameter_file));
	TRY(store_definition(change, file, item->stored));
	return add_file(change, file, /* is_new= */ true);
}

int etw_registry_change_add(struct etw_registry_change *change,
			    const struct etw_registry_item *item)
{
	struct change_file wanted = {.row = {.kind = item->kind, .bytes = item->stored.left}};
	const struct change_file *same;

	memcpy(wanted.row.sha1, item->sha1, sizeof(wanted.row.sha1));
	same = etw_table_find(&change->by_content, content_hash(&wanted.row), is_content, &wanted);
	if (same && !same->is_gone)
		return ETW_REGISTRY_SAME;
	if (change->file_count >= ETW_REGISTRY_FILES_MAX)
		return -EUSERS;
	TRY(add_item_file(change, item, &wanted.row));
	change->is_changed = true;
	for (size_t i = 0; i < item->row_count; i++) {
		struct etw_registry_row row = item->rows[i];

		row.file = (uint32_t)change->file_count - 1;
		TRY(copy_text(change, row.name, &row.name));
		TRY(add_row(change, &row));
	}
	return 0;
}

const char *etw_registry_change_name(const struct etw_registry_change *change, const GUID *provider)
{
	const struct change_row *row = etw_table_find(&change->by_guid, etw_guid_hash(provider),
						      is_provider, provider);

	/* The table knows one row of each; only a removal makes the others matter. */
	for (size_t i = 0; row && row->is_gone && i < change->row_count; i++) {
		const struct change_row *other = change->rows[i];

		if (!other->is_gone && other->row.role == WIRE_REGISTRY_PROVIDER &&
		    etw_guid_equal(&other->row.guid, provider))
			row = other;
	}
	if (!row || row->is_gone)
		return NULL;
	return row->row.name ? row->row.name : "";
}

/* A definition goes with the last of its providers, or, of messages, with the last of its GUIDs. */
static void drop_empty_files(struct etw_registry_change *change)
{
	for (size_t i = 0; i < change->file_count; i++)
		change->files[i]->is_gone = true;
	for (size_t i = 0; i < change->row_count; i++) {
		struct change_row *row = change->rows[i];

		if (!row->is_gone &&
		    (row->row.role == WIRE_REGISTRY_PROVIDER || !row->file->has_providers ||
		     row->file->row.kind == WIRE_REGISTRY_TMF))
			row->file->is_gone = false;
	}
	for (size_t i = 0; i < change->row_count; i++)
		change->rows[i]->is_gone |= change->rows[i]->file->is_gone;
}

size_t etw_registry_change_remove(struct etw_registry_change *change, const GUID *guid)
{
	size_t count = 0;

	for (size_t i = 0; i < change->row_count; i++) {
		struct change_row *row = change->rows[i];

		if (row->is_gone || !etw_guid_equal(&row->row.guid, guid))
			continue;
		row->is_gone = true;
		count++;
	}
	if (count) {
		drop_empty_files(change);
		change->is_changed = true;
	}
	return count;
}

int etw_registry_change_write(struct etw_registry_change *change)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	TRY(etw_registry_change_index(change, &text));
	if (text.bytes > ETW_REGISTRY_INDEX_BYTES_MAX)
		return -EFBIG;
	TRY(write_file(change->folder_fd, NEW_INDEX, (const uint8_t *)text.at, text.bytes));
	/* One call for all that was written since: a thousand definitions would be a thousand waits. */
	return syncfs(change->folder_fd) < 0 ? -errno : 0;
}

static void remove_gone(struct etw_registry_change *change)
{
	char name[ETW_REGISTRY_NAME_BYTES];

	for (size_t i = 0; i < change->file_count; i++) {
		const struct change_file *file = change->files[i];
		const struct change_file *live = NULL;

		if (!file->is_gone)
			continue;
		/* Removed and added again in one change: the name is in use. */
		for (size_t j = i + 1; j < change->file_count && !live; j++) {
			if (!change->files[j]->is_gone && is_content(change->files[j], file))
				live = change->files[j];
		}
		etw_registry_definition_name(&file->row, name);
		if (!live)
			(void)unlinkat(change->folder_fd, name, 0);
	}
}

int etw_registry_change_commit(struct etw_registry_change *change)
{
	if (!change->is_changed)
		return 0;
	TRY(etw_registry_change_write(change));
	if (renameat(change->folder_fd, NEW_INDEX, change->folder_fd, ETW_REGISTRY_INDEX_NAME) < 0)
		return -errno;
	(void)fsync(change->folder_fd);
	change->is_committed = true;
	remove_gone(change);
	return 0;
}

/* Whether a file of the definitions' folder is one that the index in force names. */
static bool is_in_force(const struct etw_registry_change *change, const char *name)
{
	for (uint32_t i = 0; i < change->old.file_count; i++) {
		const struct etw_registry_file file = etw_registry_index_file(&change->old, i);
		char own[ETW_REGISTRY_NAME_BYTES];

		etw_registry_definition_name(&file, own);
		if (!strcmp(strchr(own, '/') + 1, name))
			return true;
	}
	return false;
}

static void sweep_new(struct etw_registry_change *change)
{
	char name[ETW_REGISTRY_NAME_BYTES];

	for (size_t i = 0; i < change->file_count; i++) {
		const struct change_file *file = change->files[i];

		etw_registry_definition_name(&file->row, name);
		if (file->is_new && !is_in_force(change, strchr(name, '/') + 1))
			(void)unlinkat(change->folder_fd, name, 0);
	}
	(void)unlinkat(change->folder_fd, NEW_DEFINITION, 0);
}

void etw_registry_change_sweep(struct etw_registry_change *change)
{
	int fd = openat(change->folder_fd, "definitions", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *entry;
	DIR *folder;

	/* Our own leftovers are known by name. */
	if (change->has_begun) {
		if (fd >= 0)
			(void)close(fd);
		sweep_new(change);
		return;
	}
	folder = fd < 0 ? NULL : fdopendir(fd);
	while (folder && (entry = readdir(folder))) {
		if (*entry->d_name != '.' && !is_in_force(change, entry->d_name))
			(void)unlinkat(fd, entry->d_name, 0);
	}
	if (folder)
		(void)closedir(folder);
}
