/* SPDX-License-Identifier: MIT */
#include "corrupt/damage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "wire/etl_buffer.h"

/* A copy of the original that is damaged in one span, or that ends early. */
struct copy {
	uint8_t *bytes; /* owned */
	size_t count;
	uint64_t from, to; /* the span */
};

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static struct copy copy_of(const struct original *original)
{
	struct copy copy = {.bytes = must(malloc(original->count)), .count = original->count};

	memcpy(copy.bytes, original->bytes, original->count);
	return copy;
}

static bool is_in_span(const void *context, uint64_t offset, uint64_t count)
{
	const struct copy *copy = context;

	return offset + count > copy->count || (offset < copy->to && copy->from < offset + count);
}

static unsigned judge(const struct original *original, struct copy *copy, const char *what,
		      uint64_t number)
{
	struct damage damage = {
		.bytes = copy->bytes,
		.count = copy->count,
		.is_touched = is_in_span,
		.context = copy,
		.may_be_refused = copy->from < original->buffers[0].stride &&
				  (original->buffer_count == 1 ||
				   copy->count <=
					   original->buffers[0].stride + WIRE_BUFFER_HEADER_BYTES)};

	(void)snprintf(damage.what, sizeof(damage.what), "%s %" PRIu64, what, number);
	return original_judge(original, &damage);
}

unsigned damage_truncate(const struct original *original, size_t step)
{
	struct copy copy = {.bytes = original->bytes};
	unsigned complaints = 0;

	for (size_t bytes = 0; bytes < original->count; bytes += step) {
		/* Whether a cut file has an event left to tell it from any other file is not sure. */
		struct damage damage = {.bytes = original->bytes,
					.count = bytes,
					.is_touched = is_in_span,
					.context = &copy,
					.may_be_refused = bytes <
							  2 * (size_t)original->buffers[0].stride};

		copy.count = bytes;
		(void)snprintf(damage.what, sizeof(damage.what), "cut to %zu bytes", bytes);
		complaints += original_judge(original, &damage);
	}
	return complaints;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

unsigned damage_flip(const struct original *original, uint64_t seed, size_t count)
{
	struct copy copy = copy_of(original);
	uint64_t bits = 8 * (uint64_t)original->count, state = seed;
	uint64_t tries = count ? count : bits;
	unsigned complaints = 0;

	for (uint64_t i = 0; i < tries; i++) {
		uint64_t bit = count ? next_random(&state) % bits : i;

		copy.from = bit / 8;
		copy.to = copy.from + 1;
		copy.bytes[copy.from] ^= (uint8_t)(1u << bit % 8);
		complaints += judge(original, &copy, "bit flipped", bit);
		copy.bytes[copy.from] ^= (uint8_t)(1u << bit % 8);
	}
	free(copy.bytes);
	return complaints;
}

/* One field of a buffer header at a time. */
struct field {
	const char *name;
	uint32_t offset;
	uint32_t bytes;
};

static const struct field fields[] = {
	{"BufferSize", 0x00, 4},     {"SavedOffset", 0x04, 4},
	{"CurrentOffset", 0x08, 4},  {"TimeStamp", 0x10, 8},
	{"SequenceNumber", 0x18, 8}, {"ProcessorIndex", 0x28, 2},
	{"State", 0x2C, 4},          {"Offset", 0x30, 4},
	{"BufferFlag", 0x34, 2},     {"BufferType", 0x36, 2},
	{"LoggerId", 0x2A, 2},       {"the whole header", 0x00, 0x48},
	{"marker", 0x48, 4},         {"size in the event", 0x4C, 2},
	{"first event", 0x48, 0x20}, {"logfile BufferSize", 0x68, 4},
	{"logfile mode", 0x88, 4},   {"logfile BuffersWritten", 0x8C, 4},
};

static unsigned set_field(const struct original *original, const struct original_buffer *buffer,
			  const struct field *field, uint64_t value)
{
	struct copy copy = copy_of(original);
	unsigned complaints = 0;
	char what[120];

	copy.from = buffer->offset + field->offset;
	copy.to = copy.from + field->bytes;
	if (copy.to <= original->count) {
		for (uint32_t i = 0; i < field->bytes; i++)
			copy.bytes[copy.from + i] = (uint8_t)(value >> 8 * (i % 8));
		(void)snprintf(what, sizeof(what), "buffer at %" PRIu64 ", %s set to",
			       buffer->offset, field->name);
		complaints = judge(original, &copy, what, value);
	}
	free(copy.bytes);
	return complaints;
}

/* Values that could lead astray: small, huge, and exactly those of neighbours. */
static unsigned damage_fields(const struct original *original, size_t index)
{
	const struct original_buffer *buffer = &original->buffers[index];
	uint64_t values[24] = {0,      1,       4,          8,          0x40,
			       0x48,   0x50,    0x200,      0x7F,       0xFF,
			       0x1000, 0x10000, 0x7FFFFFFF, 0xFFFFFFFF, UINT64_MAX};
	size_t count = 15;
	unsigned complaints = 0;

	values[count++] = buffer->stride + 8u;
	values[count++] = buffer->stride - 8u;
	values[count++] = buffer->stride / 2u;
	values[count++] = 2u * buffer->stride;
	if (index + 1 < original->buffer_count)
		values[count++] = buffer->stride + original->buffers[index + 1].stride;
	if (index + 2 < original->buffer_count)
		values[count++] = buffer->stride + original->buffers[index + 1].stride +
				  original->buffers[index + 2].stride;
	values[count++] = original->count - buffer->offset;
	values[count++] = original->count;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		for (size_t j = 0; j < count; j++)
			complaints += set_field(original, buffer, &fields[i], values[j]);
	}
	return complaints;
}

