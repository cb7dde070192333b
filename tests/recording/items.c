/* SPDX-License-Identifier: MIT */
/*
 * items SCENARIO - extended items of events: what sessions ask for by EnableProperty, each of eight its own, together with
 * what the writer gives (related activity, traits, schema); read from files and in real time.
 *
 *   own        this process
 *   others     a process of another user, which sessions see as that, and a forked child that registers nothing
 *   functions  every function that writes an event
 *   stacks     from code that was compiled with and without frame pointers and tables
 *   changing   properties that change while a thread writes
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <TraceLoggingProvider.h>
#include <winerror.h>

#include "base/atomic.h"
#include "base/process_facts.h"
#include "recording/children.h"
#include "recording/enabled.h"
#include "recording/numbered.h"
#include "recording/stack_caller.h"
#include "recording/support.h"

#define SESSIONS 8
#define TYPES    32
#define NOBODY   65534
#define EVENTS   3
#define CHANGES  200
#define CHAIN_AT \
	4 /* in a stack, behind its number, write_event(), write_at_end() and what calls that */
#define GIVEN_TYPES (1u << 0x01 | 1u << 0x0B | 1u << 0x0C) /* by the writer */
#define PROCESS_PROPERTIES                                         \
	(EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_TS_ID | \
	 EVENT_ENABLE_PROPERTY_PROCESS_START_KEY)
#define ALL_PROPERTIES                                                                            \
	(PROCESS_PROPERTIES | EVENT_ENABLE_PROPERTY_PSM_KEY | EVENT_ENABLE_PROPERTY_STACK_TRACE | \
	 EVENT_ENABLE_PROPERTY_EVENT_KEY | EVENT_ENABLE_PROPERTY_ENABLE_SILOS |                   \
	 EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0 | EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE |       \
	 EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING)

static const GUID provider_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x41}};
static const GUID related = {9, 8, 7, {6, 5, 4, 3, 2, 1, 0, 1}};
static const uint8_t traits[] = {24, 0, 'P', 'r', 0, 19, 0,  1,  1,  2,  3,  4,
				 5,  6, 7,   8,   9, 10, 11, 12, 13, 14, 15, 16};
static const uint8_t schema[] = {5, 0, 0, 'E', 0};

/* What the sessions ask for, and the types of items that events then have beside the writer's. */
static const struct {
	ULONG property;
	uint32_t types;
} kinds[SESSIONS] = {
	{EVENT_ENABLE_PROPERTY_SID, 1u << EVENT_HEADER_EXT_TYPE_SID},
	{EVENT_ENABLE_PROPERTY_TS_ID, 1u << EVENT_HEADER_EXT_TYPE_TS_ID},
	{EVENT_ENABLE_PROPERTY_PROCESS_START_KEY, 1u << EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY},
	{EVENT_ENABLE_PROPERTY_EVENT_KEY, 1u << EVENT_HEADER_EXT_TYPE_EVENT_KEY},
	{EVENT_ENABLE_PROPERTY_PSM_KEY | EVENT_ENABLE_PROPERTY_ENABLE_SILOS |
		 EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING,
	 0}, /* as far as tests run in no container */
	{EVENT_ENABLE_PROPERTY_STACK_TRACE, 1u << EVENT_HEADER_EXT_TYPE_STACK_TRACE64},
	{0, 0},
	{ALL_PROPERTIES, 1u << EVENT_HEADER_EXT_TYPE_SID | 1u << EVENT_HEADER_EXT_TYPE_TS_ID |
				 1u << EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY |
				 1u << EVENT_HEADER_EXT_TYPE_EVENT_KEY |
				 1u << EVENT_HEADER_EXT_TYPE_STACK_TRACE64},
};

static struct recording recordings[SESSIONS];
static char files[SESSIONS][256];
static GUID container; /* that the tests run in; null: none */

