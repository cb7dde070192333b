/* SPDX-License-Identifier: MIT */
/*
 * WPP messages in a store: each becomes a schema whose fields are its arguments in payload order, so that the
 * ordinary decoder walks them. How an item lies in the payload: docs/format/wpp.md "Items".
 */
#include <errno.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/store/store.h"
#include "schema/store/store_internal.h"
#include "schema/wpp/controls.h"
#include "schema/wpp/pdb.h"
#include "schema/wpp/tmf.h"

#define NAME_BYTES_MAX 64 /* of an expression that serves as a field's name */

/* What the decoder needs to know of an item. */
struct item_type {
	uint16_t in_type;
	uint16_t out_type;
	uint16_t length; /* fixed, in units of the in-type; 0: none */
};

static const struct item_type item_types[ETW_WPP_ITEM_COUNT] = {
	/* Without a length the decoder stops at it, with the reason. */
	[ETW_WPP_UNKNOWN] = {TDH_INTYPE_BINARY, TDH_OUTTYPE_HEXBINARY, 0},
	[ETW_WPP_CHAR] = {TDH_INTYPE_INT8, TDH_OUTTYPE_BYTE, 0},
	[ETW_WPP_UCHAR] = {TDH_INTYPE_UINT8, TDH_OUTTYPE_UNSIGNEDBYTE, 0},
	[ETW_WPP_SHORT] = {TDH_INTYPE_INT16, TDH_OUTTYPE_SHORT, 0},
	[ETW_WPP_USHORT] = {TDH_INTYPE_UINT16, TDH_OUTTYPE_UNSIGNEDSHORT, 0},
	[ETW_WPP_LONG] = {TDH_INTYPE_INT32, TDH_OUTTYPE_INT, 0},
	[ETW_WPP_ULONG] = {TDH_INTYPE_UINT32, TDH_OUTTYPE_UNSIGNEDINT, 0},
	[ETW_WPP_ULONG_HEX] = {TDH_INTYPE_HEXINT32, TDH_OUTTYPE_HEXINT32, 0},
	[ETW_WPP_LONGLONG] = {TDH_INTYPE_INT64, TDH_OUTTYPE_LONG, 0},
	[ETW_WPP_ULONGLONG] = {TDH_INTYPE_UINT64, TDH_OUTTYPE_UNSIGNEDLONG, 0},
	[ETW_WPP_LONGLONG_HEX] = {TDH_INTYPE_HEXINT64, TDH_OUTTYPE_HEXINT64, 0},
	[ETW_WPP_LONGLONG_OCTAL] = {TDH_INTYPE_UINT64, TDH_OUTTYPE_UNSIGNEDLONG, 0},
	[ETW_WPP_FLOAT] = {TDH_INTYPE_FLOAT, TDH_OUTTYPE_FLOAT, 0},
	[ETW_WPP_DOUBLE] = {TDH_INTYPE_DOUBLE, TDH_OUTTYPE_DOUBLE, 0},
	[ETW_WPP_POINTER] = {TDH_INTYPE_POINTER, TDH_OUTTYPE_HEXINT64, 0},
	[ETW_WPP_STRING] = {TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_STRING, 0},
	[ETW_WPP_WSTRING] = {TDH_INTYPE_UNICODESTRING, TDH_OUTTYPE_STRING, 0},
	[ETW_WPP_COUNTED_STRING] = {TDH_INTYPE_MANIFEST_COUNTEDANSISTRING, TDH_OUTTYPE_STRING, 0},
	[ETW_WPP_COUNTED_WSTRING] = {TDH_INTYPE_MANIFEST_COUNTEDSTRING, TDH_OUTTYPE_STRING, 0},
	[ETW_WPP_SID] = {TDH_INTYPE_SID, TDH_OUTTYPE_STRING, 0},
	[ETW_WPP_GUID] = {TDH_INTYPE_GUID, TDH_OUTTYPE_GUID, 0},
	[ETW_WPP_IPV4] = {TDH_INTYPE_UINT32, TDH_OUTTYPE_IPV4, 0},
	[ETW_WPP_IPV6] = {TDH_INTYPE_BINARY, TDH_OUTTYPE_IPV6, 16},
	[ETW_WPP_MAC] = {TDH_INTYPE_BINARY, TDH_OUTTYPE_HEXBINARY, 6},
	[ETW_WPP_PORT] = {TDH_INTYPE_UINT16, TDH_OUTTYPE_PORT, 0},
	[ETW_WPP_NTSTATUS] = {TDH_INTYPE_UINT32, TDH_OUTTYPE_NTSTATUS, 0},
	[ETW_WPP_WIN32_ERROR] = {TDH_INTYPE_UINT32, TDH_OUTTYPE_WIN32ERROR, 0},
	[ETW_WPP_HRESULT] = {TDH_INTYPE_INT32, TDH_OUTTYPE_HRESULT, 0},
	[ETW_WPP_STATUS] = {TDH_INTYPE_HEXINT32, TDH_OUTTYPE_HEXINT32, 0},
	[ETW_WPP_TIMESTAMP] = {TDH_INTYPE_FILETIME, TDH_OUTTYPE_DATETIME, 0},
	[ETW_WPP_TIME_DELTA] = {TDH_INTYPE_INT64, TDH_OUTTYPE_LONG, 0},
	[ETW_WPP_WAIT_TIME] = {TDH_INTYPE_INT64, TDH_OUTTYPE_LONG, 0},
	[ETW_WPP_HEX_DUMP] = {TDH_INTYPE_MANIFEST_COUNTEDBINARY, TDH_OUTTYPE_HEXBINARY, 0},
	[ETW_WPP_CHAR4] = {TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_STRING, 4},
	[ETW_WPP_LIST_BYTE] = {TDH_INTYPE_UINT8, TDH_OUTTYPE_UNSIGNEDBYTE, 0},
	[ETW_WPP_LIST_SHORT] = {TDH_INTYPE_UINT16, TDH_OUTTYPE_UNSIGNEDSHORT, 0},
	[ETW_WPP_LIST_LONG] = {TDH_INTYPE_UINT32, TDH_OUTTYPE_UNSIGNEDINT, 0},
	[ETW_WPP_SET_BYTE] = {TDH_INTYPE_UINT8, TDH_OUTTYPE_UNSIGNEDBYTE, 0},
	[ETW_WPP_SET_SHORT] = {TDH_INTYPE_UINT16, TDH_OUTTYPE_UNSIGNEDSHORT, 0},
	[ETW_WPP_SET_LONG] = {TDH_INTYPE_UINT32, TDH_OUTTYPE_UNSIGNEDINT, 0},
	[ETW_WPP_ENUM] = {TDH_INTYPE_UINT32, TDH_OUTTYPE_UNSIGNEDINT, 0},
	[ETW_WPP_FLAGS_ENUM] = {TDH_INTYPE_UINT32, TDH_OUTTYPE_UNSIGNEDINT, 0},
};

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_';
}

