/* SPDX-License-Identifier: MIT */
/*
 * Payload filters and TdhGetAllEventsInformation against a loaded manifest: each function with each error that
 * Microsoft documents for it, and what an aggregate passes. Types and operators are tried one by one in
 * tests/unit/api/test_payload_program.c. Sources: [3], [9] the sections of
 * docs/format/contract-tdh.md, [DOC] Microsoft's page, [HERE] a decision of this project: docs/format/payload-filter.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tdh.h>
#include <winerror.h>

#include "base/macros.h"
#include "base/utf.h"

static const char manifest[] =
	"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'"
	" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
	"<instrumentation><events>"
	"<provider name='Made' guid='{0000abcd-1111-2222-3333-555555555555}' symbol='P'>"
	"<templates><template tid='T'><data name='Path' inType='win:UnicodeString'/>"
	"<data name='Count' inType='win:UInt32'/><data name='Ratio' inType='win:Double'/>"
	"</template></templates>"
	"<events><event value='7' version='1' template='T'/><event value='8' version='1'/>"
	"<event value='9' version='1' template='T'/><event value='7' version='2' template='T'/>"
	"</events></provider>"
	"<provider name='Other' guid='{0000abce-1111-2222-3333-555555555555}' symbol='Q'>"
	"<templates><template tid='T'><data name='Count' inType='win:UInt32'/></template>"
	"</templates><events><event value='7' version='1' template='T'/></events></provider>"
	"</events></instrumentation></instrumentationManifest>";

static const GUID made = {
	0x0000abcd, 0x1111, 0x2222, {0x33, 0x33, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55}};
static const GUID other = {
	0x0000abce, 0x1111, 0x2222, {0x33, 0x33, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55}};
static const GUID nobody = {0x0000abcf, 0x1111, 0x2222, {0}};
static const EVENT_DESCRIPTOR seven = {.Id = 7, .Version = 1};
static const EVENT_DESCRIPTOR nine = {.Id = 9, .Version = 1};
static const EVENT_DESCRIPTOR unknown = {.Id = 99, .Version = 1};

static WCHAR *widen(const char *text)
{
	static WCHAR wide[4][2100];
	static unsigned next;
	WCHAR *to = wide[next++ % 4];

	to[etw_utf8_put_utf16(text, strlen(text), (uint8_t *)to)] = 0;
	return to;
}

static PAYLOAD_FILTER_PREDICATE predicate_of(const char *field, USHORT operation, const char *value)
{
	return (PAYLOAD_FILTER_PREDICATE){widen(field), operation, widen(value)};
}

static PVOID filter_of(const GUID *provider, const EVENT_DESCRIPTOR *descriptor, USHORT operation,
		       const char *value)
{
	PAYLOAD_FILTER_PREDICATE predicate = predicate_of("Count", operation, value);
	PVOID filter = NULL;

	assert_int_equal(
		TdhCreatePayloadFilter(provider, descriptor, FALSE, 1, &predicate, &filter), 0);
	assert_non_null(filter);
	return filter;
}

static int load(void **state)
{
	(void)state;
	return (int)TdhLoadManifestFromMemory(manifest, sizeof(manifest) - 1);
}

static int unload(void **state)
{
	(void)state;
	return (int)TdhUnloadManifestFromMemory(manifest, sizeof(manifest) - 1);
}

static void filters__errors_of_create(void **state)
{
	PAYLOAD_FILTER_PREDICATE one = predicate_of("Count", PAYLOADFIELD_EQ, "1");
	PAYLOAD_FILTER_PREDICATE many[9];
	static char longest[2048];
	PVOID filter = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = one;
	/* INVALID_PARAMETER [3] */
	assert_int_equal(TdhCreatePayloadFilter(NULL, &seven, 0, 1, &one, &filter), 87);
	assert_int_equal(TdhCreatePayloadFilter(&made, NULL, 0, 1, &one, &filter), 87);
	assert_int_equal(TdhCreatePayloadFilter(&made, &seven, 0, 0, &one, &filter), 87);
	assert_int_equal(TdhCreatePayloadFilter(&made, &seven, 0, 1, NULL, &filter), 87);
	assert_int_equal(TdhCreatePayloadFilter(&made, &seven, 0, 1, &one, NULL), 87);
	/* [1.4] MAX_PAYLOAD_PREDICATES */
	assert_int_equal(TdhCreatePayloadFilter(&made, &seven, 0, 9, many, &filter), 87);
	assert_int_equal(TdhCreatePayloadFilter(&made, &seven, 0, 8, many, &filter), 0);
	assert_int_equal(TdhDeletePayloadFilter(&filter), 0);
	/* [9] what the field, its type or its value do not allow. */
	one = predicate_of("Nothing", PAYLOADFIELD_EQ, "1");
	assert_int_equal(TdhCreatePayloadFilter(&made, &seven, 0, 1, &one, &filter), 87);
	one = predicate_of("Ratio", PAYLOADFIELD_EQ, "1");
	assert_int_equal(TdhCreatePayloadFilter(&made, &seven, 0, 1, &one, &filter), 87);
	one = predicate_of("Count", PAYLOADFIELD_IS, "1");
	assert_int_equal(TdhCreatePayloadFilter(&made, &seven, 0, 1, &one, &filter), 87);
	one = predicate_of("Count", PAYLOADFIELD_INVALID, "1");
	assert_int_equal(TdhCreatePayloadFilter(&made, &seven, 0, 1, &one, &filter), 87);
	one = predicate_of("Count", PAYLOADFIELD_EQ, "one");
	assert_int_equal(TdhCreatePayloadFilter(&made, &seven, 0, 1, &one, &filter), 87);
	/* FILE_NOT_FOUND and NOT_FOUND [DOC]: the provider, and its event. */
	one = predicate_of("Count", PAYLOADFIELD_EQ, "1");
	assert_int_equal(TdhCreatePayloadFilter(&nobody, &seven, 0, 1, &one, &filter), 2);
	assert_int_equal(TdhCreatePayloadFilter(&made, &unknown, 0, 1, &one, &filter), 1168);
	/* INSUFFICIENT_BUFFER [DOC]: beyond MAX_EVENT_FILTER_PAYLOAD_SIZE. */
	memset(longest, 'x', sizeof(longest) - 1);
	one = predicate_of("Path", PAYLOADFIELD_IS, longest);
	assert_int_equal(TdhCreatePayloadFilter(&made, &seven, 0, 1, &one, &filter), 122);
	longest[1990] = 0;
	one = predicate_of("Path", PAYLOADFIELD_IS, longest);
	assert_int_equal(TdhCreatePayloadFilter(&made, &seven, 0, 1, &one, &filter), 0);
	/* INVALID_PARAMETER [3] of the others. */
	assert_int_equal(TdhDeletePayloadFilter(&filter), 0);
	assert_null(filter);
	assert_int_equal(TdhDeletePayloadFilter(&filter), 87);
	assert_int_equal(TdhDeletePayloadFilter(NULL), 87);
}

