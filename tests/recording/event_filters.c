/* SPDX-License-Identifier: MIT */
/*
 * Filters of EnableTraceEx2 that are about events, from end to end: by name, payload, and which get a stack; several in
 * one call; the blocks that callbacks get; and counts that are exact while filters change. Arguments as of filters.c.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <evntcons.h>
#include <evntprov.h>
#include <tdh.h>
#include <winerror.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "recording/enabled.h"
#include "recording/filtering.h"
#include "recording/support.h"

#define CHANGES       200
#define COMERS        20
#define PIECE_ADDRESS 16 /* nothing can be there */

/* --- By name */

/* An EVENT_FILTER_EVENT_NAME. */
struct names {
	uint8_t bytes[64];
	size_t size;
};

/* @list: @count names, each with its NUL, @bytes of them */
static struct names names_of(BOOLEAN is_in, UCHAR level, ULONGLONG any, const char *list,
			     size_t bytes, USHORT count)
{
	const EVENT_FILTER_EVENT_NAME head = {
		.MatchAnyKeyword = any, .Level = level, .FilterIn = is_in, .NameCount = count};
	struct names names = {.size = offsetof(EVENT_FILTER_EVENT_NAME, Names) + bytes};

	memcpy(names.bytes, &head, offsetof(EVENT_FILTER_EVENT_NAME, Names));
	memcpy(names.bytes + offsetof(EVENT_FILTER_EVENT_NAME, Names), list, bytes);
	return names;
}

#define NAMES(is_in, level, any, list, count) names_of(is_in, level, any, list, sizeof(list), count)

static void run_names(void)
{
	const struct names two = NAMES(TRUE, 0, 0, "Alpha\0Beta", 2);
	const struct names some = NAMES(TRUE, 4, 0x2, "Alpha", 1);
	const struct names not_some = NAMES(FALSE, 4, 0x2, "Alpha", 1);
	const struct names *wanted[] = {&two, &some, &not_some};
	static const char *const names[] = {"two", "some", "not_some"};
	static const char *const seen[] = {"AAAB1", "A1", "AABG1"};
	static const unsigned filtered[] = {1, 4, 1};
	struct filtering_session sessions[ARRAY_SIZE(wanted)];
	REGHANDLE provider;

	for (unsigned i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct filtering_filters filters = {.count = 0};

		filtering_start(&sessions[i], names[i]);
		filtering_add(&filters, EVENT_FILTER_TYPE_EVENT_NAME, wanted[i]->bytes,
			      wanted[i]->size);
		filtering_enable(&sessions[i], &filters);
	}
	provider = filtering_register();
	filtering_write_named(provider, "Alpha", 4, 0x2);
	filtering_write_named(provider, "Alpha", 5, 0x2);
	filtering_write_named(provider, "Alpha", 4, 0x1);
	filtering_write_named(provider, "Beta", 4, 0x2);
	filtering_write_named(provider, "Gamma", 4, 0x2);
	filtering_write(provider, 1, 0); /* has no name */
	for (unsigned i = 0; i < ARRAY_SIZE(wanted); i++) {
		filtering_expect_filtered(&sessions[i], filtered[i]);
		filtering_end(&sessions[i]);
		filtering_expect_seen(&sessions[i], seen[i]);
	}
	EventUnregister(provider);
}

/* --- By payload */

static char manifest[] =
	"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'"
	" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
	"<instrumentation><events>"
	"<provider name='Filtered' guid='{2f1d6b1c-8a53-4b0e-9c35-114e0b772a61}' symbol='P'>"
	"<templates><template tid='T'><data name='Count' inType='win:UInt32'/></template>"
	"<template tid='U'><data name='Path' inType='win:UnicodeString'/>"
	"<data name='Count' inType='win:UInt32'/></template></templates>"
	"<events><event value='1' version='0' template='T'/><event value='2' version='0' "
	"template='U'/>"
	"<event value='3' version='0' template='T'/></events></provider>"
	"</events></instrumentation></instrumentationManifest>";

