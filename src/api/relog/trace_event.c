/* SPDX-License-Identifier: MIT */
#include "api/relog/trace_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/win32_error.h"
#include "base/atomic.h"
#include "base/guid.h"
#include "relog/copy.h"

HRESULT etw_hresult_of(int result)
{
	switch (result) {
	case -ENOMEM:
		return E_OUTOFMEMORY;
	case -EINVAL:
		return E_INVALIDARG;
	case -EBADMSG:
		return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
	default:
		return result >= 0 ? S_OK : HRESULT_FROM_WIN32(etw_win32_from_result(result));
	}
}

static struct etw_com_event *self(ITraceEvent *event)
{
	return (struct etw_com_event *)event; /* its first member */
}

static HRESULT STDMETHODCALLTYPE query_interface(ITraceEvent *this, REFIID iid, void **ret)
{
	if (!ret)
		return E_POINTER;
	*ret = NULL;
	if (!iid)
		return E_INVALIDARG;
	if (!etw_guid_equal(iid, &IID_IUnknown) && !etw_guid_equal(iid, &IID_ITraceEvent))
		return E_NOINTERFACE;
	(void)add_relaxed(&self(this)->refs, 1);
	*ret = this;
	return S_OK;
}

static ULONG STDMETHODCALLTYPE add_ref(ITraceEvent *this)
{
	return add_relaxed(&self(this)->refs, 1) + 1;
}

static ULONG STDMETHODCALLTYPE release(ITraceEvent *this)
{
	return etw_com_event_unref(self(this));
}

static HRESULT STDMETHODCALLTYPE clone(ITraceEvent *this, ITraceEvent **ret)
{
	const struct etw_com_event *from = self(this);
	struct etw_com_event *copy;
	int result;

	if (!ret)
		return E_POINTER;
	*ret = NULL;
	if (etw_com_event_create(from->owner, &copy))
		return E_OUTOFMEMORY;
	result = etw_relog_event_copy(&from->event, &copy->event, &copy->memory);
	if (result < 0) {
		(void)etw_com_event_unref(copy);
		return etw_hresult_of(result);
	}
	copy->event.is_copy = true;
	*ret = &copy->base;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE get_user_context(ITraceEvent *this, void **ret)
{
	if (!ret)
		return E_POINTER;
	*ret = self(this)->event.record.UserContext;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE get_event_record(ITraceEvent *this, PEVENT_RECORD *ret)
{
	if (!ret)
		return E_POINTER;
	*ret = &self(this)->event.record;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE set_payload(ITraceEvent *this, BYTE *payload, ULONG bytes)
{
	struct etw_com_event *event = self(this);
	void *copy;

	if (!payload && bytes)
		return E_POINTER;
	if (bytes > UINT16_MAX)
		return E_INVALIDARG;
	copy = malloc(bytes ? bytes : 1);
	if (!copy)
		return E_OUTOFMEMORY;
	if (bytes)
		memcpy(copy, payload, bytes);
	free(event->payload);
	event->payload = copy;
	event->event.record.UserData = copy;
	event->event.record.UserDataLength = (USHORT)bytes;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE set_descriptor(ITraceEvent *this, PCEVENT_DESCRIPTOR descriptor)
{
	if (!descriptor)
		return E_POINTER;
	self(this)->event.record.EventHeader.EventDescriptor = *descriptor;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE set_process_id(ITraceEvent *this, ULONG process_id)
{
	self(this)->event.record.EventHeader.ProcessId = process_id;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE set_processor(ITraceEvent *this, ULONG processor)
{
	return etw_relog_event_set_processor(&self(this)->event, processor) ? S_OK : E_INVALIDARG;
}

static HRESULT STDMETHODCALLTYPE set_thread_id(ITraceEvent *this, ULONG thread_id)
{
	self(this)->event.record.EventHeader.ThreadId = thread_id;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE set_times(ITraceEvent *this, ULONG kernel, ULONG user)
{
	self(this)->event.record.EventHeader.KernelTime = kernel;
	self(this)->event.record.EventHeader.UserTime = user;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE set_activity(ITraceEvent *this, LPCGUID activity)
{
	EVENT_HEADER *header = &self(this)->event.record.EventHeader;

	if (!activity)
		return E_POINTER;
	/* These headers have no place for one. */
	if (header->Flags & (EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_TRACE_MESSAGE))
		return HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
	header->ActivityId = *activity;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE set_time_stamp(ITraceEvent *this, LARGE_INTEGER *time)
{
	if (!time)
		return E_POINTER;
	self(this)->event.record.EventHeader.TimeStamp = *time;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE set_provider(ITraceEvent *this, LPCGUID provider)
{
	if (!provider)
		return E_POINTER;
	self(this)->event.record.EventHeader.ProviderId = *provider;
	return S_OK;
}

static const ITraceEventVtbl vtable = {
	.QueryInterface = query_interface,
	.AddRef = add_ref,
	.Release = release,
	.Clone = clone,
	.GetUserContext = get_user_context,
	.GetEventRecord = get_event_record,
	.SetPayload = set_payload,
	.SetEventDescriptor = set_descriptor,
	.SetProcessId = set_process_id,
	.SetProcessorIndex = set_processor,
	.SetThreadId = set_thread_id,
	.SetThreadTimes = set_times,
	.SetActivityId = set_activity,
	.SetTimeStamp = set_time_stamp,
	.SetProviderId = set_provider,
};

int etw_com_event_create(const void *owner, struct etw_com_event **ret)
{
	struct etw_com_event *event = calloc(1, sizeof(*event));

	if (!event)
		return -ENOMEM;
	event->base.lpVtbl = &vtable;
	event->refs = 1;
	event->owner = owner;
	*ret = event;
	return 0;
}

struct etw_com_event *etw_com_event_of(ITraceEvent *event)
{
	return event && event->lpVtbl == &vtable ? self(event) : NULL;
}

int etw_com_event_keep(struct etw_com_event *event)
{
	struct etw_relog_event copy;
	int result = etw_relog_event_copy(&event->event, &copy, &event->memory);

	event->event = result < 0 ? (struct etw_relog_event){0} : copy;
	return result;
}

ULONG etw_com_event_unref(struct etw_com_event *event)
{
	uint32_t left;

	if (!event)
		return 0;
	left = add_acq_rel(&event->refs, UINT32_MAX) - 1;
	if (left > 0)
		return left;
	free(event->memory);
	free(event->payload);
	free(event);
	return 0;
}
