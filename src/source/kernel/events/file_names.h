/* SPDX-License-Identifier: MIT */
/*
 * Names of files: how a record of the BPF programs becomes the text that /proc/self/fd shows, and which names were told, for
 * the rundown and for paths that begin in a folder. Bounded: of more files than it holds, those that were told first are
 * forgotten.
 *
 * A file is named on the processor that met it first, and events of all processors need the name that it had at their moment:
 * so a name has a time, and the order in which names are taken in does not matter. One that was replaced, or whose file is
 * gone, stays until no event of its time is left (etw_kernel_file_names_retire()).
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
	uint64_t key;     /* of the file */
	uint64_t from_ns; /* CLOCK_MONOTONIC: since when it is called so */
	struct etw_kernel_told_name *next, *previous; /* as taken in, the newest first */
	struct etw_kernel_told_name *next_in_bucket;
	struct etw_kernel_told_name *next_change,
		*previous_change; /* as taken in, the oldest first */
	bool is_change;           /* among the changes: others of the key may have ended with it */
	bool is_gone;             /* no name: the file is gone since then */
	uint32_t text_bytes;
	char text[]; /* UTF-8, or whatever the file system has; no NUL */
};

/* Zeroed: nothing was told. */
struct etw_kernel_file_names {
	struct etw_kernel_mount_points points;
	struct etw_kernel_told_name **buckets;        /* owned; NULL: nothing was told */
	struct etw_kernel_told_name *newest, *oldest; /* owned */
	struct etw_kernel_told_name *first_change, *last_change;
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

/*
 * etw_kernel_deleted_name_text() - of a file that is gone since @at_ns, and whose record has no name: the one that was told.
 * Else as above.
 */
size_t etw_kernel_deleted_name_text(struct etw_kernel_file_names *names,
				    const struct etw_kernel_file_name *record, uint64_t at_ns,
				    char *to);

/*
 * etw_kernel_given_name_text() - the text of a path as a system call has it: behind the name of the folder where it begins,
 * if that was told, and without what says nothing ("./", "//"). Links are not followed, and ".." stays.
 *
 * @folder: its key; 0: the path begins at the root, or nothing is known
 * @at_ns:  the moment of the call
 * @path:   @path_bytes, the last of which may be a NUL
 * @to:     as above
 *
 * Returns its bytes.
 */
size_t etw_kernel_given_name_text(const struct etw_kernel_file_names *names, uint64_t folder,
				  uint64_t at_ns, const char *path, size_t path_bytes, char *to);

/* etw_kernel_file_names_find() - what a file was called at a moment. Borrowed; NULL: it had no name that was told. */
const struct etw_kernel_told_name *etw_kernel_file_names_find(
	const struct etw_kernel_file_names *names, uint64_t key, uint64_t at_ns);

/* etw_kernel_file_names_put() - a file is called so from @from_ns on. Without memory it is forgotten. */
void etw_kernel_file_names_put(struct etw_kernel_file_names *names, uint64_t key, uint64_t from_ns,
			       const char *text, size_t bytes);

/* etw_kernel_file_names_remove() - a file is gone from @from_ns on. */
void etw_kernel_file_names_remove(struct etw_kernel_file_names *names, uint64_t key,
				  uint64_t from_ns);

/* etw_kernel_file_names_retire() - no event from before @before_ns is left: what was replaced until then is freed. */
void etw_kernel_file_names_retire(struct etw_kernel_file_names *names, uint64_t before_ns);

#endif
