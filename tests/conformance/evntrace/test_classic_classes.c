/* SPDX-License-Identifier: MIT */
/*
 * Events of classic providers whose classes a MOF file describes: every one of a file is written with edge and random
 * values by TraceEvent, in MOF fields where there are as few as may be, recorded by a host, and decoded by TDH to the
 * same values. The classes are those of a file of this test, and of genuine ones where they are ($ETW_TEST_DATA).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <evntcons.h>
#include <evntrace.h>
#include <tdh.h>
#include <winerror.h>
#include <wmistr.h>

#include "base/macros.h"
#include "conformance/evntrace/classic_session.h"
#include "conformance/evntrace/host.h"
#include "conformance/evntrace/waiting.h"
#include "conformance/tdh/registered.h"
#include "schema/mof/mof.h"

#define LIMIT_S       1500
#define CLASSES_MAX   64
#define FIELDS_MAX    64
#define PAYLOAD_MAX   4096
#define TEXT_MAX      12 /* units of a string, with its end */
#define FILE_MAX      (1024 * 1024)
#define INFO_MAX      65536
#define PATTERN_LOW   0 /* of values: zeros, ones, then random ones */
#define PATTERN_HIGH  1
#define PATTERN_COUNT 5

/* As many fields as MOF_FIELDs may be, of every type of MOF. */
static const char own_mof[] =
	"[Dynamic, Description(\"Made\"), Guid(\"{5e1c9b1a-3d53-4c7e-9a41-0c6f7d218861}\")]\n"
	"class Made : EventTrace { };\n"
	"[Dynamic, Guid(\"{5e1c9b1a-3d53-4c7e-9a41-0c6f7d218862}\"), EventVersion(0),\n"
	" DisplayName(\"Made\")]\n"
	"class MadeEvents : Made { };\n"
	"[Dynamic, EventType(1), EventTypeName(\"Sixteen\")]\n"
	"class MadeSixteen : MadeEvents {\n"
	"[WmiDataId(1), read] sint8 A; [WmiDataId(2), read] uint8 B;\n"
	"[WmiDataId(3), read] sint16 C; [WmiDataId(4), read] uint16 D;\n"
	"[WmiDataId(5), read] sint32 E; [WmiDataId(6), read] uint32 F;\n"
	"[WmiDataId(7), read] sint64 G; [WmiDataId(8), read] uint64 H;\n"
	"[WmiDataId(9), read] real32 I; [WmiDataId(10), read] real64 J;\n"
	"[WmiDataId(11), read] boolean K;\n"
	"[WmiDataId(12), extension(\"Guid\"), read] object L;\n"
	"[WmiDataId(13), StringTermination(\"NullTerminated\"), format(\"w\"), read] string M;\n"
	"[WmiDataId(14), StringTermination(\"NullTerminated\"), read] string N;\n"
	"[WmiDataId(15), pointer, read] uint32 O;\n"
	"[WmiDataId(16), max(3), read] uint32 P[]; };\n"
	"[Dynamic, EventType(2), EventTypeName(\"Nothing\")]\n"
	"class MadeNothing : MadeEvents { };\n";

/* What one event is to say. */
struct payload {
	uint8_t bytes[PAYLOAD_MAX];
	unsigned ends[FIELDS_MAX]; /* of each field */
	unsigned count, total;
};

/* A file's events, and how far they have been read back. */
struct classes {
	struct etw_definition *definition;
	const struct etw_schema *events[1024];
	unsigned count;
	unsigned written, decoded; /* each event PATTERN_COUNT times */
};

static struct classes classes;
static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return random_state >> 32 | random_state << 32;
}

static void put_value(struct payload *payload, unsigned bytes, unsigned pattern)
{
	assert_true(payload->total + bytes <= PAYLOAD_MAX);
	for (unsigned i = 0; i < bytes; i++) {
		const uint8_t random = (uint8_t)next_random();

		payload->bytes[payload->total++] = pattern == PATTERN_LOW    ? 0
						   : pattern == PATTERN_HIGH ? 0xFF
									     : random;
	}
}

/* Up to a NUL; the first pattern's is empty. */
static void put_string(struct payload *payload, unsigned unit, unsigned pattern)
{
	const unsigned units = pattern == PATTERN_LOW ? 0 : (unsigned)(next_random() % TEXT_MAX);

	assert_true(payload->total + (units + 1) * unit <= PAYLOAD_MAX);
	for (unsigned i = 0; i <= units; i++) {
		memset(payload->bytes + payload->total, 0, unit);
		payload->bytes[payload->total] = i < units ? (uint8_t)('a' + next_random() % 26)
							   : 0;
		payload->total += unit;
	}
}

