/* SPDX-License-Identifier: MIT */
#include "api/friendly/value.h"

#include <errno.h>
#include <string.h>

#include "api/friendly/error.h"
#include "api/friendly/event.h"
#include "api/friendly/times.h"
#include "base/macros.h"
#include "decode/format.h"
#include "decode/read.h"

#define NAMES_SHOWN 12 /* fields that a sentence lists */

static const char *path_of(const struct etw_where *where)
{
	if (where->field)
		return where->field->path;
	return where->path ? where->path : "";
}

/* Fails with "Provider/Event v1: <sentence about> path". */
static int fail(struct libetw_event *event, const struct etw_where *where, int error,
		const char *sentence)
{
	CLEANUP(etw_text_done) struct etw_text title = {0};

	etw_event_title(event, &title);
	return etw_friendly_fail(error, "%s: \"%s\" %s", etw_text_string(&title), path_of(where),
				 sentence);
}

static int fail_unknown_field(struct libetw_event *event, const struct etw_where *where)
{
	const struct etw_schema *schema = event->decoding.schema;
	CLEANUP(etw_text_done) struct etw_text text = {0};

	etw_event_title(event, &text);
	etw_text_printf(&text, ": no field \"%s\"; it has ", path_of(where));
	for (unsigned i = 0; i < schema->top_count && i < NAMES_SHOWN; i++)
		etw_text_printf(&text, "%s%s", i ? ", " : "", schema->fields[i].name);
	if (schema->top_count > NAMES_SHOWN)
		etw_text_puts(&text, " ...");
	if (!schema->top_count)
		etw_text_puts(&text, "none");
	return etw_friendly_fail(-ENOENT, "%s", etw_text_string(&text));
}

static int fail_unknown_event(struct libetw_event *event, const struct etw_where *where)
{
	CLEANUP(etw_text_done) struct etw_text title = {0};
	const char *reason = event->decoding.reason;

	etw_event_title(event, &title);
	return etw_friendly_fail(-ESRCH, "%s: no field \"%s\": %s", etw_text_string(&title),
				 path_of(where), reason ? reason : "the event has no schema");
}

/* Whether it is one of the fields before which the events of a built-in class may end. */
static bool is_optional(const struct libetw_event *event, const struct etw_path_plan *plan)
{
	const struct etw_path_step *step = &plan->steps[0];

	return plan->count == 1 && !step->has_index &&
	       (event->decoding.schema->fields[step->field].flags & ETW_FIELD_OPTIONAL);
}

static int fail_absent(struct libetw_event *event, const struct etw_where *where,
		       const struct etw_path_plan *plan)
{
	switch (event->decoding.status) {
	case ETW_DECODE_TRUNCATED:
		return fail(event, where, -ENODATA, "is not there: the payload ends before it");
	case ETW_DECODE_MALFORMED:
		return fail(event, where, -ENODATA,
			    "is not there: the payload is damaged before it");
	default:
		if (is_optional(event, plan))
			return fail(event, where, -ENODATA,
				    "is not in this event, which may end before it");
		return fail(event, where, -ENODATA,
			    "is not in this event: there are fewer elements, or an array "
			    "of which none is named");
	}
}

/* The item that is meant, in a decoded event. Returns 0, -ENOENT, -ENODATA, -ESRCH, -EINVAL or -ENOMEM. */
static int find_item(struct libetw_event *event, const struct etw_where *where,
		     const struct etw_item **ret)
{
	const struct etw_path_plan *plan;
	struct etw_path_plan own;

	if (UNLIKELY(!etw_event_has_decoding(event)))
		TRY(etw_event_decode(event));
	if (UNLIKELY(!event->decoding.schema))
		return fail_unknown_event(event, where);
	if (where->field) {
		plan = etw_path_plan(&where->field->cache, where->field->path,
				     event->schemas->serial, event->decoding.schema);
	} else {
		(void)etw_path_resolve_fields(where->path, event->decoding.schema, &own);
		plan = &own;
	}
	if (UNLIKELY(plan->error))
		return plan->error == -EINVAL ? fail(event, where, -EINVAL, "is no path of a field")
					      : fail_unknown_field(event, where);
	*ret = etw_path_item(plan, &event->decoding);
	return LIKELY(*ret != NULL) ? 0 : fail_absent(event, where, plan);
}

/* The item of a number, and whether it is below zero. */
static int find_number(struct libetw_event *event, const struct etw_where *where, uint64_t *ret,
		       bool *ret_is_negative)
{
	const struct etw_item *item;

	TRY(find_item(event, where, &item));
	if (UNLIKELY(!etw_read_integer(&event->decoding, item, ret, ret_is_negative)))
		return fail(event, where, -EINVAL, "is no number");
	return 0;
}

