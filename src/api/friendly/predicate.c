/* SPDX-License-Identifier: MIT */
/* etw/predicate.h: expressions, combinations, and what asks header and schema; predicate_field.c has the others. */
#include "api/friendly/predicate.h"

#include <errno.h>
#include <etw/schemas.h>
#include <stdlib.h>
#include <string.h>

#include "api/friendly/error.h"
#include "api/friendly/event.h"
#include "api/friendly/friendly.h"
#include "base/macros.h"
#include "base/number.h"
#include "consumer/trace.h"
#include "filter/parse.h"

void libetw_predicate_free(struct libetw_predicate *predicate)
{
	if (!predicate)
		return;
	etw_filter_free(predicate->filter);
	free(predicate);
}

struct libetw_predicate *etw_predicate_wrap(struct etw_filter *filter)
{
	struct libetw_predicate *predicate = filter ? calloc(1, sizeof(*predicate)) : NULL;

	if (!predicate) {
		etw_filter_free(filter);
		(void)etw_friendly_fail(-ENOMEM, "no memory for a predicate");
		return NULL;
	}
	predicate->filter = filter;
	return predicate;
}

struct libetw_predicate *etw_predicate_of(struct etw_filter *filter, struct etw_filter_value *value)
{
	if (!filter)
		etw_filter_value_done(value);
	else if (etw_filter_add_value(filter, value)) {
		etw_filter_free(filter);
		filter = NULL;
	}
	return etw_predicate_wrap(filter);
}

struct libetw_predicate *libetw_filter(const char *expression, size_t *ret_at)
{
	struct etw_filter_fault fault = {0};
	struct etw_filter *filter = NULL;
	int result;

	if (!expression) {
		(void)etw_friendly_fail(-EINVAL, "an expression is missing");
		return NULL;
	}
	result = etw_filter_parse(expression, strlen(expression), &filter, &fault);
	if (result != -EINVAL)
		return etw_predicate_wrap(filter);
	if (ret_at)
		*ret_at = fault.at;
	(void)etw_friendly_fail(-EINVAL, "%s", fault.sentence);
	return NULL;
}

/* The tree of a predicate that is taken. */
static struct etw_filter *unwrap(struct libetw_predicate *predicate)
{
	struct etw_filter *filter = predicate ? TAKE(predicate->filter) : NULL;

	libetw_predicate_free(predicate);
	return filter;
}

static struct libetw_predicate *finish(int result, struct etw_filter *filter)
{
	if (!result)
		return etw_predicate_wrap(filter);
	if (result == -E2BIG)
		(void)etw_friendly_fail(-E2BIG, "a predicate is nested %d deep at most",
					ETW_FILTER_DEPTH_MAX);
	else
		(void)etw_friendly_fail(-ENOMEM, "no memory for a predicate");
	return NULL;
}

typedef int combine_trees(struct etw_filter *left, struct etw_filter *right,
			  struct etw_filter **ret);

/* Takes both in every case. */
static struct libetw_predicate *combine(combine_trees *join, struct libetw_predicate *left,
					struct libetw_predicate *right)
{
	struct etw_filter *filter = NULL;
	int result;

	if (!left || !right) {
		libetw_predicate_free(left);
		libetw_predicate_free(right);
		return NULL;
	}
	result = join(unwrap(left), unwrap(right), &filter);
	return finish(result, filter);
}

struct libetw_predicate *libetw_any(void)
{
	return etw_predicate_wrap(etw_filter_any());
}

struct libetw_predicate *libetw_and(struct libetw_predicate *left, struct libetw_predicate *right)
{
	return combine(etw_filter_and, left, right);
}

struct libetw_predicate *libetw_or(struct libetw_predicate *left, struct libetw_predicate *right)
{
	return combine(etw_filter_or, left, right);
}

struct libetw_predicate *libetw_not(struct libetw_predicate *predicate)
{
	struct etw_filter *filter = NULL;
	int result;

	if (!predicate)
		return NULL;
	result = etw_filter_not(unwrap(predicate), &filter);
	return finish(result, filter);
}

struct libetw_predicate *libetw_provider(const GUID *provider)
{
	struct etw_filter_value value = {.readings = ETW_FILTER_GUID};

	if (!provider) {
		(void)etw_friendly_fail(-EINVAL, "a provider's GUID is missing");
		return NULL;
	}
	value.guid = *provider;
	return etw_predicate_of(etw_filter_of_operand(ETW_FILTER_PROVIDER_ID), &value);
}

struct libetw_predicate *libetw_provider_named(const struct libetw_schemas *schemas,
					       const char *name)
{
	GUID guid;

	return libetw_schemas_find_provider(schemas, name, &guid) ? NULL : libetw_provider(&guid);
}

