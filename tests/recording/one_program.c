/* SPDX-License-Identifier: MIT */
/*
 * One program that is controller, provider and consumer of a real-time session at once, stopped in every
 * order: the session, the consumer, the registration and the writer, 24 orders. A step that hangs ends the
 * program by alarm. In each order every event written before the first step arrives, or counts as lost.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <errhandlingapi.h>
#include <evntprov.h>
#include <winerror.h>

#include "base/atomic.h"
#include "recording/support.h"

#define STEPS         4
#define ORDERS        24
#define EVENTS        2000
#define ORDER_SECONDS 1500

static const GUID provider_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x03}};

struct program {
	struct recording recording;
	REGHANDLE provider;
	TRACEHANDLE trace;
	pthread_t consumer, writer;
	uint32_t received;  /* atomic */
	uint32_t is_enough; /* atomic: the writer stops */
	ULONG consumer_error;
	uint32_t callbacks; /* atomic: that the provider is enabled */
	uint32_t captures;  /* atomic: that it is to tell its state */
};

static void NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct program *program = context;

	(void)source;
	(void)level;
	(void)any;
	(void)all;
	(void)filter;
	(void)add_acq_rel(code == EVENT_CONTROL_CODE_CAPTURE_STATE ? &program->captures
								   : &program->callbacks,
			  1);
}

static void WINAPI on_event(PEVENT_RECORD record)
{
	struct program *program = record->UserContext;

	if (IsEqualGUID(&record->EventHeader.ProviderId, &provider_guid))
		(void)add_acq_rel(&program->received, 1);
}

static void *consume(void *argument)
{
	struct program *program = argument;

	program->consumer_error = ProcessTrace(&program->trace, 1, NULL, NULL);
	return NULL;
}

static void write_one(struct program *program)
{
	EVENT_DESCRIPTOR descriptor = {.Id = 7, .Level = 4};
	EVENT_DATA_DESCRIPTOR data;
	uint32_t value = 42;

	EventDataDescCreate(&data, &value, sizeof(value));
	(void)EventWrite(program->provider, &descriptor, 1, &data);
}

static void *write_on(void *argument)
{
	struct program *program = argument;

	while (!load_acquire(&program->is_enough))
		write_one(program);
	return NULL;
}

static void await_callback(struct program *program)
{
	double end = seconds() + ORDER_SECONDS / 2.0;

	while (!load_acquire(&program->callbacks)) {
		if (seconds() > end)
			fail("the callback does not run");
		usleep(1000);
	}
}

/* A writer that a loaded machine keeps from its processor in the midst of an event loses it. */
static void await_events(struct program *program)
{
	const EVENT_TRACE_PROPERTIES *properties = &program->recording.block.properties;
	double end = seconds() + ORDER_SECONDS / 2.0;

	recording_control(&program->recording, EVENT_TRACE_CONTROL_FLUSH);
	while (load_acquire(&program->received) + properties->EventsLost < EVENTS) {
		if (seconds() > end)
			fail("%u of %d events arrived after a flush, %u were lost",
			     load_acquire(&program->received), EVENTS,
			     (unsigned)properties->EventsLost);
		usleep(1000);
		recording_control(&program->recording, EVENT_TRACE_CONTROL_QUERY);
	}
}

static void capture_state(struct recording *recording)
{
	ULONG error = EnableTraceEx2(recording->handle, &provider_guid,
				     EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0,
				     ORDER_SECONDS * 1000, NULL);

	if (error)
		fail("EnableTraceEx2: error %u", (unsigned)error);
}

static void start(struct program *program)
{
	struct recording_options session = {.name = "one program",
					    .mode = EVENT_TRACE_REAL_TIME_MODE,
					    .buffer_kib = 64,
					    .buffers = 64};
	EVENT_TRACE_LOGFILEA logfile = {
		.LoggerName = (char *)(uintptr_t) "one program",
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME,
		.EventRecordCallback = on_event,
		.Context = program,
	};

	if (EventRegister(&provider_guid, on_enable, program, &program->provider))
		fail("EventRegister failed");
	recording_start(&program->recording, &session);
	recording_enable(&program->recording, &provider_guid);
	await_callback(program);
	/* The host knows the registration by now, so it waits for its callback. */
	capture_state(&program->recording);
	if (!EventProviderEnabled(program->provider, 0, 0) || load_acquire(&program->captures) != 1)
		fail("EnableTraceEx2 returned before the callback had run");
	program->trace = OpenTraceA(&logfile);
	if (program->trace == INVALID_PROCESSTRACE_HANDLE)
		fail("OpenTrace: error %u", (unsigned)GetLastError());
	pthread_create(&program->consumer, NULL, consume, program);
	for (int i = 0; i < EVENTS; i++)
		write_one(program);
	await_events(program);
	pthread_create(&program->writer, NULL, write_on, program);
}

static void stop(struct program *program, int step)
{
	ULONG error;

	switch (step) {
	case 0:
		recording_control(&program->recording, EVENT_TRACE_CONTROL_STOP);
		break;
	case 1:
		error = CloseTrace(program->trace);
		if (error && error != ERROR_CTX_CLOSE_PENDING)
			fail("CloseTrace: error %u", (unsigned)error);
		break;
	case 2:
		error = EventUnregister(program->provider);
		if (error)
			fail("EventUnregister: error %u", (unsigned)error);
		break;
	default:
		store_release(&program->is_enough, 1u);
		pthread_join(program->writer, NULL);
		break;
	}
}

/* The order of the given number, of all orders of the steps. */
static void order_of(int number, int *steps)
{
	int left[STEPS] = {0, 1, 2, 3};

	for (int i = 0; i < STEPS; i++) {
		int choice = number % (STEPS - i);

		number /= STEPS - i;
		steps[i] = left[choice];
		memmove(&left[choice], &left[choice + 1],
			sizeof(left[0]) * (size_t)(STEPS - i - choice - 1));
	}
}

int main(void)
{
	static const char *const names[STEPS] = {"session", "consumer", "registration", "writer"};

	setvbuf(stdout, NULL, _IOLBF, 0);
	(void)test_home();
	for (int number = 0; number < ORDERS; number++) {
		static struct program program;
		int steps[STEPS];

		memset(&program, 0, sizeof(program));
		alarm(ORDER_SECONDS);
		order_of(number, steps);
		start(&program);
		for (int i = 0; i < STEPS; i++)
			stop(&program, steps[i]);
		pthread_join(program.consumer, NULL);
		if (program.consumer_error && program.consumer_error != ERROR_CANCELLED)
			fail("ProcessTrace: error %u", (unsigned)program.consumer_error);
		printf("%s, %s, %s, %s: stopped\n", names[steps[0]], names[steps[1]],
		       names[steps[2]], names[steps[3]]);
	}
	printf("%d orders of stopping\n", ORDERS);
	return 0;
}
