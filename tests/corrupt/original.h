/* SPDX-License-Identifier: MIT */
/*
 * What an undamaged file holds, and the judgement of a damaged copy: every buffer whose bytes are untouched
 * must deliver exactly its events. Buffers are told by a digest over processor, times, headers and payloads
 * of their events, because their number and place may have changed.
 */
#ifndef ETW_TESTS_CORRUPT_ORIGINAL_H
#define ETW_TESTS_CORRUPT_ORIGINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct original_buffer {
	uint64_t offset;
	uint32_t stride;
	uint32_t event_bytes; /* of its events, padded */
	uint64_t digest;
};

struct original {
	const char *name;
	uint8_t *bytes; /* owned */
	size_t count;
	struct original_buffer *buffers; /* owned */
	size_t buffer_count;
	uint64_t work; /* reads of the reader on the undamaged file, in bytes */
};

/* original_read() - takes @bytes over. Returns false when the reader does not find the file whole. */
bool original_read(const char *name, uint8_t *bytes, size_t count, struct original *ret);

void original_done(struct original *original);

/*
 * original_judge() - reads the damaged copy and compares.
 *
 * @is_touched: whether the bytes from @offset on, @count of them, differ from the original's or are gone
 * @what:       what was done to the copy, for the report
 *
 * Returns how many complaints were printed.
 */
struct damage {
	const uint8_t *bytes;
	size_t count;
	bool (*is_touched)(const void *context, uint64_t offset, uint64_t count);
	const void *context;
	bool may_be_refused; /* opening may fail: the file's head is damaged */
	char what[160];
};
unsigned original_judge(const struct original *original, const struct damage *damage);

/* original_totals() - cases judged so far, events and bytes of work in them. */
struct original_totals {
	uint64_t cases, refused, buffers_kept, findings;
};
extern struct original_totals original_totals;

#endif
