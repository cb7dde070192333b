/* SPDX-License-Identifier: MIT */
/* GetDateFormat and GetTimeFormat: pictures of dates and times of day, in the English of the United States. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "compat/win32/object.h"
#include "compat/win32/text.h"

static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
				   "Thursday", "Friday", "Saturday"};
static const char *const months[] = {"January",   "February", "March",    "April",
				     "May",       "June",     "July",     "August",
				     "September", "October",  "November", "December"};

static void put_number(struct etw_text *text, unsigned value, size_t width)
{
	etw_text_printf(text, width >= 2 ? "%02u" : "%u", value);
}

static void put_date(struct etw_text *text, char letter, size_t count, const SYSTEMTIME *time)
{
	if (letter == 'd' && count <= 2)
		put_number(text, time->wDay, count);
	else if (letter == 'd')
		etw_text_append(text, days[time->wDayOfWeek],
				count == 3 ? 3 : strlen(days[time->wDayOfWeek]));
	else if (letter == 'M' && count <= 2)
		put_number(text, time->wMonth, count);
	else if (letter == 'M')
		etw_text_append(text, months[time->wMonth - 1],
				count == 3 ? 3 : strlen(months[time->wMonth - 1]));
	else if (letter == 'y' && count <= 2)
		put_number(text, time->wYear % 100U, count);
	else if (letter == 'y')
		etw_text_printf(text, "%04u", time->wYear);
	else
		etw_text_puts(text, "A.D.");
}

static void put_time(struct etw_text *text, char letter, size_t count, const SYSTEMTIME *time)
{
	const char *mark = time->wHour < 12 ? "AM" : "PM";

	switch (letter) {
	case 'h':
		put_number(text, (time->wHour + 11U) % 12 + 1, count);
		break;
	case 'H':
		put_number(text, time->wHour, count);
		break;
	case 'm':
		put_number(text, time->wMinute, count);
		break;
	case 's':
		put_number(text, time->wSecond, count);
		break;
	default:
		etw_text_append(text, mark, count >= 2 ? 2 : 1);
		break;
	}
}

/* Text between quotes, in which a doubled quote is one. Returns where the picture goes on. */
static const char *put_quoted(struct etw_text *text, const char *at)
{
	for (at++; *at; at++) {
		if (*at == '\'' && *++at != '\'')
			return at;
		etw_text_putc(text, *at);
	}
	return at;
}

static void draw(struct etw_text *text, const char *picture, bool is_date, const SYSTEMTIME *time)
{
	const char *letters = is_date ? "dMyg" : "hHmst";

	for (const char *at = picture; *at;) {
		size_t count = 1;

		if (*at == '\'') {
			if (at[1] == '\'') {
				etw_text_putc(text, '\'');
				at += 2;
			} else {
				at = put_quoted(text, at);
			}
			continue;
		}
		if (!strchr(letters, *at)) {
			etw_text_putc(text, *at++);
			continue;
		}
		while (at[count] == *at)
			count++;
		(is_date ? put_date : put_time)(text, *at, count, time);
		at += count;
	}
}

static const char *picture_of(bool is_date, DWORD flags)
{
	const bool is_24 = flags & TIME_FORCE24HOURFORMAT, has_mark = !(flags & TIME_NOTIMEMARKER);

	if (is_date)
		return flags & DATE_LONGDATE    ? "dddd, MMMM d, yyyy"
		       : flags & DATE_YEARMONTH ? "MMMM yyyy"
		       : flags & DATE_MONTHDAY  ? "MMMM d"
						: "M/d/yyyy";
	if (flags & TIME_NOMINUTESORSECONDS)
		return is_24 ? (has_mark ? "H tt" : "H") : (has_mark ? "h tt" : "h");
	if (flags & TIME_NOSECONDS)
		return is_24 ? (has_mark ? "H:mm tt" : "H:mm") : (has_mark ? "h:mm tt" : "h:mm");
	return is_24 ? (has_mark ? "H:mm:ss tt" : "H:mm:ss")
		     : (has_mark ? "h:mm:ss tt" : "h:mm:ss");
}

