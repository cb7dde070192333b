/* SPDX-License-Identifier: MIT */
#include "etl/mend.h"

#include "base/macros.h"
#include "etl/search.h"

static bool is_valid_bytes(const struct etw_etl_buffer *buffer, uint32_t bytes)
{
	uint32_t limit = buffer->flags & WIRE_BUFFER_COMPRESSED ? WIRE_BUFFER_BYTES_MAX
								: buffer->stride;

	return bytes >= WIRE_BUFFER_HEADER_BYTES && bytes <= limit && bytes % 4 == 0;
}

/* Takes the fields over from @trial when the body agrees with them. */
static int try_fields(const struct etw_etl_file *file, const struct etw_etl_buffer *trial,
		      struct etw_etl_buffer *buffer, bool *ret_agrees)
{
	int result = etw_etl_search_body(file, trial);

	if (result < 0)
		return result;
	*ret_agrees = !result;
	if (*ret_agrees)
		*buffer = *trial;
	return 0;
}

/*
 * Data buffers say twice where they end. Of two numbers the larger one counts if events or filler go on up
 * to there, which is always so in a plain buffer that was damaged in one place.
 */
static int mend_valid_bytes(const struct etw_etl_file *file, struct etw_etl_buffer *buffer,
			    const char **sentence)
{
	uint32_t saved = buffer->saved_offset;
	bool has_saved = buffer->type != WIRE_BUFFER_HEADER && is_valid_bytes(buffer, saved);
	struct etw_etl_buffer trial = *buffer;
	bool agrees;

	if (!is_valid_bytes(buffer, buffer->valid_bytes)) {
		*sentence = "Offset is not within the buffer";
		if (has_saved)
			buffer->valid_bytes = saved;
		else
			buffer->valid_bytes = buffer->flags & WIRE_BUFFER_COMPRESSED
						      ? WIRE_BUFFER_BYTES_MAX
						      : buffer->stride;
		return 0;
	}
	if (!has_saved || saved == buffer->valid_bytes)
		return 0;
	*sentence = "Offset and SavedOffset differ";
	trial.valid_bytes = saved > buffer->valid_bytes ? saved : buffer->valid_bytes;
	TRY(try_fields(file, &trial, buffer, &agrees));
	if (!agrees && saved < buffer->valid_bytes) {
		trial.valid_bytes = saved;
		TRY(try_fields(file, &trial, buffer, &agrees));
	}
	return 0;
}

/* The header buffer's end is told once only; but behind it is filler, not another event. */
static int mend_header_end(const struct etw_etl_file *file, struct etw_etl_buffer *buffer,
			   const char **sentence)
{
	struct etw_etl_buffer trial = *buffer;
	uint8_t next[4];
	size_t count;
	bool agrees;

	if (buffer->type != WIRE_BUFFER_HEADER ||
	    buffer->valid_bytes + sizeof(next) > buffer->stride)
		return 0;
	TRY(etw_etl_file_read(file, buffer->offset + buffer->valid_bytes, next, sizeof(next),
			      &count));
	if (count < sizeof(next) || etw_load32(next) == WIRE_EVENT_END_MARK)
		return 0;
	trial.valid_bytes = buffer->stride;
	TRY(try_fields(file, &trial, buffer, &agrees));
	if (agrees)
		*sentence = "Offset is before the header buffer's last event";
	return 0;
}

/* A type that means "no events" on a buffer that is full of them. */
static int mend_type(const struct etw_etl_file *file, struct etw_etl_buffer *buffer,
		     const char **sentence)
{
	struct etw_etl_buffer trial = *buffer;
	bool agrees;

	if (buffer->type >= WIRE_BUFFER_TYPES) {
		*sentence = "BufferType is none that exists";
		buffer->type = WIRE_BUFFER_GENERIC;
		return 0;
	}
	if (etw_etl_buffer_holds_events(buffer) || buffer->valid_bytes == WIRE_BUFFER_HEADER_BYTES)
		return 0;
	trial.type = WIRE_BUFFER_GENERIC;
	TRY(try_fields(file, &trial, buffer, &agrees));
	if (agrees)
		*sentence = "BufferType says that there are no events, but there are";
	return 0;
}

/* The flag for compression on a buffer that is plain. */
static int mend_packing(const struct etw_etl_file *file, struct etw_etl_buffer *buffer,
			const char **sentence)
{
	struct etw_etl_buffer trial = *buffer;
	bool agrees;

	if (!(buffer->flags & WIRE_BUFFER_COMPRESSED))
		return 0;
	TRY(try_fields(file, &trial, buffer, &agrees));
	if (agrees)
		return 0;
	trial.flags &= (uint16_t)~WIRE_BUFFER_COMPRESSED;
	if (!is_valid_bytes(&trial, trial.valid_bytes))
		return 0;
	TRY(try_fields(file, &trial, buffer, &agrees));
	if (agrees)
		*sentence = "BufferFlag says compressed, but the buffer is not";
	return 0;
}

int etw_etl_mend(const struct etw_etl_file *file, bool is_uniform, struct etw_etl_buffer *buffer,
		 const char **ret_sentence)
{
	const char *sentence = NULL;

	if (buffer->state > WIRE_BUFFER_STATE_MAX)
		sentence = "State is none that exists";
	if (buffer->flags & ~WIRE_BUFFER_FLAGS_KNOWN) {
		sentence = "BufferFlag has bits that do not exist";
		buffer->flags &= WIRE_BUFFER_FLAGS_KNOWN;
	}
	TRY(mend_valid_bytes(file, buffer, &sentence));
	TRY(mend_header_end(file, buffer, &sentence));
	TRY(mend_type(file, buffer, &sentence));
	if (is_uniform)
		TRY(mend_packing(file, buffer, &sentence));
	*ret_sentence = sentence;
	return 0;
}
