/* SPDX-License-Identifier: MIT */
#include "source/kernel/events/file_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include <linux/magic.h>

#include "base/macros.h"
#include "source/kernel/machine/facts.h"

#define BUCKETS    16384        /* a power of two */
#define DELETED    " (deleted)" /* as /proc/self/fd has it */
#define MINOR_BITS 20
#define MINOR_MASK 0xFFFFFu

/* Not in every <linux/magic.h> that builds this. */
#define PID_FS_MAGIC_NUMBER 0x50494446
#define DMA_BUF_MAGIC_VALUE 0x444d4142

struct text {
	char *to;
	size_t bytes;
};

static void put(struct text *text, const char *from, size_t bytes)
{
	bytes = MIN(bytes, ETW_KERNEL_NAME_TEXT_MAX - text->bytes);
	memcpy(text->to + text->bytes, from, bytes);
	text->bytes += bytes;
}

static void put_text(struct text *text, const char *from)
{
	put(text, from, strlen(from));
}

/* The names of a record the other way round, a slash in front of each. */
static void put_path(struct text *text, const char *path, size_t bytes)
{
	size_t end = bytes;

	while (end) {
		size_t start = end;

		while (start && path[start - 1])
			start--;
		if (end > start) {
			put_text(text, "/");
			put(text, path + start, end - start);
		}
		end = start ? start - 1 : 0;
	}
}

static void put_numbered(struct text *text, const char *format, unsigned long long number)
{
	char part[64];

	(void)snprintf(part, sizeof(part), format, number);
	put_text(text, part);
}

/* A block device as a file of its own file system, which has no names. */
static void put_device(struct text *text, const char *root, uint32_t device)
{
	unsigned major = device >> MINOR_BITS, minor = device & MINOR_MASK;
	char link[ETW_KERNEL_FACT_PATH_BYTES], part[64];

	if (etw_kernel_fact_link(root ? root : "", link, sizeof(link), "sys/dev/block/%u:%u", major,
				 minor)) {
		put_text(text, "/dev/");
		put_text(text, etw_kernel_fact_base(link));
		return;
	}
	(void)snprintf(part, sizeof(part), "[block %u:%u]", major, minor);
	put_text(text, part);
}

/* As the file system itself says it in /proc/self/fd. @name: of the file */
static void put_pseudo(struct text *text, const struct etw_kernel_file_name *record,
		       const char *name)
{
	size_t bytes = strnlen(name, record->path_bytes);

	switch (record->magic) {
	case PIPEFS_MAGIC:
		put_numbered(text, "pipe:[%llu]", record->inode);
		return;
	case SOCKFS_MAGIC:
		put_numbered(text, "socket:[%llu]", record->inode);
		return;
	case NSFS_MAGIC:
		put_numbered(text, "ns:[%llu]", record->inode);
		return;
	case PID_FS_MAGIC_NUMBER:
		put_text(text, "anon_inode:[pidfd]");
		return;
	case ANON_INODE_FS_MAGIC:
		put_text(text, "anon_inode:");
		put(text, name, bytes);
		return;
	case DMA_BUF_MAGIC_VALUE:
		put_text(text, "/dmabuf:");
		return;
	default:
		put_text(text, "/");
		put(text, name, bytes);
		put_text(text, DELETED);
	}
}

/* A path within its file system, and where that is. */
static void put_within(struct etw_kernel_file_names *names, struct text *text,
		       const struct etw_kernel_file_name *record, const char *path,
		       size_t path_bytes)
{
	const struct etw_kernel_mount_point *point;
	char within[ETW_KERNEL_NAME_TEXT_MAX];
	struct text inner = {.to = within};
	size_t hidden;

	if (record->flags & ETW_KERNEL_NAME_MISSING)
		put_numbered(&inner, "/[inode %llu]", record->inode);
	else
		put_path(&inner, path, path_bytes);
	point = etw_kernel_mount_points_find(&names->points, record->device, within, inner.bytes);
	hidden = point ? strlen(point->within) : 0;
	if (point)
		put_text(text, point->point);
	put(text, within + hidden, inner.bytes - hidden);
}