static void filters__errors_of_aggregate(void **state)
{
	PVOID filters[64] = {filter_of(&made, &seven, PAYLOADFIELD_EQ, "1"),
			     filter_of(&other, &seven, PAYLOADFIELD_EQ, "1")};
	PAYLOAD_FILTER_PREDICATE one;
	EVENT_FILTER_DESCRIPTOR descriptor = {0};
	static char text[800];
	PVOID whole;

	(void)state;
	/* INVALID_PARAMETER [3] */
	assert_int_equal(TdhAggregatePayloadFilters(0, filters, NULL, &descriptor), 87);
	assert_int_equal(TdhAggregatePayloadFilters(1, NULL, NULL, &descriptor), 87);
	assert_int_equal(TdhAggregatePayloadFilters(1, filters, NULL, NULL), 87);
	assert_int_equal(TdhAggregatePayloadFilters(3, filters, NULL, &descriptor), 87);
	/* [HERE] two providers. */
	assert_int_equal(TdhAggregatePayloadFilters(2, filters, NULL, &descriptor), 87);
	assert_int_equal(TdhDeletePayloadFilter(&filters[1]), 0);
	/* [HERE] an aggregate in another. */
	filters[1] = filter_of(&made, &nine, PAYLOADFIELD_EQ, "1");
	assert_int_equal(TdhAggregatePayloadFilters(2, filters, NULL, &descriptor), 0);
	whole = (PVOID)(uintptr_t)descriptor.Ptr;
	assert_int_equal(TdhAggregatePayloadFilters(1, &whole, NULL, &descriptor), 87);
	assert_int_equal(TdhCleanupPayloadEventFilterDescriptor(&descriptor), 0);
	assert_int_equal(TdhDeletePayloadFilter(&filters[1]), 0);
	/* [HERE] too long. */
	memset(text, 'x', sizeof(text) - 1);
	one = predicate_of("Path", PAYLOADFIELD_IS, text);
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(TdhCreatePayloadFilter(&made, &seven, 0, 1, &one, &filters[i]), 0);
	assert_int_equal(TdhAggregatePayloadFilters(4, filters, NULL, &descriptor), 122);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(TdhDeletePayloadFilter(&filters[i]), 0);
	/* INVALID_PARAMETER [3] */
	assert_int_equal(TdhCleanupPayloadEventFilterDescriptor(NULL), 87);
	descriptor = (EVENT_FILTER_DESCRIPTOR){.Type = EVENT_FILTER_TYPE_PID};
	assert_int_equal(TdhCleanupPayloadEventFilterDescriptor(&descriptor), 87);
}

