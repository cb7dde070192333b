/* SPDX-License-Identifier: MIT */
/* etw/builder.h: the header, and values as they will lie in the payload. */
#include "api/friendly/builder.h"

#include <errno.h>
#include <etw/builder.h>
#include <etw/event.h>
#include <etw/schemas.h>
#include <stdlib.h>
#include <string.h>

#include "api/friendly/error.h"
#include "api/friendly/event.h"
#include "api/friendly/friendly.h"
#include "api/friendly/schemas.h"
#include "base/bytes.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/time.h"
#include "base/utf.h"
#include "decode/program.h"
#include "schema/types.h"

struct libetw_builder {
	struct libetw_schemas *schemas; /* a reference */
	EVENT_RECORD record;
	const struct etw_schema *schema; /* NULL: raw, or nothing was begun */
	struct etw_set_values set;
	struct etw_text payload;
	bool is_begun, has_time;
};

int libetw_builder_create(struct libetw_schemas *schemas, struct libetw_builder **ret)
{
	struct libetw_builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return etw_friendly_fail(-ENOMEM, "no memory for a builder");
	builder->schemas = etw_schemas_ref(schemas);
	*ret = builder;
	return 0;
}

static void forget(struct libetw_builder *builder)
{
	for (size_t i = 0; i < builder->set.count; i++)
		free(builder->set.values[i].at);
	builder->set.count = 0;
	builder->record = (EVENT_RECORD){0};
	builder->schema = NULL;
	builder->is_begun = false;
	builder->has_time = false;
	etw_text_clear(&builder->payload);
}

void libetw_builder_free(struct libetw_builder *builder)
{
	if (!builder)
		return;
	forget(builder);
	free(builder->set.values);
	etw_text_done(&builder->payload);
	libetw_schemas_free(builder->schemas);
	free(builder);
}

static int find_schema(struct libetw_builder *builder)
{
	CLEANUP(etw_text_done) struct etw_text title = {0};
	struct libetw_event event = {.record = &builder->record, .schemas = builder->schemas};
	enum etw_schema_miss why;

	builder->schema = etw_schema_store_find(builder->schemas->store, &builder->record, &why);
	if (builder->schema && why == ETW_SCHEMA_FOUND)
		return 0;
	builder->schema = NULL;
	etw_event_title(&event, &title);
	return etw_friendly_fail(why == ETW_SCHEMA_NO_MEMORY ? -ENOMEM : -ESRCH,
				 "%s: the schemas have no such event", etw_text_string(&title));
}

int libetw_builder_begin(struct libetw_builder *builder, const GUID *provider, uint16_t id,
			 uint8_t version)
{
	EVENT_HEADER *header = &builder->record.EventHeader;

	forget(builder);
	header->ProviderId = *provider;
	header->EventDescriptor.Id = id;
	header->EventDescriptor.Version = version;
	header->Flags = EVENT_HEADER_FLAG_64_BIT_HEADER;
	TRY(find_schema(builder));
	header->EventDescriptor = builder->schema->descriptor;
	builder->is_begun = true;
	return 0;
}

int libetw_builder_begin_class(struct libetw_builder *builder, const GUID *class_guid,
			       uint8_t opcode, uint8_t version)
{
	EVENT_HEADER *header = &builder->record.EventHeader;

	forget(builder);
	header->ProviderId = *class_guid;
	header->EventDescriptor.Opcode = opcode;
	header->EventDescriptor.Version = version;
	header->Flags = EVENT_HEADER_FLAG_64_BIT_HEADER | EVENT_HEADER_FLAG_CLASSIC_HEADER;
	TRY(find_schema(builder));
	builder->is_begun = true;
	return 0;
}

