/* SPDX-License-Identifier: MIT */
#include "corrupt/matrix.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "consumer/trace.h"
#include "etl/event.h"
#include "wire/etl_buffer.h"

#define EVENTS_TRIED 12 /* of a buffer, from which events swallow others */

/* What a reader must find, kind by kind, and how many bytes that is. */
struct expected {
	uint64_t counts[ETW_FINDING_KINDS];
	uint64_t bytes[ETW_FINDING_KINDS];
	uint64_t offset; /* of the first of `kind` */
	enum etw_finding_kind kind;
	bool has_offset;
};

struct copy {
	uint8_t *bytes; /* owned */
	size_t count;
};

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static struct copy copy_of(const struct original *original, size_t room)
{
	struct copy copy = {.bytes = must(malloc(original->count + room)),
			    .count = original->count};

	memcpy(copy.bytes, original->bytes, original->count);
	return copy;
}

static unsigned complain(const struct original *original, const char *what, uint64_t number,
			 const char *pass, const struct etw_findings *findings)
{
	printf("%s, %s %" PRIu64 ", %s:", original->name, what, number, pass);
	for (uint32_t i = 0; i < findings->kept_count && i < 6; i++)
		printf(" [%s at %" PRIu64 ", %" PRIu64 " bytes: %s]",
		       etw_finding_kind_name((enum etw_finding_kind)findings->kept[i].kind),
		       findings->kept[i].offset, findings->kept[i].bytes,
		       findings->kept[i].sentence);
	printf(" are not what is expected\n");
	return 1;
}

static bool agrees(const struct etw_findings *findings, const struct expected *expected)
{
	for (int kind = 0; kind < ETW_FINDING_KINDS; kind++) {
		/* Only a pass in order of time can tell what is late. */
		if (kind != ETW_FINDING_LATE && (findings->counts[kind] != expected->counts[kind] ||
						 findings->bytes[kind] != expected->bytes[kind]))
			return false;
	}
	for (uint32_t i = 0; i < findings->kept_count && expected->has_offset; i++) {
		if (findings->kept[i].kind == (uint32_t)expected->kind)
			return findings->kept[i].offset == expected->offset;
	}
	return true;
}

/* Holds both passes of a reader against what is expected; takes the copy. */
static unsigned hold(const struct original *original, struct copy copy,
		     const struct expected *expected, const char *what, uint64_t number)
{
	CLEANUP(freep) uint8_t *exact = must(malloc(copy.count));
	CLEANUP(etw_trace_closep) struct etw_trace *trace = NULL;
	const struct etw_trace_visitor visitor = {0};
	const struct etw_trace_sink sink = {.from_ft = INT64_MIN, .to_ft = INT64_MAX};
	struct etw_fault fault = {0};
	unsigned complaints = 0;

	memcpy(exact, copy.bytes, copy.count);
	original_totals.cases++;
	if (etw_trace_open_memory(exact, copy.count, &trace, &fault)) {
		printf("%s, %s %" PRIu64 ": refused\n", original->name, what, number);
		free(copy.bytes);
		return 1;
	}
	if (etw_trace_each_buffer(trace, &visitor) || !agrees(etw_trace_findings(trace), expected))
		complaints += complain(original, what, number, "in order of the file",
				       etw_trace_findings(trace));
	if (etw_trace_process(&trace, 1, &sink) || !agrees(etw_trace_findings(trace), expected))
		complaints += complain(original, what, number, "in order of time",
				       etw_trace_findings(trace));
	free(copy.bytes);
	return complaints;
}

static struct expected expect(enum etw_finding_kind kind, uint64_t count, uint64_t bytes,
			      uint64_t offset)
{
	struct expected expected = {.kind = kind, .offset = offset, .has_offset = true};

	expected.counts[kind] = count;
	expected.bytes[kind] = bytes;
	return expected;
}