static void put_element(struct payload *payload, const struct etw_field *field, unsigned pattern)
{
	switch (field->in_type) {
	case TDH_INTYPE_INT8:
	case TDH_INTYPE_UINT8:
		put_value(payload, 1, pattern);
		break;
	case TDH_INTYPE_INT16:
	case TDH_INTYPE_UINT16:
		put_value(payload, 2, pattern);
		break;
	case TDH_INTYPE_INT32:
	case TDH_INTYPE_UINT32:
	case TDH_INTYPE_HEXINT32:
	case TDH_INTYPE_FLOAT:
	case TDH_INTYPE_BOOLEAN:
		put_value(payload, 4, pattern);
		break;
	case TDH_INTYPE_INT64:
	case TDH_INTYPE_UINT64:
	case TDH_INTYPE_HEXINT64:
	case TDH_INTYPE_DOUBLE:
		put_value(payload, 8, pattern);
		break;
	case TDH_INTYPE_POINTER:
	case TDH_INTYPE_SIZET:
		put_value(payload, sizeof(void *), pattern);
		break;
	case TDH_INTYPE_GUID:
		put_value(payload, sizeof(GUID), pattern);
		break;
	case TDH_INTYPE_UNICODESTRING:
		put_string(payload, sizeof(WCHAR), pattern);
		break;
	case TDH_INTYPE_ANSISTRING:
		put_string(payload, 1, pattern);
		break;
	default:
		fail_msg("%s: values of type %u are not made here", field->name, field->in_type);
	}
}

/* The same for the same number, so that it need not be kept. */
static void make_payload(const struct etw_schema *schema, unsigned number, struct payload *ret)
{
	ret->total = 0;
	ret->count = schema->field_count;
	random_state = number + 1;
	assert_true(schema->field_count == schema->top_count && schema->field_count <= FIELDS_MAX);
	for (unsigned i = 0; i < schema->field_count; i++) {
		const struct etw_field *field = &schema->fields[i];
		const unsigned elements = field->flags & PropertyParamFixedCount ? field->count : 1;

		for (unsigned k = 0; k < elements; k++)
			put_element(ret, field, number % PATTERN_COUNT);
		ret->ends[i] = ret->total;
	}
}

struct event {
	EVENT_TRACE_HEADER header;
	union {
		MOF_FIELD fields[MAX_MOF_FIELDS];
		uint8_t bytes[PAYLOAD_MAX];
	} data;
};

/* A field of its own for each where there may be so many, else all of them behind the header. */
static void make_event(const struct etw_schema *schema, const struct payload *payload,
		       struct event *ret)
{
	*ret = (struct event){.header.Class.Type = schema->descriptor.Opcode,
			      .header.Class.Version = schema->descriptor.Version,
			      .header.Class.Level = 4,
			      .header.Guid = schema->event_guid,
			      .header.Flags = WNODE_FLAG_TRACED_GUID};
	if (payload->count > MAX_MOF_FIELDS) {
		memcpy(ret->data.bytes, payload->bytes, payload->total);
		ret->header.Size = (USHORT)(sizeof(ret->header) + payload->total);
		return;
	}
	for (unsigned i = 0, begin = 0; i < payload->count; begin = payload->ends[i++]) {
		DEFINE_TRACE_MOF_FIELD(&ret->data.fields[i], payload->bytes + begin,
				       payload->ends[i] - begin, 0);
	}
	ret->header.Flags |= WNODE_FLAG_USE_MOF_PTR;
	ret->header.Size = (USHORT)(sizeof(ret->header) + payload->count * sizeof(MOF_FIELD));
}

static void write_one(TRACEHANDLE logger, unsigned number)
{
	const struct etw_schema *schema = classes.events[number / PATTERN_COUNT];
	static struct payload payload;
	static struct event event;
	const time_t begin = wait_seconds();
	ULONG error;

	make_payload(schema, number, &payload);
	make_event(schema, &payload, &event);
	for (;;) {
		error = TraceEvent(logger, &event.header);
		if (error != ERROR_NOT_ENOUGH_MEMORY)
			break;
		wait_step(begin, "there are buffers", __FILE__, __LINE__);
	}
	if (error)
		fail_msg("%s cannot be written: %u", schema->symbol, error);
}

static bool is_listed(const GUID *guid, const GUID *list, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (IsEqualGUID(guid, &list[i]))
			return true;
	}
	return false;
}

/* By a provider of all classes of the file. */
static void write_all(struct classic_session *session, const char *file)
{
	TRACE_GUID_REGISTRATION registrations[CLASSES_MAX];
	GUID guids[CLASSES_MAX];
	unsigned count = 0;

	for (unsigned i = 0; i < classes.count; i++) {
		const GUID *guid = &classes.events[i]->event_guid;

		if (is_listed(guid, guids, count))
			continue;
		assert_true(count < CLASSES_MAX);
		guids[count] = *guid;
		registrations[count] = (TRACE_GUID_REGISTRATION){.Guid = &guids[count]};
		count++;
	}
	classic_session_start(session, file, 0, 64, registrations, count);
	while (classes.written < classes.count * PATTERN_COUNT)
		write_one(session->logger, classes.written++);
}

