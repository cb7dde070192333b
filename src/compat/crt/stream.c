/* SPDX-License-Identifier: MIT */
#include "compat/crt/stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/utf.h"

#define REPLACEMENT 0xFFFDu

/* What is known of a stream, for the few that need it. */
struct stream {
	struct stream *next;
	FILE *file;
	enum etw_encoding encoding;
	wint_t kept;      /* read next; WEOF: nothing */
	uint16_t pending; /* the first half of a pair that was written; 0: none */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stream *streams; /* behind the lock; entries stay */

static struct stream *find(FILE *file, bool may_make)
{
	struct stream *stream;

	(void)pthread_mutex_lock(&lock);
	for (stream = streams; stream && stream->file != file; stream = stream->next)
		;
	if (!stream && may_make) {
		stream = calloc(1, sizeof(*stream));
		if (stream) {
			stream->file = file;
			stream->kept = WEOF;
			stream->next = streams;
			streams = stream;
		}
	}
	(void)pthread_mutex_unlock(&lock);
	return stream;
}

int etw_stream_set_encoding(FILE *file, enum etw_encoding encoding)
{
	struct stream *stream = find(file, encoding != ETW_ENCODING_UTF8);

	if (!stream)
		return encoding == ETW_ENCODING_UTF8 ? 0 : -1;
	stream->encoding = encoding;
	stream->kept = WEOF;
	stream->pending = 0;
	return 0;
}

static int write_point(FILE *file, uint32_t point)
{
	char bytes[4];
	size_t count = etw_utf8_encode(point, bytes);

	return fwrite_unlocked(bytes, 1, count, file) == count ? 0 : -1;
}

static bool is_high(uint32_t unit)
{
	return (unit & 0xFC00) == 0xD800;
}

static bool is_low(uint32_t unit)
{
	return (unit & 0xFC00) == 0xDC00;
}

static int put_utf8(FILE *file, struct stream *stream, uint32_t unit)
{
	uint32_t high = stream ? stream->pending : 0;

	if (high) {
		stream->pending = 0;
		if (is_low(unit))
			return write_point(file, 0x10000 + ((high & 0x3FF) << 10 | (unit & 0x3FF)));
		if (write_point(file, REPLACEMENT))
			return -1;
	}
	if (is_high(unit)) {
		stream = find(file, true);
		if (stream)
			stream->pending = (uint16_t)unit;
		return stream ? 0 : -1;
	}
	return write_point(file, is_low(unit) ? REPLACEMENT : unit);
}

int etw_stream_put(FILE *file, const wchar_t *units, size_t count)
{
	struct stream *stream = find(file, false);
	int result = 0;

	flockfile(file);
	if (stream && stream->encoding == ETW_ENCODING_UTF16) {
		result = fwrite_unlocked(units, sizeof(*units), count, file) == count ? 0 : -1;
		count = 0;
	}
	for (size_t i = 0; i < count && !result; i++) {
		uint32_t unit = (uint16_t)units[i];

		if (unit < 0x80 && !(stream && stream->pending)) {
			result = putc_unlocked((int)unit, file) == EOF ? -1 : 0;
			continue;
		}
		result = put_utf8(file, stream, unit);
		if (!stream)
			stream = find(file, false);
	}
	funlockfile(file);
	return result;
}

/* The bytes of a character behind its first; what does not belong to it is put back. */
static uint32_t get_point(FILE *file, int first)
{
	uint8_t bytes[4] = {(uint8_t)first};
	size_t wanted = first < 0xC2   ? 1
			: first < 0xE0 ? 2
			: first < 0xF0 ? 3
			: first < 0xF5 ? 4
				       : 1;
	size_t count = 1, used;
	uint32_t point;

	while (count < wanted) {
		int byte = getc_unlocked(file);

		if (byte == EOF)
			break;
		if ((byte & 0xC0) != 0x80) {
			(void)ungetc(byte, file);
			break;
		}
		bytes[count++] = (uint8_t)byte;
	}
	point = etw_utf8_decode(bytes, count, &used);
	return point == UINT32_MAX ? REPLACEMENT : point;
}

static wint_t get_unit16(FILE *file)
{
	int low = getc_unlocked(file);
	int high = low == EOF ? EOF : getc_unlocked(file);

	return high == EOF ? WEOF : (wint_t)(low | high << 8);
}

static wint_t get_utf8(FILE *file)
{
	int byte = getc_unlocked(file);
	struct stream *stream;
	uint32_t point;

	if (byte == EOF)
		return WEOF;
	point = byte < 0x80 ? (uint32_t)byte : get_point(file, byte);
	if (point <= 0xFFFF)
		return point;
	stream = find(file, true);
	if (!stream)
		return REPLACEMENT;
	stream->kept = 0xDC00 | (point & 0x3FF);
	return 0xD7C0 + (point >> 10);
}

wint_t etw_stream_get(FILE *file)
{
	struct stream *stream = find(file, false);
	wint_t unit;

	flockfile(file);
	if (stream && stream->kept != WEOF) {
		unit = stream->kept;
		stream->kept = WEOF;
	} else if (stream && stream->encoding == ETW_ENCODING_UTF16) {
		unit = get_unit16(file);
	} else {
		unit = get_utf8(file);
	}
	funlockfile(file);
	return unit;
}

wint_t etw_stream_unget(FILE *file, wint_t unit)
{
	struct stream *stream;

	if (unit == WEOF)
		return WEOF;
	stream = find(file, true);
	if (!stream || stream->kept != WEOF)
		return WEOF;
	stream->kept = (uint16_t)unit;
	return unit;
}