static bool holds_events(const struct original_buffer *buffer)
{
	return buffer->event_bytes != 0;
}

/* Each buffer once more: at the end, and behind itself. */
static unsigned hold_twice(const struct original *original)
{
	unsigned complaints = 0;

	for (size_t i = 1; i < original->buffer_count; i++) {
		const struct original_buffer *buffer = &original->buffers[i];
		const uint64_t places[] = {original->count, buffer->offset + buffer->stride};

		for (size_t j = 0; j < ARRAY_SIZE(places) && holds_events(buffer); j++) {
			struct copy copy = copy_of(original, buffer->stride);
			struct expected expected = {0};

			memmove(copy.bytes + places[j] + buffer->stride, copy.bytes + places[j],
				copy.count - places[j]);
			memcpy(copy.bytes + places[j], original->bytes + buffer->offset,
			       buffer->stride);
			copy.count += buffer->stride;
			/* The twin, and that there is one more than the session counted. */
			expected.counts[ETW_FINDING_DOUBTED] = 2;
			complaints += hold(original, copy, &expected, "twice, buffer", i);
		}
	}
	return complaints;
}

/* Each buffer in the place of its neighbour, where both are of one size. */
static unsigned hold_instead(const struct original *original)
{
	unsigned complaints = 0;

	for (size_t i = 1; i + 1 < original->buffer_count; i++) {
		const struct original_buffer *from = &original->buffers[i];
		const struct original_buffer *to = &original->buffers[i + 1];
		struct expected expected = expect(ETW_FINDING_DOUBTED, 1, 0, to->offset);
		struct copy copy;

		if (from->stride != to->stride || !holds_events(from))
			continue;
		copy = copy_of(original, 0);
		memcpy(copy.bytes + to->offset, copy.bytes + from->offset, from->stride);
		complaints += hold(original, copy, &expected, "in place of the next, buffer", i);
	}
	return complaints;
}

/* Neighbours exchanged: sound, because the order of a file means nothing. */
static unsigned hold_exchanged(const struct original *original)
{
	const struct expected nothing = {0};
	unsigned complaints = 0;

	for (size_t i = 1; i + 1 < original->buffer_count; i++) {
		const struct original_buffer *left = &original->buffers[i];
		const struct original_buffer *right = &original->buffers[i + 1];
		struct copy copy = copy_of(original, 0);

		memcpy(copy.bytes + left->offset, original->bytes + right->offset, right->stride);
		memcpy(copy.bytes + left->offset + right->stride, original->bytes + left->offset,
		       left->stride);
		complaints += hold(original, copy, &nothing, "exchanged with the next, buffer", i);
	}
	return complaints;
}

static unsigned hold_gone(const struct original *original)
{
	unsigned complaints = 0;

	for (size_t i = 1; i < original->buffer_count; i++) {
		const struct original_buffer *buffer = &original->buffers[i];
		uint64_t end = buffer->offset + buffer->stride;
		struct copy copy = copy_of(original, 0);
		struct expected expected = expect(ETW_FINDING_CUT, 1, 0,
						  original->count - buffer->stride);

		memmove(copy.bytes + buffer->offset, copy.bytes + end, copy.count - end);
		copy.count -= buffer->stride;
		complaints += hold(original, copy, &expected, "gone, buffer", i);
	}
	return complaints;
}

static void fill_letters(uint8_t *at, size_t bytes, const struct original *original)
{
	(void)original;
	for (size_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)('A' + i % 57);
}

static void fill_random(uint8_t *at, size_t bytes, const struct original *original)
{
	uint64_t state = UINT64_C(0x9E3779B97F4A7C15) ^ bytes;

	(void)original;
	for (size_t i = 0; i < bytes; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		at[i] = (uint8_t)(state >> 24);
	}
}

