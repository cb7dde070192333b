/* SPDX-License-Identifier: MIT */
/* etw/predicate.h: trees of nodes, and those that ask header and schema; predicate_field.c has the others. */
#include "api/friendly/predicate.h"

#include <errno.h>
#include <etw/fields.h>
#include <etw/schemas.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "schema/event_name.h"

#define DEPTH_MAX 200 /* of a tree; asking it uses the stack */

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

struct libetw_predicate *etw_predicate_create(enum etw_predicate_kind kind)
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

static struct libetw_predicate *create_number(enum etw_predicate_kind kind, uint64_t number)
{
	struct libetw_predicate *predicate = etw_predicate_create(kind);

	if (predicate)
		predicate->from = number;
	return predicate;
}

struct libetw_predicate *etw_predicate_with_text(struct libetw_predicate *predicate,
						 const void *text, size_t bytes)
{
	if (!predicate)
		return NULL;
	predicate->text = malloc(bytes + 1);
	if (!predicate->text) {
		libetw_predicate_free(predicate);
		(void)etw_friendly_fail(-ENOMEM, "no memory for a predicate");
		return NULL;
	}
	if (bytes)
		memcpy(predicate->text, text, bytes);
	predicate->text[bytes] = '\0';
	predicate->text_bytes = bytes;
	return predicate;
}

/* A node over one or two; takes them in every case. */
static struct libetw_predicate *combine(enum etw_predicate_kind kind, struct libetw_predicate *left,
					struct libetw_predicate *right)
{
	struct libetw_predicate *predicate = NULL;

	if (left && (right || kind == ETW_PREDICATE_NOT))
		predicate = etw_predicate_create(kind);
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
	return etw_predicate_create(ETW_PREDICATE_ANY);
}

struct libetw_predicate *libetw_and(struct libetw_predicate *left, struct libetw_predicate *right)
{
	return combine(ETW_PREDICATE_AND, left, right);
}

struct libetw_predicate *libetw_or(struct libetw_predicate *left, struct libetw_predicate *right)
{
	return combine(ETW_PREDICATE_OR, left, right);
}

struct libetw_predicate *libetw_not(struct libetw_predicate *predicate)
{
	return combine(ETW_PREDICATE_NOT, predicate, NULL);
}

struct libetw_predicate *libetw_provider(const GUID *provider)
{
	struct libetw_predicate *predicate;

	if (!provider) {
		(void)etw_friendly_fail(-EINVAL, "a provider's GUID is missing");
		return NULL;
	}
	predicate = etw_predicate_create(ETW_PREDICATE_PROVIDER);
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

/* The header's numbers and masks: one constructor each, since each has its type. */
#define HEADER_NUMBER(name, type, kind)                     \
	struct libetw_predicate *libetw_##name(type number) \
	{                                                   \
		return create_number(kind, number);         \
	}

HEADER_NUMBER(id, uint16_t, ETW_PREDICATE_ID)
HEADER_NUMBER(version, uint8_t, ETW_PREDICATE_VERSION)
HEADER_NUMBER(opcode, uint8_t, ETW_PREDICATE_OPCODE)
HEADER_NUMBER(task, uint16_t, ETW_PREDICATE_TASK)
HEADER_NUMBER(pid, uint32_t, ETW_PREDICATE_PID)
HEADER_NUMBER(tid, uint32_t, ETW_PREDICATE_TID)
HEADER_NUMBER(level, uint8_t, ETW_PREDICATE_LEVEL)
HEADER_NUMBER(keyword_any, uint64_t, ETW_PREDICATE_KEYWORD_ANY)
HEADER_NUMBER(keyword_all, uint64_t, ETW_PREDICATE_KEYWORD_ALL)

struct libetw_predicate *libetw_event_named(const char *name)
{
	struct libetw_predicate *predicate;

	if (!name || !*name) {
		(void)etw_friendly_fail(-EINVAL, "an event's name is empty");
		return NULL;
	}
	predicate = etw_predicate_with_text(etw_predicate_create(ETW_PREDICATE_EVENT_NAME), name,
					    strlen(name));
	if (predicate)
		predicate->is_number = etw_schema_word_is_number(name);
	return predicate;
}

struct libetw_predicate *libetw_function(int (*matches)(void *context, struct libetw_event *event),
					 void *context)
{
	struct libetw_predicate *predicate;

	if (!matches) {
		(void)etw_friendly_fail(-EINVAL, "a predicate's function is missing");
		return NULL;
	}
	predicate = etw_predicate_create(ETW_PREDICATE_FUNCTION);
	if (predicate) {
		predicate->function = matches;
		predicate->context = context;
	}
	return predicate;
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

bool etw_predicate_matches(struct libetw_predicate *predicate, struct libetw_event *event)
{
	const EVENT_HEADER *header = &event->record->EventHeader;
	const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;

	switch (predicate->kind) {
	case ETW_PREDICATE_ANY:
		return true;
	case ETW_PREDICATE_AND:
		return etw_predicate_matches(predicate->left, event) &&
		       etw_predicate_matches(predicate->right, event);
	case ETW_PREDICATE_OR:
		return etw_predicate_matches(predicate->left, event) ||
		       etw_predicate_matches(predicate->right, event);
	case ETW_PREDICATE_NOT:
		return !etw_predicate_matches(predicate->left, event);
	case ETW_PREDICATE_PROVIDER:
		return etw_guid_equal(&header->ProviderId, &predicate->guid);
	case ETW_PREDICATE_ID:
		return descriptor->Id == predicate->from &&
		       !(header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER);
	case ETW_PREDICATE_VERSION:
		return descriptor->Version == predicate->from;
	case ETW_PREDICATE_OPCODE:
		return descriptor->Opcode == predicate->from;
	case ETW_PREDICATE_TASK:
		return descriptor->Task == predicate->from;
	case ETW_PREDICATE_PID:
		return header->ProcessId == predicate->from;
	case ETW_PREDICATE_TID:
		return header->ThreadId == predicate->from;
	case ETW_PREDICATE_LEVEL:
		return descriptor->Level <= predicate->from;
	case ETW_PREDICATE_KEYWORD_ANY:
		return descriptor->Keyword & predicate->from;
	case ETW_PREDICATE_KEYWORD_ALL:
		return (descriptor->Keyword & predicate->from) == predicate->from;
	case ETW_PREDICATE_EVENT_NAME:
		return matches_name(predicate, event);
	case ETW_PREDICATE_FUNCTION:
		return predicate->function(predicate->context, event) != 0;
	default:
		return etw_predicate_field_matches(predicate, event);
	}
}

int libetw_predicate_matches(struct libetw_predicate *predicate, struct libetw_event *event)
{
	return etw_predicate_matches(predicate, event);
}
