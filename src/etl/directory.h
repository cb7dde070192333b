/* SPDX-License-Identifier: MIT */
/*
 * Where every buffer of a file is and when its events begin: what the merge needs before it can hand out
 * the first event, because an idle processor's first buffer may stand at the very end of the file. A
 * buffer costs 32 bytes here, and building costs one short read each.
 */
#ifndef ETW_ETL_DIRECTORY_H
#define ETW_ETL_DIRECTORY_H

#include <assert.h>

#include "etl/kept.h"
#include "etl/walk.h"

struct etw_etl_entry {
	uint64_t offset;
	int64_t first_raw; /* of the first event in the buffer; without one: when it was flushed */
	uint32_t number;
	uint32_t stride;
	uint32_t valid_bytes;
	uint16_t processor;
	uint16_t flags;
};
static_assert(sizeof(struct etw_etl_entry) == 32, "a million buffers must fit in 32 MiB");

struct etw_etl_directory {
	struct etw_etl_entry *entries; /* owned; by first_raw, then number */
	uint32_t count; /* buffers that hold at least one event, or whose flags tell of a loss */
	uint32_t room;
	uint32_t buffers; /* all that the walk gave */
};

/*
 * etw_etl_directory_build() - walks the rest of a file.
 *
 * @walk: at the first buffer; at the end afterwards. Its findings receive what was skipped
 * @kept: where buffers come from whose first bytes do not tell the time, and where they are kept
 *
 * Returns 0; -ENOMEM; -EFBIG beyond UINT32_MAX buffers; the errno of reading.
 */
int etw_etl_directory_build(struct etw_etl_walk *walk, struct etw_etl_kept *kept,
			    struct etw_etl_directory *ret);

/* etw_etl_directory_load() - the block of an entry's buffer, as etw_etl_kept_load() has it. */
int etw_etl_directory_load(struct etw_etl_kept *kept, const struct etw_etl_file *file,
			   const struct etw_etl_entry *entry, struct etw_etl_block *own,
			   struct etw_findings *findings, const struct etw_etl_block **ret);

/*
 * etw_etl_directory_fetch() - the bytes of an entry's buffer in @block, without events.
 *
 * Returns 0; -ENOMEM; the errno of reading.
 */
int etw_etl_directory_fetch(const struct etw_etl_file *file, const struct etw_etl_entry *entry,
			    struct etw_etl_block *block);

/* etw_etl_directory_flushed() - when an entry's buffer was flushed; read from its header. */
int64_t etw_etl_directory_flushed(const struct etw_etl_file *file,
				  const struct etw_etl_entry *entry);

/* etw_etl_directory_done() - frees the entries; takes a zeroed directory. */
void etw_etl_directory_done(struct etw_etl_directory *directory);

#endif