int etw_value_unsigned(struct libetw_event *event, const struct etw_where *where, uint64_t max,
		       uint64_t *ret)
{
	bool is_negative;
	uint64_t value;

	TRY(find_number(event, where, &value, &is_negative));
	if (UNLIKELY(is_negative || value > max))
		return fail(event, where, -ERANGE, "does not fit the type that was asked for");
	*ret = value;
	return 0;
}

int etw_value_signed(struct libetw_event *event, const struct etw_where *where, int64_t min,
		     int64_t max, int64_t *ret)
{
	bool is_negative;
	uint64_t value;

	TRY(find_number(event, where, &value, &is_negative));
	if (UNLIKELY((!is_negative && value > (uint64_t)max) ||
		     (is_negative && (int64_t)value < min)))
		return fail(event, where, -ERANGE, "does not fit the type that was asked for");
	*ret = (int64_t)value;
	return 0;
}

int etw_value_bool(struct libetw_event *event, const struct etw_where *where, int *ret)
{
	bool is_negative;
	uint64_t value;

	TRY(find_number(event, where, &value, &is_negative));
	*ret = value != 0;
	return 0;
}

int etw_value_double(struct libetw_event *event, const struct etw_where *where, double *ret)
{
	const struct etw_item *item;

	TRY(find_item(event, where, &item));
	if (!etw_read_real(&event->decoding, item, ret))
		return fail(event, where, -EINVAL, "is no floating-point number");
	return 0;
}

int etw_value_guid(struct libetw_event *event, const struct etw_where *where, GUID *ret)
{
	const struct etw_item *item;

	TRY(find_item(event, where, &item));
	if (!etw_read_guid(&event->decoding, item, ret))
		return fail(event, where, -EINVAL, "is no GUID");
	return 0;
}

int etw_value_filetime(struct libetw_event *event, const struct etw_where *where, int64_t *ret)
{
	const struct etw_item *item;

	TRY(find_item(event, where, &item));
	switch (etw_read_filetime(&event->decoding, item, ret)) {
	case 0:
		return 0;
	case -ERANGE:
		return fail(event, where, -ERANGE, "is no date of the calendar");
	default:
		return fail(event, where, -EINVAL, "is no time");
	}
}

int etw_value_time_ns(struct libetw_event *event, const struct etw_where *where, int64_t *ret)
{
	int64_t filetime;

	TRY(etw_value_filetime(event, where, &filetime));
	if (etw_time_ns_of_filetime(filetime, ret))
		return fail(event, where, -ERANGE, "is beyond 64 bits of nanoseconds");
	return 0;
}

/* The item's text as TDH shows it, in the event's scratch. */
static int give_text(struct libetw_event *event, const struct etw_where *where,
		     const struct etw_item *item, const char **ret, size_t *ret_bytes)
{
	const char *copy = NULL;
	size_t bytes;

	etw_event_lock(event);
	etw_text_clear(&event->text);
	etw_format_item(&event->decoding, item, &event->text);
	bytes = event->text.bytes;
	if (!etw_text_error(&event->text))
		copy = etw_event_scratch(event, etw_text_string(&event->text), bytes);
	etw_event_unlock(event);
	if (!copy)
		return fail(event, where, -ENOMEM, "has no memory for its text");
	*ret = copy;
	if (ret_bytes)
		*ret_bytes = bytes;
	return 0;
}

int etw_value_string(struct libetw_event *event, const struct etw_where *where, const char **ret,
		     size_t *ret_bytes)
{
	const struct etw_item *item;

	TRY(find_item(event, where, &item));
	if (!etw_read_is_string(&event->decoding, item))
		return fail(event, where, -EINVAL, "is no string");
	return give_text(event, where, item, ret, ret_bytes);
}

int etw_value_sid(struct libetw_event *event, const struct etw_where *where, const char **ret,
		  size_t *ret_bytes)
{
	const struct etw_item *item;

	TRY(find_item(event, where, &item));
	if (!etw_read_is_sid(&event->decoding, item))
		return fail(event, where, -EINVAL, "is no SID");
	return give_text(event, where, item, ret, ret_bytes);
}

int etw_value_text(struct libetw_event *event, const struct etw_where *where, const char **ret,
		   size_t *ret_bytes)
{
	const struct etw_item *item;

	TRY(find_item(event, where, &item));
	return give_text(event, where, item, ret, ret_bytes);
}

int etw_value_bytes(struct libetw_event *event, const struct etw_where *where, const void **ret,
		    size_t *ret_bytes)
{
	const struct etw_item *item;

	TRY(find_item(event, where, &item));
	*ret = etw_read_at(&event->decoding, item);
	*ret_bytes = item->bytes;
	return 0;
}

int etw_value_count(struct libetw_event *event, const struct etw_where *where, size_t *ret)
{
	const struct etw_item *item;

	TRY(find_item(event, where, &item));
	*ret = item->kind == ETW_ITEM_ARRAY ? item->count : 1;
	return 0;
}
