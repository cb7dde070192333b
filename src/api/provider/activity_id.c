/* SPDX-License-Identifier: MIT */
/*
 * The activity id of the calling thread. New ids are a counter (Data1 to Data3) and a random number
 * of the process (Data4), so making one costs an addition; a forked child draws a new number.
 * Safe in signal handlers: no lock, no allocation.
 */
#include "api/provider/activity_id.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <evntprov.h>
#include <winerror.h>

#include "api/provider/copies.h"
#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"

_Thread_local GUID etw_thread_activity __attribute__((tls_model("initial-exec")));

static uint64_t process_number; /* atomic; 0: not drawn yet */
static uint64_t ids_made;       /* atomic */

static void forget_process_number(void)
{
	store_relaxed(&process_number, UINT64_C(0));
}

__attribute__((constructor)) static void watch_forks(void)
{
	(void)pthread_atfork(NULL, NULL, forget_process_number);
}

static uint64_t draw_process_number(void)
{
	uint64_t drawn = 0;
	uint64_t seen = 0;

	if (getrandom(&drawn, sizeof(drawn), GRND_NONBLOCK) != sizeof(drawn)) {
		drawn = etw_time_read_ns(CLOCK_REALTIME);
		drawn ^= (uint64_t)getpid() << 32;
	}
	drawn |= 1;
	if (!cas_relaxed(&process_number, &seen, drawn))
		return seen; /* another thread was first */
	return drawn;
}

static GUID make_id(void)
{
	const uint64_t count = 1 + add_relaxed(&ids_made, 1u);
	uint64_t number = load_relaxed(&process_number);
	GUID id;

	if (number == 0)
		number = draw_process_number();
	id.Data1 = (uint32_t)count;
	id.Data2 = (uint16_t)(count >> 32);
	id.Data3 = (uint16_t)(count >> 48);
	memcpy(id.Data4, &number, sizeof(id.Data4));
	return id;
}

ULONG EventActivityIdControl(ULONG ControlCode, LPGUID ActivityId)
{
	const GUID previous = etw_thread_activity;

	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->event_activity_id_control(ControlCode, ActivityId);
	if (!ActivityId)
		return ERROR_INVALID_PARAMETER;
	switch (ControlCode) {
	case EVENT_ACTIVITY_CTRL_GET_ID:
		*ActivityId = previous;
		return ERROR_SUCCESS;
	case EVENT_ACTIVITY_CTRL_SET_ID:
		etw_thread_activity = *ActivityId;
		return ERROR_SUCCESS;
	case EVENT_ACTIVITY_CTRL_CREATE_ID:
		*ActivityId = make_id();
		return ERROR_SUCCESS;
	case EVENT_ACTIVITY_CTRL_GET_SET_ID:
		etw_thread_activity = *ActivityId;
		*ActivityId = previous;
		return ERROR_SUCCESS;
	case EVENT_ACTIVITY_CTRL_CREATE_SET_ID:
		etw_thread_activity = make_id();
		*ActivityId = previous;
		return ERROR_SUCCESS;
	default:
		return ERROR_INVALID_PARAMETER;
	}
}