/* Whether it is a date, and which weekday it is, whatever the caller's says. */
static bool check(bool is_date, SYSTEMTIME *time)
{
	SYSTEMTIME probe = *time;
	FILETIME ft;

	if (is_date) {
		probe.wHour = probe.wMinute = probe.wSecond = probe.wMilliseconds = 0;
		if (!SystemTimeToFileTime(&probe, &ft) || !FileTimeToSystemTime(&ft, &probe))
			return false;
		time->wDayOfWeek = probe.wDayOfWeek;
		return true;
	}
	return time->wHour <= 23 && time->wMinute <= 59 && time->wSecond <= 59 &&
	       time->wMilliseconds <= 999;
}

/* Owned text, or NULL with the last error. */
static char *format(bool is_date, DWORD flags, const SYSTEMTIME *given, const char *picture)
{
	struct etw_text text;
	SYSTEMTIME time;

	if (picture && flags & ~LOCALE_NOUSEROVERRIDE)
		return etw_fail_null(ERROR_INVALID_FLAGS);
	if (given)
		time = *given;
	else
		GetLocalTime(&time);
	if (!check(is_date, &time))
		return etw_fail_null(ERROR_INVALID_PARAMETER);
	etw_text_init(&text);
	draw(&text, picture ? picture : picture_of(is_date, flags), is_date, &time);
	etw_text_append(&text, "", 0);
	if (etw_text_error(&text)) {
		etw_text_done(&text);
		return etw_fail_null(ERROR_NOT_ENOUGH_MEMORY);
	}
	return text.at;
}

static int give_wide(char *text, LPWSTR to, int room)
{
	DWORD size = room > 0 ? (DWORD)room : 0;
	BOOL is_given;

	if (!text)
		return 0;
	is_given = etw_return_sized_wide(text, room ? to : NULL, &size, ERROR_INSUFFICIENT_BUFFER,
					 TRUE);
	free(text);
	return is_given || !room ? (int)size : 0;
}

static int give_narrow(char *text, LPSTR to, int room)
{
	DWORD size = room > 0 ? (DWORD)room : 0;
	BOOL is_given;

	if (!text)
		return 0;
	is_given = etw_return_sized_narrow(text, room ? to : NULL, &size, ERROR_INSUFFICIENT_BUFFER,
					   TRUE);
	free(text);
	return is_given || !room ? (int)size : 0;
}

static int format_wide(bool is_date, DWORD flags, const SYSTEMTIME *time, LPCWSTR picture,
		       LPWSTR to, int room)
{
	char *narrow = etw_narrow(picture);
	const int size = give_wide(format(is_date, flags, time, narrow), to, room);

	free(narrow);
	return size;
}

int GetDateFormatW(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpDate, LPCWSTR lpFormat,
		   LPWSTR lpDateStr, int cchDate)
{
	(void)Locale;
	return format_wide(true, dwFlags, lpDate, lpFormat, lpDateStr, cchDate);
}

int GetTimeFormatW(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpTime, LPCWSTR lpFormat,
		   LPWSTR lpTimeStr, int cchTime)
{
	(void)Locale;
	return format_wide(false, dwFlags, lpTime, lpFormat, lpTimeStr, cchTime);
}

int GetDateFormatA(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpDate, LPCSTR lpFormat,
		   LPSTR lpDateStr, int cchDate)
{
	(void)Locale;
	return give_narrow(format(true, dwFlags, lpDate, lpFormat), lpDateStr, cchDate);
}

int GetTimeFormatA(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpTime, LPCSTR lpFormat,
		   LPSTR lpTimeStr, int cchTime)
{
	(void)Locale;
	return give_narrow(format(false, dwFlags, lpTime, lpFormat), lpTimeStr, cchTime);
}

int GetDateFormatEx(LPCWSTR lpLocaleName, DWORD dwFlags, const SYSTEMTIME *lpDate, LPCWSTR lpFormat,
		    LPWSTR lpDateStr, int cchDate, LPCWSTR lpCalendar)
{
	(void)lpLocaleName;
	(void)lpCalendar;
	return format_wide(true, dwFlags, lpDate, lpFormat, lpDateStr, cchDate);
}

int GetTimeFormatEx(LPCWSTR lpLocaleName, DWORD dwFlags, const SYSTEMTIME *lpTime, LPCWSTR lpFormat,
		    LPWSTR lpTimeStr, int cchTime)
{
	(void)lpLocaleName;
	return format_wide(false, dwFlags, lpTime, lpFormat, lpTimeStr, cchTime);
}