int libetw_builder_begin_raw(struct libetw_builder *builder, const GUID *provider,
			     const EVENT_DESCRIPTOR *descriptor, const void *payload, size_t bytes)
{
	EVENT_HEADER *header = &builder->record.EventHeader;

	forget(builder);
	if (bytes > UINT16_MAX)
		return etw_friendly_fail(-EMSGSIZE, "a payload has 65535 bytes at most");
	header->ProviderId = *provider;
	header->EventDescriptor = *descriptor;
	header->Flags = EVENT_HEADER_FLAG_64_BIT_HEADER;
	etw_text_append(&builder->payload, payload, bytes);
	if (etw_text_error(&builder->payload))
		return etw_friendly_fail(-ENOMEM, "no memory for a payload");
	builder->is_begun = true;
	return 0;
}

void libetw_builder_ids(struct libetw_builder *builder, uint32_t pid, uint32_t tid)
{
	builder->record.EventHeader.ProcessId = pid;
	builder->record.EventHeader.ThreadId = tid;
}

void libetw_builder_time_ns(struct libetw_builder *builder, int64_t time_ns)
{
	builder->record.EventHeader.TimeStamp.QuadPart = time_ns / ETW_NS_PER_FT +
							 ETW_FILETIME_UNIX_EPOCH;
	builder->has_time = true;
}

void libetw_builder_level(struct libetw_builder *builder, uint8_t level)
{
	builder->record.EventHeader.EventDescriptor.Level = level;
}

void libetw_builder_keyword(struct libetw_builder *builder, uint64_t keyword)
{
	builder->record.EventHeader.EventDescriptor.Keyword = keyword;
}

void libetw_builder_activity(struct libetw_builder *builder, const GUID *activity)
{
	builder->record.EventHeader.ActivityId = *activity;
}

/* Fails with "Provider/Event v1: "path" <sentence>". */
static int fail(struct libetw_builder *builder, const char *path, int error, const char *sentence)
{
	CLEANUP(etw_text_done) struct etw_text title = {0};
	struct libetw_event event = {.record = &builder->record, .schemas = builder->schemas};

	etw_event_title(&event, &title);
	return etw_friendly_fail(error, "%s: \"%s\" %s", etw_text_string(&title), path ? path : "",
				 sentence);
}

/* Whether each array on the way has its element named, and nothing else has. */
static int check_steps(struct libetw_builder *builder, const char *path,
		       const struct etw_path_plan *plan)
{
	for (unsigned i = 0; i < plan->count; i++) {
		const struct etw_path_step *step = &plan->steps[i];
		const struct etw_field *field = &builder->schema->fields[step->field];
		bool is_counted = !(field->flags & (PropertyParamCount | ETW_FIELD_TO_END));

		if (step->has_index != !!etw_field_is_array(field))
			return fail(builder, path, -EINVAL,
				    step->has_index ? "is no array"
						    : "is an array: name an element");
		if (step->has_index && is_counted && step->index >= field->count)
			return fail(builder, path, -ENOENT, "is beyond the array's end");
	}
	return 0;
}

/* The place of the value in the schema, and its type. */
static int find(struct libetw_builder *builder, const char *path, struct etw_path_plan *ret,
		const struct etw_type **ret_type)
{
	const struct etw_field *field;

	if (!builder->schema)
		return etw_friendly_fail(-EINVAL, "no event was begun whose schema is known");
	switch (etw_path_resolve_fields(path, builder->schema, ret)) {
	case 0:
		break;
	case -EINVAL:
		return fail(builder, path, -EINVAL, "is no path of a field");
	default:
		return fail(builder, path, -ENOENT, "is no field of it");
	}
	TRY(check_steps(builder, path, ret));
	field = &builder->schema->fields[ret->steps[ret->count - 1].field];
	if (field->flags & PropertyStruct)
		return fail(builder, path, -EINVAL, "is a struct: name a member");
	*ret_type = etw_schema_type(field->in_type);
	return 0;
}

static bool is_same_place(const struct etw_path_plan *left, const struct etw_path_plan *right)
{
	bool is_same = left->count == right->count;

	for (unsigned i = 0; is_same && i < left->count; i++)
		is_same = left->steps[i].field == right->steps[i].field &&
			  left->steps[i].index == right->steps[i].index;
	return is_same;
}