/* The types of items that a session's events have. */
static uint32_t types_of(unsigned session)
{
	static const GUID none;
	const bool has_container = kinds[session].property &
					   EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING &&
				   !IsEqualGUID(&container, &none);

	return kinds[session].types |
	       (has_container ? 1u << EVENT_HEADER_EXT_TYPE_CONTAINER_ID : 0);
}

/* What is to be found in a session's events. */
struct found {
	unsigned session;
	uint32_t types; /* that every event is to have */
	pid_t pid;
	uid_t uid;
	const struct etw_process_facts *facts;
	unsigned events;
	uint64_t keys[EVENTS];
	const struct stack_chain *chains; /* of each event; NULL: unknown */
};

static ULONG enable(unsigned session, const GUID *provider, ULONG property)
{
	ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
					      .EnableProperty = property};

	return EnableTraceEx2(recordings[session].handle, provider,
			      EVENT_CONTROL_CODE_ENABLE_PROVIDER, TRACE_LEVEL_VERBOSE, 0, 0, 60000,
			      &parameters);
}

static void start_sessions(ULONG mode)
{
	for (unsigned i = 0; i < SESSIONS; i++) {
		char name[32];
		ULONG error;

		(void)snprintf(name, sizeof(name), "items %u", i);
		(void)snprintf(files[i], sizeof(files[i]), "%s/items-%u.etl", test_home(), i);
		recording_start(&recordings[i], &(struct recording_options){.name = name,
									    .file = files[i],
									    .mode = mode,
									    .buffer_kib = 64,
									    .buffers = 4});
		error = enable(i, &provider_guid, kinds[i].property);
		if (error)
			fail("property %x cannot be enabled: %u", kinds[i].property, error);
	}
}

/* A payload of 8 bytes, and all that a writer can give beside it. */
static __attribute__((noinline)) ULONG write_event(REGHANDLE handle, uint64_t number)
{
	static const EVENT_DESCRIPTOR descriptor = {.Id = 7, .Level = 4};
	EVENT_DATA_DESCRIPTOR data[2];

	EventDataDescCreate(&data[0], schema, sizeof(schema));
	data[0].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	EventDataDescCreate(&data[1], &number, sizeof(number));
	return EventWriteTransfer(handle, &descriptor, NULL, &related, 2, data);
}

static void write_events(REGHANDLE handle)
{
	for (uint64_t i = 0; i < EVENTS; i++) {
		ULONG error = write_event(handle, i);

		if (error)
			fail("EventWriteTransfer: %u", error);
	}
}

static REGHANDLE register_with_traits(void)
{
	REGHANDLE handle = recording_register(&provider_guid, NULL, NULL);

	if (EventSetInformation(handle, EventProviderSetTraits, (void *)(uintptr_t)traits,
				sizeof(traits)) != ERROR_SUCCESS)
		fail("the traits are refused");
	return handle;
}

static void check_bytes(const struct found *found, const EVENT_HEADER_EXTENDED_DATA_ITEM *item,
			const void *expected, size_t bytes)
{
	if (item->DataSize != bytes ||
	    memcmp((const void *)(uintptr_t)item->DataPtr, expected, bytes) != 0)
		fail("session %u: item %u of %u bytes is another than expected", found->session,
		     item->ExtType, item->DataSize);
}

/* A number that joins no halves, then the addresses. */
static void check_stack(const struct found *found, const EVENT_HEADER_EXTENDED_DATA_ITEM *item)
{
	const uint64_t *words = (const uint64_t *)(uintptr_t)item->DataPtr;
	const unsigned count = item->DataSize / 8;

	if (item->DataSize % 8 != 0 || count < 3 || count > 1 + 192 || words[0] != 0)
		fail("session %u: a stack of %u bytes", found->session, item->DataSize);
	if (!found->chains)
		return;
	if (count < CHAIN_AT + STACK_CHAIN_DEPTH)
		fail("session %u: %u frames of event %u", found->session, count - 1, found->events);
	for (unsigned i = 0; i < STACK_CHAIN_DEPTH; i++) {
		if (words[CHAIN_AT + i] != found->chains[found->events].returns[i])
			fail("session %u: frame %u of event %u is another", found->session, i,
			     found->events);
	}
}

