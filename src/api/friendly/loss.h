/* SPDX-License-Identifier: MIT */
/*
 * When something was lost, as stretches of time. Private to src/api/friendly.
 *
 * A buffer's flag says that events are missing before it or while it filled; so what is doubtful begins at the
 * end of the same processor's buffer before.
 */
#ifndef ETW_API_FRIENDLY_LOSS_H
#define ETW_API_FRIENDLY_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETW_LOSS_RANGES_MAX 65536

struct etw_loss_range {
	int64_t from_ft, to_ft;
};

/*
 * Of all sources together. Stretches come behind the others as they are told of, and are put in order now and
 * then, so that a trace with a million of them takes the time of a million.
 */
struct etw_loss {
	struct etw_loss_range *ranges; /* owned */
	size_t count, room;            /* room: at most twice ETW_LOSS_RANGES_MAX */
	size_t settled; /* those from the first that are in order, none touching another */
};

/* Of one processor of a source. */
struct etw_loss_processor {
	int64_t last_ft; /* of the last event of its last whole buffer */
	bool has_last;
	bool is_open;    /* a flag was met, and its buffer goes on */
	int64_t from_ft; /* of the stretch that is open */
};

struct etw_loss_source {
	struct etw_loss_processor *processors; /* owned */
	size_t processor_count;
	uint64_t marks;   /* met in the last run */
	int64_t start_ft; /* of the trace */
	int64_t now_ft;   /* of the last event delivered */
};

/* etw_loss_begin() - a new pass over a source. */
void etw_loss_begin(struct etw_loss_source *source, int64_t start_ft);

/* etw_loss_mark() - an RT_LostEvent of a processor's buffer. Returns 0 or -ENOMEM. */
int etw_loss_mark(struct etw_loss *loss, struct etw_loss_source *source, uint16_t processor,
		  int64_t at_ft);

/* etw_loss_buffer() - a processor's buffer was delivered to its end. Returns 0 or -ENOMEM. */
int etw_loss_buffer(struct etw_loss *loss, struct etw_loss_source *source, uint16_t processor);

/*
 * etw_loss_cut() - the pass over a source ended before the source did: a buffer behind that place may tell of
 * loss before it. Marks the time from the earliest end of a processor's last buffer. Returns 0 or -ENOMEM.
 */
int etw_loss_cut(struct etw_loss *loss, const struct etw_loss_source *source, int64_t end_ft);

/*
 * etw_loss_settle() - puts all stretches in order and those that touch together; of more than
 * ETW_LOSS_RANGES_MAX, also the nearest. Returns 0 or -ENOMEM.
 */
int etw_loss_settle(struct etw_loss *loss);

/* etw_loss_done() / etw_loss_source_done() - free what they own. */
void etw_loss_done(struct etw_loss *loss);
void etw_loss_source_done(struct etw_loss_source *source);

#endif
