/* SPDX-License-Identifier: MIT */
#include "source/kernel/unwind/unwind_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/time.h"

#define TRIES_MAX 8 /* to read a file whose processes are gone when it is looked for */

#define SHARES (2 * ETW_KERNEL_TABLES_MAX) /* places of a hash that is never more than half full */

/* What the files of one uid take. */
struct etw_kernel_tables_share {
	uint32_t uid;
	uint32_t count; /* 0: nobody's */
	uint64_t bytes;
};

struct etw_kernel_rule {
	uint64_t serial;  /* of the table whose rule it is; 0: none */
	uint64_t address; /* as the table's object counts; another table may have the same */
	struct etw_unwind_rule rule;
	bool is_found;
};

/*
 * What was found of one image of one process. A text is made for each image that is mapped, and shared with nobody but the
 * children that inherit it: with the process it says which mapping was looked at.
 */
struct etw_kernel_found_file {
	struct etw_kernel_text
		*path; /* the image's; owned, so that no other one has its place; NULL: none */
	uint32_t pid;
	uint64_t start_ticks;
	uint8_t failed_count;
	uint64_t serial; /* of its table; 0: none */
	size_t number;   /* where that is */
};

int etw_kernel_tables_init(struct etw_kernel_tables *tables, const char *root)
{
	*tables = (struct etw_kernel_tables){.root = root};
	(void)snprintf(tables->mountinfo, sizeof(tables->mountinfo), "%s/self/mountinfo", root);
	etw_kernel_build_ids_init(&tables->local, tables->mountinfo);
	tables->at = calloc(ETW_KERNEL_TABLES_MAX, sizeof(*tables->at));
	tables->buckets = calloc(ETW_KERNEL_TABLES_MAX, sizeof(*tables->buckets));
	tables->shares = calloc(SHARES, sizeof(*tables->shares));
	tables->rules = calloc(ETW_KERNEL_RULES, sizeof(*tables->rules));
	tables->found = calloc(ETW_KERNEL_FOUND_FILES, sizeof(*tables->found));
	etw_kernel_tables_begin(tables);
	return tables->at && tables->buckets && tables->shares && tables->rules && tables->found
		       ? 0
		       : -ENOMEM;
}

void etw_kernel_tables_done(struct etw_kernel_tables *tables)
{
	for (size_t i = 0; i < tables->used_room; i++)
		free(tables->at[i].memory);
	for (size_t i = 0; tables->found && i < ETW_KERNEL_FOUND_FILES; i++)
		etw_kernel_text_unref(tables->found[i].path);
	etw_kernel_build_ids_done(&tables->local);
	free(tables->found);
	free(tables->shares);
	free(tables->buckets);
	free(tables->at);
	free(tables->rules);
	*tables = (struct etw_kernel_tables){0};
}

static uint64_t mix(uint64_t key)
{
	return key * UINT64_C(0x9E3779B97F4A7C15) >> 32;
}

static uint64_t bytes_of(const struct etw_kernel_table *table)
{
	return table->memory ? table->object.end - table->object.start : 0;
}

/* Shared ones are found by their build id, others by their file. */
static uint32_t *bucket_of(const struct etw_kernel_tables *tables, const uint8_t *build_id,
			   const struct etw_kernel_unwind_file *file)
{
	const uint64_t key = file->is_shared ? etw_load64(build_id)
					     : file->inode ^ file->device << 40;

	return &tables->buckets[mix(key) & (ETW_KERNEL_TABLES_MAX - 1)];
}

static bool is_same(const struct etw_kernel_unwind_file *a, const struct etw_kernel_unwind_file *b)
{
	if (a->is_shared || b->is_shared)
		return a->is_shared && b->is_shared;
	return a->inode == b->inode && a->device == b->device && a->changed_ns == b->changed_ns &&
	       a->byte_count == b->byte_count && a->uid == b->uid;
}

static bool is_build(const struct etw_kernel_table *table, const struct etw_kernel_image *image)
{
	return table->build_id_bytes == image->build_id_bytes &&
	       memcmp(table->build_id, image->build_id, image->build_id_bytes) == 0;
}

static struct etw_kernel_table *find_known(const struct etw_kernel_tables *tables,
					   const struct etw_kernel_image *image,
					   const struct etw_kernel_unwind_file *file)
{
	uint32_t next = *bucket_of(tables, image->build_id, file);

	for (; next; next = tables->at[next - 1].next_in_bucket) {
		struct etw_kernel_table *table = &tables->at[next - 1];

		if (is_same(&table->file, file) && is_build(table, image))
			return table;
	}
	return NULL;
}

/* What the files of one uid, and of all but root, take. */
struct use {
	size_t count, others_count;
	uint64_t bytes, others_bytes;
};

static struct use count_use(const struct etw_kernel_tables *tables, uint32_t uid)
{
	struct use use = {0};

	for (size_t i = 0; i < tables->used_room; i++) {
		const struct etw_kernel_table *table = &tables->at[i];
		const uint64_t bytes = bytes_of(table);

		if (!table->serial)
			continue;
		use.count += table->file.uid == uid;
		use.bytes += table->file.uid == uid ? bytes : 0;
		use.others_count += table->file.uid != 0;
		use.others_bytes += table->file.uid != 0 ? bytes : 0;
	}
	return use;
}