static void check_item(struct found *found, const EVENT_HEADER_EXTENDED_DATA_ITEM *item)
{
	const uint8_t sid[16] = {1, 2, 0, 0, 0, 0, 0, 22, 1};

	switch (item->ExtType) {
	case EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID:
		check_bytes(found, item, &related, sizeof(related));
		break;
	case EVENT_HEADER_EXT_TYPE_SID: {
		uint8_t expected[sizeof(sid)];

		memcpy(expected, sid, sizeof(sid));
		memcpy(expected + 12, &found->uid, 4);
		check_bytes(found, item, expected, sizeof(expected));
		break;
	}
	case EVENT_HEADER_EXT_TYPE_TS_ID:
		check_bytes(found, item, &found->facts->session_id, 4);
		break;
	case EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY:
		check_bytes(found, item, &found->facts->start_key, 8);
		break;
	case EVENT_HEADER_EXT_TYPE_CONTAINER_ID:
		check_bytes(found, item, &found->facts->container, sizeof(GUID));
		break;
	case EVENT_HEADER_EXT_TYPE_EVENT_KEY:
		if (item->DataSize != 8)
			fail("an event key of %u bytes", item->DataSize);
		memcpy(&found->keys[found->events], (const void *)(uintptr_t)item->DataPtr, 8);
		break;
	case EVENT_HEADER_EXT_TYPE_STACK_TRACE64:
		check_stack(found, item);
		break;
	case EVENT_HEADER_EXT_TYPE_PROV_TRAITS:
		check_bytes(found, item, traits, sizeof(traits));
		break;
	case EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL:
		check_bytes(found, item, schema, sizeof(schema));
		break;
	default:
		fail("session %u: an item of type %u", found->session, item->ExtType);
	}
}

/* Each item once, and the payload behind them. */
static void check_record(struct found *found, const EVENT_RECORD *record)
{
	uint32_t seen = 0;
	uint64_t number;

	if (found->events == EVENTS)
		fail("session %u: too many events", found->session);
	for (USHORT i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];

		if (item->ExtType >= TYPES || seen & 1u << item->ExtType)
			fail("session %u: item %u is there twice", found->session, item->ExtType);
		seen |= 1u << item->ExtType;
		check_item(found, item);
	}
	if (seen != found->types)
		fail("session %u: items %x, not %x", found->session, seen, found->types);
	if (record->UserDataLength != sizeof(number))
		fail("session %u: a payload of %u bytes", found->session, record->UserDataLength);
	memcpy(&number, record->UserData, sizeof(number));
	if (number != found->events)
		fail("session %u: event %" PRIu64 " is the %uth", found->session, number,
		     found->events);
	found->events++;
}

static void WINAPI on_event(PEVENT_RECORD record)
{
	struct found *found = record->UserContext;

	if (!IsEqualGUID(&record->EventHeader.ProviderId, &provider_guid) ||
	    record->EventHeader.ProcessId != (ULONG)found->pid)
		return;
	check_record(found, record);
}

/* The events of one process in all files; the same key in each. */
static void check_files(struct found expected, uint32_t given)
{
	uint64_t keys[EVENTS] = {0};

	for (unsigned i = 0; i < SESSIONS; i++) {
		struct found found = expected;

		found.session = i;
		found.types = types_of(i) | given;
		if (recording_read(files[i], on_event, &found) != 0)
			fail("session %u lost events", i);
		if (found.events != EVENTS)
			fail("session %u: %u events", i, found.events);
		if (!(found.types & 1u << EVENT_HEADER_EXT_TYPE_EVENT_KEY))
			continue;
		for (unsigned k = 1; k < EVENTS; k++) {
			if (found.keys[k] == found.keys[k - 1])
				fail("two events have one key");
		}
		if (keys[0] && memcmp(keys, found.keys, sizeof(keys)) != 0)
			fail("an event has another key in another session");
		memcpy(keys, found.keys, sizeof(keys));
	}
}

