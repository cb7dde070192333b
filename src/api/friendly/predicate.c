/* SPDX-License-Identifier: MIT */
/* etw/predicate.h: trees of nodes; a node that compares a field has a handle of its own. */
#include <etw/predicate.h>

#include <errno.h>
#include <etw/fields.h>
#include <etw/schemas.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/friendly/predicate.h"
#include "api/friendly/value.h"
#include "base/guid.h"
#include "base/macros.h"
#include "decode/format.h"
#include "schema/event_name.h"

#define DEPTH_MAX 200 /* of a tree; asking it uses the stack */

enum kind {
	ANY,
	AND,
	OR,
	NOT,
	PROVIDER,
	ID,
	VERSION,
	OPCODE,
	TASK,
	PID,
	TID,
	LEVEL,
	KEYWORD_ANY,
	KEYWORD_ALL,
	EVENT_NAME,
	HAS_FIELD,
	UNSIGNED_IN,
	SIGNED_IN,
	DOUBLE_IN,
	GUID_IS,
	TEXT_IS,
	FUNCTION,
};

struct libetw_predicate {
	enum kind kind;
	int how;                               /* TEXT_IS */
	unsigned depth;                        /* of the tree from here */
	struct libetw_predicate *left, *right; /* owned */
	struct etw_where where;                /* its handle is owned */
	uint64_t value, to;                    /* numbers, ranges, masks */
	double from_double, to_double;
	GUID guid;
	char *text; /* owned */
	size_t text_bytes;
	const struct etw_schema *asked; /* EVENT_NAME: the latest, and what came out */
	uint64_t asked_serial;          /* whose schema that is */
	bool was_meant;
	bool is_number;       /* EVENT_NAME: the header knows */
	struct etw_text room; /* TEXT_IS: a field's text is made here */
	int (*function)(void *context, struct libetw_event *event);
	void *context;
};

void libetw_predicate_free(struct libetw_predicate *predicate)
{
	if (!predicate)
		return;
	libetw_predicate_free(predicate->left);
	libetw_predicate_free(predicate->right);
	libetw_field_free(predicate->where.field);
	etw_text_done(&predicate->room);
	free(predicate->text);
	free(predicate);
}

static struct libetw_predicate *create(enum kind kind)
{
	struct libetw_predicate *predicate = calloc(1, sizeof(*predicate));

	if (!predicate) {
		(void)etw_friendly_fail(-ENOMEM, "no memory for a predicate");
		return NULL;
	}
	predicate->kind = kind;
	predicate->depth = 1;
	predicate->where.is_quiet = true;
	return predicate;
}

static struct libetw_predicate *create_value(enum kind kind, uint64_t value)
{
	struct libetw_predicate *predicate = create(kind);

	if (predicate)
		predicate->value = value;
	return predicate;
}

static struct libetw_predicate *create_field(enum kind kind, const char *path)
{
	struct libetw_predicate *predicate = create(kind);

	if (predicate && libetw_field_create(path, &predicate->where.field)) {
		libetw_predicate_free(predicate);
		return NULL;
	}
	return predicate;
}

static struct libetw_predicate *with_text(struct libetw_predicate *predicate, const char *text)
{
	if (!predicate)
		return NULL;
	predicate->text = strdup(text ? text : "");
	if (!predicate->text) {
		libetw_predicate_free(predicate);
		(void)etw_friendly_fail(-ENOMEM, "no memory for a predicate");
		return NULL;
	}
	predicate->text_bytes = strlen(predicate->text);
	return predicate;
}

/* A node over one or two; takes them in every case. */
static struct libetw_predicate *combine(enum kind kind, struct libetw_predicate *left,
					struct libetw_predicate *right)
{
	struct libetw_predicate *predicate = NULL;

	if (left && (right || kind == NOT))
		predicate = create(kind);
	if (predicate) {
		predicate->depth += left->depth;
		if (right && right->depth >= left->depth)
			predicate->depth = right->depth + 1;
		if (predicate->depth > DEPTH_MAX) {
			(void)etw_friendly_fail(-E2BIG, "a predicate is nested %u deep at most",
						DEPTH_MAX);
			free(predicate);
			predicate = NULL;
		}
	}
	if (!predicate) {
		libetw_predicate_free(left);
		libetw_predicate_free(right);
		return NULL;
	}
	predicate->left = left;
	predicate->right = right;
	return predicate;
}

struct libetw_predicate *libetw_any(void)
{
	return create(ANY);
}

struct libetw_predicate *libetw_and(struct libetw_predicate *left, struct libetw_predicate *right)
{
	return combine(AND, left, right);
}

struct libetw_predicate *libetw_or(struct libetw_predicate *left, struct libetw_predicate *right)
{
	return combine(OR, left, right);
}

