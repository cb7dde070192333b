/* SPDX-License-Identifier: MIT */
/*
 * The files whose tables a walk wants: opened by the mapping's own link in procfs, while the process is there, because the
 * path may name another file by now, or lie where reading hangs. And whom such a file's table may serve.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_UNWIND_UNWIND_FILES_H
#define ETW_SOURCE_KERNEL_UNWIND_UNWIND_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/processes/images.h"
#include "source/kernel/procfs/build_id.h"

#define ETW_KERNEL_NO_UID UINT32_MAX

/* Whose stack is walked. */
struct etw_kernel_stack_owner {
	uint32_t pid;
	uint32_t
		uid; /* of its last fork or exec: it may have given it up since; ETW_KERNEL_NO_UID: not known */
	uint64_t start_ticks; /* as procfs says it; 0: not known */
};

#define ETW_KERNEL_LOOK_LINES 16384 /* of a process' list of mappings, in one look for a file */

/* An open file that has an image's build id. */
struct etw_kernel_unwind_file {
	int fd; /* owned */
	/*
	 * Nobody but root can have written it: it serves everybody who maps a file with its build id. Any other one can say
	 * that it is any build, and serves those alone who map this very file.
	 */
	bool is_shared;
	uint32_t
		uid; /* whose share it counts in; root's files that others may write are ETW_KERNEL_NO_UID's */
	uint32_t
		line_count; /* of the list of mappings that were read, also when there is no file */
	uint64_t device, inode, changed_ns,
		byte_count; /* which file it is, and which state of it */
};

/*
 * etw_kernel_unwind_uid() - for whom a process' file is looked for: the uid that the process has now, or had when nothing can be
 * read of it any more. ETW_KERNEL_NO_UID: not known.
 */
uint32_t etw_kernel_unwind_uid(const char *root, const struct etw_kernel_stack_owner *owner);

/*
 * etw_kernel_unwind_file_open() - the file of an image.
 *
 * @root:  "/proc"
 * @local: on which file systems nothing can hang
 *
 * Returns 0; negative errno when no file with the image's build id can be had, or the process has too many mappings to look
 * through. By its path alone, when the process is gone,
 * a file counts that is shared, or the owner's own.
 */
int etw_kernel_unwind_file_open(const char *root, struct etw_kernel_build_ids *local,
				const struct etw_kernel_stack_owner *owner,
				const struct etw_kernel_image *image,
				struct etw_kernel_unwind_file *ret);

#endif
