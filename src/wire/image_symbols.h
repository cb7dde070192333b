/* SPDX-License-Identifier: MIT */
/*
 * Symbols of an image inside a trace: what the functions at its addresses are called, so that the trace tells it on
 * another machine too. They are TraceLogging events "ImageSymbols" of the provider "Libetw-Image", which describe
 * themselves, so that every decoder of such events shows them. A table that is larger than one event goes out in
 * parts; each says how many symbols the table has, so that a reader knows when some are missing.
 *
 * The host alone writes them: the provider's events never come from a ring (session/common/check.h).
 * Source: docs/format/image-symbols.md.
 */
#ifndef ETW_WIRE_IMAGE_SYMBOLS_H
#define ETW_WIRE_IMAGE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guiddef.h>

#include "base/bytes.h"

/* "Libetw-Image" by the rule of names; tests/unit/schema/test_provider_id.c holds the two together. */
#define WIRE_IMAGE_SYMBOLS_PROVIDER_NAME "Libetw-Image"
#define WIRE_IMAGE_SYMBOLS_PROVIDER                                    \
	{                                                              \
		0xdb66ba7d, 0xdda7, 0x51e9,                            \
		{                                                      \
			0x6d, 0x6c, 0x84, 0xab, 0x93, 0x08, 0x61, 0x2c \
		}                                                      \
	}

#define WIRE_IMAGE_SYMBOLS_MAX     (UINT32_C(1) << 20) /* of one table */
#define WIRE_IMAGE_SYMBOL_NAME_MAX 1024                /* bytes, without the NUL */
#define WIRE_IMAGE_SYMBOLS_BYTES_MAX \
	3840 /* of one event: it fits the buffers of every session of 4 KiB and more */

/* One symbol. */
struct etw_image_symbol {
	uint64_t offset;     /* from the image's base */
	uint32_t byte_count; /* 0: not known; it reaches to the next one */
	uint32_t name_bytes; /* without the NUL */
	const char *name;    /* borrowed; UTF-8, NUL-terminated */
};

/* What one event says beside its symbols. */
struct etw_image_symbols_part {
	uint64_t image_base;
	uint32_t process_id;
	uint32_t table; /* the same in all parts of a table; tells tables of an image apart */
	uint32_t total; /* symbols of the whole table */
	uint32_t first; /* number of the first one here, from 0 */
	uint32_t count; /* symbols here */
};

/*
 * That an image has the symbols which the image at the same place in another process has at the event's time: a forked
 * child's. An event "ImageSymbolsInherited" of the same provider.
 */
struct etw_image_symbols_heir {
	uint64_t image_base;
	uint32_t process_id;
	uint32_t of_process;
};

/* The symbols of a part that were not taken yet. */
struct etw_image_symbols_cursor {
	struct etw_bytes left;
	uint32_t count;
};

/* etw_image_symbol_is_sound() - a symbol that an event may hold: its end is an address, its name short and UTF-8. */
bool etw_image_symbol_is_sound(uint64_t image_base, const struct etw_image_symbol *symbol);

/*
 * etw_image_symbols_fit() - how many of the symbols at the front go into one event: one at least, when there is one.
 *
 * @symbols:   sound ones
 * @ret_bytes: of the whole event with them
 */
uint32_t etw_image_symbols_fit(const struct etw_image_symbol *symbols, uint32_t count,
			       uint32_t *ret_bytes);

/*
 * etw_image_symbols_encode() - the whole event, header included, but for the time.
 *
 * @part:    with the count that etw_image_symbols_fit() gave
 * @symbols: the part's own
 * @room:    the bytes that etw_image_symbols_fit() gave, zeroed
 */
void etw_image_symbols_encode(const struct etw_image_symbols_part *part,
			      const struct etw_image_symbol *symbols, uint8_t *room);

/*
 * etw_image_symbols_parse() - begins to read an event of the provider.
 *
 * @schema:     the data of its item EVENT_SCHEMA_TL
 * @payload:    its user data; borrowed by the cursor, and by the names that come of it
 * @ret_cursor: for etw_image_symbols_next()
 *
 * Returns false for an event that has no symbols in a form that this version knows.
 */
bool etw_image_symbols_parse(struct etw_bytes schema, struct etw_bytes payload,
			     struct etw_image_symbols_part *ret,
			     struct etw_image_symbols_cursor *ret_cursor);

/* etw_image_symbols_heir_bytes() - of the whole event. */
uint32_t etw_image_symbols_heir_bytes(void);

/*
 * etw_image_symbols_heir_encode() - the whole event, header included, but for the time.
 *
 * @room: etw_image_symbols_heir_bytes(), zeroed
 */
void etw_image_symbols_heir_encode(const struct etw_image_symbols_heir *heir, uint8_t *room);

/* etw_image_symbols_heir_parse() - reads it, as etw_image_symbols_parse() does; false: it is another event. */
bool etw_image_symbols_heir_parse(struct etw_bytes schema, struct etw_bytes payload,
				  struct etw_image_symbols_heir *ret);

/*
 * etw_image_symbols_pack() - symbols as an event has them, without an event.
 *
 * @symbols: sound ones
 * @count:   of them; those that fit are packed
 * @room:    @room_bytes bytes
 *
 * Returns how many were packed, and their bytes.
 */
uint32_t etw_image_symbols_pack(const struct etw_image_symbol *symbols, uint32_t count,
				uint8_t *room, uint32_t room_bytes, uint32_t *ret_bytes);

/*
 * etw_image_symbols_unpack() - reads such symbols.
 *
 * @image_bytes: of the image: all symbols lie within
 * @ret:         room for @room of them, whose names are borrowed; NULL: they are only counted
 *
 * Returns how many there are; UINT32_MAX: they are not sound, or more than there is room for.
 */
uint32_t etw_image_symbols_unpack(struct etw_bytes packed, uint64_t image_bytes,
				  struct etw_image_symbol *ret, uint32_t room);

/* etw_image_symbols_next() - takes a part's next symbol, a sound one; false: there are no more, or the rest is damaged. */
bool etw_image_symbols_next(const struct etw_image_symbols_part *part,
			    struct etw_image_symbols_cursor *cursor, struct etw_image_symbol *ret);

#endif