struct libetw_predicate *libetw_not(struct libetw_predicate *predicate)
{
	return combine(NOT, predicate, NULL);
}

struct libetw_predicate *libetw_provider(const GUID *provider)
{
	struct libetw_predicate *predicate = create(PROVIDER);

	if (predicate)
		predicate->guid = *provider;
	return predicate;
}

struct libetw_predicate *libetw_provider_named(const struct libetw_schemas *schemas,
					       const char *name)
{
	GUID guid;

	return libetw_schemas_find_provider(schemas, name, &guid) ? NULL : libetw_provider(&guid);
}

struct libetw_predicate *libetw_id(uint16_t id)
{
	return create_value(ID, id);
}

struct libetw_predicate *libetw_version(uint8_t version)
{
	return create_value(VERSION, version);
}

struct libetw_predicate *libetw_opcode(uint8_t opcode)
{
	return create_value(OPCODE, opcode);
}

struct libetw_predicate *libetw_task(uint16_t task)
{
	return create_value(TASK, task);
}

struct libetw_predicate *libetw_pid(uint32_t pid)
{
	return create_value(PID, pid);
}

struct libetw_predicate *libetw_tid(uint32_t tid)
{
	return create_value(TID, tid);
}

struct libetw_predicate *libetw_level(uint8_t level)
{
	return create_value(LEVEL, level);
}

struct libetw_predicate *libetw_keyword_any(uint64_t mask)
{
	return create_value(KEYWORD_ANY, mask);
}

struct libetw_predicate *libetw_keyword_all(uint64_t mask)
{
	return create_value(KEYWORD_ALL, mask);
}

struct libetw_predicate *libetw_event_named(const char *name)
{
	struct libetw_predicate *predicate;

	if (!name || !*name) {
		(void)etw_friendly_fail(-EINVAL, "an event's name is empty");
		return NULL;
	}
	predicate = with_text(create(EVENT_NAME), name);
	if (predicate)
		predicate->is_number = etw_schema_word_is_number(name);
	return predicate;
}

struct libetw_predicate *libetw_has_field(const char *path)
{
	return create_field(HAS_FIELD, path);
}

struct libetw_predicate *libetw_unsigned_is(const char *path, uint64_t value)
{
	return libetw_unsigned_in(path, value, value);
}

struct libetw_predicate *libetw_unsigned_in(const char *path, uint64_t from, uint64_t to)
{
	struct libetw_predicate *predicate = create_field(UNSIGNED_IN, path);

	if (predicate) {
		predicate->value = from;
		predicate->to = to;
	}
	return predicate;
}

struct libetw_predicate *libetw_signed_is(const char *path, int64_t value)
{
	return libetw_signed_in(path, value, value);
}

struct libetw_predicate *libetw_signed_in(const char *path, int64_t from, int64_t to)
{
	struct libetw_predicate *predicate = create_field(SIGNED_IN, path);

	if (predicate) {
		predicate->value = (uint64_t)from;
		predicate->to = (uint64_t)to;
	}
	return predicate;
}

struct libetw_predicate *libetw_double_in(const char *path, double from, double to)
{
	struct libetw_predicate *predicate = create_field(DOUBLE_IN, path);

	if (predicate) {
		predicate->from_double = from;
		predicate->to_double = to;
	}
	return predicate;
}

struct libetw_predicate *libetw_guid_is(const char *path, const GUID *guid)
{
	struct libetw_predicate *predicate = create_field(GUID_IS, path);

	if (predicate)
		predicate->guid = *guid;
	return predicate;
}

struct libetw_predicate *libetw_text_is(const char *path, int how, const char *text)
{
	struct libetw_predicate *predicate;

	if ((how & ~LIBETW_TEXT_ANY_CASE) < LIBETW_TEXT_EQUALS ||
	    (how & ~LIBETW_TEXT_ANY_CASE) > LIBETW_TEXT_ENDS) {
		(void)etw_friendly_fail(-EINVAL, "%d is no way to compare texts", how);
		return NULL;
	}
	predicate = with_text(create_field(TEXT_IS, path), text);
	if (predicate)
		predicate->how = how;
	return predicate;
}

struct libetw_predicate *libetw_function(int (*matches)(void *context, struct libetw_event *event),
					 void *context)
{
	struct libetw_predicate *predicate = create(FUNCTION);

	if (predicate) {
		predicate->function = matches;
		predicate->context = context;
	}
	return predicate;
}

static bool is_same_text(const char *left, const char *right, size_t bytes, bool any_case)
{
	return any_case ? !strncasecmp(left, right, bytes) : !memcmp(left, right, bytes);
}