/* Spans of a buffer overwritten: with zeros, ones, an end mark, or the buffer before. */
static unsigned damage_spans(const struct original *original, size_t index)
{
	const struct original_buffer *buffer = &original->buffers[index];
	static const uint8_t fills[] = {0x00, 0xFF, 0x41};
	unsigned complaints = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fills); i++) {
		struct copy copy = copy_of(original);

		copy.from = buffer->offset;
		copy.to = buffer->offset + buffer->stride;
		memset(copy.bytes + copy.from, fills[i], buffer->stride);
		complaints += judge(original, &copy, "a whole buffer overwritten, number", index);
		free(copy.bytes);
	}
	for (uint32_t at = 0x48; at + 4 <= buffer->stride; at += 8) {
		struct copy copy = copy_of(original);

		copy.from = buffer->offset + at;
		copy.to = copy.from + 4;
		memset(copy.bytes + copy.from, 0xFF, 4);
		complaints += judge(original, &copy, "an end mark at", copy.from);
		free(copy.bytes);
	}
	return complaints;
}

/* A file of the original's buffers in another order; every one is untouched. */
static unsigned rearrange(const struct original *original, const size_t *order, size_t count,
			  const char *what, uint64_t number)
{
	struct copy copy = {.bytes = must(malloc(2 * original->count))};
	struct original moved = *original;
	unsigned complaints;

	moved.buffers = must(calloc(count ? count : 1, sizeof(*moved.buffers)));
	moved.buffer_count = count;
	for (size_t i = 0; i < count; i++) {
		moved.buffers[i] = original->buffers[order[i]];
		moved.buffers[i].offset = copy.count;
		memcpy(copy.bytes + copy.count,
		       original->bytes + original->buffers[order[i]].offset,
		       moved.buffers[i].stride);
		copy.count += moved.buffers[i].stride;
	}
	moved.count = copy.count;
	complaints = judge(&moved, &copy, what, number);
	free(moved.buffers);
	free(copy.bytes);
	return complaints;
}

static unsigned damage_order(const struct original *original)
{
	size_t count = original->buffer_count;
	size_t *order = must(calloc(count + 1, sizeof(*order)));
	unsigned complaints = 0;

	for (size_t left = 0; left + 1 < count; left++) { /* two neighbours swapped */
		for (size_t i = 0; i < count; i++)
			order[i] = i == left ? left + 1 : i == left + 1 ? left : i;
		complaints += rearrange(original, order, count,
					"swapped with its neighbour:", left);
	}
	for (size_t twice = 1; twice < count; twice++) { /* one written twice */
		for (size_t i = 0; i <= count; i++)
			order[i] = i <= twice ? i : i - 1;
		complaints += rearrange(original, order, count + 1, "written twice:", twice);
	}
	for (size_t gone = 0; gone < count && count > 1; gone++) { /* one missing */
		for (size_t i = 0; i + 1 < count; i++)
			order[i] = i < gone ? i : i + 1;
		complaints += rearrange(original, order, count - 1, "missing:", gone);
	}
	free(order);
	return complaints;
}

unsigned damage_semantic(const struct original *original)
{
	unsigned complaints = damage_order(original);

	for (size_t i = 0; i < original->buffer_count; i++)
		complaints += damage_fields(original, i);
	for (size_t i = 0; i < original->buffer_count && i < 4; i++)
		complaints += damage_spans(original, i);
	return complaints;
}
