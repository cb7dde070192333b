/* SPDX-License-Identifier: MIT */
/*
 * From an event in a buffer to the EVENT_RECORD that consumers receive: each of the header types has its
 * own way there. Source: docs/format/etl.md "What a consumer receives".
 */
#ifndef ETW_CONSUMER_RECORD_H
#define ETW_CONSUMER_RECORD_H

#include <evntcons.h>

#include "etl/block.h"

/* Memory for what a record points to beside the event itself; zeroed at first. */
struct etw_recorder {
	EVENT_HEADER_EXTENDED_DATA_ITEM *items; /* owned */
	size_t room;
	EVENT_EXTENDED_ITEM_INSTANCE sequence; /* of a WPP message: InstanceId */
	USHORT flags;                          /* EVENT_HEADER_FLAG_* of all events of the trace */
};

/* etw_recorder_done() - frees the memory; takes a zeroed recorder. */
void etw_recorder_done(struct etw_recorder *recorder);

/*
 * etw_recorder_fill() - builds the record of an event.
 *
 * @block:   the event's buffer; the record points into it
 * @time:    what TimeStamp becomes: FILETIME, or raw for consumers that asked for that
 * @record:  filled except UserContext; valid as long as block and recorder are unchanged
 *
 * Returns NULL, or a static sentence when the event's extended items are damaged: the record then has the
 * items before the damage and no payload.
 */
const char *etw_recorder_fill(struct etw_recorder *recorder, const struct etw_etl_block *block,
			      const struct etw_etl_event *event, int64_t time,
			      EVENT_RECORD *record);

/*
 * etw_record_loss() - the RT_LostEvent that tells of a buffer's loss flag.
 *
 * @flag: WIRE_BUFFER_EVENTS_LOST (opcode 32), _BUFFER_LOST (33) or _RTBACKUP_CORRUPT (34)
 */
void etw_record_loss(const struct etw_etl_block *block, uint16_t flag, int64_t time,
		     EVENT_RECORD *record);

#endif
