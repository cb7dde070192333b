/* SPDX-License-Identifier: MIT */
/* etw/predicate.h: comparisons of fields; each has a handle of its own. One for each accessor of etw/fields.h. */
#include "api/friendly/predicate.h"

#include <errno.h>
#include <etw/fields.h>
#include <inttypes.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "decode/format.h"
#include "decode/read.h"

static struct libetw_predicate *create_field(enum etw_predicate_kind kind, const char *path)
{
	struct libetw_predicate *predicate = etw_predicate_create(kind);

	if (predicate && libetw_field_create(path, &predicate->where.field)) {
		libetw_predicate_free(predicate);
		return NULL;
	}
	return predicate;
}

static struct libetw_predicate *fail(const char *path, const char *sentence)
{
	(void)etw_friendly_fail(-EINVAL, "\"%s\" %s", path ? path : "", sentence);
	return NULL;
}

/* Ends of a signed range are kept as their bits. */
static struct libetw_predicate *create_range(enum etw_predicate_kind kind, const char *path,
					     uint64_t from, uint64_t to)
{
	struct libetw_predicate *predicate = create_field(kind, path);

	if (predicate) {
		predicate->from = from;
		predicate->to = to;
	}
	return predicate;
}

static struct libetw_predicate *create_unsigned(enum etw_predicate_kind kind, const char *path,
						uint64_t from, uint64_t to)
{
	if (from > to) {
		(void)etw_friendly_fail(-EINVAL,
					"\"%s\" cannot be from %" PRIu64 " to %" PRIu64
					": the lower end comes first",
					path ? path : "", from, to);
		return NULL;
	}
	return create_range(kind, path, from, to);
}

static struct libetw_predicate *create_signed(enum etw_predicate_kind kind, const char *path,
					      int64_t from, int64_t to)
{
	if (from > to) {
		(void)etw_friendly_fail(-EINVAL,
					"\"%s\" cannot be from %" PRId64 " to %" PRId64
					": the lower end comes first",
					path ? path : "", from, to);
		return NULL;
	}
	return create_range(kind, path, (uint64_t)from, (uint64_t)to);
}

struct libetw_predicate *libetw_has_field(const char *path)
{
	return create_field(ETW_PREDICATE_HAS_FIELD, path);
}

struct libetw_predicate *libetw_unsigned_is(const char *path, uint64_t value)
{
	return libetw_unsigned_in(path, value, value);
}

struct libetw_predicate *libetw_unsigned_in(const char *path, uint64_t from, uint64_t to)
{
	return create_unsigned(ETW_PREDICATE_UNSIGNED, path, from, to);
}

struct libetw_predicate *libetw_signed_is(const char *path, int64_t value)
{
	return libetw_signed_in(path, value, value);
}

struct libetw_predicate *libetw_signed_in(const char *path, int64_t from, int64_t to)
{
	return create_signed(ETW_PREDICATE_SIGNED, path, from, to);
}

struct libetw_predicate *libetw_bool_is(const char *path, int value)
{
	return create_unsigned(ETW_PREDICATE_BOOL, path, value != 0, value != 0);
}

struct libetw_predicate *libetw_double_in(const char *path, double from, double to)
{
	struct libetw_predicate *predicate;

	/* Also where one is no number. */
	if (!(from <= to)) {
		(void)etw_friendly_fail(-EINVAL,
					"\"%s\" cannot be from %g to %g: the lower end comes first",
					path ? path : "", from, to);
		return NULL;
	}
	predicate = create_field(ETW_PREDICATE_DOUBLE, path);
	if (predicate) {
		predicate->from_double = from;
		predicate->to_double = to;
	}
	return predicate;
}

struct libetw_predicate *libetw_filetime_in(const char *path, int64_t from, int64_t to)
{
	return create_signed(ETW_PREDICATE_FILETIME, path, from, to);
}

struct libetw_predicate *libetw_time_ns_in(const char *path, int64_t from_ns, int64_t to_ns)
{
	return create_signed(ETW_PREDICATE_TIME_NS, path, from_ns, to_ns);
}

struct libetw_predicate *libetw_count_in(const char *path, size_t from, size_t to)
{
	return create_unsigned(ETW_PREDICATE_COUNT, path, from, to);
}

struct libetw_predicate *libetw_guid_is(const char *path, const GUID *guid)
{
	struct libetw_predicate *predicate;

	if (!guid)
		return fail(path, "is to be compared with a GUID, and there is none");
	predicate = create_field(ETW_PREDICATE_GUID, path);
	if (predicate)
		predicate->guid = *guid;
	return predicate;
}

struct libetw_predicate *libetw_sid_is(const char *path, const char *sid)
{
	if (!sid || strncmp(sid, "S-1-", 4) != 0)
		return fail(path, "is to be compared with a SID, which begins with \"S-1-\"");
	return etw_predicate_with_text(create_field(ETW_PREDICATE_SID, path), sid, strlen(sid));
}

struct libetw_predicate *libetw_bytes_is(const char *path, const void *bytes, size_t count)
{
	if (!bytes && count)
		return fail(path, "is to be compared with bytes, and there are none");
	return etw_predicate_with_text(create_field(ETW_PREDICATE_BYTES, path), bytes, count);
}

/* Letters of ASCII alone, whatever the program's locale is. */
static void fold(char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] >= 'A' && text[i] <= 'Z')
			text[i] = (char)(text[i] - 'A' + 'a');
	}
}

struct libetw_predicate *libetw_text_is(const char *path, int how, const char *text)
{
	struct libetw_predicate *predicate;

