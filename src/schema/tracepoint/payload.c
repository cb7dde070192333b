/* SPDX-License-Identifier: MIT */
/* From a record of the kernel to a payload, step by step; every place is checked against the record. See layout.h. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "schema/tracepoint/layout.h"

#define PLACE_BYTES 4

struct writer {
	struct etw_bytes record;
	uint8_t *to;
	size_t left;
};

static int put(struct writer *writer, const void *at, size_t bytes)
{
	if (bytes > writer->left)
		return -EMSGSIZE;
	memcpy(writer->to, at, bytes);
	writer->to += bytes;
	writer->left -= bytes;
	return 0;
}

static int put_text(struct writer *writer, const uint8_t *at, size_t bytes)
{
	TRY(put(writer, at, strnlen((const char *)at, bytes)));
	return put(writer, "", 1);
}

/* The count, and as many whole elements. */
static int put_array(struct writer *writer, const uint8_t *at, size_t bytes, size_t element_bytes)
{
	uint8_t count[4];

	etw_store32(count, (uint32_t)(bytes / element_bytes));
	TRY(put(writer, count, sizeof(count)));
	return put(writer, at, bytes - bytes % element_bytes);
}

static int put_bits(struct writer *writer, const struct etw_tracepoint_step *step)
{
	uint8_t bytes[8] = {0};
	uint64_t value;

	memcpy(bytes, writer->record.at + step->offset, step->bytes);
	value = etw_load64(bytes) >> step->bit_shift;
	if (step->bit_count < 64)
		value &= (UINT64_C(1) << step->bit_count) - 1;
	etw_store64(bytes, value);
	return put(writer, bytes, step->bytes);
}

/* Where a dynamic array lies: the upper half are bytes, the lower half is an offset. */
static int find_place(const struct writer *writer, const struct etw_tracepoint_step *step,
		      const uint8_t **ret, size_t *ret_bytes)
{
	uint32_t place = etw_load32(writer->record.at + step->offset);
	size_t offset = (place & 0xffff) +
			(step->is_relative ? (size_t)step->offset + PLACE_BYTES : 0);
	size_t bytes = place >> 16;

	if (!bytes)
		offset = 0;
	if (offset > writer->record.left || bytes > writer->record.left - offset)
		return -EBADMSG;
	*ret = writer->record.at + offset;
	*ret_bytes = bytes;
	return 0;
}

static int put_dynamic(struct writer *writer, const struct etw_tracepoint_step *step)
{
	const uint8_t *at;
	size_t bytes;

	TRY(find_place(writer, step, &at, &bytes));
	if (step->kind == ETW_TRACEPOINT_DYNAMIC_TEXT)
		return put_text(writer, at, bytes);
	return put_array(writer, at, bytes, step->bytes);
}

static int take_step(struct writer *writer, const struct etw_tracepoint_step *step)
{
	const uint8_t *at = writer->record.at + step->offset;

	switch (step->kind) {
	case ETW_TRACEPOINT_COPY:
		return put(writer, at, step->bytes);
	case ETW_TRACEPOINT_TEXT:
		return put_text(writer, at, step->bytes);
	case ETW_TRACEPOINT_BITS:
		return put_bits(writer, step);
	case ETW_TRACEPOINT_REST_TEXT:
		return put_text(writer, at, writer->record.left - step->offset);
	case ETW_TRACEPOINT_REST_ARRAY:
		return put_array(writer, at, writer->record.left - step->offset, step->bytes);
	default:
		return put_dynamic(writer, step);
	}
}

int etw_tracepoint_payload(const struct etw_tracepoint_layout *layout, struct etw_bytes record,
			   uint8_t *to, size_t room)
{
	struct writer writer = {.record = record, .to = to, .left = room};

	if (record.left < layout->record_bytes)
		return -EBADMSG;
	for (uint32_t i = 0; i < layout->step_count; i++)
		TRY(take_step(&writer, &layout->steps[i]));
	return (int)(room - writer.left);
}