static void filters__aggregate(void **state)
{
	PVOID filters[3] = {filter_of(&made, &seven, PAYLOADFIELD_GE, "10"),
			    filter_of(&made, &nine, PAYLOADFIELD_EQ, "5"),
			    filter_of(&made, &seven, PAYLOADFIELD_LT, "20")};
	BOOLEAN flags[3] = {TRUE, FALSE, TRUE};
	EVENT_FILTER_DESCRIPTOR descriptor = {0};

	(void)state;
	assert_int_equal(TdhAggregatePayloadFilters(3, filters, flags, &descriptor), 0);
	/* [3] */
	assert_int_equal(descriptor.Type, EVENT_FILTER_TYPE_PAYLOAD);
	assert_true(descriptor.Size > 0 && descriptor.Size <= MAX_EVENT_FILTER_PAYLOAD_SIZE);
	assert_true(descriptor.Ptr != 0);
	/* The filters are no longer needed. */
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
		assert_int_equal(TdhDeletePayloadFilter(&filters[i]), 0);
	assert_memory_equal((const void *)(uintptr_t)descriptor.Ptr, "ETPF", 4);
	assert_int_equal(TdhCleanupPayloadEventFilterDescriptor(&descriptor), 0);
	assert_true(descriptor.Ptr == 0 && descriptor.Size == 0);
}

/* --- All events of a provider: [DOC] TdhGetAllEventsInformation, and how published programs call it. */

static union {
	PTRACE_EVENT_INFO pointers[1];
	BYTE bytes[8192];
} all;

static void events__of_a_version(void **state)
{
	EVENT_RECORD record = {.EventHeader = {.ProviderId = made, .EventDescriptor = nine}};
	ULONG index = 99, count = 99, needed = 0, size;

	(void)state;
	assert_int_equal(TdhGetAllEventsInformation(&record, NULL, &index, &count, NULL, &needed),
			 ERROR_INSUFFICIENT_BUFFER);
	size = needed - 1;
	assert_int_equal(
		TdhGetAllEventsInformation(&record, NULL, &index, &count, all.pointers, &size),
		ERROR_INSUFFICIENT_BUFFER);
	memset(&all, 0xEE, sizeof(all));
	assert_int_equal(
		TdhGetAllEventsInformation(&record, NULL, &index, &count, all.pointers, &size),
		ERROR_SUCCESS);
	assert_int_equal(size, needed);
	assert_int_equal(all.bytes[needed], 0xEE);
	assert_int_equal(count, 3);
	assert_int_equal(index, 2);
	for (ULONG i = 0; i < count; i++) {
		const TRACE_EVENT_INFO *info = all.pointers[i];

		assert_true((const BYTE *)info >= all.bytes &&
			    (const BYTE *)info < all.bytes + needed);
		assert_int_equal(info->EventDescriptor.Id, 7 + i);
		assert_int_equal(info->EventDescriptor.Version, 1);
		assert_int_equal(info->PropertyCount, i == 1 ? 0 : 3);
	}
	/* The id need not be one. */
	record.EventHeader.EventDescriptor = (EVENT_DESCRIPTOR){.Version = 2};
	size = sizeof(all);
	assert_int_equal(
		TdhGetAllEventsInformation(&record, NULL, &index, &count, all.pointers, &size), 0);
	assert_int_equal(count, 1);
	assert_int_equal(index, 0);
	assert_int_equal(all.pointers[0]->EventDescriptor.Version, 2);
}

static void events__errors(void **state)
{
	EVENT_RECORD record = {.EventHeader = {.ProviderId = made, .EventDescriptor = nine}};
	ULONG index, count, size = sizeof(all);

	(void)state;
	assert_int_equal(
		TdhGetAllEventsInformation(NULL, NULL, &index, &count, all.pointers, &size), 87);
	assert_int_equal(
		TdhGetAllEventsInformation(&record, NULL, NULL, &count, all.pointers, &size), 87);
	assert_int_equal(
		TdhGetAllEventsInformation(&record, NULL, &index, NULL, all.pointers, &size), 87);
	assert_int_equal(
		TdhGetAllEventsInformation(&record, NULL, &index, &count, all.pointers, NULL), 87);
	assert_int_equal(TdhGetAllEventsInformation(&record, NULL, &index, &count, NULL, &size),
			 87);
	record.EventHeader.EventDescriptor.Version = 3;
	assert_int_equal(
		TdhGetAllEventsInformation(&record, NULL, &index, &count, all.pointers, &size),
		1168);
	record.EventHeader.ProviderId = nobody;
	assert_int_equal(
		TdhGetAllEventsInformation(&record, NULL, &index, &count, all.pointers, &size),
		1168);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters__errors_of_create),
		cmocka_unit_test(filters__errors_of_aggregate),
		cmocka_unit_test(filters__aggregate),
		cmocka_unit_test(events__of_a_version),
		cmocka_unit_test(events__errors),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