static struct libetw_predicate *create_number(enum etw_filter_operand_id id, uint64_t from,
					      uint64_t to, enum etw_filter_how how)
{
	struct etw_filter_value value = {
		.readings = ETW_FILTER_INTEGER, .how = (uint8_t)how, .from = from, .to = to};

	return etw_predicate_of(etw_filter_of_operand(id), &value);
}

/* The header's numbers: one constructor each, since each has its type. */
#define HEADER_NUMBER(name, type, id)                                        \
	struct libetw_predicate *libetw_##name(type number)                  \
	{                                                                    \
		return create_number(id, number, number, ETW_FILTER_EQUALS); \
	}

HEADER_NUMBER(id, uint16_t, ETW_FILTER_ID)
HEADER_NUMBER(version, uint8_t, ETW_FILTER_VERSION)
HEADER_NUMBER(opcode, uint8_t, ETW_FILTER_OPCODE)
HEADER_NUMBER(task, uint16_t, ETW_FILTER_TASK)
HEADER_NUMBER(pid, uint32_t, ETW_FILTER_HEADER_PID)
HEADER_NUMBER(tid, uint32_t, ETW_FILTER_HEADER_TID)

struct libetw_predicate *libetw_level(uint8_t level)
{
	return create_number(ETW_FILTER_LEVEL, 0, level, ETW_FILTER_EQUALS);
}

struct libetw_predicate *libetw_keyword_any(uint64_t mask)
{
	return create_number(ETW_FILTER_KEYWORD, mask, mask, ETW_FILTER_MASK_ANY);
}

struct libetw_predicate *libetw_keyword_all(uint64_t mask)
{
	return create_number(ETW_FILTER_KEYWORD, mask, mask, ETW_FILTER_MASK_ALL);
}

struct libetw_predicate *libetw_event_named(const char *name)
{
	struct etw_filter_value value = {.readings = ETW_FILTER_TEXT, .how = ETW_FILTER_PATTERN};
	uint64_t number;

	if (!name || !*name) {
		(void)etw_friendly_fail(-EINVAL, "an event's name is empty");
		return NULL;
	}
	if (etw_number_parse(name, UINT16_MAX, &number))
		return create_number(ETW_FILTER_EVENT, number, number, ETW_FILTER_EQUALS);
	if (etw_filter_value_set_text(&value, name, strlen(name)))
		return etw_predicate_wrap(NULL);
	return etw_predicate_of(etw_filter_of_operand(ETW_FILTER_EVENT), &value);
}

/* What libetw_function() was given. */
struct function {
	int (*matches)(void *context, struct libetw_event *event);
	void *context;
};

static bool call_function(void *context, void *subject)
{
	const struct function *function = context;

	return function->matches(function->context, subject) != 0;
}

struct libetw_predicate *libetw_function(int (*matches)(void *context, struct libetw_event *event),
					 void *context)
{
	struct function *function;
	struct etw_filter *filter;

	if (!matches) {
		(void)etw_friendly_fail(-EINVAL, "a predicate's function is missing");
		return NULL;
	}
	function = malloc(sizeof(*function));
	if (!function)
		return etw_predicate_wrap(NULL);
	*function = (struct function){matches, context};
	filter = etw_filter_of_function(call_function, function, free);
	if (!filter)
		free(function);
	return etw_predicate_wrap(filter);
}

static const struct etw_decoding *decode(void *context)
{
	struct libetw_event *event = context;

	return etw_event_decode(event) ? NULL : &event->decoding;
}

static const char *provider_name(void *context, const GUID *provider)
{
	const struct libetw_event *event = context;

	return etw_schema_store_provider_name(event->schemas->store, provider);
}

static void lock(void *context)
{
	etw_event_lock(context);
}

static void unlock(void *context)
{
	etw_event_unlock(context);
}

static const struct etw_filter_source source = {
	.decode = decode, .provider_name = provider_name, .lock = lock, .unlock = unlock};

bool etw_predicate_matches(struct libetw_predicate *predicate, struct libetw_event *event)
{
	struct etw_filter_subject subject = {
		.record = event->record,
		.source = &source,
		.context = event,
		.processes = event->processes,
		.time_ft = event->record->EventHeader.TimeStamp.QuadPart,
		.start_ft = event->trace ? etw_trace_header(event->trace)->start_ft : 0,
		.serial = event->schemas->serial,
	};

	return etw_filter_matches(predicate->filter, &subject);
}

int libetw_predicate_matches(struct libetw_predicate *predicate, struct libetw_event *event)
{
	return etw_predicate_matches(predicate, event);
}