static void check_property(PEVENT_RECORD record, const WCHAR *name, const uint8_t *expected,
			   unsigned bytes)
{
	PROPERTY_DATA_DESCRIPTOR wanted = {.PropertyName = (ULONGLONG)(uintptr_t)name,
					   .ArrayIndex = UINT32_MAX};
	uint8_t value[PAYLOAD_MAX];
	ULONG size = 0;

	assert_int_equal(TdhGetPropertySize(record, 0, NULL, 1, &wanted, &size), ERROR_SUCCESS);
	assert_int_equal(size, bytes);
	assert_int_equal(TdhGetProperty(record, 0, NULL, 1, &wanted, sizeof(value), value),
			 ERROR_SUCCESS);
	assert_memory_equal(value, expected, bytes);
}

static void check_values(PEVENT_RECORD record, const TRACE_EVENT_INFO *info,
			 const struct payload *payload)
{
	for (unsigned i = 0, begin = 0; i < payload->count; begin = payload->ends[i++]) {
		const WCHAR *name = (const void *)((const uint8_t *)info +
						   info->EventPropertyInfoArray[i].NameOffset);

		check_property(record, name, payload->bytes + begin, payload->ends[i] - begin);
	}
}

static void WINAPI on_event(PEVENT_RECORD record)
{
	_Alignas(8) static uint8_t room[INFO_MAX];
	TRACE_EVENT_INFO *info = (void *)room;
	const struct etw_schema *schema;
	struct payload payload;
	ULONG bytes = sizeof(room);

	assert_true(classes.decoded < classes.written);
	schema = classes.events[classes.decoded / PATTERN_COUNT];
	make_payload(schema, classes.decoded, &payload);
	assert_true(IsEqualGUID(&record->EventHeader.ProviderId, &schema->event_guid));
	assert_int_equal(record->EventHeader.EventDescriptor.Opcode, schema->descriptor.Opcode);
	assert_int_equal(record->UserDataLength, payload.total);
	if (TdhGetEventInformation(record, 0, NULL, info, &bytes) != ERROR_SUCCESS)
		fail_msg("%s is not known", schema->symbol);
	assert_int_equal(info->DecodingSource, DecodingSourceWbem);
	assert_int_equal(info->TopLevelPropertyCount, payload.count);
	check_values(record, info, &payload);
	classes.decoded++;
}

/* All of a file that is registered by its text. */
static void record_file(const char *text, const char *file)
{
	struct classic_session session;
	struct etw_arena arena = {0};

	classes = (struct classes){0};
	assert_int_equal(etw_mof_parse(&arena, text, strlen(text), &classes.definition, NULL), 0);
	for (size_t i = 0; i < classes.definition->provider_count; i++) {
		const struct etw_provider_schema *provider = &classes.definition->providers[i];

		for (size_t k = 0; k < provider->schema_count; k++) {
			assert_true(classes.count < ARRAY_SIZE(classes.events));
			classes.events[classes.count++] = &provider->schemas[k];
		}
	}
	assert_true(classes.count > 0);
	registered_import(host_path("providers"), WIRE_REGISTRY_MOF, text);
	write_all(&session, file);
	(void)classic_session_stop(&session, on_event);
	assert_int_equal(classes.decoded, classes.written);
	printf("%s: %u events of %u kinds\n", file, classes.decoded, classes.count);
	etw_arena_done(&arena);
}

static void test_classes__of_every_type(void **state)
{
	(void)state;
	record_file(own_mof, "made.etl");
}

static void record_genuine(const char *name, const char *file)
{
	const char *folder = getenv("ETW_TEST_DATA");
	static char text[FILE_MAX];
	char path[1024];
	FILE *stream;
	size_t bytes;

	(void)snprintf(path, sizeof(path), "%s/mof/%s", folder ? folder : "", name);
	stream = folder ? fopen(path, "rb") : NULL;
	if (!stream) {
		printf("no genuine %s: it is not tried\n", name);
		skip();
	}
	bytes = fread(text, 1, sizeof(text) - 1, stream);
	(void)fclose(stream);
	text[bytes] = 0;
	record_file(text, file);
}

static void test_classes__of_aspnet(void **state)
{
	(void)state;
	record_genuine("ASPNetTraceEventParser.mof", "aspnet.etl");
}

static void test_classes__of_iis(void **state)
{
	(void)state;
	record_genuine("w3core.mof", "iis.etl");
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes__of_every_type),
		cmocka_unit_test(test_classes__of_aspnet),
		cmocka_unit_test(test_classes__of_iis),
	};

	(void)setenv("ETW_PROVIDERS_DIR", host_path("providers"), 1);
	return cmocka_run_group_tests_name("classes of classic providers", tests, NULL, NULL);
}

int main(void)
{
	return host_run(run_all, LIMIT_S);
}