static bool compare_text(const struct libetw_predicate *predicate, const char *text, size_t bytes)
{
	bool any_case = predicate->how & LIBETW_TEXT_ANY_CASE;
	size_t wanted = predicate->text_bytes, first = 0, last;

	if (bytes < wanted)
		return false;
	last = bytes - wanted;
	switch (predicate->how & ~LIBETW_TEXT_ANY_CASE) {
	case LIBETW_TEXT_EQUALS:
		if (last)
			return false;
		break;
	case LIBETW_TEXT_BEGINS:
		last = 0;
		break;
	case LIBETW_TEXT_ENDS:
		first = last;
		break;
	default:
		break;
	}
	for (size_t i = first; i <= last; i++) {
		if (is_same_text(text + i, predicate->text, wanted, any_case))
			return true;
	}
	return false;
}

static bool matches_text(struct libetw_predicate *predicate, struct libetw_event *event)
{
	const struct etw_item *item;

	if (etw_value_find(event, &predicate->where, &item))
		return false;
	etw_text_clear(&predicate->room);
	etw_event_lock(event);
	etw_format_item(&event->decoding, item, &predicate->room);
	etw_event_unlock(event);
	return !etw_text_error(&predicate->room) &&
	       compare_text(predicate, etw_text_string(&predicate->room), predicate->room.bytes);
}

static bool matches_name(struct libetw_predicate *predicate, struct libetw_event *event)
{
	const struct etw_schema *schema;

	if (predicate->is_number)
		return etw_schema_event_is(predicate->text, &event->record->EventHeader, NULL);
	if (etw_event_decode(event))
		return false;
	schema = event->decoding.schema;
	if (!schema)
		return false;
	if (schema != predicate->asked || event->schemas->serial != predicate->asked_serial) {
		predicate->was_meant = etw_schema_event_is(predicate->text,
							   &event->record->EventHeader, schema);
		predicate->asked = schema;
		predicate->asked_serial = event->schemas->serial;
	}
	return predicate->was_meant;
}

static bool matches_field(struct libetw_predicate *predicate, struct libetw_event *event)
{
	const struct etw_item *item;
	uint64_t number;
	int64_t signed_number;
	double real;
	GUID guid;

	switch (predicate->kind) {
	case HAS_FIELD:
		return !etw_value_find(event, &predicate->where, &item);
	case UNSIGNED_IN:
		return !etw_value_unsigned(event, &predicate->where, UINT64_MAX, &number) &&
		       number >= predicate->value && number <= predicate->to;
	case SIGNED_IN:
		return !etw_value_signed(event, &predicate->where, INT64_MIN, INT64_MAX,
					 &signed_number) &&
		       signed_number >= (int64_t)predicate->value &&
		       signed_number <= (int64_t)predicate->to;
	case DOUBLE_IN:
		return !etw_value_double(event, &predicate->where, &real) &&
		       real >= predicate->from_double && real <= predicate->to_double;
	case GUID_IS:
		return !etw_value_guid(event, &predicate->where, &guid) &&
		       etw_guid_equal(&guid, &predicate->guid);
	default:
		return matches_text(predicate, event);
	}
}

bool etw_predicate_matches(struct libetw_predicate *predicate, struct libetw_event *event)
{
	const EVENT_HEADER *header = &event->record->EventHeader;
	const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;

	switch (predicate->kind) {
	case ANY:
		return true;
	case AND:
		return etw_predicate_matches(predicate->left, event) &&
		       etw_predicate_matches(predicate->right, event);
	case OR:
		return etw_predicate_matches(predicate->left, event) ||
		       etw_predicate_matches(predicate->right, event);
	case NOT:
		return !etw_predicate_matches(predicate->left, event);
	case PROVIDER:
		return etw_guid_equal(&header->ProviderId, &predicate->guid);
	case ID:
		return descriptor->Id == predicate->value &&
		       !(header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER);
	case VERSION:
		return descriptor->Version == predicate->value;
	case OPCODE:
		return descriptor->Opcode == predicate->value;
	case TASK:
		return descriptor->Task == predicate->value;
	case PID:
		return header->ProcessId == predicate->value;
	case TID:
		return header->ThreadId == predicate->value;
	case LEVEL:
		return descriptor->Level <= predicate->value;
	case KEYWORD_ANY:
		return descriptor->Keyword & predicate->value;
	case KEYWORD_ALL:
		return (descriptor->Keyword & predicate->value) == predicate->value;
	case EVENT_NAME:
		return matches_name(predicate, event);
	case FUNCTION:
		return predicate->function(predicate->context, event) != 0;
	default:
		return matches_field(predicate, event);
	}
}

int libetw_predicate_matches(struct libetw_predicate *predicate, struct libetw_event *event)
{
	return etw_predicate_matches(predicate, event);
}