/* Whether an expression reads as a name: "status", "Params->IoStatus.Status", "Foo::bar". */
static bool is_name(const char *expression)
{
	size_t i = 0;

	if (!is_word(*expression) || (*expression >= '0' && *expression <= '9'))
		return false;
	while (expression[i] && i <= NAME_BYTES_MAX) {
		const char *at = expression + i;

		if ((at[0] == '-' && at[1] == '>') || (at[0] == ':' && at[1] == ':'))
			i += 2;
		else if (at[0] == '.' || is_word(at[0]))
			i++;
		else
			return false;
	}
	return i <= NAME_BYTES_MAX;
}

/* The expression, or "Arg10" by the number where it is no name. */
static const char *name_argument(struct etw_schema_store *store,
				 const struct etw_wpp_argument *argument)
{
	char name[16] = "Arg", digits[8], *to = name + 3;
	unsigned number = argument->number, count = 0;

	if (is_name(argument->expression))
		return argument->expression;
	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (count)
		*to++ = digits[--count];
	return etw_arena_strdup(&store->arena, name);
}

static int make_fields(struct etw_schema_store *store, const struct etw_wpp_message *message,
		       struct etw_schema *schema)
{
	struct etw_field *fields = etw_arena_array(&store->arena, message->argument_count,
						   sizeof(*fields));

	if (!fields)
		return -ENOMEM;
	for (size_t i = 0; i < message->argument_count; i++) {
		const struct etw_wpp_argument *argument = &message->arguments[i];
		const struct item_type *type = &item_types[argument->item];

		fields[i] = (struct etw_field){
			.name = name_argument(store, argument),
			.map = argument->names,
			.map_name = argument->names ? argument->names->name : NULL,
			.flags = type->length ? PropertyParamFixedLength : 0,
			.in_type = type->in_type,
			.out_type = type->out_type,
			.count = 1,
			.length = type->length,
		};
		if (!fields[i].name)
			return -ENOMEM;
	}
	schema->fields = fields;
	schema->field_count = schema->top_count = message->argument_count;
	return 0;
}

/* Fills the schema of a message; `index` is left for the moment when it is kept. */
static int make_schema(struct etw_schema_store *store, const struct etw_wpp_message *message,
		       struct etw_schema *schema)
{
	*schema = (struct etw_schema){
		.provider = message->guid,
		.event_guid = message->guid,
		.descriptor = {.Id = message->number},
		.source = DecodingSourceWPP,
		.template_flags = TEMPLATE_EVENT_DATA,
		.provider_name = message->module,
		.task_name = message->type_name,
		.level_name = message->level,
		.keywords = message->flags,
		.owner = message->control,
		.wpp = message,
	};
	return make_fields(store, message, schema);
}

