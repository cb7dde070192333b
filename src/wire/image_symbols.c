/* SPDX-License-Identifier: MIT */
/* The bytes of an image's symbols; see wire/image_symbols.h. Source: docs/format/tracelogging.md. */
#include "wire/image_symbols.h"

#include <string.h>

#include <evntcons.h>
#include <evntrace.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/utf.h"
#include "wire/own_event.h"

/* Types of fields, as docs/format/tracelogging.md has them. */
#define AS_U32  "\x08"
#define AS_X64  "\x15"
#define AS_PID  "\x88\x05"
#define AS_UTF8 "\x82\x23"
#define AS_ROWS "\xD8\x03" /* structs of three members, as many as a u16 in front says */

/* clang-format off */
#define SCHEMA                          \
	"\0"                            \
	"ImageSymbols\0"                \
	"ImageBase\0" AS_X64            \
	"ProcessId\0" AS_PID            \
	"Table\0" AS_U32                \
	"Total\0" AS_U32                \
	"First\0" AS_U32                \
	"Symbols\0" AS_ROWS             \
	"Offset\0" AS_X64               \
	"Size\0" AS_U32                 \
	"Name\0" AS_UTF8

#define HEIR_SCHEMA                     \
	"\0"                            \
	"ImageSymbolsInherited\0"       \
	"ImageBase\0" AS_X64            \
	"ProcessId\0" AS_PID            \
	"OfProcess\0" AS_PID
/* clang-format on */

#define SCHEMA_BYTES      (sizeof(SCHEMA) - 1)
#define HEIR_SCHEMA_BYTES (sizeof(HEIR_SCHEMA) - 1)

#define HEAD_BYTES   (8 + 4 * 4 + 2) /* of the payload */
#define SYMBOL_BYTES (8 + 4 + 1)     /* and the name */
#define EVENT_BYTES \
	(WIRE_OWN_HEAD_BYTES(sizeof(WIRE_IMAGE_SYMBOLS_PROVIDER_NAME), SCHEMA_BYTES) + HEAD_BYTES)

#define HEIR_PAYLOAD_BYTES (8 + 2 * 4)

bool etw_image_symbol_is_sound(uint64_t image_base, const struct etw_image_symbol *symbol)
{
	uint64_t at = image_base + symbol->offset;

	return at >= image_base && at + symbol->byte_count >= at && symbol->name_bytes &&
	       symbol->name_bytes <= WIRE_IMAGE_SYMBOL_NAME_MAX &&
	       etw_utf8_is_valid((const uint8_t *)symbol->name, symbol->name_bytes);
}

uint32_t etw_image_symbols_fit(const struct etw_image_symbol *symbols, uint32_t count,
			       uint32_t *ret_bytes)
{
	uint32_t bytes = EVENT_BYTES, fit = 0;

	while (fit < count) {
		uint32_t more = SYMBOL_BYTES + symbols[fit].name_bytes;

		if (bytes + more > WIRE_IMAGE_SYMBOLS_BYTES_MAX)
			break;
		bytes += more;
		fit++;
	}
	*ret_bytes = bytes;
	return fit;
}

static uint8_t *put_symbols(uint8_t *at, const struct etw_image_symbol *symbols, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		etw_store64(at, symbols[i].offset);
		etw_store32(at + 8, symbols[i].byte_count);
		memcpy(at + 12, symbols[i].name, symbols[i].name_bytes);
		at[12 + symbols[i].name_bytes] = '\0';
		at += SYMBOL_BYTES + symbols[i].name_bytes;
	}
	return at;
}

uint32_t etw_image_symbols_pack(const struct etw_image_symbol *symbols, uint32_t count,
				uint8_t *room, uint32_t room_bytes, uint32_t *ret_bytes)
{
	uint32_t bytes = 0, fit = 0;

	while (fit < count && SYMBOL_BYTES + symbols[fit].name_bytes <= room_bytes - bytes)
		bytes += SYMBOL_BYTES + symbols[fit++].name_bytes;
	(void)put_symbols(room, symbols, fit);
	*ret_bytes = bytes;
	return fit;
}

static uint8_t *begin_event(const void *schema, uint32_t schema_bytes, uint32_t process_id,
			    uint8_t *room)
{
	static const GUID provider = WIRE_IMAGE_SYMBOLS_PROVIDER;
	const struct wire_own_event event = {
		.provider = &provider,
		.provider_name = WIRE_IMAGE_SYMBOLS_PROVIDER_NAME,
		.schema = schema,
		.schema_bytes = schema_bytes,
		.level = TRACE_LEVEL_INFORMATION,
		.process_id = process_id,
		.thread_id = WIRE_OWN_NOBODY,
	};

	return wire_own_event_begin(&event, room);
}

