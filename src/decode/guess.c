/* SPDX-License-Identifier: MIT */
#include "decode/guess.h"

#include <tdh.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/time.h"

#define STRING_MIN    3 /* characters; fewer are numbers more often than words */
#define SID_BYTES_MIN 8
#define SID_PARTS_MAX 15

/* Kernel addresses; beyond lie few things, and small negative numbers. */
#define KERNEL_FIRST UINT64_C(0xFFFF800000000000)
#define KERNEL_END   UINT64_C(0xFFFFFFFF00000000)

/* A trace's events rarely speak of times further away than this. */
#define NEAR_FT (INT64_C(2) * 365 * 86400 * ETW_FILETIME_PER_SECOND)

void etw_guesser_init(struct etw_guesser *guesser, const uint8_t *at, size_t bytes, size_t offset,
		      int64_t time_ft)
{
	*guesser = (struct etw_guesser){
		.at = at,
		.bytes = bytes,
		.offset = offset < bytes ? offset : bytes,
		.time_ft = time_ft,
	};
}

static bool is_printable(unsigned unit)
{
	return (unit >= 0x20 && unit < 0x7F) || unit == '\t' || unit == '\r' || unit == '\n';
}

static unsigned load_unit(const uint8_t *at, size_t unit_bytes)
{
	return unit_bytes == 2 ? etw_load16(at) : at[0];
}

/*
 * The first unit from @offset on that is not printable, or where no whole unit is left. Each place within a text asks
 * again: what was found is kept, so that a long text which turns out to be none is not read from every place.
 */
static size_t find_text_end(struct etw_guesser *guesser, size_t offset, size_t unit_bytes)
{
	const size_t kind = unit_bytes == 1 ? 0 : 1 + (offset & 1);
	size_t end = guesser->texts[kind].end;

	if (offset >= guesser->texts[kind].first && offset < end)
		return end;
	for (end = offset; guesser->bytes - end >= unit_bytes; end += unit_bytes) {
		if (!is_printable(load_unit(guesser->at + end, unit_bytes)))
			break;
	}
	guesser->texts[kind].first = offset;
	guesser->texts[kind].end = end;
	return end;
}

/*
 * Units of @unit_bytes of printable text, ended by a NUL or by the payload; 0: no text. Guessing looks for
 * what people wrote in ASCII, file names above all; other scripts look like numbers.
 */
static size_t text_units(struct etw_guesser *guesser, size_t offset, size_t unit_bytes)
{
	const size_t end = find_text_end(guesser, offset, unit_bytes);
	const size_t left = guesser->bytes - end;
	const bool is_ended = left < unit_bytes ? left == 0
						: load_unit(guesser->at + end, unit_bytes) == 0;
	const size_t units = (end - offset) / unit_bytes;

	return is_ended && units >= STRING_MIN ? units : 0;
}

/* Revision 1, an authority below 256, which all are that anybody uses. */
static size_t sid_bytes(const uint8_t *at, size_t left)
{
	size_t bytes;

	if (left < SID_BYTES_MIN || at[0] != 1 || at[1] == 0 || at[1] > SID_PARTS_MAX)
		return 0;
	for (int i = 2; i < 7; i++) {
		if (at[i])
			return 0;
	}
	bytes = SID_BYTES_MIN + 4 * (size_t)at[1];
	return at[7] && bytes <= left ? bytes : 0;
}

static bool is_near(int64_t time_ft, uint64_t value)
{
	int64_t distance;

	return value <= INT64_MAX && !__builtin_sub_overflow((int64_t)value, time_ft, &distance) &&
	       distance > -NEAR_FT && distance < NEAR_FT;
}

/* Bytes before a text that begins within the next four, or 4: a number must not swallow its start. */
static size_t bytes_before_text(struct etw_guesser *guesser, size_t left)
{
	for (size_t skip = 1; skip < 4 && skip < left; skip++) {
		if (text_units(guesser, guesser->offset + skip, 2) > STRING_MIN ||
		    text_units(guesser, guesser->offset + skip, 1) > STRING_MIN)
			return skip;
	}
	return 4;
}

/* A value without a terminator. */
static bool give(struct etw_guesser *guesser, uint16_t in_type, size_t bytes, struct etw_guess *ret)
{
	*ret = (struct etw_guess){guesser->offset, bytes, in_type};
	guesser->offset += bytes;
	return true;
}

static bool give_text(struct etw_guesser *guesser, uint16_t in_type, size_t units,
		      size_t unit_bytes, struct etw_guess *ret)
{
	size_t left;

	(void)give(guesser, in_type, units * unit_bytes, ret);
	left = guesser->bytes - guesser->offset;
	guesser->offset += left < unit_bytes ? left : unit_bytes; /* the NUL */
	return true;
}

bool etw_guesser_next(struct etw_guesser *guesser, struct etw_guess *ret)
{
	const size_t left = guesser->bytes - guesser->offset;
	const uint8_t *at;
	size_t count;

	if (left == 0)
		return false;
	at = guesser->at + guesser->offset;
	count = sid_bytes(at, left);
	if (count)
		return give(guesser, TDH_INTYPE_SID, count, ret);
	count = text_units(guesser, guesser->offset, 2);
	if (count)
		return give_text(guesser, TDH_INTYPE_UNICODESTRING, count, 2, ret);
	count = text_units(guesser, guesser->offset, 1);
	if (count)
		return give_text(guesser, TDH_INTYPE_ANSISTRING, count, 1, ret);
	if (left >= 8 && is_near(guesser->time_ft, etw_load64(at)))
		return give(guesser, TDH_INTYPE_FILETIME, 8, ret);
	if (left >= 8 && etw_load64(at) >= KERNEL_FIRST && etw_load64(at) < KERNEL_END)
		return give(guesser, TDH_INTYPE_POINTER, 8, ret);
	count = bytes_before_text(guesser, left);
	if (count > left)
		count = left;
	if (count >= 4)
		return give(guesser, TDH_INTYPE_UINT32, 4, ret);
	return count >= 2 ? give(guesser, TDH_INTYPE_UINT16, 2, ret)
			  : give(guesser, TDH_INTYPE_UINT8, 1, ret);
}