/* Makes everything that may fail; what it makes is used by keep_messages() alone. */
static int make_schemas(struct etw_schema_store *store, const struct etw_wpp_messages *messages,
			struct stored_event **ret)
{
	struct stored_event *stored = etw_arena_array(&store->arena, messages->count,
						      sizeof(*stored));
	struct etw_schema *schemas = etw_arena_array(&store->arena, messages->count,
						     sizeof(*schemas));

	if (!stored || !schemas)
		return -ENOMEM;
	for (size_t i = 0; i < messages->count; i++) {
		const struct etw_wpp_message *message = messages->at[i];

		TRY(make_schema(store, message, &schemas[i]));
		stored[i] = (struct stored_event){
			.key = store_key_of(&message->guid, STORE_MESSAGE, message->number, 0),
			.first = &schemas[i],
		};
	}
	*ret = stored;
	return etw_table_reserve(&store->events, messages->count);
}

static void keep_messages(struct etw_schema_store *store, struct stored_event *events, size_t count,
			  enum etw_schema_origin origin, uint32_t order)
{
	for (size_t i = 0; i < count; i++) {
		struct stored_event *event = &events[i];
		struct stored_event *stored = etw_store_find_event(store, &event->key);
		struct etw_schema *schema = event->first;

		schema->index = store->schema_count++;
		event->first = NULL;
		if (!stored)
			(void)etw_table_insert(&store->events, store_key_hash(store, &event->key),
					       event);
		etw_store_insert(stored ? stored : event, schema, origin, order);
	}
	etw_store_forget_answers(store);
}

/* Names are a help: without memory for one, the event is shown by its GUID. */
static void keep_name(struct etw_schema_store *store, const GUID *guid, const char *name)
{
	struct stored_provider *provider;

	if (!name || etw_store_make_provider(store, guid, &provider) || provider->name)
		return;
	provider->name = name;
	provider->name_origin = ETW_SCHEMA_ORIGIN_USER;
}

static void keep_names(struct etw_schema_store *store, const struct etw_wpp_messages *messages)
{
	const GUID *last = NULL;

	for (size_t i = 0; i < messages->count; i++) {
		const struct etw_wpp_message *message = messages->at[i];

		if (last && etw_guid_equal(last, &message->guid))
			continue;
		keep_name(store, &message->guid, message->module);
		last = &message->guid;
	}
}

int etw_store_add_tmf(struct etw_schema_store *store, struct etw_bytes text,
		      const struct etw_definition *controls, enum etw_schema_origin origin,
		      uint32_t order, struct etw_fault *reterr)
{
	struct etw_arena_mark mark = etw_arena_mark(&store->arena);
	struct etw_wpp_messages messages;
	struct stored_event *events;
	int r = 0;

	TRY(etw_tmf_parse(&store->arena, (const char *)text.at, text.left, &messages, reterr));
	if (controls)
		r = etw_wpp_attach_controls(&messages, controls->providers,
					    controls->provider_count);
	if (!r)
		r = make_schemas(store, &messages, &events);
	if (r < 0) {
		etw_arena_release(&store->arena, mark);
		return r;
	}
	keep_messages(store, events, messages.count, origin, order);
	keep_names(store, &messages);
	return 0;
}

int etw_schema_store_add_tmf(struct etw_schema_store *store, const char *text, size_t bytes,
			     struct etw_fault *reterr)
{
	return etw_store_add_tmf(store, (struct etw_bytes){(const uint8_t *)text, bytes},
				 /* controls= */ NULL, ETW_SCHEMA_ORIGIN_USER, 0, reterr);
}

int etw_schema_store_add_pdb(struct etw_schema_store *store, const void *file, size_t bytes,
			     struct etw_fault *reterr)
{
	struct etw_arena_mark mark = etw_arena_mark(&store->arena);
	struct stored_event *events;
	struct etw_pdb pdb;
	int r;

	TRY(etw_pdb_read(&store->arena, (struct etw_bytes){file, bytes}, &pdb, reterr));
	r = make_schemas(store, &pdb.messages, &events);
	if (r < 0) {
		etw_arena_release(&store->arena, mark);
		return r;
	}
	keep_messages(store, events, pdb.messages.count, ETW_SCHEMA_ORIGIN_USER, 0);
	keep_names(store, &pdb.messages);
	for (size_t i = 0; i < pdb.control_count; i++)
		keep_name(store, &pdb.controls[i].guid, pdb.controls[i].name);
	if (pdb.damage_count) {
		etw_store_report(store, &pdb.first_damage);
		store->damage_count += pdb.damage_count - 1;
	}
	return 0;
}
