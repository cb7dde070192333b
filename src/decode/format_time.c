/* SPDX-License-Identifier: MIT */
/* Dates and times as ISO 8601 text in UTC, with the number of fraction digits that TDH shows. */
#include "base/bytes.h"
#include "base/time.h"
#include "decode/format.h"
#include "decode/format_internal.h"

/* "30828-01-01T00:00:00.000000000Z" and room to spare. */
#define TIME_BYTES 48

static char *write_padded(char *to, uint32_t value, unsigned digits)
{
	for (unsigned i = digits; i > 0; i--, value /= 10)
		to[i - 1] = (char)('0' + value % 10);
	return to + digits;
}

static char *write_two(char *to, uint32_t value, char after)
{
	to = write_padded(to, value, value < 100 ? 2 : value < 1000 ? 3 : 5);
	*to++ = after;
	return to;
}

static char *write_date(char *to, const struct etw_date *date)
{
	to = write_padded(to, (uint32_t)date->year, date->year > 9999 ? 5 : 4);
	*to++ = '-';
	to = write_two(to, date->month, '-');
	to = write_two(to, date->day, 'T');
	to = write_two(to, date->hour, ':');
	to = write_two(to, date->minute, ':');
	return write_two(to, date->second, '.');
}

void etw_format_filetime(int64_t filetime, struct etw_text *text)
{
	struct etw_date date;
	char *to = etw_text_begin(text, TIME_BYTES);

	if (!to)
		return;
	if (!etw_date_of_filetime(filetime, &date)) {
		etw_text_signed(text, filetime);
		return;
	}
	to = etw_write_seven(write_date(to, &date), date.ticks);
	*to++ = 'Z';
	etw_text_end(text, to);
}

/* Nine fraction digits; what is no date is shown as its low and high words, as TDH's callers do. */
void etw_form_filetime(const uint8_t *at, struct etw_text *text)
{
	struct etw_date date;
	char *to = etw_text_begin(text, TIME_BYTES);

	if (!to)
		return;
	if (!etw_date_of_filetime((int64_t)etw_load64(at), &date)) {
		etw_text_unsigned(text, etw_load32(at));
		etw_text_putc(text, ':');
		etw_text_unsigned(text, etw_load32(at + 4));
		return;
	}
	to = write_padded(write_date(to, &date), date.ticks * 100, 9);
	*to++ = 'Z';
	etw_text_end(text, to);
}

void etw_form_systemtime(const uint8_t *at, struct etw_text *text)
{
	uint16_t parts[8]; /* year, month, day of week, day, hour, minute, second, millisecond */
	char *to = etw_text_begin(text, TIME_BYTES);

	if (!to)
		return;
	for (unsigned i = 0; i < 8; i++)
		parts[i] = etw_load16(at + 2 * (size_t)i);
	if (parts[1] == 0 || parts[1] > 12) {
		for (unsigned i = 0; i < 8; i++) {
			if (i)
				etw_text_putc(text, ':');
			etw_text_unsigned(text, parts[i]);
		}
		return;
	}
	to = write_padded(to, parts[0], parts[0] > 9999 ? 5 : 4);
	*to++ = '-';
	to = write_two(to, parts[1], '-');
	to = write_two(to, parts[3], 'T');
	to = write_two(to, parts[4], ':');
	to = write_two(to, parts[5], ':');
	to = write_two(to, parts[6], '.');
	to = write_padded(to, parts[7], parts[7] < 1000 ? 3 : 5);
	*to++ = 'Z';
	etw_text_end(text, to);
}
