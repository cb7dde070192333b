/* SPDX-License-Identifier: MIT */
/* What `etw info` counts in a trace, and the two forms in which it is told. */
#ifndef ETW_TOOLS_ETW_INFO_H
#define ETW_TOOLS_ETW_INFO_H

#include "etl/event.h"
#include "tools/common/inputs.h"
#include "tools/etw/notes.h"
#include "tools/etw/tally.h"

#define INFO_PROCESSORS_MAX 2048

/* One line of --buffers. */
struct info_buffer {
	struct etw_etl_buffer buffer;
	uint32_t events;
};

struct info {
	struct etw_trace *trace;
	const char *path;
	struct tally tally;
	uint64_t header_types[WIRE_HEADER_TYPES];
	uint64_t *processors; /* owned; INFO_PROCESSORS_MAX counts */
	uint64_t loss_marks;
	uint64_t last_sequence;      /* the highest of the buffers; 0: none has one */
	struct info_buffer *buffers; /* owned; `buffer_count` of them, with --buffers only */
	size_t buffer_count, buffer_room;
	struct etw_loss loss;
	struct notes notes;
};

struct info_look {
	size_t width; /* of the terminal; 0: nothing is cut */
	const char *bold, *warn, *plain;
	bool has_buffers;
};

/* info_header_type_name() - "EVENT64" ...; static. */
const char *info_header_type_name(unsigned header_type);

/* info_header_json() - ,"header":{...}: what the header event says. */
void info_header_json(struct etw_text *text, const struct etw_etl_header *header);

/* info_findings_json() - ,"findings":[...], and how many were left out. */
void info_findings_json(struct etw_text *text, const struct etw_findings *findings);

/* info_overwritten_buffers() - as machine_overwritten_buffers(), of what was counted. */
uint64_t info_overwritten_buffers(const struct info *info);

/* info_write_text() / _json() - the tally must be sorted. */
void info_write_text(struct etw_text *text, const struct info *info, const struct info_look *look);
void info_write_json(struct etw_text *text, const struct info *info, bool has_buffers);

#endif