static PVOID payload_filter(USHORT id, const WCHAR *field, USHORT operation, const WCHAR *value)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = id};
	PAYLOAD_FILTER_PREDICATE predicate = {(LPWSTR)(uintptr_t)field, operation,
					      (LPWSTR)(uintptr_t)value};
	PVOID filter = NULL;
	const TDHSTATUS error = TdhCreatePayloadFilter(&filtering_provider, &descriptor, FALSE, 1,
						       &predicate, &filter);

	if (error)
		fail("TdhCreatePayloadFilter of event %u: error %u", id, (unsigned)error);
	return filter;
}

/* Counts from 10 on of event 1, and paths with "temp" of event 2. */
static void add_payload(struct filtering_filters *filters, EVENT_FILTER_DESCRIPTOR *descriptor)
{
	PVOID one[] = {
		payload_filter(1, u"Count", PAYLOADFIELD_GE, u"10"),
		payload_filter(2, u"Path", PAYLOADFIELD_CONTAINS, u"temp"),
	};

	if (TdhAggregatePayloadFilters(ARRAY_SIZE(one), one, NULL, descriptor))
		fail("TdhAggregatePayloadFilters failed");
	for (unsigned i = 0; i < ARRAY_SIZE(one); i++)
		(void)TdhDeletePayloadFilter(&one[i]);
	filters->descriptors[filters->count++] = *descriptor;
}

static ULONG write_path(REGHANDLE provider, const void *path, ULONG bytes, UINT32 value)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 2, .Level = 4};
	EVENT_DATA_DESCRIPTOR data[2];

	EventDataDescCreate(&data[0], path, bytes);
	EventDataDescCreate(&data[1], &value, sizeof(value));
	return EventWrite(provider, &descriptor, ARRAY_SIZE(data), data);
}

/* Where there can be no bytes, a filter does not look for them. */
static void write_nowhere(REGHANDLE provider)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	EVENT_DATA_DESCRIPTOR data;
	ULONG errors[3];

	EventDataDescCreate(&data, NULL, 4);
	errors[0] = EventWrite(provider, &descriptor, 1, &data);
	errors[1] = write_path(provider, (const void *)PIECE_ADDRESS, 64, 1);
	data.Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	errors[2] = EventWriteTransfer(provider, &descriptor, NULL, NULL, 1, &data);
	for (unsigned i = 0; i < ARRAY_SIZE(errors); i++) {
		if (errors[i] != ERROR_NOACCESS)
			fail("a piece that is nowhere: error %u", (unsigned)errors[i]);
	}
}

static void run_payload(void)
{
	static const WCHAR in_temp[] = u"/var/TEMP/a", elsewhere[] = u"/usr/bin";
	const struct names names = NAMES(TRUE, 0, 0, "Alpha", 1);
	struct filtering_filters filters = {.count = 0};
	EVENT_FILTER_DESCRIPTOR descriptor;
	struct filtering_session session;
	REGHANDLE provider;

	if (TdhLoadManifestFromMemory(manifest, sizeof(manifest) - 1))
		fail("the manifest cannot be loaded");
	filtering_start(&session, "payload");
	add_payload(&filters, &descriptor);
	filtering_add(&filters, EVENT_FILTER_TYPE_EVENT_NAME, names.bytes, names.size);
	filtering_enable(&session, &filters);
	/* What was enabled stays when the filter is freed. */
	if (TdhCleanupPayloadEventFilterDescriptor(&descriptor))
		fail("TdhCleanupPayloadEventFilterDescriptor failed");
	provider = filtering_register();
	filtering_write(provider, 1, 9);
	filtering_write(provider, 1, 10);
	if (write_path(provider, in_temp, sizeof(in_temp), 1) ||
	    write_path(provider, elsewhere, sizeof(elsewhere), 1))
		fail("EventWrite failed");
	filtering_write(provider, 3, 0); /* no filter is about it */
	filtering_write_named(provider, "Alpha", 4, 1);
	write_nowhere(provider);
	filtering_expect_filtered(&session, 2);
	filtering_end(&session);
	filtering_expect_seen(&session, "123A");
	EventUnregister(provider);
	(void)TdhUnloadManifestFromMemory(manifest, sizeof(manifest) - 1);
}

