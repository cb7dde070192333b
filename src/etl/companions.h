/* SPDX-License-Identifier: MIT */
/* The events behind the header event in the header buffer: what else a file says of itself at once. */
#ifndef ETW_ETL_COMPANIONS_H
#define ETW_ETL_COMPANIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETW_PARTITION_BYTES 44 /* two GUIDs, i64 QpcOffsetFromRoot, u32 PartitionType */

struct etw_etl_companions {
	bool has_group_masks; /* hook 0005: a session that gets the kernel's events */
	bool has_partition;   /* hook 0050 */
	uint8_t partition[ETW_PARTITION_BYTES];
	uint32_t dropped_count; /* hook 0052: processors */
	uint8_t *dropped;       /* owned: dropped_count times 8 bytes, last dropped times */
};

/*
 * etw_etl_companions_read() - looks through the header buffer.
 *
 * @events: @bytes from the header event on
 *
 * What cannot be read is taken as absent. Returns 0 or -ENOMEM.
 */
int etw_etl_companions_read(const uint8_t *events, size_t bytes, struct etw_etl_companions *ret);

/* etw_etl_companions_done() - takes zeroed ones. */
void etw_etl_companions_done(struct etw_etl_companions *companions);

#endif
