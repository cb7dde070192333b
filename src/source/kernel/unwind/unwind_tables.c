/* SPDX-License-Identifier: MIT */
#include "source/kernel/unwind/unwind_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macros.h"
#include "source/kernel/procfs/procfs.h"
#include "source/kernel/procfs/vdso.h"

#define TRIES_MAX 8 /* to read a file whose processes are gone when it is looked for */

struct etw_kernel_rule {
	const struct etw_kernel_table *table; /* whose rule it is; NULL: none */
	uint64_t address; /* as the table's object counts; another table may have the same */
	struct etw_unwind_rule rule;
	bool is_found;
};

int etw_kernel_tables_init(struct etw_kernel_tables *tables, const char *root)
{
	char path[64];

	*tables = (struct etw_kernel_tables){.root = root};
	(void)snprintf(path, sizeof(path), "%s/self/mountinfo", root);
	etw_kernel_build_ids_init(&tables->local, path);
	tables->at = calloc(ETW_KERNEL_TABLES_MAX, sizeof(*tables->at));
	tables->rules = calloc(ETW_KERNEL_RULES, sizeof(*tables->rules));
	etw_kernel_tables_begin(tables);
	return tables->at && tables->rules ? 0 : -ENOMEM;
}

void etw_kernel_tables_done(struct etw_kernel_tables *tables)
{
	for (size_t i = 0; i < tables->count; i++)
		free(tables->at[i].memory);
	etw_kernel_build_ids_done(&tables->local);
	free(tables->at);
	free(tables->rules);
	*tables = (struct etw_kernel_tables){0};
}

/* The mapping of an image's code, as procfs has it now. */
struct wanted {
	const struct etw_kernel_tables *tables;
	const struct etw_kernel_image *image;
	int process_fd;
	int fd; /* owned by who asked; -1: none yet */
};

static bool is_local(const struct etw_kernel_tables *tables, uint64_t device)
{
	for (size_t i = 0; i < tables->local.device_count; i++)
		if (tables->local.devices[i] == device)
			return true;
	return false;
}