void etw_image_symbols_encode(const struct etw_image_symbols_part *part,
			      const struct etw_image_symbol *symbols, uint8_t *room)
{
	uint8_t *at = begin_event(SCHEMA, SCHEMA_BYTES, part->process_id, room);

	etw_store64(at, part->image_base);
	etw_store32(at + 8, part->process_id);
	etw_store32(at + 12, part->table);
	etw_store32(at + 16, part->total);
	etw_store32(at + 20, part->first);
	etw_store16(at + 24, (uint16_t)part->count);
	(void)wire_own_event_end(room, put_symbols(at + HEAD_BYTES, symbols, part->count));
}

uint32_t etw_image_symbols_heir_bytes(void)
{
	return WIRE_OWN_HEAD_BYTES(sizeof(WIRE_IMAGE_SYMBOLS_PROVIDER_NAME), HEIR_SCHEMA_BYTES) +
	       HEIR_PAYLOAD_BYTES;
}

void etw_image_symbols_heir_encode(const struct etw_image_symbols_heir *heir, uint8_t *room)
{
	uint8_t *at = begin_event(HEIR_SCHEMA, HEIR_SCHEMA_BYTES, heir->process_id, room);

	etw_store64(at, heir->image_base);
	etw_store32(at + 8, heir->process_id);
	etw_store32(at + 12, heir->of_process);
	(void)wire_own_event_end(room, at + HEIR_PAYLOAD_BYTES);
}

bool etw_image_symbols_heir_parse(struct etw_bytes schema, struct etw_bytes payload,
				  struct etw_image_symbols_heir *ret)
{
	if (!wire_own_event_is(schema, HEIR_SCHEMA, HEIR_SCHEMA_BYTES) ||
	    payload.left < HEIR_PAYLOAD_BYTES)
		return false;
	*ret = (struct etw_image_symbols_heir){
		.image_base = etw_load64(payload.at),
		.process_id = etw_load32(payload.at + 8),
		.of_process = etw_load32(payload.at + 12),
	};
	return true;
}

bool etw_image_symbols_parse(struct etw_bytes schema, struct etw_bytes payload,
			     struct etw_image_symbols_part *ret,
			     struct etw_image_symbols_cursor *ret_cursor)
{
	struct etw_image_symbols_part part;

	if (!wire_own_event_is(schema, SCHEMA, SCHEMA_BYTES) || payload.left < HEAD_BYTES)
		return false;
	part = (struct etw_image_symbols_part){
		.image_base = etw_load64(payload.at),
		.process_id = etw_load32(payload.at + 8),
		.table = etw_load32(payload.at + 12),
		.total = etw_load32(payload.at + 16),
		.first = etw_load32(payload.at + 20),
		.count = etw_load16(payload.at + 24),
	};
	if (part.total > WIRE_IMAGE_SYMBOLS_MAX || part.first > part.total ||
	    part.count > part.total - part.first)
		return false;
	*ret = part;
	*ret_cursor = (struct etw_image_symbols_cursor){
		.left = {payload.at + HEAD_BYTES, payload.left - HEAD_BYTES},
		.count = part.count,
	};
	return true;
}

bool etw_image_symbols_next(const struct etw_image_symbols_part *part,
			    struct etw_image_symbols_cursor *cursor, struct etw_image_symbol *ret)
{
	struct etw_image_symbol symbol;
	const uint8_t *end;

	if (!cursor->count || cursor->left.left < SYMBOL_BYTES)
		return false;
	symbol.offset = etw_load64(cursor->left.at);
	symbol.byte_count = etw_load32(cursor->left.at + 8);
	symbol.name = (const char *)cursor->left.at + 12;
	end = memchr(symbol.name, '\0', cursor->left.left - 12);
	symbol.name_bytes = end ? (uint32_t)(end - (const uint8_t *)symbol.name) : 0;
	if (!etw_image_symbol_is_sound(part->image_base, &symbol)) {
		cursor->count = 0;
		return false;
	}
	cursor->count--;
	(void)etw_bytes_take(&cursor->left, SYMBOL_BYTES + symbol.name_bytes);
	*ret = symbol;
	return true;
}

uint32_t etw_image_symbols_unpack(struct etw_bytes packed, uint64_t image_bytes,
				  struct etw_image_symbol *ret, uint32_t room)
{
	const struct etw_image_symbols_part part = {0};
	struct etw_image_symbols_cursor cursor = {packed, UINT32_MAX};
	struct etw_image_symbol symbol;
	uint32_t count = 0;

	while (etw_image_symbols_next(&part, &cursor, &symbol)) {
		if (symbol.offset >= image_bytes ||
		    symbol.byte_count > image_bytes - symbol.offset || (ret && count == room))
			return UINT32_MAX;
		if (ret)
			ret[count] = symbol;
		count++;
	}
	return cursor.left.left ? UINT32_MAX : count;
}
