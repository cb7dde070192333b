/* SPDX-License-Identifier: MIT */
#include "base/time.h"

#include <string.h>
#include <time.h>

#include "compat/win32/object.h"
#include "compat/win32/text.h"

#define FT_PER_MS     10000
#define FT_PER_MINUTE (60 * ETW_FILETIME_PER_SECOND)
#define QPC_FREQUENCY 10000000

static int64_t value_of(const FILETIME *time)
{
	return (int64_t)((uint64_t)time->dwHighDateTime << 32 | time->dwLowDateTime);
}

static FILETIME filetime_of(int64_t ft)
{
	return (FILETIME){(DWORD)ft, (DWORD)((uint64_t)ft >> 32)};
}

static bool system_time_of(int64_t ft, SYSTEMTIME *ret)
{
	struct etw_date date;

	if (!etw_date_of_filetime(ft, &date) || date.year > 30827)
		return false;
	*ret = (SYSTEMTIME){
		.wYear = (WORD)date.year,
		.wMonth = date.month,
		/* 1601-01-01 was a Monday. */
		.wDayOfWeek = (WORD)((ft / (ETW_FILETIME_PER_SECOND * 86400) + 1) % 7),
		.wDay = date.day,
		.wHour = date.hour,
		.wMinute = date.minute,
		.wSecond = date.second,
		.wMilliseconds = (WORD)(date.ticks / FT_PER_MS),
	};
	return true;
}

static bool value_of_system_time(const SYSTEMTIME *time, int64_t *ret)
{
	const struct etw_date date = {
		.year = time->wYear,
		.month = (uint8_t)time->wMonth,
		.day = (uint8_t)time->wDay,
		.hour = (uint8_t)time->wHour,
		.minute = (uint8_t)time->wMinute,
		.second = (uint8_t)time->wSecond,
		.ticks = (uint32_t)time->wMilliseconds * FT_PER_MS,
	};

	return time->wMonth <= 12 && time->wDay <= 31 && time->wHour <= 23 && time->wMinute <= 59 &&
	       time->wSecond <= 59 && time->wMilliseconds <= 999 && time->wYear <= 30827 &&
	       etw_filetime_of_date(&date, ret);
}

BOOL FileTimeToSystemTime(const FILETIME *lpFileTime, LPSYSTEMTIME lpSystemTime)
{
	if (!system_time_of(value_of(lpFileTime), lpSystemTime))
		return etw_fail(ERROR_INVALID_PARAMETER);
	return TRUE;
}

BOOL SystemTimeToFileTime(const SYSTEMTIME *lpSystemTime, LPFILETIME lpFileTime)
{
	int64_t ft;

	if (!value_of_system_time(lpSystemTime, &ft))
		return etw_fail(ERROR_INVALID_PARAMETER);
	*lpFileTime = filetime_of(ft);
	return TRUE;
}

LONG CompareFileTime(const FILETIME *lpFileTime1, const FILETIME *lpFileTime2)
{
	const uint64_t left = (uint64_t)value_of(lpFileTime1),
		       right = (uint64_t)value_of(lpFileTime2);

	return left < right ? -1 : left > right;
}

/* --- Local time. What is east of Greenwich is ahead. */
static int64_t ahead_at(int64_t ft)
{
	const time_t unix_time =
		(time_t)((ft - ETW_FILETIME_UNIX_EPOCH -
			  (ft < ETW_FILETIME_UNIX_EPOCH ? ETW_FILETIME_PER_SECOND - 1 : 0)) /
			 ETW_FILETIME_PER_SECOND);
	struct tm local;

	tzset();
	return localtime_r(&unix_time, &local) ? local.tm_gmtoff * ETW_FILETIME_PER_SECOND : 0;
}

BOOL FileTimeToLocalFileTime(const FILETIME *lpFileTime, LPFILETIME lpLocalFileTime)
{
	/* The present bias, whatever was in force at that time. */
	*lpLocalFileTime = filetime_of(value_of(lpFileTime) + ahead_at(etw_filetime_now()));
	return TRUE;
}

BOOL LocalFileTimeToFileTime(const FILETIME *lpLocalFileTime, LPFILETIME lpFileTime)
{
	*lpFileTime = filetime_of(value_of(lpLocalFileTime) - ahead_at(etw_filetime_now()));
	return TRUE;
}

