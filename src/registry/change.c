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

#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/time.h"
#include "registry/change_internal.h"
#include "registry/folder.h"

#define NEW_INDEX      "index.new" /* there while a change lasts: the next one sees a crash by it */
#define NEW_DEFINITION ETW_REGISTRY_DEFINITIONS "/new"

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

/*
 * What root keeps, everybody reads, whatever root's umask: otherwise a strict one would hide the system's
 * providers from all but root. What a user keeps is the user's alone, and nobody else would believe it.
 */
static mode_t mode_of(mode_t for_all)
{
	return geteuid() == 0 ? for_all : for_all & 0700;
}

#define FOLDER_MODE mode_of(0755)
#define FILE_MODE   mode_of(0644)

/* Opens a file for writing, made with that mode, whatever the umask. */
static int create(int folder_fd, const char *name, int flags, mode_t mode)
{
	int fd = openat(folder_fd, name, O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	int r;

	if (fd >= 0 && fchmod(fd, mode) == 0)
		return fd;
	r = -errno;
	if (fd >= 0)
		(void)close(fd);
	return r;
}

static int make_definitions(int folder_fd)
{
	if (mkdirat(folder_fd, ETW_REGISTRY_DEFINITIONS, 0700) < 0)
		return errno == EEXIST ? 0 : -errno;
	return fchmodat(folder_fd, ETW_REGISTRY_DEFINITIONS, FOLDER_MODE, 0) < 0 ? -errno : 0;
}

static int lock_folder(struct etw_registry_change *change, const char *folder)
{
	TRY(etw_file_make_folders(folder, FOLDER_MODE));
	change->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (change->folder_fd < 0)
		return -errno;
	change->lock_fd = create(change->folder_fd, "lock", O_RDWR, 0600);
	TRY(change->lock_fd);
	while (flock(change->lock_fd, LOCK_EX) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return make_definitions(change->folder_fd);
}

static bool is_content(const void *item, const void *key)
{
	return etw_registry_content_equal(&((const struct change_file *)item)->row, key);
}

static bool is_guid(const void *item, const void *key)
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

struct change_file *etw_registry_change_content(const struct etw_registry_change *change,
						const struct etw_registry_file *wanted)
{
	return etw_table_find(&change->by_content, etw_registry_content_hash(wanted), is_content,
			      wanted);
}

struct change_file *etw_registry_change_newest(struct change_file *file)
{
	while (file && file->newer)
		file = file->newer;
	return file;
}

struct change_row *etw_registry_change_rows(const struct etw_registry_change *change,
					    const GUID *guid)
{
	return etw_table_find(&change->by_guid, etw_guid_hash(guid), is_guid, guid);
}

static int add_file(struct etw_registry_change *change, const struct etw_registry_file *row,
		    bool is_new)
{
	struct change_file *same = etw_registry_change_content(change, row);
	struct change_file *file = etw_arena_alloc(&change->arena, sizeof(*file));

	if (!file)
		return -ENOMEM;
	TRY(grow(&change->files, change->file_count, sizeof(struct change_file *)));
	*file = (struct change_file){.row = *row, .is_new = is_new};
	if (same)
		etw_registry_change_newest(same)->newer = file;
	else
		TRY(etw_table_insert(&change->by_content, etw_registry_content_hash(row), file));
	change->files[change->file_count++] = file;
	return 0;
}

static int add_row(struct etw_registry_change *change, const struct etw_registry_row *row)
{
	struct change_row *same = etw_registry_change_rows(change, &row->guid);
	struct change_row *kept = etw_arena_alloc(&change->arena, sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	TRY(grow(&change->rows, change->row_count, sizeof(struct change_row *)));
	*kept = (struct change_row){.row = *row, .file = change->files[row->file]};
	if (same) {
		kept->next = same->next;
		same->next = kept;
	} else {
		TRY(etw_table_insert(&change->by_guid, etw_guid_hash(&row->guid), kept));
	}
	change->rows[change->row_count++] = kept;
	if (row->role == WIRE_REGISTRY_PROVIDER)
		kept->file->has_providers = true;
	return 0;
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
	fd = create(change->folder_fd, NEW_INDEX, O_WRONLY | O_EXCL, FILE_MODE);
	TRY(fd);
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

static int write_file(int folder_fd, const char *name, const uint8_t *at, size_t bytes)
{
	int fd = create(folder_fd, name, O_WRONLY | O_TRUNC, FILE_MODE);
	int r;

	TRY(fd);
	r = etw_file_write_all(fd, at, bytes);
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

/* Its bytes are compared when they are read; a file that is gone or cut shows by its size. */
static bool is_stored(const struct etw_registry_change *change,
		      const struct etw_registry_file *file)
{
	char name[ETW_REGISTRY_NAME_BYTES];
	struct stat info;

	etw_registry_definition_name(file, name);
	return !fstatat(change->folder_fd, name, &info, AT_SYMLINK_NOFOLLOW) &&
	       S_ISREG(info.st_mode) && (uint64_t)info.st_size == file->bytes;
}

static struct etw_registry_file file_of(const struct etw_registry_item *item)
{
	struct etw_registry_file file = {.kind = item->kind, .bytes = item->stored.left};

	memcpy(file.sha1, item->sha1, sizeof(file.sha1));
	return file;
}

static const struct change_file *find_live(const struct etw_registry_change *change,
					   const struct etw_registry_file *wanted)
{
	const struct change_file *file =
		etw_registry_change_newest(etw_registry_change_content(change, wanted));

	return file && !file->is_gone ? file : NULL;
}

int etw_registry_change_add(struct etw_registry_change *change,
			    const struct etw_registry_item *item)
{
	struct etw_registry_file file = file_of(item);

	if (find_live(change, &file)) {
		if (is_stored(change, &file))
			return ETW_REGISTRY_SAME;
		/* A new index tells those that have missed the definition to look again. */
		change->is_changed = true;
		return store_definition(change, &file, item->stored);
	}
	if (change->file_count >= ETW_REGISTRY_FILES_MAX)
		return -EUSERS;
	TRY(add_item_file(change, item, &file));
	change->is_changed = true;
	for (size_t i = 0; i < item->row_count; i++) {
		struct etw_registry_row row = item->rows[i];

		row.file = (uint32_t)change->file_count - 1;
		TRY(copy_text(change, row.name, &row.name));
		TRY(add_row(change, &row));
	}
	return 0;
}

bool etw_registry_change_is_new(const struct etw_registry_change *change,
				const struct etw_registry_item *item)
{
	const struct etw_registry_file wanted = file_of(item);
	const struct change_file *file = find_live(change, &wanted);

	return file && file->is_new;
}

bool etw_registry_change_is_lost(const struct etw_registry_change *change,
				 const struct etw_registry_item *item)
{
	const struct etw_registry_file wanted = file_of(item);

	return find_live(change, &wanted) && !is_stored(change, &wanted);
}

bool etw_registry_change_find(const struct etw_registry_change *change, const GUID *provider,
			      struct etw_registry_defined *ret)
{
	const struct change_row *latest = NULL;

	for (const struct change_row *row = etw_registry_change_rows(change, provider); row;
	     row = row->next) {
		if (row->is_gone || row->row.role != WIRE_REGISTRY_PROVIDER)
			continue;
		if (!latest || row->row.file > latest->row.file)
			latest = row;
	}
	if (!latest)
		return false;
	*ret = (struct etw_registry_defined){
		.name = latest->row.name ? latest->row.name : "",
		.from = latest->file->row.from ? latest->file->row.from : "",
		.is_new = latest->file->is_new,
	};
	return true;
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
		struct change_file *file = change->files[i];

		/* Removed and added again in one change: the name is in use. */
		if (!file->is_gone || !etw_registry_change_newest(file)->is_gone)
			continue;
		etw_registry_definition_name(&file->row, name);
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

/* Whether the index in force names a definition. */
static bool is_in_force(const struct etw_registry_change *change,
			const struct etw_registry_file *file)
{
	const struct change_file *oldest = etw_registry_change_content(change, file);

	return oldest && !oldest->is_new;
}

static void sweep_new(struct etw_registry_change *change)
{
	char name[ETW_REGISTRY_NAME_BYTES];

	for (size_t i = 0; i < change->file_count; i++) {
		const struct change_file *file = change->files[i];

		if (!file->is_new || is_in_force(change, &file->row))
			continue;
		etw_registry_definition_name(&file->row, name);
		(void)unlinkat(change->folder_fd, name, 0);
	}
	(void)unlinkat(change->folder_fd, NEW_DEFINITION, 0);
}

void etw_registry_change_sweep(struct etw_registry_change *change)
{
	int fd = openat(change->folder_fd, ETW_REGISTRY_DEFINITIONS,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
		struct etw_registry_file file;

		if (*entry->d_name != '.' && (!etw_registry_definition_of(entry->d_name, &file) ||
					      !is_in_force(change, &file)))
			(void)unlinkat(fd, entry->d_name, 0);
	}
	if (folder)
		(void)closedir(folder);
}
