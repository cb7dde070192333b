/* SPDX-License-Identifier: MIT */
/*
 * Time. Three units meet in ETW: a session clock's raw ticks, FILETIME (100 ns since 1601-01-01 UTC)
 * and calendar dates. They are converted here and nowhere else. The system's clocks are read here, too.
 */
#ifndef ETW_BASE_TIME_H
#define ETW_BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define ETW_FILETIME_PER_SECOND INT64_C(10000000)
#define ETW_FILETIME_UNIX_EPOCH INT64_C(116444736000000000) /* 1970-01-01 as FILETIME */

#define ETW_NS_PER_FT 100
#define ETW_NS_PER_MS UINT64_C(1000000)
#define ETW_NS_PER_S  UINT64_C(1000000000)

/* etw_time_read_ns() - what a clock of the system says. Context: any thread, signal-safe. */
static inline uint64_t etw_time_read_ns(clockid_t clock)
{
	struct timespec now = {0};

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * ETW_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* etw_monotonic_ns() - CLOCK_MONOTONIC, by which deadlines are set. Context: as etw_time_read_ns(). */
static inline uint64_t etw_monotonic_ns(void)
{
	return etw_time_read_ns(CLOCK_MONOTONIC);
}

/* etw_monotonic_ms() - the same, rounded down. */
static inline uint64_t etw_monotonic_ms(void)
{
	return etw_monotonic_ns() / ETW_NS_PER_MS;
}

/*
 * etw_earlier_zero_is_none() - the earlier of two deadlines in one unit.
 *
 * 0 says that there is no deadline; the result is 0 when there is neither. UINT64_MAX is one that never comes.
 */
static inline uint64_t etw_earlier_zero_is_none(uint64_t left, uint64_t right)
{
	if (left == 0 || right == 0)
		return left | right;
	return left < right ? left : right;
}

/* etw_timespec_of_ns() - as system calls want it. */
static inline struct timespec etw_timespec_of_ns(uint64_t ns)
{
	struct timespec time = {0};

	time.tv_sec = (time_t)(ns / ETW_NS_PER_S);
	time.tv_nsec = (long)(ns % ETW_NS_PER_S);
	return time;
}

/* etw_filetime_now() - CLOCK_REALTIME as FILETIME. Context: as etw_time_read_ns(). */
static inline int64_t etw_filetime_now(void)
{
	return ETW_FILETIME_UNIX_EPOCH +
	       (int64_t)(etw_time_read_ns(CLOCK_REALTIME) / ETW_NS_PER_FT);
}

/* etw_filetime_between() - from one time to the other; saturates, as times from files may be anything. */
static inline int64_t etw_filetime_between(int64_t from_ft, int64_t to_ft)
{
	int64_t distance;

	if (!__builtin_sub_overflow(to_ft, from_ft, &distance))
		return distance;
	return from_ft < to_ft ? INT64_MAX : INT64_MIN;
}

/* What a raw timestamp counts; the values are those of TRACE_LOGFILE_HEADER.ReservedFlags. */
enum etw_clock_type {
	ETW_CLOCK_QPC = 1,    /* ticks of `frequency` per second */
	ETW_CLOCK_SYSTEM = 2, /* FILETIME */
	ETW_CLOCK_CYCLE = 3,  /* CPU cycles at `mhz` */
};

/* A session clock: raw time `anchor_raw` is FILETIME `anchor_ft`. */
struct etw_clock {
	enum etw_clock_type type;
	int64_t anchor_raw;
	int64_t anchor_ft;
	uint64_t ticks;    /* raw ticks ... */
	uint64_t filetime; /* ... in this many 100 ns units; both non-zero */
	uint64_t inverse;  /* 2^64 / ticks, rounded down; 0 where divisions must be exact ones */
};

/*
 * etw_clock_init() - a clock from what a trace's header says.
 *
 * @frequency: ticks per second, for ETW_CLOCK_QPC; 0 counts as 10 MHz
 * @mhz:       for ETW_CLOCK_CYCLE; 0 counts as 1
 */
void etw_clock_init(struct etw_clock *clock, enum etw_clock_type type, int64_t anchor_raw,
		    int64_t anchor_ft, uint64_t frequency, uint32_t mhz);

/* etw_clock_scale() - etw_clock_to_filetime() for clocks of any frequency. */
int64_t etw_clock_scale(const struct etw_clock *clock, int64_t raw);

/*
 * etw_clock_to_filetime() - raw time as FILETIME.
 *
 * Rounds down, in exact arithmetic of 128 bits, and saturates instead of overflowing, so that it never
 * runs back where raw time does not.
 */
static inline int64_t etw_clock_to_filetime(const struct etw_clock *clock, int64_t raw)
{
	int64_t delta, filetime;

	if (clock->ticks == clock->filetime &&
	    !__builtin_sub_overflow(raw, clock->anchor_raw, &delta) &&
	    !__builtin_add_overflow(clock->anchor_ft, delta, &filetime))
		return filetime;
	return etw_clock_scale(clock, raw);
}

/*
 * etw_clock_from_filetime() - the smallest raw time that is not before @filetime.
 *
 * etw_clock_to_filetime() of the result is at least @filetime.
 */
int64_t etw_clock_from_filetime(const struct etw_clock *clock, int64_t filetime);

/* A calendar date, UTC. */
struct etw_date {
	int32_t year;
	uint8_t month, day, hour, minute, second; /* from 1, 1, 0, 0, 0 */
	uint32_t ticks;                           /* 100 ns, 0 .. 9999999 */
};

/* etw_date_of_filetime() - returns false, @ret untouched, for a negative @filetime. */
bool etw_date_of_filetime(int64_t filetime, struct etw_date *ret);

/* etw_filetime_of_date() - returns false, @ret untouched, for what is no date of the years 1601 to 30827. */
bool etw_filetime_of_date(const struct etw_date *date, int64_t *ret);

/*
 * etw_filetime_parse() - reads "2011-01-23T22:06:37.4768585Z".
 *
 * The fraction (up to 9 digits) and the Z are optional, a blank may stand for the T, and the time of
 * day may be missing. Always UTC. Returns 0, or -EINVAL with @ret untouched.
 */
int etw_filetime_parse(const char *text, int64_t *ret);

#endif
