/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints live, by the friendly API. A first consumer comes and goes; one that comes later, and knows nothing of this
 * machine, decodes events all the same, as the session tells again what they are. A payload filter that TDH made of the machine's
 * format lets through what it says, and nothing else.
 *
 * Exit status: 0; 1 with a sentence; 77 with the reason why it cannot run.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <etw/etw.h>
#include <tdh.h>

#define PROVIDER "linux:sched"
#define WANTED   50
#define SKIPPED  77

static pid_t sleeper;

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, libetw_error());
	if (sleeper > 0)
		(void)kill(sleeper, SIGKILL);
	exit(1);
}

/* A process that is switched to again and again. */
static void start_sleeper(void)
{
	sleeper = fork();
	if (sleeper == 0) {
		while (getppid() != 1)
			usleep(1000);
		_exit(0);
	}
}

struct reading {
	struct libetw_reader *reader;
	int left;
	int64_t wanted; /* next_pid of every event; 0: any */
};

static int take(void *context, struct libetw_event *event)
{
	struct reading *reading = context;
	int64_t next;

	/* What came before the session could tell what events are is not decoded. */
	if (!libetw_event_schema(event))
		return 0;
	if (libetw_get_i64(event, "next_pid", &next))
		fail("an event has no next_pid");
	if (reading->wanted && next != reading->wanted)
		fail("an event came that the filter does not let through");
	if (--reading->left == 0)
		libetw_reader_stop(reading->reader);
	return 0;
}

/* Reads WANTED events that decode, with schemas that the trace alone brings. */
static void read_some(struct libetw_session *session, int64_t wanted)
{
	struct reading reading = {.left = WANTED, .wanted = wanted};
	struct libetw_schemas *schemas;

	if (libetw_schemas_create_with(LIBETW_SCHEMAS_NOT_INSTALLED | LIBETW_SCHEMAS_NOT_KNOWN,
				       &schemas) ||
	    libetw_reader_create(schemas, &reading.reader) ||
	    libetw_reader_add_session(reading.reader, libetw_session_name(session)) ||
	    libetw_reader_on(reading.reader, libetw_provider_named(schemas, PROVIDER), take,
			     &reading))
		fail("a reader");
	if (libetw_reader_run(reading.reader) != LIBETW_STOPPED)
		fail("reading");
	libetw_reader_free(reading.reader);
	libetw_schemas_free(schemas);
}

static int find_switch(void *context, const struct libetw_schema *schema)
{
	uint16_t *place = context;

	++*place;
	return !strcmp(libetw_schema_text(schema, LIBETW_SCHEMA_TASK_NAME), "sched_switch");
}

/* The id of sched_switch: its place among the events of the system. */
static uint16_t switch_id(void)
{
	struct libetw_schemas *schemas;
	uint16_t place = 0;
	GUID guid;

	if (libetw_schemas_create(&schemas) ||
	    libetw_schemas_find_provider(schemas, PROVIDER, &guid))
		fail("schemas");
	if (libetw_schemas_each_event(schemas, &guid, find_switch, &place) != 1)
		fail("sched_switch is not known");
	libetw_schemas_free(schemas);
	return place;
}

/* Only switches to the sleeper. */
static void filter_switches(struct libetw_session *session)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = switch_id()};
	struct libetw_enable_options options = {.event_ids = &descriptor.Id, .event_id_count = 1};
	EVENT_FILTER_DESCRIPTOR filter;
	WCHAR value[16] = {0};
	char text[16];
	PAYLOAD_FILTER_PREDICATE predicate = {(LPWSTR)(uintptr_t)u"next_pid", PAYLOADFIELD_EQ,
					      value};
	PVOID part = NULL;
	GUID guid;

	(void)snprintf(text, sizeof(text), "%d", (int)sleeper);
	for (size_t i = 0; text[i]; i++)
		value[i] = (WCHAR)text[i];
	if (libetw_schemas_find_provider(NULL, PROVIDER, &guid) ||
	    TdhCreatePayloadFilter(&guid, &descriptor, FALSE, 1, &predicate, &part) ||
	    TdhAggregatePayloadFilters(1, &part, NULL, &filter))
		fail("a payload filter");
	options.filter_type = filter.Type;
	options.filter = (const void *)(uintptr_t)filter.Ptr;
	options.filter_bytes = filter.Size;
	if (libetw_session_enable(session, &guid, &options))
		fail("enabling with a filter");
	(void)TdhDeletePayloadFilter(&part);
	(void)TdhCleanupPayloadEventFilterDescriptor(&filter);
}

int main(void)
{
	struct libetw_session_options options = {.is_real_time = 1, .flush_ms = 100};
	struct libetw_session *session;
	char name[40];
	int result;

	if (geteuid() != 0) {
		printf("SKIP: tracepoints are recorded by root\n");
		return SKIPPED;
	}
	if (access("/sys/kernel/tracing/events/sched/sched_switch", F_OK)) {
		printf("SKIP: tracefs is not mounted\n");
		return SKIPPED;
	}
	(void)snprintf(name, sizeof(name), "read_live %d", (int)getpid());
	options.name = name;
	if (libetw_session_start(&options, &session))
		fail("a session");
	start_sleeper();
	result = libetw_session_enable_named(session, NULL, PROVIDER ":sched_swi*", NULL);
	if (result)
		fail("enabling by name");
	read_some(session, 0);
	read_some(session, 0);
	(void)libetw_session_stop(session, NULL);
	libetw_session_close(session);
	if (libetw_session_start(&options, &session))
		fail("another session");
	filter_switches(session);
	read_some(session, sleeper);
	(void)libetw_session_stop(session, NULL);
	libetw_session_close(session);
	(void)kill(sleeper, SIGKILL);
	(void)waitpid(sleeper, NULL, 0);
	printf("live: %d events each\n", WANTED);
	return 0;
}