size_t etw_kernel_file_name_text(struct etw_kernel_file_names *names,
				 const struct etw_kernel_file_name *record, const char *path,
				 size_t path_bytes, char *to)
{
	struct text text = {.to = to};

	if (record->flags & ETW_KERNEL_NAME_PSEUDO) {
		put_pseudo(&text, record, path_bytes ? path : "");
		return text.bytes;
	}
	if (record->magic == BDEVFS_MAGIC && record->special) {
		put_device(&text, names->points.root, record->special);
		return text.bytes;
	}
	if (record->flags & ETW_KERNEL_NAME_CUT)
		put_text(&text, "...");
	if (record->flags & ETW_KERNEL_NAME_WITHIN && !(record->flags & ETW_KERNEL_NAME_CUT))
		put_within(names, &text, record, path, path_bytes);
	else
		put_path(&text, path, path_bytes);
	if (!text.bytes)
		put_text(&text, "/");
	if (record->flags & ETW_KERNEL_NAME_UNLINKED)
		put_text(&text, DELETED);
	return text.bytes;
}

static struct etw_kernel_told_name **bucket_of(const struct etw_kernel_file_names *names,
					       uint64_t key)
{
	return &names->buckets[key * UINT64_C(0x9E3779B97F4A7C15) >> 32 & (BUCKETS - 1)];
}

/* The last entry of a key up to a moment, be it that the file is gone; NULL: there is none. */
static struct etw_kernel_told_name *find_entry(const struct etw_kernel_file_names *names,
					       uint64_t key, uint64_t at_ns)
{
	struct etw_kernel_told_name *found = NULL;

	if (!names->buckets || !key)
		return NULL;
	for (struct etw_kernel_told_name *name = *bucket_of(names, key); name;
	     name = name->next_in_bucket)
		if (name->key == key && name->from_ns <= at_ns &&
		    (!found || name->from_ns > found->from_ns))
			found = name;
	return found;
}

const struct etw_kernel_told_name *etw_kernel_file_names_find(
	const struct etw_kernel_file_names *names, uint64_t key, uint64_t at_ns)
{
	const struct etw_kernel_told_name *name = find_entry(names, key, at_ns);

	return name && !name->is_gone ? name : NULL;
}

static bool ends_deleted(const struct etw_kernel_told_name *name)
{
	const size_t bytes = sizeof(DELETED) - 1;

	return name->text_bytes >= bytes &&
	       memcmp(name->text + name->text_bytes - bytes, DELETED, bytes) == 0;
}

size_t etw_kernel_deleted_name_text(struct etw_kernel_file_names *names,
				    const struct etw_kernel_file_name *record, uint64_t at_ns,
				    char *to)
{
	const struct etw_kernel_told_name *known = etw_kernel_file_names_find(names, record->key,
									      at_ns - 1);
	struct text text = {.to = to};

	if (!known)
		return etw_kernel_file_name_text(names, record, "", 0, to);
	put(&text, known->text, known->text_bytes);
	if (!ends_deleted(known))
		put_text(&text, DELETED);
	return text.bytes;
}

size_t etw_kernel_given_name_text(const struct etw_kernel_file_names *names, uint64_t folder,
				  uint64_t at_ns, const char *path, size_t path_bytes, char *to)
{
	const struct etw_kernel_told_name *known = etw_kernel_file_names_find(names, folder, at_ns);
	size_t length = strnlen(path, path_bytes);
	bool is_absolute = length && path[0] == '/';
	struct text text = {.to = to};

	if (known && !is_absolute && !(known->text_bytes == 1 && known->text[0] == '/'))
		put(&text, known->text, known->text_bytes);
	for (size_t at = 0; at < length;) {
		const char *slash = memchr(path + at, '/', length - at);
		size_t part = slash ? (size_t)(slash - path) - at : length - at;

		if (part && !(part == 1 && path[at] == '.')) {
			if (text.bytes || is_absolute || known)
				put_text(&text, "/");
			put(&text, path + at, part);
		}
		at += part + 1;
	}
	if (!text.bytes && (is_absolute || known))
		put_text(&text, "/");
	return text.bytes;
}

static void add_change(struct etw_kernel_file_names *names, struct etw_kernel_told_name *name)
{
	if (name->is_change)
		return;
	name->is_change = true;
	name->next_change = NULL;
	name->previous_change = names->last_change;
	*(names->last_change ? &names->last_change->next_change : &names->first_change) = name;
	names->last_change = name;
}

