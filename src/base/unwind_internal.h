/* SPDX-License-Identifier: MIT */
/* What the entries of the tables (unwind.c) and the programs in them (unwind_program.c) share. */
#ifndef ETW_BASE_UNWIND_INTERNAL_H
#define ETW_BASE_UNWIND_INTERNAL_H

#include <stddef.h>

#include "base/bytes.h"
#include "base/unwind.h"

/* Numbers of registers in the tables. */
#if defined(__x86_64__)
#define STACK_REGISTER   7
#define FRAME_REGISTER   6
#define ADDRESS_REGISTER 16
#elif defined(__aarch64__)
#define STACK_REGISTER   31
#define FRAME_REGISTER   29
#define ADDRESS_REGISTER 30
#elif defined(__i386__)
#define STACK_REGISTER   4
#define FRAME_REGISTER   5
#define ADDRESS_REGISTER 8
#else
#define STACK_REGISTER   UINT64_MAX
#define FRAME_REGISTER   UINT64_MAX
#define ADDRESS_REGISTER UINT64_MAX
#endif

/* Encodings of pointers. */
#define POINTER_NONE     0xFF
#define POINTER_FORMAT   0x0F
#define POINTER_RELATIVE 0x70
#define POINTER_TO_HERE  0x10
#define POINTER_TO_TABLE 0x30
#define POINTER_ABSOLUTE 0x00
#define FORMAT_ADDRESS   0x00
#define FORMAT_U16       0x02
#define FORMAT_U32       0x03
#define FORMAT_U64       0x04
#define FORMAT_S16       0x0A
#define FORMAT_S32       0x0B
#define FORMAT_S64       0x0C

/* Bytes of an object; what is read behind their end is 0, and the end is noted. */
struct etw_unwind_bytes {
	const uint8_t *at, *end;
	bool is_short;
};

/* Where the next @count bytes are; NULL: there are fewer. */
static inline const uint8_t *etw_unwind_take(struct etw_unwind_bytes *bytes, size_t count)
{
	const uint8_t *at = bytes->at;

	if ((size_t)(bytes->end - at) < count) {
		bytes->is_short = true;
		bytes->at = bytes->end;
		return NULL;
	}
	bytes->at += count;
	return at;
}

/* An integer of 1, 2, 4 or 8 bytes. The tables have the machine's order of bytes, which is little-endian on all. */
static inline uint64_t etw_unwind_take_unsigned(struct etw_unwind_bytes *bytes, size_t count)
{
	const uint8_t *at = etw_unwind_take(bytes, count);

	return at ? etw_load_unsigned(at, count) : 0;
}

static inline uint64_t etw_unwind_take_signed(struct etw_unwind_bytes *bytes, size_t count)
{
	const uint8_t *at = etw_unwind_take(bytes, count);

	return at ? (uint64_t)etw_load_signed(at, count) : 0;
}

static inline uint8_t etw_unwind_take_u8(struct etw_unwind_bytes *bytes)
{
	return (uint8_t)etw_unwind_take_unsigned(bytes, sizeof(uint8_t));
}

static inline uint32_t etw_unwind_take_u32(struct etw_unwind_bytes *bytes)
{
	return (uint32_t)etw_unwind_take_unsigned(bytes, sizeof(uint32_t));
}

/* Groups of 7 bits, the least first. @ret_bits: how many were there; @ret_last: the last byte */
static inline uint64_t etw_unwind_take_groups(struct etw_unwind_bytes *bytes, unsigned *ret_bits,
					      uint8_t *ret_last)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = etw_unwind_take_u8(bytes);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7F) << shift;
		shift += 7;
	} while (byte & 0x80);
	*ret_bits = shift;
	*ret_last = byte;
	return value;
}

static inline uint64_t etw_unwind_take_uleb(struct etw_unwind_bytes *bytes)
{
	unsigned bits;
	uint8_t last;

	return etw_unwind_take_groups(bytes, &bits, &last);
}

static inline int64_t etw_unwind_take_sleb(struct etw_unwind_bytes *bytes)
{
	unsigned bits;
	uint8_t last;
	uint64_t value = etw_unwind_take_groups(bytes, &bits, &last);

	if (bits < 64 && last & 0x40)
		value |= UINT64_MAX << bits;
	return (int64_t)value;
}

static inline void etw_unwind_skip(struct etw_unwind_bytes *bytes, uint64_t count)
{
	if ((uint64_t)(bytes->end - bytes->at) < count) {
		bytes->is_short = true;
		count = (uint64_t)(bytes->end - bytes->at);
	}
	bytes->at += count;
}

/* The next @count bytes by themselves. */
static inline struct etw_unwind_bytes etw_unwind_take_part(struct etw_unwind_bytes *bytes,
							   uint64_t count)
{
	struct etw_unwind_bytes part = {.at = bytes->at};

	etw_unwind_skip(bytes, count);
	part.end = bytes->at;
	return part;
}

/* An encoded pointer; relative ones but for those to their own place are none that a table of code has. */
static inline uint64_t etw_unwind_take_pointer(struct etw_unwind_bytes *bytes, uint8_t encoding)
{
	const uint64_t here = (uintptr_t)bytes->at;
	uint64_t value;

	switch (encoding & POINTER_FORMAT) {
	case FORMAT_ADDRESS:
		value = etw_unwind_take_unsigned(bytes, sizeof(void *));
		break;
	case FORMAT_U16:
		value = etw_unwind_take_unsigned(bytes, 2);
		break;
	case FORMAT_S16:
		value = etw_unwind_take_signed(bytes, 2);
		break;
	case FORMAT_U32:
		value = etw_unwind_take_unsigned(bytes, 4);
		break;
	case FORMAT_S32:
		value = etw_unwind_take_signed(bytes, 4);
		break;
	case FORMAT_U64:
	case FORMAT_S64:
		value = etw_unwind_take_unsigned(bytes, 8);
		break;
	default:
		bytes->is_short = true;
		return 0;
	}
	if ((encoding & POINTER_RELATIVE) == POINTER_TO_HERE)
		return here + value;
	if ((encoding & POINTER_RELATIVE) != POINTER_ABSOLUTE)
		bytes->is_short = true;
	return value;
}

/* What the entry of a function, and that which it has in common with others, say. */
struct etw_unwind_entry {
	uint64_t begin, end; /* addresses of code */
	uint64_t code_step;
	int64_t data_step;
	struct etw_unwind_bytes common, own; /* programs */
	uint64_t address_register;
	uint8_t pointers; /* how the entry's own are encoded */
	bool has_data;    /* bytes of a length that is told stand in front of the entry's program */
	bool is_signal;
};

/*
 * etw_unwind_run() - runs the programs of an entry up to @pc.
 *
 * Returns whether what holds there can be told in a rule, @ret.
 */
bool etw_unwind_run(const struct etw_unwind_entry *entry, uint64_t pc, struct etw_unwind_rule *ret);

#endif