/* --- Which events get a stack */

static void write_for_stacks(REGHANDLE provider)
{
	filtering_write(provider, 1, 0);
	filtering_write(provider, 2, 0);
	filtering_write_named(provider, "Alpha", 4, 0x2);
	filtering_write_named(provider, "Beta", 5, 0x1);
}

static void run_stacks(void)
{
	static const USHORT in_1[] = {TRUE, 1, 1}, out_1[] = {FALSE, 1, 1};
	const EVENT_FILTER_LEVEL_KW category = {
		.MatchAnyKeyword = 0x2, .Level = 4, .FilterIn = TRUE};
	const struct names alpha = NAMES(TRUE, 0, 0, "Alpha", 1);
	const struct {
		const char *name;
		ULONG type;
		const void *data;
		size_t bytes;
		const char *seen;
	} rows[] = {
		{"ids_in", EVENT_FILTER_TYPE_STACKWALK, in_1, sizeof(in_1), "1+2A+B+"},
		{"ids_out", EVENT_FILTER_TYPE_STACKWALK, out_1, sizeof(out_1), "12+A+B+"},
		{"names", EVENT_FILTER_TYPE_STACKWALK_NAME, alpha.bytes, alpha.size, "1+2+A+B"},
		/* Without a keyword an event is of every category. */
		{"level", EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, &category, sizeof(category),
		 "1+2+A+B"},
		{"all", EVENT_FILTER_TYPE_NONE, NULL, 0, "1+2+A+B+"},
	};
	struct filtering_session sessions[ARRAY_SIZE(rows)];
	REGHANDLE provider;

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filtering_filters filters = {.property = EVENT_ENABLE_PROPERTY_STACK_TRACE};

		filtering_start(&sessions[i], rows[i].name);
		filtering_add(&filters, rows[i].type, rows[i].data, rows[i].bytes);
		filtering_enable(&sessions[i], &filters);
	}
	provider = filtering_register();
	write_for_stacks(provider);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		filtering_expect_filtered(&sessions[i], 0);
		filtering_end(&sessions[i]);
		filtering_expect_seen(&sessions[i], rows[i].seen);
	}
	EventUnregister(provider);
}

/* --- Several in one call: of kinds that are about the same event all must agree */

static void run_several(void)
{
	static const USHORT not_3[] = {FALSE, 1, 3}, stack_2[] = {TRUE, 1, 2};
	const struct names beta = NAMES(FALSE, 0, 0, "Beta", 1);
	const struct names no_stack = NAMES(FALSE, 0, 0, "Alpha", 1);
	const EVENT_FILTER_LEVEL_KW category = {.Level = 4, .FilterIn = TRUE};
	const ULONG pid = (ULONG)getpid();
	struct filtering_filters filters = {.property = EVENT_ENABLE_PROPERTY_STACK_TRACE};
	EVENT_FILTER_DESCRIPTOR descriptor;
	struct filtering_session session;
	REGHANDLE provider;

	if (TdhLoadManifestFromMemory(manifest, sizeof(manifest) - 1))
		fail("the manifest cannot be loaded");
	filtering_start(&session, "several");
	filtering_add(&filters, EVENT_FILTER_TYPE_EVENT_ID, not_3, sizeof(not_3));
	filtering_add(&filters, EVENT_FILTER_TYPE_EVENT_NAME, beta.bytes, beta.size);
	add_payload(&filters, &descriptor);
	filtering_add(&filters, EVENT_FILTER_TYPE_STACKWALK, stack_2, sizeof(stack_2));
	filtering_add(&filters, EVENT_FILTER_TYPE_STACKWALK_NAME, no_stack.bytes, no_stack.size);
	filtering_add(&filters, EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, &category, sizeof(category));
	filtering_add(&filters, EVENT_FILTER_TYPE_PID, &pid, sizeof(pid));
	filtering_add(&filters, EVENT_FILTER_TYPE_EXECUTABLE_NAME, u"recording_event_filters",
		      sizeof(u"recording_event_filters") - sizeof(WCHAR));
	filtering_enable(&session, &filters);
	(void)TdhCleanupPayloadEventFilterDescriptor(&descriptor);
	provider = filtering_register();
	filtering_write(provider, 1, 3);  /* by payload */
	filtering_write(provider, 1, 30); /* no stack: not id 2 */
	if (write_path(provider, u"temp", sizeof(u"temp"), 1))
		fail("EventWrite failed");
	filtering_write(provider, 3, 0); /* by id */
	filtering_write(provider, 4, 0);
	filtering_write_named(provider, "Alpha", 4, 0x1); /* no stack: by name */
	filtering_write_named(provider, "Beta", 4, 0x1);  /* by name */
	filtering_write_named(provider, "Gamma", 4, 0x1);
	filtering_write_named(provider, "Gamma", 5, 0x1); /* no stack: by level */
	filtering_expect_filtered(&session, 3);
	filtering_end(&session);
	filtering_expect_seen(&session, "12+4AG+G");
	EventUnregister(provider);
	(void)TdhUnloadManifestFromMemory(manifest, sizeof(manifest) - 1);
}