static struct etw_set_value *place_for(struct etw_set_values *set, const struct etw_path_plan *plan)
{
	struct etw_set_value *grown;
	size_t room = set->room ? 2 * set->room : 16;

	for (size_t i = 0; i < set->count; i++) {
		if (is_same_place(&set->values[i].plan, plan))
			return &set->values[i];
	}
	if (set->count == set->room) {
		grown = realloc(set->values, room * sizeof(*grown));
		if (!grown)
			return NULL;
		set->values = grown;
		set->room = room;
	}
	set->values[set->count] = (struct etw_set_value){.plan = *plan};
	return &set->values[set->count++];
}

/* Whether the schema gives a text or a binary fewer bytes. */
static bool is_too_long(const struct libetw_builder *builder, const struct etw_path_plan *plan,
			size_t bytes)
{
	const struct etw_field *field =
		&builder->schema->fields[plan->steps[plan->count - 1].field];
	size_t room;

	return etw_payload_room(field, &room) && bytes > room;
}

/* Takes the value in every case. */
static int store(struct libetw_builder *builder, const struct etw_path_plan *plan, void *at,
		 size_t bytes)
{
	struct etw_set_value *value = at ? place_for(&builder->set, plan) : NULL;

	if (!value) {
		free(at);
		return etw_friendly_fail(-ENOMEM, "no memory for a field's value");
	}
	free(value->at);
	value->at = at;
	value->bytes = bytes;
	return 0;
}

static int store_copy(struct libetw_builder *builder, const struct etw_path_plan *plan,
		      const void *from, size_t bytes)
{
	uint8_t *at = malloc(bytes ? bytes : 1);

	if (at && bytes)
		memcpy(at, from, bytes);
	return store(builder, plan, at, bytes);
}

static bool is_number(const struct etw_type *type)
{
	switch (type->kind) {
	case ETW_TYPE_SIGNED:
	case ETW_TYPE_UNSIGNED:
	case ETW_TYPE_HEX:
	case ETW_TYPE_BOOLEAN:
	case ETW_TYPE_CHARACTER:
	case ETW_TYPE_FILETIME:
		return true;
	default:
		return false;
	}
}

static int set_number(struct libetw_builder *builder, const char *path, uint64_t value,
		      bool is_negative)
{
	const struct etw_type *type;
	struct etw_path_plan plan;
	uint8_t number[8];
	int64_t least;

	TRY(find(builder, path, &plan, &type));
	if (!is_number(type))
		return fail(builder, path, -EINVAL, "is no number");
	least = type->bytes < 8 ? -(INT64_C(1) << (8 * type->bytes - 1)) : INT64_MIN;
	if (is_negative ? type->kind != ETW_TYPE_SIGNED || (int64_t)value < least
	    : type->kind == ETW_TYPE_SIGNED ? value > (uint64_t) - (least + 1)
					    : type->bytes < 8 && value >> (8 * type->bytes))
		return fail(builder, path, -ERANGE, "does not hold this number");
	etw_store64(number, value);
	return store_copy(builder, &plan, number, type->bytes);
}

int libetw_builder_set_unsigned(struct libetw_builder *builder, const char *path, uint64_t value)
{
	return set_number(builder, path, value, /* is_negative= */ false);
}

int libetw_builder_set_signed(struct libetw_builder *builder, const char *path, int64_t value)
{
	return set_number(builder, path, (uint64_t)value, value < 0);
}

int libetw_builder_set_double(struct libetw_builder *builder, const char *path, double value)
{
	const struct etw_type *type;
	struct etw_path_plan plan;
	float narrow = (float)value;

	TRY(find(builder, path, &plan, &type));
	if (type->kind != ETW_TYPE_FLOAT)
		return fail(builder, path, -EINVAL, "is no floating-point number");
	return type->bytes == sizeof(narrow) ? store_copy(builder, &plan, &narrow, sizeof(narrow))
					     : store_copy(builder, &plan, &value, sizeof(value));
}

