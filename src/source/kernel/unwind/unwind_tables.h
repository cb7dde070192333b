/* SPDX-License-Identifier: MIT */
/*
 * The unwind tables of the files that processes run. A file that root alone can have written is read once for all who map its
 * build id. Any other file can give itself the build id of another one: its table serves those alone who map that very file,
 * whatever their uid is, or was when the session heard of it.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_UNWIND_UNWIND_TABLES_H
#define ETW_SOURCE_KERNEL_UNWIND_UNWIND_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/unwind.h"
#include "source/kernel/processes/images.h"
#include "source/kernel/procfs/build_id.h"
#include "source/kernel/unwind/unwind_files.h"
#include "source/kernel/unwind/unwind_work.h"

#define ETW_KERNEL_TABLES_MAX      4096                 /* files */
#define ETW_KERNEL_TABLE_BYTES_MAX (UINT64_C(64) << 20) /* of one file */
#define ETW_KERNEL_TABLES_BYTES    (UINT64_C(512) << 20)
/*
 * Shares, so that nobody's files take the tables of another's away: of one owner of files, and of what root's files alone may
 * use. Root has no share of its own. Where a share is full the table goes that was not used for longest: of the owner, or, where
 * the share of all but root is full, of the one of them who has most.
 */
#define ETW_KERNEL_TABLES_OF_UID       512
#define ETW_KERNEL_TABLES_BYTES_OF_UID (UINT64_C(128) << 20)
#define ETW_KERNEL_TABLES_OF_ROOT      512
#define ETW_KERNEL_TABLES_BYTES_ROOT   (UINT64_C(128) << 20)
#define ETW_KERNEL_RULES               4096 /* that are remembered; a power of two */
#define ETW_KERNEL_FOUND_FILES         4096 /* images of processes whose files are known; a power of two */
/*
 * Of the tables' entries in the walk of one stack, where no rule is remembered: as much as 64 functions have whose entries are
 * as long as they come. Whoever makes an entry as long as a file has no rule, instead of the session's thread's time.
 */
#define ETW_KERNEL_WALK_ENTRY_BYTES 65536

struct etw_kernel_rule;
struct etw_kernel_found_file;
struct etw_kernel_tables_share;

/* Of one state of a file. */
struct etw_kernel_table {
	uint8_t build_id[ETW_KERNEL_BUILD_ID_BYTES];
	uint8_t build_id_bytes;
	uint32_t
		next_in_bucket; /* number of a table + 1; 0: the last one. Of free places likewise. */
	uint64_t serial;        /* no other table has, or had, the same; 0: the place is free */
	uint64_t used;          /* number of the last walk that asked for it */
	struct etw_kernel_unwind_file file; /* its descriptor is closed */
	uint8_t *memory;                    /* owned; NULL: it has no table */
	struct etw_unwind_object object;
	uint64_t slide; /* see etw_kernel_table_read() */
};

struct etw_kernel_tables {
	const char *root; /* "/proc"; borrowed */
	char mountinfo[64];
	struct etw_kernel_build_ids local;      /* which file systems are local */
	struct etw_kernel_table *at;            /* owned */
	size_t count;                           /* of those that are there */
	size_t used_room;                       /* of @at; what lies behind was never used */
	uint32_t first_free;                    /* as next_in_bucket */
	struct etw_kernel_tables_share *shares; /* owned; room to add up what owners have */
	uint64_t walks;
	uint32_t *buckets; /* owned; ETW_KERNEL_TABLES_MAX; numbers as next_in_bucket */
	uint64_t last_serial;
	uint64_t byte_count;                 /* of all that were read */
	struct etw_kernel_work work;         /* of looking for files */
	struct etw_kernel_rule *rules;       /* owned; ETW_KERNEL_RULES */
	struct etw_kernel_found_file *found; /* owned; ETW_KERNEL_FOUND_FILES */
	uint64_t entry_bytes_left;           /* of the walk; see etw_kernel_tables_begin() */
	bool is_over_share;                  /* in this walk: no further file is asked for */
};

/* etw_kernel_tables_init() - @root: "/proc", borrowed. Returns 0 or -ENOMEM, and is to be done in any case. */
int etw_kernel_tables_init(struct etw_kernel_tables *tables, const char *root);
/* etw_kernel_tables_done() - frees everything. */
void etw_kernel_tables_done(struct etw_kernel_tables *tables);

/* etw_kernel_tables_begin() - the walk of another stack. */
void etw_kernel_tables_begin(struct etw_kernel_tables *tables);

/*
 * etw_kernel_tables_find_rule() - how one finds the caller of @pc.
 *
 * @owner: whose stack it is
 * @image: of that process, where @pc lies
 *
 * Returns false when the file has no rule there, cannot be read, is not known by a build id, or is beyond the share of its
 * owner; and when this walk has read ETW_KERNEL_WALK_ENTRY_BYTES.
 */
bool etw_kernel_tables_find_rule(struct etw_kernel_tables *tables,
				 const struct etw_kernel_stack_owner *owner,
				 const struct etw_kernel_image *image, uint64_t pc,
				 struct etw_unwind_rule *ret);

/*
 * etw_kernel_table_read() - the table of an ELF file of 64 bits.
 *
 * @fd:          a regular file; borrowed
 * @ret_memory:  owned memory of malloc(): the segment with the table
 * @ret:         the object in that memory
 * @ret_slide:   to be added to the distance from the image's base, which makes it an address in @ret
 *
 * Returns 0; -ENOENT when there is no table; -EBADMSG for a file that makes no sense; -EFBIG; -ENOMEM; what reading said.
 */
int etw_kernel_table_read(int fd, uint8_t **ret_memory, struct etw_unwind_object *ret,
			  uint64_t *ret_slide);

#endif