static void drop_change(struct etw_kernel_file_names *names, struct etw_kernel_told_name *name)
{
	if (!name->is_change)
		return;
	name->is_change = false;
	*(name->previous_change ? &name->previous_change->next_change
				: &names->first_change) = name->next_change;
	*(name->next_change ? &name->next_change->previous_change
			    : &names->last_change) = name->previous_change;
}

static void free_entry(struct etw_kernel_file_names *names, struct etw_kernel_told_name *name)
{
	struct etw_kernel_told_name **link = bucket_of(names, name->key);

	while (*link != name)
		link = &(*link)->next_in_bucket;
	*link = name->next_in_bucket;
	*(name->previous ? &name->previous->next : &names->newest) = name->next;
	*(name->next ? &name->next->previous : &names->oldest) = name->previous;
	drop_change(names, name);
	names->count--;
	names->byte_count -= name->text_bytes;
	free(name);
}

/* Whatever was told of the file before ends with the new entry, or begins behind it. */
static void mark_changes(struct etw_kernel_file_names *names, struct etw_kernel_told_name *entry)
{
	bool has_others = entry->is_gone;

	for (struct etw_kernel_told_name *name = entry->next_in_bucket; name;
	     name = name->next_in_bucket) {
		if (name->key != entry->key)
			continue;
		has_others = true;
		add_change(names, name);
	}
	if (has_others)
		add_change(names, entry);
}

/* @bytes: of @text; 0 where the file is gone */
static void add_entry(struct etw_kernel_file_names *names, uint64_t key, uint64_t from_ns,
		      bool is_gone, const char *text, size_t bytes)
{
	struct etw_kernel_told_name *name;

	if (!names->buckets) {
		names->buckets = calloc(BUCKETS, sizeof(struct etw_kernel_told_name *));
		if (!names->buckets) {
			names->forgotten++;
			return;
		}
	}
	while (names->oldest && (names->count >= ETW_KERNEL_NAMES_MAX ||
				 names->byte_count + bytes > ETW_KERNEL_NAMES_MAX_BYTES)) {
		names->forgotten += !names->oldest->is_gone;
		free_entry(names, names->oldest);
	}
	name = malloc(sizeof(*name) + bytes);
	if (!name) {
		names->forgotten++;
		return;
	}
	*name = (struct etw_kernel_told_name){
		.key = key,
		.from_ns = from_ns,
		.next = names->newest,
		.next_in_bucket = *bucket_of(names, key),
		.is_gone = is_gone,
		.text_bytes = (uint32_t)bytes,
	};
	if (bytes)
		memcpy(name->text, text, bytes);
	*bucket_of(names, key) = name;
	*(names->newest ? &names->newest->previous : &names->oldest) = name;
	names->newest = name;
	names->count++;
	names->byte_count += (uint32_t)bytes;
	mark_changes(names, name);
}

void etw_kernel_file_names_put(struct etw_kernel_file_names *names, uint64_t key, uint64_t from_ns,
			       const char *text, size_t bytes)
{
	add_entry(names, key, from_ns, false, text, bytes);
}

void etw_kernel_file_names_remove(struct etw_kernel_file_names *names, uint64_t key,
				  uint64_t from_ns)
{
	add_entry(names, key, from_ns, true, NULL, 0);
}

/* What was told of the file up to this change. Of one moment what was taken in last counts, which is in front. */
static void free_earlier(struct etw_kernel_file_names *names,
			 const struct etw_kernel_told_name *change)
{
	struct etw_kernel_told_name *name, *next;
	bool is_behind = false;

	for (name = *bucket_of(names, change->key); name; name = next) {
		next = name->next_in_bucket;
		if (name == change)
			is_behind = true;
		else if (name->key == change->key &&
			 (name->from_ns < change->from_ns ||
			  (is_behind && name->from_ns == change->from_ns)))
			free_entry(names, name);
	}
}

void etw_kernel_file_names_retire(struct etw_kernel_file_names *names, uint64_t before_ns)
{
	struct etw_kernel_told_name *change;

	while ((change = names->first_change) && change->from_ns <= before_ns) {
		drop_change(names, change);
		free_earlier(names, change);
		if (change->is_gone)
			free_entry(names, change);
	}
}

void etw_kernel_file_names_done(struct etw_kernel_file_names *names)
{
	while (names->newest)
		free_entry(names, names->newest);
	free(names->buckets);
	etw_kernel_mount_points_done(&names->points);
	*names = (struct etw_kernel_file_names){0};
}