static void stop_sessions(void)
{
	for (unsigned i = 0; i < SESSIONS; i++)
		recording_control(&recordings[i], EVENT_TRACE_CONTROL_STOP);
}

static struct found facts_of(pid_t pid, uid_t uid, struct etw_process_facts *facts)
{
	if (etw_process_facts_read((uint32_t)pid, facts) < 0)
		fail("procfs says nothing of process %d", (int)pid);
	container = facts->container;
	return (struct found){.pid = pid, .uid = uid, .facts = facts};
}

struct consumer {
	struct found found;
	TRACEHANDLE trace;
	ULONG error;
};

static void *consume(void *argument)
{
	struct consumer *consumer = argument;

	consumer->error = ProcessTrace(&consumer->trace, 1, NULL, NULL);
	return NULL;
}

/* Eight sessions at once, of which the last has a consumer too. */
static void scenario_own(void)
{
	struct etw_process_facts facts;
	struct consumer consumer = {.found = facts_of(getpid(), getuid(), &facts)};
	struct found expected = consumer.found;
	pthread_t thread;
	REGHANDLE handle;

	start_sessions(EVENT_TRACE_REAL_TIME_MODE);
	consumer.found.session = SESSIONS - 1;
	consumer.found.types = types_of(SESSIONS - 1) | GIVEN_TYPES;
	consumer.trace = live_open("items 7", on_event, &consumer.found);
	if (pthread_create(&thread, NULL, consume, &consumer) != 0)
		fail("no thread");
	handle = register_with_traits();
	write_events(handle);
	(void)EventUnregister(handle);
	stop_sessions();
	pthread_join(thread, NULL);
	if (consumer.found.events != EVENTS)
		fail("the consumer has seen %u events", consumer.found.events);
	(void)CloseTrace(consumer.trace);
	check_files(expected, GIVEN_TYPES);
}

struct shared {
	uint32_t written, is_enough; /* atomics */
};

/* A child that writes and stays until its events have been taken. */
static pid_t start_writer(struct shared *shared, uid_t uid, REGHANDLE inherited)
{
	pid_t child = fork();

	if (child < 0)
		fail("no process");
	if (child > 0)
		return child;
	if (uid != getuid() && (setgid(NOBODY) != 0 || setuid(uid) != 0))
		_exit(4);
	write_events(inherited ? inherited : register_with_traits());
	store_release(&shared->written, 1u);
	while (!load_acquire(&shared->is_enough))
		usleep(1000);
	_exit(0);
}

static void flush_sessions(void)
{
	for (unsigned i = 0; i < SESSIONS; i++)
		recording_control(&recordings[i], EVENT_TRACE_CONTROL_FLUSH);
}

static void run_writer(uid_t uid, REGHANDLE inherited, struct etw_process_facts *facts,
		       struct found *ret)
{
	struct shared *shared = share_with_forks(sizeof(*shared));
	pid_t child = start_writer(shared, uid, inherited);

	await_flag(&shared->written, 1, "a writer has not written");
	*ret = facts_of(child, uid, facts);
	flush_sessions();
	store_release(&shared->is_enough, 1u);
	await_end(child, "a writer");
}

static void scenario_others(void)
{
	const bool is_root = getuid() == 0;
	struct etw_process_facts facts[2];
	struct found found[2];
	REGHANDLE handle;

	start_sessions(0);
	if (is_root)
		run_writer(NOBODY, 0, &facts[0], &found[0]);
	handle = register_with_traits();
	run_writer(getuid(), handle, &facts[1], &found[1]);
	(void)EventUnregister(handle);
	stop_sessions();
	if (is_root)
		check_files(found[0], GIVEN_TYPES);
	else
		printf("not root: no other user's process\n");
	check_files(found[1], GIVEN_TYPES);
}