static int look_at_mapping(void *context, const struct etw_kernel_proc_mapping *mapping)
{
	struct wanted *wanted = context;
	struct stat status;
	char path[64];

	if (!mapping->is_executable || mapping->start < wanted->image->base ||
	    mapping->start >= wanted->image->end || !is_local(wanted->tables, mapping->device))
		return 0;
	(void)snprintf(path, sizeof(path), "map_files/%" PRIx64 "-%" PRIx64, mapping->start,
		       mapping->end);
	/* Opening a device is an act of its own; a mapping's file stays what it is. */
	if (fstatat(wanted->process_fd, path, &status, 0) < 0 || !S_ISREG(status.st_mode))
		return -ENOENT;
	wanted->fd = openat(wanted->process_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return wanted->fd < 0 ? -errno : 1;
}

/* Returns an owned descriptor of any file that lies where the image does, or negative errno. */
static int open_mapped(const struct etw_kernel_tables *tables, uint32_t pid,
		       const struct etw_kernel_image *image)
{
	struct wanted wanted = {.tables = tables, .image = image, .fd = -1};
	int root_fd = open(tables->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root_fd < 0)
		return -errno;
	wanted.process_fd = etw_kernel_proc_open(root_fd, pid);
	close(root_fd);
	if (wanted.process_fd < 0)
		return wanted.process_fd;
	(void)etw_kernel_proc_read_maps(wanted.process_fd, look_at_mapping, &wanted);
	close(wanted.process_fd);
	return wanted.fd < 0 ? -ENOENT : wanted.fd;
}

/*
 * By its path, when the process is gone. The path is what the process says: no step of it may lead to another mount, where
 * looking might wait for somebody, and what is there is opened when it was seen to be a plain file.
 */
static int open_path(const struct etw_kernel_tables *tables, const struct etw_kernel_image *image)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	const char *path = etw_kernel_text_string(image->path);
	struct stat status;
	char again[64];
	int place_fd, fd = -ENOENT;

	if (!path || path[0] != '/')
		return -ENOENT;
	place_fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (place_fd < 0)
		return -errno;
	(void)snprintf(again, sizeof(again), "/proc/self/fd/%d", place_fd);
	if (fstat(place_fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    is_local(tables, status.st_dev)) {
		fd = open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (fd < 0)
			fd = -errno;
	}
	close(place_fd);
	return fd;
}

/* Returns an owned descriptor of the image's file, or negative errno. */
static int open_image(const struct etw_kernel_tables *tables, uint32_t pid,
		      const struct etw_kernel_image *image)
{
	uint8_t build_id[ETW_KERNEL_BUILD_ID_BYTES];
	int fd;

	/* It lies in no file, and is the same in all processes. */
	if (etw_kernel_is_vdso(etw_kernel_text_string(image->path)))
		fd = etw_kernel_vdso_open();
	else
		fd = open_mapped(tables, pid, image);
	if (fd < 0)
		fd = open_path(tables, image);
	if (fd < 0)
		return fd;
	if (etw_kernel_build_id_read(fd, build_id) != image->build_id_bytes ||
	    memcmp(build_id, image->build_id, image->build_id_bytes) != 0) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

static void read_table(struct etw_kernel_tables *tables, uint32_t pid,
		       const struct etw_kernel_image *image, struct etw_kernel_table *table)
{
	int r, fd = open_image(tables, pid, image);

	if (fd < 0) {
		table->failed_count++;
		return;
	}
	r = etw_kernel_table_read(fd, &table->memory, &table->object, &table->slide);
	close(fd);
	if (r)
		table->failed_count = TRIES_MAX;
	else
		tables->byte_count += table->object.end - table->object.start;
}

/* What the tables of one uid, and of all but root's, take. */
struct use {
	size_t count, others_count;
	uint64_t bytes, others_bytes;
};

static struct use count_use(const struct etw_kernel_tables *tables, uint32_t uid)
{
	struct use use = {0};

	for (size_t i = 0; i < tables->count; i++) {
		const struct etw_kernel_table *table = &tables->at[i];
		const uint64_t bytes = table->memory ? table->object.end - table->object.start : 0;

		use.count += table->uid == uid;
		use.bytes += table->uid == uid ? bytes : 0;
		use.others_count += table->uid != 0;
		use.others_bytes += table->uid != 0 ? bytes : 0;
	}
	return use;
}

static bool may_add(const struct etw_kernel_tables *tables, uint32_t uid)
{
	const struct use use = count_use(tables, uid);

	if (tables->count == ETW_KERNEL_TABLES_MAX)
		return false;
	return uid == 0 || (use.count < ETW_KERNEL_TABLES_OF_UID &&
			    use.others_count < ETW_KERNEL_TABLES_MAX - ETW_KERNEL_TABLES_OF_ROOT);
}

/* One more may be as large as ETW_KERNEL_TABLE_BYTES_MAX. */
static bool may_read(const struct etw_kernel_tables *tables, uint32_t uid)
{
	const struct use use = count_use(tables, uid);

	if (tables->byte_count >= ETW_KERNEL_TABLES_BYTES)
		return false;
	return uid == 0 ||
	       (use.bytes < ETW_KERNEL_TABLES_BYTES_OF_UID &&
		use.others_bytes < ETW_KERNEL_TABLES_BYTES - ETW_KERNEL_TABLES_BYTES_ROOT);
}

static struct etw_kernel_table *find_table(struct etw_kernel_tables *tables, uint32_t uid,
					   uint32_t pid, const struct etw_kernel_image *image)
{
	struct etw_kernel_table *table = NULL;

	if (!image->build_id_bytes)
		return NULL;
	for (size_t i = 0; i < tables->count && !table; i++)
		if (tables->at[i].uid == uid &&
		    tables->at[i].build_id_bytes == image->build_id_bytes &&
		    memcmp(tables->at[i].build_id, image->build_id, image->build_id_bytes) == 0)
			table = &tables->at[i];
	if (!table) {
		tables->is_over_share = tables->is_over_share || !may_add(tables, uid);
		if (tables->is_over_share)
			return NULL;
		table = &tables->at[tables->count++];
		table->uid = uid;
		table->build_id_bytes = image->build_id_bytes;
		memcpy(table->build_id, image->build_id, image->build_id_bytes);
	}
	if (!table->memory && table->failed_count < TRIES_MAX && may_read(tables, uid))
		read_table(tables, pid, image, table);
	return table->memory ? table : NULL;
}

void etw_kernel_tables_begin(struct etw_kernel_tables *tables)
{
	tables->entry_bytes_left = ETW_KERNEL_WALK_ENTRY_BYTES;
	tables->is_over_share = false;
}

/* Where a rule is remembered. */
static size_t place_of(const struct etw_kernel_table *table, uint64_t address)
{
	const uint64_t mixed = address ^ (uint64_t)(uintptr_t)table << 20;

	return (mixed * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (ETW_KERNEL_RULES - 1);
}

bool etw_kernel_tables_find_rule(struct etw_kernel_tables *tables, uint32_t uid, uint32_t pid,
				 const struct etw_kernel_image *image, uint64_t pc,
				 struct etw_unwind_rule *ret)
{
	const struct etw_kernel_table *table = find_table(tables, uid, pid, image);
	struct etw_kernel_rule *rule;
	uint64_t address;

	if (!table)
		return false;
	/* Code may lie outside the segment with the table: the address is no place in this process's memory. */
	address = pc - image->base + table->slide;
	rule = &tables->rules[place_of(table, address)];
	if (rule->table != table || rule->address != address) {
		const uint64_t before = tables->entry_bytes_left;

		rule->is_found = etw_unwind_find_rule_within(
			&table->object, (uintptr_t)address, &tables->entry_bytes_left, &rule->rule);
		rule->table = table;
		rule->address = address;
		/* What a walk of its own would have a rule for is asked for again. */
		if (!tables->entry_bytes_left && before != ETW_KERNEL_WALK_ENTRY_BYTES)
			rule->table = NULL;
	}
	*ret = rule->rule;
	return rule->is_found;
}