/* When a rule of a zone, such as the last Sunday of March at 2, applies in a year: FILETIME of local time. */
static int64_t change_in_year(const SYSTEMTIME *rule, WORD year)
{
	SYSTEMTIME at = *rule;
	SYSTEMTIME first;
	int64_t ft = 0;

	at.wYear = year;
	at.wDay = rule->wYear ? rule->wDay : 1;
	at.wDayOfWeek = 0;
	if (!value_of_system_time(&at, &ft) || rule->wYear)
		return ft;
	(void)system_time_of(ft, &first);
	ft += ((rule->wDayOfWeek + 7 - first.wDayOfWeek) % 7 + (int64_t)(rule->wDay - 1) * 7) *
	      86400 * ETW_FILETIME_PER_SECOND;
	/* The fifth is the last, which may be the fourth. */
	while (system_time_of(ft, &first) && first.wMonth != rule->wMonth)
		ft -= (int64_t)7 * 86400 * ETW_FILETIME_PER_SECOND;
	return ft;
}

/* Minutes that local time is behind UTC at a local standard time of a year. */
static LONG bias_at(const TIME_ZONE_INFORMATION *zone, int64_t local_standard_ft, WORD year)
{
	int64_t to_daylight, to_standard;
	bool is_daylight;

	if (!zone->DaylightDate.wMonth || !zone->StandardDate.wMonth)
		return zone->Bias + zone->StandardBias;
	to_daylight = change_in_year(&zone->DaylightDate, year);
	to_standard = change_in_year(&zone->StandardDate, year) +
		      zone->DaylightBias * FT_PER_MINUTE;
	is_daylight = to_daylight < to_standard
			      ? local_standard_ft >= to_daylight && local_standard_ft < to_standard
			      : local_standard_ft >= to_daylight || local_standard_ft < to_standard;
	return zone->Bias + (is_daylight ? zone->DaylightBias : zone->StandardBias);
}

BOOL SystemTimeToTzSpecificLocalTime(const TIME_ZONE_INFORMATION *lpTimeZoneInformation,
				     const SYSTEMTIME *lpUniversalTime, LPSYSTEMTIME lpLocalTime)
{
	int64_t ft, local_ft;

	if (!value_of_system_time(lpUniversalTime, &ft))
		return etw_fail(ERROR_INVALID_PARAMETER);
	if (!lpTimeZoneInformation) {
		local_ft = ft + ahead_at(ft);
	} else {
		const int64_t standard_ft =
			ft - (lpTimeZoneInformation->Bias + lpTimeZoneInformation->StandardBias) *
				     FT_PER_MINUTE;

		local_ft = ft -
			   bias_at(lpTimeZoneInformation, standard_ft, lpUniversalTime->wYear) *
				   FT_PER_MINUTE;
	}
	return system_time_of(local_ft, lpLocalTime) ? TRUE : etw_fail(ERROR_INVALID_PARAMETER);
}

BOOL TzSpecificLocalTimeToSystemTime(const TIME_ZONE_INFORMATION *lpTimeZoneInformation,
				     const SYSTEMTIME *lpLocalTime, LPSYSTEMTIME lpUniversalTime)
{
	int64_t local_ft, ft;

	if (!value_of_system_time(lpLocalTime, &local_ft))
		return etw_fail(ERROR_INVALID_PARAMETER);
	if (!lpTimeZoneInformation) {
		/* What local time is ahead by depends on the result: the second look is at the right side of a change. */
		ft = local_ft - ahead_at(local_ft);
		ft = local_ft - ahead_at(ft);
	} else {
		ft = local_ft +
		     bias_at(lpTimeZoneInformation, local_ft, lpLocalTime->wYear) * FT_PER_MINUTE;
	}
	return system_time_of(ft, lpUniversalTime) ? TRUE : etw_fail(ERROR_INVALID_PARAMETER);
}

/* The change between two times of which one is before and one behind it; both FILETIME of UTC. */
static int64_t find_change(int64_t before_ft, int64_t behind_ft)
{
	const int64_t ahead = ahead_at(before_ft);

	while (behind_ft - before_ft > ETW_FILETIME_PER_SECOND) {
		const int64_t middle = before_ft + (behind_ft - before_ft) / 2;

		if (ahead_at(middle) == ahead)
			before_ft = middle;
		else
			behind_ft = middle;
	}
	return behind_ft - behind_ft % ETW_FILETIME_PER_SECOND;
}