static void write_at_end(struct stack_chain *chain)
{
	const REGHANDLE *handle = chain->context;
	static uint64_t number;

	if (write_event(*handle, number++) != ERROR_SUCCESS)
		fail("an event with a stack cannot be written");
}

static void scenario_stacks(void)
{
	static void (*const callers[EVENTS])(struct stack_chain *) = {
		call_by_tables, call_by_tables_and_frames, call_by_frames};
	struct stack_chain chains[EVENTS];
	struct etw_process_facts facts;
	struct found expected = facts_of(getpid(), getuid(), &facts);
	REGHANDLE handle;

	start_sessions(0);
	handle = register_with_traits();
	for (unsigned i = 0; i < EVENTS; i++) {
		chains[i] = (struct stack_chain){.call = write_at_end, .context = &handle};
		callers[i](&chains[i]);
	}
	(void)EventUnregister(handle);
	stop_sessions();
	expected.chains = chains;
	check_files(expected, GIVEN_TYPES);
}

TRACELOGGING_DEFINE_PROVIDER(logging, "Items",
			     (0x5e1c9b1a, 0x3d53, 0x4c7e, 0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88,
			      0x42));

static const GUID logging_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x42}};

#define FUNCTIONS 5

/* Each once; the innermost frame is always this function's. */
static __attribute__((noinline)) void call_all(REGHANDLE handle)
{
	static const WCHAR text[] = {'t', 'e', 'x', 't', 0};
	static const EVENT_DESCRIPTOR descriptor = {.Id = 7, .Level = 4};

	if (EventWrite(handle, &descriptor, 0, NULL) != ERROR_SUCCESS ||
	    EventWriteString(handle, 4, 0, text) != ERROR_SUCCESS ||
	    EventWriteTransfer(handle, &descriptor, NULL, &related, 0, NULL) != ERROR_SUCCESS ||
	    EventWriteEx(handle, &descriptor, 0, 0, NULL, &related, 0, NULL) != ERROR_SUCCESS)
		fail("an event cannot be written");
	TraceLoggingWrite(logging, "Event", TraceLoggingUInt32(7, "Number"));
}

static void WINAPI on_function(PEVENT_RECORD record)
{
	const uint32_t asked = types_of(SESSIONS - 1);
	unsigned *count = record->UserContext;
	uintptr_t frame = 0;
	uint32_t seen = 0;

	if (!IsEqualGUID(&record->EventHeader.ProviderId, &provider_guid) &&
	    !IsEqualGUID(&record->EventHeader.ProviderId, &logging_guid))
		return;
	for (USHORT i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];

		seen |= 1u << item->ExtType;
		if (item->ExtType == EVENT_HEADER_EXT_TYPE_STACK_TRACE64 && item->DataSize > 16)
			memcpy(&frame, (const uint8_t *)(uintptr_t)item->DataPtr + 8,
			       sizeof(frame));
	}
	if ((seen & asked) != asked)
		fail("event %u has the items %x", *count, seen);
	if (frame - (uintptr_t)call_all > 4096)
		fail("the stack of event %u begins elsewhere: %lx, %p", *count,
		     (unsigned long)frame, (void *)(uintptr_t)call_all);
	(*count)++;
}