/* Of the events of a buffer, and nowhere on the places where a reader looks for one: those it would take. */
static void fill_events(uint8_t *at, size_t bytes, const struct original *original)
{
	const struct original_buffer *buffer = &original->buffers[1];

	for (size_t i = 0; i < bytes; i++)
		at[i] = original->bytes[buffer->offset + 75 + i % ((buffer->stride - 75) & ~7u)];
}

static unsigned hold_longer(const struct original *original)
{
	static const struct {
		const char *what;
		void (*fill)(uint8_t *at, size_t bytes, const struct original *original);
	} fills[] = {{"bytes behind the last buffer, letters:", fill_letters},
		     {"bytes behind the last buffer, at random:", fill_random},
		     {"bytes behind the last buffer, of events:", fill_events}};
	static const size_t sizes[] = {1,    4,    8,    63,   71,    72,    73,   100,  511,
				       512,  1000, 1023, 1024, 1025,  2048,  4095, 4096, 4097,
				       7000, 8191, 8192, 9999, 65535, 65536, 70000};
	unsigned complaints = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fills); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(sizes); j++) {
			struct copy copy = copy_of(original, sizes[j]);
			struct expected expected = expect(ETW_FINDING_SKIPPED, 1, sizes[j],
							  original->count);

			fills[i].fill(copy.bytes + copy.count, sizes[j], original);
			copy.count += sizes[j];
			complaints += hold(original, copy, &expected, fills[i].what, sizes[j]);
		}
	}
	return complaints;
}

/* Events of a plain buffer, as far as they can be changed: their places, and the end of the last. */
static size_t list_events(const struct original *original, const struct original_buffer *buffer,
			  uint32_t *places, size_t room)
{
	uint32_t at = WIRE_BUFFER_HEADER_BYTES;
	size_t count = 0;

	while (count + 1 < room && at + 8 <= WIRE_BUFFER_HEADER_BYTES + buffer->event_bytes) {
		struct etw_etl_event event;

		if (etw_etl_event_peek(original->bytes + buffer->offset + at, buffer->stride - at,
				       &event) ||
		    !event.has_time || wire_event_shapes[event.header_type].size_at != 0)
			break;
		places[count++] = at;
		at = ALIGN_UP(at + event.bytes, WIRE_EVENT_ALIGNMENT);
	}
	places[count] = at;
	return count;
}

/* Every event that can be made to hold the next, the one behind it too, and so on. */
static unsigned hold_swallowed(const struct original *original)
{
	uint32_t places[EVENTS_TRIED + 1];
	unsigned complaints = 0;

	for (size_t i = 1; i < original->buffer_count; i++) {
		const struct original_buffer *buffer = &original->buffers[i];
		size_t count = list_events(original, buffer, places, ARRAY_SIZE(places));

		for (size_t from = 0; from < count; from++) {
			for (size_t to = from + 2; to <= count; to++) {
				uint64_t at = buffer->offset + places[from];
				struct copy copy = copy_of(original, 0);
				struct expected expected = expect(
					ETW_FINDING_DOUBTED, 1, places[to] - places[from + 1], at);

				etw_store16(copy.bytes + at, (uint16_t)(places[to] - places[from]));
				complaints += hold(original, copy, &expected,
						   "swallowing, event at", at);
			}
		}
	}
	return complaints;
}

/* Whether the file's buffers are packed: the places of its events are not in the file then. */
static bool is_packed(const struct original *original)
{
	struct etw_etl_buffer buffer;

	for (size_t i = 0; i < original->buffer_count; i++) {
		etw_etl_buffer_read(original->bytes + original->buffers[i].offset, &buffer);
		if (buffer.flags & WIRE_BUFFER_COMPRESSED)
			return true;
	}
	return false;
}

unsigned matrix_damage(const struct original *original)
{
	unsigned complaints = hold_twice(original) + hold_instead(original) +
			      hold_exchanged(original) + hold_gone(original) +
			      hold_longer(original);

	return complaints + (is_packed(original) ? 0 : hold_swallowed(original));
}