/* --- For the callback: the blocks of all sessions, each with its own bytes */

#define BLOCK_BYTES (sizeof(EVENT_FILTER_HEADER) + 5)

struct heard {
	uint32_t calls; /* atomic, last */
	unsigned blocks;
	char tails[4][8];
	ULONGLONG instances[4];
};

static void NTAPI hear_blocks(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			      PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct heard *heard = context;
	const uint8_t *at = filter ? (const uint8_t *)(uintptr_t)filter->Ptr : NULL;

	(void)source;
	(void)code;
	(void)level;
	(void)any;
	(void)all;
	heard->blocks = 0;
	while (at && heard->blocks < ARRAY_SIZE(heard->tails)) {
		EVENT_FILTER_HEADER header;

		memcpy(&header, at, sizeof(header));
		if (filter->Type != EVENT_FILTER_TYPE_SCHEMATIZED || header.Size != BLOCK_BYTES)
			fail("a block of type %x and %u bytes", (unsigned)filter->Type,
			     (unsigned)header.Size);
		memcpy(heard->tails[heard->blocks], at + sizeof(header), 5);
		heard->instances[heard->blocks++] = header.InstanceId;
		at = header.NextOffset ? at + header.NextOffset : NULL;
	}
	store_release(&heard->calls, heard->calls + 1);
}

static void enable_block(struct filtering_session *session, const char *tail)
{
	const EVENT_FILTER_HEADER header = {.Id = 7, .Version = 1, .Size = BLOCK_BYTES};
	struct filtering_filters filters = {.count = 0};
	uint8_t block[BLOCK_BYTES];

	memcpy(block, &header, sizeof(header));
	memcpy(block + sizeof(header), tail, 5);
	filtering_add(&filters, EVENT_FILTER_TYPE_SCHEMATIZED, block, sizeof(block));
	filtering_enable(session, &filters);
}

static void run_blocks(void)
{
	struct filtering_session one, two;
	struct heard heard = {.calls = 0};
	REGHANDLE provider;
	uint32_t calls;

	filtering_start(&one, "one");
	filtering_start(&two, "two");
	filtering_enable(&two, &(struct filtering_filters){.count = 0});
	if (EventRegister(&filtering_provider, hear_blocks, &heard, &provider) ||
	    !becomes_enabled(provider))
		fail("the provider is not enabled");
	enable_block(&one, "first");
	if (load_acquire(&heard.calls) == 0 || heard.blocks != 1 ||
	    memcmp(heard.tails[0], "first", 5) != 0)
		fail("the callback did not get the block of a session");
	enable_block(&two, "other");
	if (load_acquire(&heard.calls) < 2 || heard.blocks != 2 || !heard.instances[0] ||
	    !heard.instances[1] || heard.instances[0] & heard.instances[1])
		fail("the callback did not get the blocks of both sessions");
	/* One that has no filter any more has no block. */
	calls = load_acquire(&heard.calls);
	filtering_enable(&one, &(struct filtering_filters){.count = 0});
	if (load_acquire(&heard.calls) != calls + 1 || heard.blocks != 1 ||
	    memcmp(heard.tails[0], "other", 5) != 0)
		fail("the callback got %u blocks", heard.blocks);
	/* It is the provider's to decide: the events themselves are not filtered. */
	filtering_write(provider, 1, 0);
	filtering_expect_filtered(&two, 0);
	filtering_end(&one);
	filtering_end(&two);
	filtering_expect_seen(&one, "1");
	filtering_expect_seen(&two, "1");
	EventUnregister(provider);
}