	if ((how & ~LIBETW_TEXT_ANY_CASE) < LIBETW_TEXT_EQUALS ||
	    (how & ~LIBETW_TEXT_ANY_CASE) > LIBETW_TEXT_ENDS) {
		(void)etw_friendly_fail(-EINVAL, "%d is no way to compare texts", how);
		return NULL;
	}
	if (!text)
		return fail(path, "is to be compared with a text, and there is none");
	predicate = etw_predicate_with_text(create_field(ETW_PREDICATE_TEXT, path), text,
					    strlen(text));
	if (!predicate)
		return NULL;
	predicate->how = how;
	if (how & LIBETW_TEXT_ANY_CASE)
		fold(predicate->text, predicate->text_bytes);
	return predicate;
}

static bool is_same(const struct libetw_predicate *predicate, const void *at, size_t bytes)
{
	return bytes == predicate->text_bytes && !memcmp(at, predicate->text, bytes);
}

/* Each in time proportional to the text, whatever is in it. */
static bool compare_text(const struct libetw_predicate *predicate, const char *text, size_t bytes)
{
	size_t wanted = predicate->text_bytes;

	if (bytes < wanted)
		return false;
	switch (predicate->how & ~LIBETW_TEXT_ANY_CASE) {
	case LIBETW_TEXT_EQUALS:
		return is_same(predicate, text, bytes);
	case LIBETW_TEXT_BEGINS:
		return !memcmp(text, predicate->text, wanted);
	case LIBETW_TEXT_ENDS:
		return !memcmp(text + bytes - wanted, predicate->text, wanted);
	default:
		return memmem(text, bytes, predicate->text, wanted) != NULL;
	}
}

/* The item's text as TDH shows it, in the predicate's own room. Returns false when memory ran out. */
static bool make_text(struct libetw_predicate *predicate, struct libetw_event *event,
		      const struct etw_item *item)
{
	etw_text_clear(&predicate->room);
	etw_event_lock(event);
	etw_format_item(&event->decoding, item, &predicate->room);
	etw_event_unlock(event);
	return !etw_text_error(&predicate->room);
}

static bool matches_text(struct libetw_predicate *predicate, struct libetw_event *event)
{
	const struct etw_item *item;

	if (etw_value_find(event, &predicate->where, &item) || !make_text(predicate, event, item))
		return false;
	if (predicate->how & LIBETW_TEXT_ANY_CASE)
		fold(predicate->room.at, predicate->room.bytes);
	return compare_text(predicate, etw_text_string(&predicate->room), predicate->room.bytes);
}

static bool matches_sid(struct libetw_predicate *predicate, struct libetw_event *event)
{
	const struct etw_item *item;

	return !etw_value_find(event, &predicate->where, &item) &&
	       etw_read_is_sid(&event->decoding, item) && make_text(predicate, event, item) &&
	       is_same(predicate, etw_text_string(&predicate->room), predicate->room.bytes);
}

static bool matches_bytes(struct libetw_predicate *predicate, struct libetw_event *event)
{
	const void *at;
	size_t bytes;

	return !etw_value_bytes(event, &predicate->where, &at, &bytes) &&
	       is_same(predicate, at, bytes);
}

static bool matches_unsigned(struct libetw_predicate *predicate, struct libetw_event *event)
{
	const struct etw_where *where = &predicate->where;
	uint64_t number = 0;
	size_t count = 0;
	int truth = 0, result;

	if (predicate->kind == ETW_PREDICATE_UNSIGNED) {
		result = etw_value_unsigned(event, where, UINT64_MAX, &number);
	} else if (predicate->kind == ETW_PREDICATE_BOOL) {
		result = etw_value_bool(event, where, &truth);
		number = (uint64_t)truth;
	} else {
		result = etw_value_count(event, where, &count);
		number = count;
	}
	return !result && number >= predicate->from && number <= predicate->to;
}

static bool matches_signed(struct libetw_predicate *predicate, struct libetw_event *event)
{
	const struct etw_where *where = &predicate->where;
	int64_t number = 0;
	int result;

	if (predicate->kind == ETW_PREDICATE_SIGNED)
		result = etw_value_signed(event, where, INT64_MIN, INT64_MAX, &number);
	else if (predicate->kind == ETW_PREDICATE_FILETIME)
		result = etw_value_filetime(event, where, &number);
	else
		result = etw_value_time_ns(event, where, &number);
	return !result && number >= (int64_t)predicate->from && number <= (int64_t)predicate->to;
}

bool etw_predicate_field_matches(struct libetw_predicate *predicate, struct libetw_event *event)
{
	const struct etw_item *item;
	double real;
	GUID guid;

	switch (predicate->kind) {
	case ETW_PREDICATE_HAS_FIELD:
		return !etw_value_find(event, &predicate->where, &item);
	case ETW_PREDICATE_UNSIGNED:
	case ETW_PREDICATE_BOOL:
	case ETW_PREDICATE_COUNT:
		return matches_unsigned(predicate, event);
	case ETW_PREDICATE_SIGNED:
	case ETW_PREDICATE_FILETIME:
	case ETW_PREDICATE_TIME_NS:
		return matches_signed(predicate, event);
	case ETW_PREDICATE_DOUBLE:
		return !etw_value_double(event, &predicate->where, &real) &&
		       real >= predicate->from_double && real <= predicate->to_double;
	case ETW_PREDICATE_GUID:
		return !etw_value_guid(event, &predicate->where, &guid) &&
		       etw_guid_equal(&guid, &predicate->guid);
	case ETW_PREDICATE_SID:
		return matches_sid(predicate, event);
	case ETW_PREDICATE_BYTES:
		return matches_bytes(predicate, event);
	default:
		return matches_text(predicate, event);
	}
}
