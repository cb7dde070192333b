/* SPDX-License-Identifier: MIT */
/* Plain LZ77 XPRESS, the compression of .etl buffers. Source: docs/format/etl.md "Compressed buffers". */
#ifndef ETW_WIRE_XPRESS_H
#define ETW_WIRE_XPRESS_H

#include <stddef.h>
#include <stdint.h>

/*
 * etw_xpress_decode() - decompresses one stream.
 *
 * @room:      bytes wanted; decoding stops when they are there
 * @ret_taken: input bytes used so far; set in every case, may be NULL
 *
 * Returns the bytes written to @output: @room, or fewer when the stream ended early or is damaged.
 * Everything written is what the stream says; nothing outside either span is touched.
 */
size_t etw_xpress_decode(const uint8_t *input, size_t bytes, uint8_t *output, size_t room,
			 size_t *ret_taken);

#define ETW_XPRESS_HASH_BITS 13

/* Memory of an encoder, which it needs while it works and never before or after. */
struct etw_xpress_places {
	uint32_t last[1 << ETW_XPRESS_HASH_BITS]; /* where bytes of a hash stood last, and 1 */
};

/*
 * etw_xpress_encode() - compresses @bytes bytes into one stream. The same input always gives the same stream.
 *
 * @places: overwritten
 *
 * Returns the bytes written to @output; 0 when @room is too small for the stream. What is then in @output is nothing.
 */
size_t etw_xpress_encode(struct etw_xpress_places *places, const uint8_t *input, size_t bytes,
			 uint8_t *output, size_t room);

#endif