/* --- Counts while filters change, and while other sessions come and go: what was written is in the file or filtered */

struct writer {
	REGHANDLE provider;
	uint32_t is_over; /* atomic */
	unsigned written; /* by the thread */
};

static void *write_on(void *context)
{
	struct writer *writer = context;

	while (!load_acquire(&writer->is_over) || writer->written % 2) {
		filtering_write(writer->provider, (USHORT)(1 + writer->written % 2), 0);
		writer->written++;
		if (writer->written % 64 == 0)
			(void)usleep(1000); /* a small file, and no lost event */
	}
	return NULL;
}

/* One with a filter that rejects all: its rings go while the writer looks at it. */
static void come_and_go(unsigned round)
{
	static const USHORT in_7[] = {TRUE, 1, 7};
	struct filtering_filters filters = {.count = 0};
	struct filtering_session other;

	filtering_start(&other, "comer");
	if (round % 2)
		filtering_add(&filters, EVENT_FILTER_TYPE_EVENT_ID, in_7, sizeof(in_7));
	filtering_enable(&other, &filters);
	recording_control(&other.recording, EVENT_TRACE_CONTROL_STOP);
}

static void run_changing(void)
{
	static const USHORT in_1[] = {TRUE, 1, 1}, in_2[] = {TRUE, 1, 2}, in_7[] = {TRUE, 1, 7};
	struct filtering_session changing, steady, all;
	struct filtering_filters filters = {.count = 0};
	struct writer writer = {.written = 0};
	unsigned filtered;
	pthread_t thread;

	filtering_start(&changing, "changing");
	filtering_start(&steady, "steady");
	filtering_start(&all, "all");
	filtering_enable(&all, &filters);
	filtering_add(&filters, EVENT_FILTER_TYPE_EVENT_ID, in_7, sizeof(in_7));
	filtering_enable(&steady, &filters);
	filtering_enable(&changing, &filters);
	writer.provider = filtering_register();
	if (pthread_create(&thread, NULL, write_on, &writer))
		fail("no thread");
	for (unsigned i = 0; i < CHANGES; i++) {
		filters.count = 0;
		filtering_add(&filters, EVENT_FILTER_TYPE_EVENT_ID, i % 2 ? in_1 : in_2,
			      sizeof(in_1));
		filtering_enable(&changing, &filters);
		if (i % (CHANGES / COMERS) == 0)
			come_and_go(i / (CHANGES / COMERS));
	}
	store_release(&writer.is_over, 1u);
	(void)pthread_join(thread, NULL);
	filtered = filtering_count(&changing);
	filtering_expect_filtered(&steady, writer.written);
	filtering_end(&changing);
	filtering_end(&steady);
	filtering_end(&all);
	if (all.ids[1] + all.ids[2] != writer.written)
		fail("%u and %u of %u events", all.ids[1], all.ids[2], writer.written);
	if (changing.ids[1] + changing.ids[2] + filtered != writer.written)
		fail("%u and %u in the file and %u filtered of %u events", changing.ids[1],
		     changing.ids[2], filtered, writer.written);
	EventUnregister(writer.provider);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} scenarios[] = {
		{"names", run_names},     {"payload", run_payload}, {"stacks", run_stacks},
		{"several", run_several}, {"blocks", run_blocks},   {"changing", run_changing},
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 3)
		return 2;
	(void)test_home();
	filtering_tool(argv[2]);
	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++) {
		if (strcmp(argv[1], scenarios[i].name) == 0) {
			scenarios[i].run();
			return 0;
		}
	}
	return 2;
}