static void scenario_functions(void)
{
	struct etw_process_facts facts;
	unsigned count = 0;
	struct wait wait;
	REGHANDLE handle;

	(void)facts_of(getpid(), getuid(), &facts);
	(void)snprintf(files[0], sizeof(files[0]), "%s/functions.etl", test_home());
	recording_start(&recordings[0], &(struct recording_options){.name = "items functions",
								    .file = files[0],
								    .buffer_kib = 64,
								    .buffers = 4});
	if (enable(0, &provider_guid, ALL_PROPERTIES) || enable(0, &logging_guid, ALL_PROPERTIES))
		fail("the providers cannot be enabled");
	handle = recording_register(&provider_guid, NULL, NULL);
	if (TraceLoggingRegister(logging) != ERROR_SUCCESS)
		fail("the TraceLogging provider cannot be registered");
	wait = wait_for("the TraceLogging provider is not enabled");
	while (!TraceLoggingProviderEnabled(logging, 0, 0))
		wait_on(&wait);
	call_all(handle);
	(void)EventUnregister(handle);
	TraceLoggingUnregister(logging);
	recording_control(&recordings[0], EVENT_TRACE_CONTROL_STOP);
	if (recording_read(files[0], on_function, &count) != 0 || count != FUNCTIONS)
		fail("%u events", count);
}

struct changing {
	REGHANDLE handle;
	uint32_t is_enough;
	uint64_t written;
};

static void *write_on(void *argument)
{
	struct changing *changing = argument;

	while (!load_acquire(&changing->is_enough)) {
		if (write_event(changing->handle, 0) == ERROR_SUCCESS)
			add_relaxed(&changing->written, UINT64_C(1));
	}
	return NULL;
}

/* Of an event, whether it has any combination of items that was asked for at some time. */
static void WINAPI on_changing(PEVENT_RECORD record)
{
	uint64_t *count = record->UserContext;
	uint32_t seen = 0;

	if (!IsEqualGUID(&record->EventHeader.ProviderId, &provider_guid))
		return;
	for (USHORT i = 0; i < record->ExtendedDataCount; i++)
		seen |= 1u << record->ExtendedData[i].ExtType;
	seen &= ~GIVEN_TYPES & ~(1u << EVENT_HEADER_EXT_TYPE_CONTAINER_ID);
	if (seen != kinds[6].types && seen != kinds[7].types)
		fail("an event has the items %x, which nobody asked for", seen);
	if (record->UserDataLength != 8)
		fail("a payload of %u bytes", record->UserDataLength);
	(*count)++;
}

static void scenario_changing(void)
{
	struct changing changing = {0};
	uint64_t count = 0;
	pthread_t thread;
	ULONG lost;

	(void)snprintf(files[0], sizeof(files[0]), "%s/changing.etl", test_home());
	recording_start(&recordings[0], &(struct recording_options){.name = "items changing",
								    .file = files[0],
								    .buffer_kib = 64,
								    .buffers = 64});
	if (enable(0, &provider_guid, 0) != ERROR_SUCCESS)
		fail("the provider cannot be enabled");
	changing.handle = register_with_traits();
	if (pthread_create(&thread, NULL, write_on, &changing) != 0)
		fail("no thread");
	for (unsigned i = 0; i < CHANGES; i++) {
		if (enable(0, &provider_guid, i % 2 ? 0 : ALL_PROPERTIES) != ERROR_SUCCESS)
			fail("the properties cannot be changed");
	}
	store_release(&changing.is_enough, 1u);
	pthread_join(thread, NULL);
	recording_control(&recordings[0], EVENT_TRACE_CONTROL_STOP);
	lost = recording_read(files[0], on_changing, &count);
	if (lost == 0 && count != changing.written)
		fail("%" PRIu64 " of %" PRIu64 " events", count, changing.written);
	printf("%" PRIu64 " events\n", count);
}

int main(int argc, char **argv)
{
	const char *scenario = argc > 1 ? argv[1] : "";

	if (!strcmp(scenario, "own"))
		scenario_own();
	else if (!strcmp(scenario, "others"))
		scenario_others();
	else if (!strcmp(scenario, "functions"))
		scenario_functions();
	else if (!strcmp(scenario, "stacks"))
		scenario_stacks();
	else if (!strcmp(scenario, "changing"))
		scenario_changing();
	else
		fail("own, others, functions, stacks or changing");
	return 0;
}