int libetw_builder_set_text(struct libetw_builder *builder, const char *path, const char *text)
{
	const struct etw_type *type;
	struct etw_path_plan plan;
	size_t bytes;

	TRY(find(builder, path, &plan, &type));
	if (!text)
		return fail(builder, path, -EINVAL, "is to be a text, and there is none");
	bytes = strlen(text);
	if (type->kind != ETW_TYPE_UTF16 && type->kind != ETW_TYPE_ANSI)
		return fail(builder, path, -EINVAL, "is no string");
	if (type->kind == ETW_TYPE_UTF16)
		bytes = 2 * etw_utf8_put_utf16(text, bytes, NULL);
	if (is_too_long(builder, &plan, bytes))
		return fail(builder, path, -ERANGE, "has not as much room");
	if (type->kind == ETW_TYPE_ANSI)
		return store_copy(builder, &plan, text, bytes);
	return store(builder, &plan, etw_utf8_to_utf16(text, NULL), bytes);
}

int libetw_builder_set_guid(struct libetw_builder *builder, const char *path, const GUID *guid)
{
	const struct etw_type *type;
	struct etw_path_plan plan;
	uint8_t bytes[sizeof(*guid)];

	TRY(find(builder, path, &plan, &type));
	if (!guid || type->kind != ETW_TYPE_GUID)
		return fail(builder, path, -EINVAL, "is no GUID");
	etw_guid_write(bytes, guid);
	return store_copy(builder, &plan, bytes, sizeof(bytes));
}

int libetw_builder_set_bytes(struct libetw_builder *builder, const char *path, const void *bytes,
			     size_t count)
{
	const struct etw_type *type;
	struct etw_path_plan plan;

	TRY(find(builder, path, &plan, &type));
	if (!bytes && count)
		return fail(builder, path, -EINVAL, "is to have bytes, and there are none");
	if (type->bytes && count != type->bytes)
		return fail(builder, path, -ERANGE, "has another size");
	if (count > UINT16_MAX)
		return fail(builder, path, -ERANGE, "has 65535 bytes at most");
	if (is_too_long(builder, &plan, count))
		return fail(builder, path, -ERANGE, "has not as much room");
	return store_copy(builder, &plan, bytes, count);
}

static int check_built(struct libetw_event *event, struct libetw_event **ret)
{
	int status = libetw_event_decode_status(event);

	if (status && status != -ESRCH) {
		(void)etw_friendly_fail(-EBADMSG, "what was set makes no such event: %s",
					event->decoding.reason ? event->decoding.reason
							       : "damaged");
		libetw_event_release(event);
		return -EBADMSG;
	}
	*ret = event;
	return 0;
}

int libetw_builder_finish(struct libetw_builder *builder, struct libetw_event **ret)
{
	EVENT_RECORD *record = &builder->record;
	struct libetw_event *event;
	int result = 0;

	if (!builder->is_begun)
		return etw_friendly_fail(-EINVAL, "no event was begun");
	if (builder->schema) {
		etw_text_clear(&builder->payload);
		result = etw_payload_write(builder->schema, &builder->set, &builder->payload);
	}
	if (result == -E2BIG)
		return etw_friendly_fail(result,
					 "an event has %d values, structs and elements at most",
					 ETW_PROGRAM_ITEMS_MAX);
	if (result)
		return etw_friendly_fail(result, "a payload has 65535 bytes at most");
	if (etw_text_error(&builder->payload))
		return etw_friendly_fail(-ENOMEM, "no memory for a payload");
	record->UserData = builder->payload.at;
	record->UserDataLength = (USHORT)builder->payload.bytes;
	record->EventHeader.Size = (USHORT)(sizeof(record->EventHeader) + builder->payload.bytes);
	if (!builder->has_time)
		record->EventHeader.TimeStamp.QuadPart = etw_filetime_now();
	TRY(etw_event_copy(builder->schemas, record, NULL, NULL, &event));
	return builder->schema ? check_built(event, ret) : (*ret = event, 0);
}
