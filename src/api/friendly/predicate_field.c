/* SPDX-License-Identifier: MIT */
/* etw/predicate.h: comparisons of fields. One for each accessor of etw/fields.h. */
#include "api/friendly/predicate.h"

#include <errno.h>
#include <etw/fields.h>
#include <inttypes.h>
#include <string.h>

#include "api/friendly/error.h"
#include "api/friendly/path.h"
#include "base/time.h"

/* A comparison of a field with one value, which it takes. */
static struct libetw_predicate *create(const char *path, enum etw_filter_ask ask,
				       struct etw_filter_value *value)
{
	if (etw_friendly_check_path(path)) {
		etw_filter_value_done(value);
		return NULL;
	}
	return etw_predicate_of(etw_filter_of_field(path, ask), value);
}

static struct libetw_predicate *fail(const char *path, const char *sentence)
{
	(void)etw_friendly_fail(-EINVAL, "\"%s\" %s", path ? path : "", sentence);
	return NULL;
}

static struct libetw_predicate *create_unsigned(enum etw_filter_ask ask, const char *path,
						uint64_t from, uint64_t to)
{
	struct etw_filter_value value = {.readings = ETW_FILTER_INTEGER, .from = from, .to = to};

	if (from > to) {
		(void)etw_friendly_fail(-EINVAL,
					"\"%s\" cannot be from %" PRIu64 " to %" PRIu64
					": the lower end comes first",
					path ? path : "", from, to);
		return NULL;
	}
	return create(path, ask, &value);
}

/* Of integers, or of times as FILETIME. */
static struct libetw_predicate *create_signed(enum etw_filter_reading reading, const char *path,
					      int64_t from, int64_t to)
{
	struct etw_filter_value value = {.readings = (uint16_t)reading,
					 .from = from,
					 .to = to,
					 .from_ft = from,
					 .to_ft = to};

	if (from > to) {
		(void)etw_friendly_fail(-EINVAL,
					"\"%s\" cannot be from %" PRId64 " to %" PRId64
					": the lower end comes first",
					path ? path : "", from, to);
		return NULL;
	}
	return create(path, ETW_FILTER_COMPARE, &value);
}

struct libetw_predicate *libetw_has_field(const char *path)
{
	if (etw_friendly_check_path(path))
		return NULL;
	return etw_predicate_wrap(etw_filter_of_field(path, ETW_FILTER_HAS));
}

struct libetw_predicate *libetw_unsigned_is(const char *path, uint64_t value)
{
	return libetw_unsigned_in(path, value, value);
}

struct libetw_predicate *libetw_unsigned_in(const char *path, uint64_t from, uint64_t to)
{
	return create_unsigned(ETW_FILTER_COMPARE, path, from, to);
}

struct libetw_predicate *libetw_signed_is(const char *path, int64_t value)
{
	return libetw_signed_in(path, value, value);
}

struct libetw_predicate *libetw_signed_in(const char *path, int64_t from, int64_t to)
{
	return create_signed(ETW_FILTER_INTEGER, path, from, to);
}

struct libetw_predicate *libetw_bool_is(const char *path, int value)
{
	struct etw_filter_value truth = {.readings = ETW_FILTER_TRUTH, .truth = value != 0};

	return create(path, ETW_FILTER_COMPARE, &truth);
}

struct libetw_predicate *libetw_double_in(const char *path, double from, double to)
{
	struct etw_filter_value value = {
		.readings = ETW_FILTER_REAL, .from_real = from, .to_real = to};

	/* Also where one is no number. */
	if (!(from <= to)) {
		(void)etw_friendly_fail(-EINVAL,
					"\"%s\" cannot be from %g to %g: the lower end comes first",
					path ? path : "", from, to);
		return NULL;
	}
	return create(path, ETW_FILTER_COMPARE, &value);
}

struct libetw_predicate *libetw_filetime_in(const char *path, int64_t from, int64_t to)
{
	return create_signed(ETW_FILTER_TIME, path, from, to);
}

/* The first FILETIME that is not before a time in ns since 1970, which 64 bits of ns never exceed. */
static int64_t filetime_from(int64_t ns)
{
	return ETW_FILETIME_UNIX_EPOCH + ns / ETW_NS_PER_FT + (ns % ETW_NS_PER_FT > 0);
}

/* The last one that is not behind it. */
static int64_t filetime_to(int64_t ns)
{
	return ETW_FILETIME_UNIX_EPOCH + ns / ETW_NS_PER_FT - (ns % ETW_NS_PER_FT < 0);
}

struct libetw_predicate *libetw_time_ns_in(const char *path, int64_t from_ns, int64_t to_ns)
{
	struct etw_filter_value value = {.readings = ETW_FILTER_TIME,
					 .from_ft = filetime_from(from_ns),
					 .to_ft = filetime_to(to_ns)};

	if (from_ns > to_ns)
		return create_signed(ETW_FILTER_TIME, path, from_ns, to_ns);
	return create(path, ETW_FILTER_COMPARE, &value);
}

struct libetw_predicate *libetw_count_in(const char *path, size_t from, size_t to)
{
	return create_unsigned(ETW_FILTER_COUNT, path, from, to);
}

struct libetw_predicate *libetw_guid_is(const char *path, const GUID *guid)
{
	struct etw_filter_value value = {.readings = ETW_FILTER_GUID};

	if (!guid)
		return fail(path, "is to be compared with a GUID, and there is none");
	value.guid = *guid;
	return create(path, ETW_FILTER_COMPARE, &value);
}

/* A comparison with a copy of @bytes. */
static struct libetw_predicate *create_text(enum etw_filter_reading reading, const char *path,
					    int how, const void *text, size_t bytes)
{
	struct etw_filter_value value = {.readings = (uint16_t)reading};
	static const enum etw_filter_how hows[] = {ETW_FILTER_EQUALS, ETW_FILTER_CONTAINS,
						   ETW_FILTER_STARTS, ETW_FILTER_ENDS};

	if (etw_filter_value_set_text(&value, text, bytes))
		return etw_predicate_wrap(NULL);
	(void)etw_filter_value_set_how(&value, hows[how & ~LIBETW_TEXT_ANY_CASE],
				       !(how & LIBETW_TEXT_ANY_CASE), NULL);
	return create(path, ETW_FILTER_COMPARE, &value);
}

struct libetw_predicate *libetw_sid_is(const char *path, const char *sid)
{
	if (!sid || strncmp(sid, "S-1-", 4) != 0)
		return fail(path, "is to be compared with a SID, which begins with \"S-1-\"");
	return create_text(ETW_FILTER_SID, path, LIBETW_TEXT_EQUALS, sid, strlen(sid));
}

struct libetw_predicate *libetw_bytes_is(const char *path, const void *bytes, size_t count)
{
	if (!bytes && count)
		return fail(path, "is to be compared with bytes, and there are none");
	return create_text(ETW_FILTER_BYTES, path, LIBETW_TEXT_EQUALS, bytes, count);
}

struct libetw_predicate *libetw_text_is(const char *path, int how, const char *text)
{
	if ((how & ~LIBETW_TEXT_ANY_CASE) < LIBETW_TEXT_EQUALS ||
	    (how & ~LIBETW_TEXT_ANY_CASE) > LIBETW_TEXT_ENDS) {
		(void)etw_friendly_fail(-EINVAL, "%d is no way to compare texts", how);
		return NULL;
	}
	if (!text)
		return fail(path, "is to be compared with a text, and there is none");
	return create_text(ETW_FILTER_TEXT, path, how, text, strlen(text));
}