static struct etw_kernel_tables_share *share_of(struct etw_kernel_tables *tables, uint32_t uid)
{
	for (uint64_t place = mix(uid);; place++) {
		struct etw_kernel_tables_share *share = &tables->shares[place & (SHARES - 1)];

		if (!share->count || share->uid == uid)
			return share;
	}
}

/* Who has most of what there is too much of; not root. There must be somebody. */
static uint32_t find_greediest(struct etw_kernel_tables *tables, bool by_bytes)
{
	const struct etw_kernel_tables_share *most = NULL;

	memset(tables->shares, 0, SHARES * sizeof(*tables->shares));
	for (size_t i = 0; i < tables->used_room; i++) {
		const struct etw_kernel_table *table = &tables->at[i];
		struct etw_kernel_tables_share *share;

		if (!table->serial || table->file.uid == 0)
			continue;
		share = share_of(tables, table->file.uid);
		share->uid = table->file.uid;
		share->count++;
		share->bytes += bytes_of(table);
		if (!most || (by_bytes ? share->bytes > most->bytes : share->count > most->count))
			most = share;
	}
	return most->uid;
}

/* Of all of an owner, or of anybody's, the one that was not used for longest. There must be one. */
static struct etw_kernel_table *find_oldest(const struct etw_kernel_tables *tables, uint32_t uid,
					    bool of_anybody)
{
	struct etw_kernel_table *oldest = NULL;

	for (size_t i = 0; i < tables->used_room; i++) {
		struct etw_kernel_table *table = &tables->at[i];

		if (table->serial && (of_anybody || table->file.uid == uid) &&
		    (!oldest || table->used < oldest->used))
			oldest = table;
	}
	return oldest;
}

static void drop_table(struct etw_kernel_tables *tables, struct etw_kernel_table *table)
{
	const uint32_t number = (uint32_t)(table - tables->at) + 1;
	uint32_t *at = bucket_of(tables, table->build_id, &table->file);

	while (*at != number)
		at = &tables->at[*at - 1].next_in_bucket;
	*at = table->next_in_bucket;
	tables->byte_count -= bytes_of(table);
	tables->count--;
	free(table->memory);
	*table = (struct etw_kernel_table){.next_in_bucket = tables->first_free};
	tables->first_free = number;
}

/* For one more of @uid, which may be as large as ETW_KERNEL_TABLE_BYTES_MAX. */
static void make_room(struct etw_kernel_tables *tables, uint32_t uid)
{
	for (;;) {
		const struct use use = count_use(tables, uid);
		const bool by_bytes = use.others_bytes >=
				      ETW_KERNEL_TABLES_BYTES - ETW_KERNEL_TABLES_BYTES_ROOT;

		if (uid && (use.count >= ETW_KERNEL_TABLES_OF_UID ||
			    use.bytes >= ETW_KERNEL_TABLES_BYTES_OF_UID))
			drop_table(tables, find_oldest(tables, uid, false));
		else if (uid && (by_bytes || use.others_count >= ETW_KERNEL_TABLES_MAX -
									 ETW_KERNEL_TABLES_OF_ROOT))
			drop_table(tables,
				   find_oldest(tables, find_greediest(tables, by_bytes), false));
		else if (tables->count == ETW_KERNEL_TABLES_MAX ||
			 tables->byte_count >= ETW_KERNEL_TABLES_BYTES)
			/* Others have not what is left to them: root has more than what is left to it alone. */
			drop_table(tables, find_oldest(tables, 0, /* of_anybody= */ uid == 0));
		else
			return;
	}
}

static struct etw_kernel_table *take_place(struct etw_kernel_tables *tables)
{
	struct etw_kernel_table *table;

	if (!tables->first_free)
		return &tables->at[tables->used_room++];
	table = &tables->at[tables->first_free - 1];
	tables->first_free = table->next_in_bucket;
	return table;
}

/* What reading a table costs; one that a file does not have is seen by its first bytes. */
static uint64_t read_work(const struct etw_kernel_table *table, int r)
{
	if (!r)
		return bytes_of(table);
	return r == -ENOENT ? 0 : MIN(table->file.byte_count, ETW_KERNEL_TABLE_BYTES_MAX);
}

/* Returns what was read of a file that is open, also when that is no table. */
static struct etw_kernel_table *add_table(struct etw_kernel_tables *tables,
					  const struct etw_kernel_image *image,
					  const struct etw_kernel_unwind_file *file, uint64_t *work)
{
	uint32_t *bucket = bucket_of(tables, image->build_id, file);
	struct etw_kernel_table *table;
	int r;

	make_room(tables, file->uid);
	table = take_place(tables);
	*table = (struct etw_kernel_table){
		.build_id_bytes = image->build_id_bytes,
		.next_in_bucket = *bucket,
		.serial = ++tables->last_serial,
		.file = *file,
	};
	memcpy(table->build_id, image->build_id, image->build_id_bytes);
	r = etw_kernel_table_read(file->fd, &table->memory, &table->object, &table->slide);
	*work += read_work(table, r);
	tables->byte_count += bytes_of(table);
	tables->count++;
	*bucket = (uint32_t)(table - tables->at) + 1;
	return table;
}

