/* SPDX-License-Identifier: MIT */
/*
 * Requests that change how a session goes on and nothing in its account, and a second session beside it. What is asked
 * for, and in what order, follows from the seed that the parent gave.
 */
#include "recording/storm_control.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <winerror.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "recording/storm_kind.h"

#define CONTROL_US   20000
#define SESSION_ROOM 1024

/* Of the second session. The storm's own provider has one session: where one of two refuses an event, the other goes without. */
static const GUID other_provider = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x10}};

static struct {
	EVENT_TRACE_PROPERTIES properties;
	char name[SESSION_ROOM];
	char file[SESSION_ROOM];
} block;

static const struct storm_kind *kind;
static struct storm_shared *shared;
static unsigned chance;

static uint32_t below(uint32_t limit)
{
	return (uint32_t)rand_r(&chance) % limit;
}

static EVENT_TRACE_PROPERTIES *prepare(void)
{
	memset(&block, 0, sizeof(block));
	block.properties.Wnode.BufferSize = sizeof(block);
	block.properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	block.properties.LoggerNameOffset = offsetof(__typeof__(block), name);
	return &block.properties;
}

/* A session beside the first: what is done to it changes nothing that the storm counts. */
static void use_other_session(void)
{
	TRACEHANDLE handle = 0;

	prepare()->Wnode.ClientContext = 1;
	block.properties.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
	if (StartTraceA(&handle, STORM_OTHER, &block.properties))
		handle = 0;
	if (handle)
		(void)EnableTraceEx2(handle, &other_provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
				     TRACE_LEVEL_VERBOSE, 0, 0, 100, NULL);
	usleep(CONTROL_US);
	(void)ControlTraceA(0, STORM_OTHER, prepare(), EVENT_TRACE_CONTROL_STOP);
}

void storm_control_file(const struct storm_shared *of, uint32_t number, char *ret, size_t room)
{
	(void)snprintf(ret, room, "%s/storm-%u.etl", of->folder, number);
}

/* A name that no file has had. */
static void name_file(void)
{
	block.properties.LogFileNameOffset = offsetof(__typeof__(block), file);
	storm_control_file(shared, add_acq_rel(&shared->files, 1u) + 1, block.file,
			   sizeof(block.file));
}

/* What a host that is about to die or has just come may answer, and a request that has taken effect already. */
static bool is_passing(ULONG error)
{
	static const ULONG errors[] = {ERROR_SUCCESS,        ERROR_TIMEOUT,
				       ERROR_BUSY,           ERROR_WMI_INSTANCE_NOT_FOUND,
				       ERROR_ALREADY_EXISTS, ERROR_NO_SYSTEM_RESOURCES,
				       ERROR_BROKEN_PIPE};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		if (errors[i] == error)
			return true;
	}
	return false;
}

static void ask(ULONG code, uint32_t request)
{
	const ULONG error = ControlTraceA(0, STORM_SESSION, &block.properties, code);

	if (is_passing(error))
		return;
	store_relaxed(&shared->fault_request, request);
	store_release(&shared->fault_error, (uint32_t)error);
}

/* Real-time mode is as it was, but where the kind lets it come and go. */
static void update(uint32_t request)
{
	const bool is_loose = kind->requests & STORM_ASK_REAL_TIME;

	prepare()->LogFileMode = kind->mode & EVENT_TRACE_REAL_TIME_MODE;
	if (is_loose && below(2))
		block.properties.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
	if (request == STORM_ASK_BUFFERS)
		block.properties.MaximumBuffers = 64 + below(64);
	if (request == STORM_ASK_TIMER)
		block.properties.FlushTimer = 10 + below(100);
	if (request == STORM_ASK_FILE)
		name_file();
	ask(EVENT_TRACE_CONTROL_UPDATE, request);
}

static void ask_for(uint32_t request)
{
	switch (request) {
	case STORM_ASK_NEXT:
		(void)prepare();
		ask(EVENT_TRACE_CONTROL_INCREMENT_FILE, request);
		return;
	case STORM_ASK_CONVERT:
		(void)prepare();
		ask(EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME, request);
		return;
	case STORM_ASK_FLUSH_TO:
		(void)prepare();
		name_file();
		ask(EVENT_TRACE_CONTROL_FLUSH, request);
		return;
	default:
		update(request);
		return;
	}
}

/* Other buffers make other rings, of which a user gets so many in a time; a conversion happens once. */
static const struct {
	uint32_t request, weight;
} choices[] = {
	{STORM_ASK_BUFFERS, 1},   {STORM_ASK_TIMER, 4}, {STORM_ASK_FILE, 10},
	{STORM_ASK_REAL_TIME, 8}, {STORM_ASK_NEXT, 10}, {STORM_ASK_CONVERT, 2},
	{STORM_ASK_FLUSH_TO, 10},
};

#define WEIGHTS 45

/* Returns whether the kind has such a request. */
static bool try_request(uint32_t at)
{
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		if (at >= choices[i].weight) {
			at -= choices[i].weight;
			continue;
		}
		if (!(kind->requests & choices[i].request))
			return false;
		ask_for(choices[i].request);
		return true;
	}
	return false;
}

void storm_control(struct storm_shared *given)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared = given;
	kind = storm_kind_at(load_acquire(&shared->kind));
	chance = load_relaxed(&shared->control_seed);
	for (;;) {
		const uint32_t dice = below(8);

		if (dice == 0) {
			use_other_session();
		} else if (dice < 5 || !try_request(below(WEIGHTS))) {
			(void)prepare();
			/* A buffering session is flushed into a file alone. */
			ask(dice % 2 || kind->mode & EVENT_TRACE_BUFFERING_MODE
				    ? EVENT_TRACE_CONTROL_QUERY
				    : EVENT_TRACE_CONTROL_FLUSH,
			    0);
		}
		usleep(CONTROL_US);
	}
}
