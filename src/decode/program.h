/* SPDX-License-Identifier: MIT */
/*
 * A schema compiled for one pointer size: a short program of steps that finds every value in a
 * payload. Fields of fixed size that follow each other become one step, with the items they give
 * prepared, so that an event of fixed layout costs a bounds check. How sizes and counts are found
 * is in docs/format/tdh-text.md, "Where values lie".
 *
 * Context: a program is immutable once compiled; a walk has one owner thread.
 */
#ifndef ETW_DECODE_PROGRAM_H
#define ETW_DECODE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "decode/decoding.h"
#include "schema/model.h"

/* Limits that hostile schemas and payloads run into. */
#define ETW_PROGRAM_ITEMS_MAX 65536  /* items of one event */
#define ETW_PROGRAM_WORK_MAX  262144 /* steps run for one event */

struct etw_program;

/* What one run needs besides the program; reused from event to event. All members are private. */
struct etw_walk {
	struct etw_item *items; /* owned */
	size_t room;
	uint64_t *slots; /* owned: integers that later counts and lengths refer to */
	size_t slot_room;
	const uint8_t *payload; /* borrowed for one run */
	uint32_t bytes;
	uint32_t at;
	uint32_t count;    /* of items */
	uint32_t run_base; /* where the last fixed run began in the payload */
	uint32_t work;
	uint16_t failed_field;
	enum etw_decode_status status;
	const char *reason;
};

/*
 * etw_program_compile() - makes the program of a schema.
 *
 * @schema:        borrowed; must outlive the program
 * @pointer_bytes: 4 or 8
 *
 * A field that cannot be compiled (say, a count that refers to a string) becomes a step that fails,
 * so that the fields before it are decoded. Returns 0 or -ENOMEM.
 */
int etw_program_compile(const struct etw_schema *schema, unsigned pointer_bytes,
			struct etw_program **ret);

/* etw_program_free() - takes NULL. */
void etw_program_free(struct etw_program *program);
void etw_program_freep(struct etw_program **program);

/* etw_walk_init() - an empty walk; owns nothing yet. */
static inline void etw_walk_init(struct etw_walk *walk)
{
	*walk = (struct etw_walk){0};
}

/* etw_walk_done() - frees what the walk owns. */
void etw_walk_done(struct etw_walk *walk);

/*
 * etw_program_run() - finds the values in one payload.
 *
 * @ret: items, item_count, consumed, status, failed_field and reason are set; the rest is left alone.
 *       The items are valid until the walk's next run and as long as the program.
 *
 * Time is linear in payload and items. Returns 0 whatever the payload holds, or -ENOMEM.
 */
int etw_program_run(const struct etw_program *program, struct etw_walk *walk,
		    const uint8_t *payload, uint32_t bytes, struct etw_decoding *ret);

#endif