/* The place of what was found of an image; it is empty when nobody looked. */
static struct etw_kernel_found_file *found_of(const struct etw_kernel_tables *tables,
					      const struct etw_kernel_stack_owner *owner,
					      const struct etw_kernel_image *image)
{
	const uint64_t key = (uint64_t)(uintptr_t)image->path ^ (uint64_t)owner->pid << 40;
	struct etw_kernel_found_file *found =
		&tables->found[mix(key) & (ETW_KERNEL_FOUND_FILES - 1)];

	if (found->path == image->path && found->pid == owner->pid &&
	    found->start_ticks == owner->start_ticks)
		return found;
	etw_kernel_text_unref(found->path);
	*found = (struct etw_kernel_found_file){
		.path = etw_kernel_text_ref(image->path),
		.pid = owner->pid,
		.start_ticks = owner->start_ticks,
	};
	return found;
}

/* Looks for the file, unless too much was done for the process' user already. */
static struct etw_kernel_table *look_up(struct etw_kernel_tables *tables,
					const struct etw_kernel_stack_owner *owner,
					const struct etw_kernel_image *image)
{
	const uint32_t uid = etw_kernel_unwind_uid(tables->root, owner);
	struct etw_kernel_table *table = NULL;
	struct etw_kernel_unwind_file file;
	uint64_t work = ETW_KERNEL_WORK_OF_LOOK;

	if (!etw_kernel_work_may(&tables->work, uid, etw_monotonic_ns())) {
		tables->is_over_share = true;
		return NULL;
	}
	if (etw_kernel_unwind_file_open(tables->root, &tables->local, owner, image, &file) == 0) {
		table = find_known(tables, image, &file);
		if (!table)
			table = add_table(tables, image, &file, &work);
		close(file.fd);
	}
	etw_kernel_work_done(&tables->work, uid,
			     work + (uint64_t)file.line_count * ETW_KERNEL_WORK_OF_LINE);
	return table;
}

/* Returns NULL for a file that has no table. */
static struct etw_kernel_table *use(struct etw_kernel_tables *tables,
				    struct etw_kernel_table *table)
{
	table->used = tables->walks;
	return table->memory ? table : NULL;
}

static struct etw_kernel_table *find_table(struct etw_kernel_tables *tables,
					   const struct etw_kernel_stack_owner *owner,
					   const struct etw_kernel_image *image)
{
	static const struct etw_kernel_unwind_file shared = {.is_shared = true};
	struct etw_kernel_found_file *found;
	struct etw_kernel_table *table;

	if (!image->build_id_bytes)
		return NULL;
	table = find_known(tables, image, &shared);
	if (table)
		return use(tables, table);
	found = found_of(tables, owner, image);
	table = &tables->at[found->number];
	if (found->serial && table->serial == found->serial && is_build(table, image))
		return use(tables, table);
	table = NULL;
	if (found->failed_count < TRIES_MAX && !tables->is_over_share)
		table = look_up(tables, owner, image);
	if (table) {
		found->serial = table->serial;
		found->number = (size_t)(table - tables->at);
		return use(tables, table);
	}
	if (found->failed_count < TRIES_MAX && !tables->is_over_share)
		found->failed_count++;
	return NULL;
}

void etw_kernel_tables_begin(struct etw_kernel_tables *tables)
{
	tables->entry_bytes_left = ETW_KERNEL_WALK_ENTRY_BYTES;
	tables->is_over_share = false;
	tables->walks++;
}

/* Where a rule is remembered. */
static size_t place_of(const struct etw_kernel_table *table, uint64_t address)
{
	return mix(address ^ table->serial << 20) & (ETW_KERNEL_RULES - 1);
}

bool etw_kernel_tables_find_rule(struct etw_kernel_tables *tables,
				 const struct etw_kernel_stack_owner *owner,
				 const struct etw_kernel_image *image, uint64_t pc,
				 struct etw_unwind_rule *ret)
{
	const struct etw_kernel_table *table = find_table(tables, owner, image);
	struct etw_kernel_rule *rule;
	uint64_t address;

	if (!table)
		return false;
	/* Code may lie outside the segment with the table: the address is no place in this process's memory. */
	address = pc - image->base + table->slide;
	rule = &tables->rules[place_of(table, address)];
	if (rule->serial != table->serial || rule->address != address) {
		const uint64_t before = tables->entry_bytes_left;

		rule->is_found = etw_unwind_find_rule_within(
			&table->object, (uintptr_t)address, &tables->entry_bytes_left, &rule->rule);
		rule->serial = table->serial;
		rule->address = address;
		/* What a walk of its own would have a rule for is asked for again. */
		if (!tables->entry_bytes_left && before != ETW_KERNEL_WALK_ENTRY_BYTES)
			rule->serial = 0;
	}
	*ret = rule->rule;
	return rule->is_found;
}
