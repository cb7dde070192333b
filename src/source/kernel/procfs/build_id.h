/* SPDX-License-Identifier: MIT */
/*
 * Build ids of files that were mapped before anybody looked; later ones come with the mapping records.
 * Only files on local file systems are opened: one of a user's own (FUSE) or of a network could keep the
 * session's thread waiting.
 */
#ifndef ETW_SOURCE_KERNEL_PROCFS_BUILD_ID_H
#define ETW_SOURCE_KERNEL_PROCFS_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/kernel/processes/images.h"
#include "source/kernel/procfs/procfs.h"

#define ETW_KERNEL_BUILD_IDS_MAX 65536 /* files that are known at a time; a power of two */

/* What is known of one file. */
struct etw_kernel_build_id {
	uint64_t device, inode;
	bool is_used;       /* else nothing lies here */
	uint8_t byte_count; /* 0: it has none */
	uint8_t bytes[ETW_KERNEL_BUILD_ID_BYTES];
};

/*
 * Of one walk over procfs. A file lies at the place that its numbers give, or behind it. When there are too many all are
 * forgotten: users can map as many files as they like, and what is looked for again costs one more look.
 */
struct etw_kernel_build_ids {
	const char *mountinfo; /* borrowed */
	int mounts_fd;     /* owned; that file, which says when it changed; -1: it cannot be read */
	uint64_t *devices; /* owned; of local file systems */
	size_t device_count;
	struct etw_kernel_build_id *at; /* owned; half of it at most is used */
	size_t count, room;             /* @room: 0, or a power of two */
};

/*
 * etw_kernel_build_id_read() - the build id of an ELF file.
 *
 * @fd:  a regular file; borrowed
 * @ret: ETW_KERNEL_BUILD_ID_BYTES, written from the start; longer ids are cut
 *
 * Returns its bytes; 0 when there is none; -EBADMSG when this is no ELF file, or a damaged one; what
 * reading said.
 */
int etw_kernel_build_id_read(int fd, uint8_t *ret);

/*
 * etw_kernel_build_id_of_notes() - the build id among the notes of an ELF object.
 *
 * @ret: as above
 *
 * Returns its bytes; 0 when there is none; -EBADMSG when the notes make no sense.
 */
int etw_kernel_build_id_of_notes(const uint8_t *at, size_t left, uint8_t *ret);

/*
 * etw_kernel_build_ids_init() - reads which devices are local.
 *
 * @mountinfo: "/proc/self/mountinfo", borrowed; when it cannot be read no file will be
 */
void etw_kernel_build_ids_init(struct etw_kernel_build_ids *ids, const char *mountinfo);

/* etw_kernel_build_ids_done() - frees everything. */
void etw_kernel_build_ids_done(struct etw_kernel_build_ids *ids);

/*
 * etw_kernel_build_ids_is_local() - whether a file of this device may be opened.
 *
 * The number of a file system that is gone is given to the next one, which may be a user's own: after each change of the
 * mounts the list is read anew. To be asked when the device is known, and before the file is looked at: as long as the mapping
 * is there, its device is no other one.
 */
bool etw_kernel_build_ids_is_local(struct etw_kernel_build_ids *ids, uint64_t device);

/*
 * etw_kernel_build_ids_find() - the build id of a mapped file, when it may be read.
 *
 * @process_fd: of /proc/<pid>
 *
 * Returns it, borrowed until the next call, or NULL.
 */
const struct etw_kernel_build_id *etw_kernel_build_ids_find(
	struct etw_kernel_build_ids *ids, int process_fd,
	const struct etw_kernel_proc_mapping *mapping);

#endif