/* A change as a rule of every year: which weekday of its month. Local time before the change. */
static SYSTEMTIME rule_of(int64_t change_ft)
{
	SYSTEMTIME at = {0};

	(void)system_time_of(change_ft + ahead_at(change_ft - ETW_FILETIME_PER_SECOND), &at);
	at.wYear = 0;
	at.wDay = (WORD)(at.wDay > 24 ? 5 : (at.wDay - 1) / 7 + 1);
	return at;
}

static void put_name(const char *name, WCHAR to[32])
{
	for (size_t i = 0; i < 31 && name[i]; i++)
		to[i] = (unsigned char)name[i];
}

/* Looks through the present year of the zone, month by month. */
static DWORD read_zone(TIME_ZONE_INFORMATION *ret)
{
	const int64_t now_ft = etw_filetime_now();
	const int64_t month_ft = (int64_t)30 * 86400 * ETW_FILETIME_PER_SECOND;
	int64_t least = ahead_at(now_ft), most = least, at_ft;
	SYSTEMTIME start = {.wMonth = 1, .wDay = 1}, now = {0};

	(void)system_time_of(now_ft, &now);
	start.wYear = now.wYear;
	(void)value_of_system_time(&start, &at_ft);
	for (int i = 0; i < 12; i++) {
		const int64_t ahead = ahead_at(at_ft + i * month_ft);

		least = ahead < least ? ahead : least;
		most = ahead > most ? ahead : most;
	}
	memset(ret, 0, sizeof(*ret));
	ret->Bias = (LONG)(-least / FT_PER_MINUTE);
	put_name(tzname[0], ret->StandardName);
	put_name(tzname[1], ret->DaylightName);
	if (least == most)
		return TIME_ZONE_ID_UNKNOWN;
	ret->DaylightBias = (LONG)(-(most - least) / FT_PER_MINUTE);
	for (int i = 0; i < 12; i++) {
		const int64_t from = at_ft + i * month_ft, to = from + month_ft;

		if (ahead_at(from) == ahead_at(to))
			continue;
		*(ahead_at(to) == most ? &ret->DaylightDate
				       : &ret->StandardDate) = rule_of(find_change(from, to));
	}
	return ahead_at(now_ft) == most ? TIME_ZONE_ID_DAYLIGHT : TIME_ZONE_ID_STANDARD;
}

DWORD GetTimeZoneInformation(LPTIME_ZONE_INFORMATION lpTimeZoneInformation)
{
	return read_zone(lpTimeZoneInformation);
}

DWORD GetDynamicTimeZoneInformation(PDYNAMIC_TIME_ZONE_INFORMATION pTimeZoneInformation)
{
	TIME_ZONE_INFORMATION zone;
	const DWORD id = read_zone(&zone);

	memset(pTimeZoneInformation, 0, sizeof(*pTimeZoneInformation));
	memcpy(pTimeZoneInformation, &zone, sizeof(zone));
	memcpy(pTimeZoneInformation->TimeZoneKeyName, zone.StandardName, sizeof(zone.StandardName));
	return id;
}

/* --- Clocks. */
void GetSystemTime(LPSYSTEMTIME lpSystemTime)
{
	(void)system_time_of(etw_filetime_now(), lpSystemTime);
}

void GetLocalTime(LPSYSTEMTIME lpSystemTime)
{
	const int64_t now_ft = etw_filetime_now();

	(void)system_time_of(now_ft + ahead_at(now_ft), lpSystemTime);
}

void GetSystemTimeAsFileTime(LPFILETIME lpSystemTimeAsFileTime)
{
	*lpSystemTimeAsFileTime = filetime_of(etw_filetime_now());
}

void GetSystemTimePreciseAsFileTime(LPFILETIME lpSystemTimeAsFileTime)
{
	*lpSystemTimeAsFileTime = filetime_of(etw_filetime_now());
}

ULONGLONG GetTickCount64(void)
{
	return etw_time_read_ns(CLOCK_BOOTTIME) / ETW_NS_PER_MS;
}

DWORD GetTickCount(void)
{
	return (DWORD)GetTickCount64();
}

BOOL QueryPerformanceCounter(LARGE_INTEGER *lpPerformanceCount)
{
	lpPerformanceCount->QuadPart =
		(LONGLONG)(etw_time_read_ns(CLOCK_MONOTONIC_RAW) / (ETW_NS_PER_S / QPC_FREQUENCY));
	return TRUE;
}

BOOL QueryPerformanceFrequency(LARGE_INTEGER *lpFrequency)
{
	lpFrequency->QuadPart = QPC_FREQUENCY;
	return TRUE;
}
