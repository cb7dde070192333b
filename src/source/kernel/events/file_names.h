/* SPDX-License-Identifier: MIT */
/*
 * Names of files: how a record of the BPF programs becomes the text that /proc/self/fd shows, and which names were told, for
 * the rundown. Bounded: of more files than it holds, those that were told first are forgotten.
 *
 * Context: the session's thread.
 * Source: docs/kernel-events/file.md.
 */
#ifndef ETW_SOURCE_KERNEL_EVENTS_FILE_NAMES_H
#define ETW_SOURCE_KERNEL_EVENTS_FILE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/kernel/bpf/file_records.h"
#include "source/kernel/machine/mount_points.h"

#define ETW_KERNEL_NAME_TEXT_MAX 4400 /* bytes of a text, with a mount in front; longer are cut */

#define ETW_KERNEL_NAMES_MAX       (UINT32_C(1) << 16) /* files */
#define ETW_KERNEL_NAMES_MAX_BYTES (UINT32_C(16) << 20)

struct etw_kernel_told_name {
	uint64_t key;                                 /* of the file */
	struct etw_kernel_told_name *next, *previous; /* by age, the newest first */
	struct etw_kernel_told_name *next_in_bucket;
	uint32_t text_bytes;
	char text[]; /* UTF-8, or whatever the file system has; no NUL */
};

/* Zeroed: nothing was told. */
struct etw_kernel_file_names {
	struct etw_kernel_mount_points points;
	struct etw_kernel_told_name **buckets;        /* owned; NULL: nothing was told */
	struct etw_kernel_told_name *newest, *oldest; /* owned */
	uint32_t count, byte_count;
	uint64_t forgotten; /* names that left no room for newer ones */
};

/* etw_kernel_file_names_done() - frees all; takes what was zeroed. */
void etw_kernel_file_names_done(struct etw_kernel_file_names *names);

/*
 * etw_kernel_file_name_text() - the text of a record's name.
 *
 * @path: the record's, of @path_bytes; anything may be in it
 * @to:   ETW_KERNEL_NAME_TEXT_MAX bytes; no NUL
 *
 * Returns its bytes.
 */
size_t etw_kernel_file_name_text(struct etw_kernel_file_names *names,
				 const struct etw_kernel_file_name *record, const char *path,
				 size_t path_bytes, char *to);

/* etw_kernel_deleted_name_text() - of a file that is gone, and whose record has no name: the one that was told. Else as above. */
size_t etw_kernel_deleted_name_text(struct etw_kernel_file_names *names,
				    const struct etw_kernel_file_name *record, char *to);

/*
 * etw_kernel_given_name_text() - the text of a path as a system call has it: behind the name of the folder where it begins,
 * if that was told, and without what says nothing ("./", "//"). Links are not followed, and ".." stays.
 *
 * @folder: its key; 0: the path begins at the root, or nothing is known
 * @path:   @path_bytes, the last of which may be a NUL
 * @to:     as above
 *
 * Returns its bytes.
 */
size_t etw_kernel_given_name_text(const struct etw_kernel_file_names *names, uint64_t folder,
				  const char *path, size_t path_bytes, char *to);

/* etw_kernel_file_names_put() - a name is told; another one of the same key is replaced. Without memory it is forgotten. */
void etw_kernel_file_names_put(struct etw_kernel_file_names *names, uint64_t key, const char *text,
			       size_t bytes);

/* etw_kernel_file_names_has() - whether a name of the file was told. */
bool etw_kernel_file_names_has(const struct etw_kernel_file_names *names, uint64_t key);

/* etw_kernel_file_names_remove() - a file is gone. */
void etw_kernel_file_names_remove(struct etw_kernel_file_names *names, uint64_t key);

#endif
