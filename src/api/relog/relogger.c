/* SPDX-License-Identifier: MIT */
/* ITraceRelogger over src/relog; see docs/relogging.md. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <etw/relogger.h>

#include "api/relog/trace_event.h"
#include "api/wide.h"
#include "api/win32_error.h"
#include "base/atomic.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/path.h"
#include "relog/relog.h"

#define MODE_OF_COM     0x1000u /* Windows' files of this interface have the bit */
#define NAME_IN_HEADER  "ReloggedFile.ETL"
#define CALLBACK_FAILED 1 /* what ends a pass; `failure` says why */
#define CREATE_FLAGS                                                          \
	(EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_TRACE_MESSAGE | \
	 EVENT_HEADER_FLAG_32_BIT_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER)

struct relogger {
	ITraceRelogger base;
	uint32_t refs; /* atomic */
	struct etw_relog *relog;
	ITraceEventCallback *callback; /* a reference; NULL: none is registered */
	char *output;                  /* owned; NULL: none is set */
	bool is_compressed, is_running, is_live;
	struct etw_com_event *shown; /* a reference: of the event that is shown, used again */
	HRESULT failure;             /* of a callback */
};

static struct relogger *self(ITraceRelogger *relogger)
{
	return (struct relogger *)relogger; /* its first member */
}

static ULONG STDMETHODCALLTYPE add_ref(ITraceRelogger *this)
{
	return add_relaxed(&self(this)->refs, 1) + 1;
}

static ULONG STDMETHODCALLTYPE release(ITraceRelogger *this)
{
	struct relogger *relogger = self(this);
	uint32_t left = add_acq_rel(&relogger->refs, UINT32_MAX) - 1;

	if (left > 0)
		return left;
	if (relogger->callback)
		(void)relogger->callback->lpVtbl->Release(relogger->callback);
	(void)etw_com_event_unref(relogger->shown);
	etw_relog_free(relogger->relog);
	free(relogger->output);
	free(relogger);
	return 0;
}

static HRESULT STDMETHODCALLTYPE query_interface(ITraceRelogger *this, REFIID iid, void **ret)
{
	if (!ret)
		return E_POINTER;
	*ret = NULL;
	if (!iid)
		return E_INVALIDARG;
	if (!etw_guid_equal(iid, &IID_IUnknown) && !etw_guid_equal(iid, &IID_ITraceRelogger))
		return E_NOINTERFACE;
	(void)add_ref(this);
	*ret = this;
	return S_OK;
}

/* A handle is a stream's number and 1: 0 is none. */
static HRESULT added(int result, size_t stream, TRACEHANDLE *ret)
{
	if (result == -EBUSY)
		return E_UNEXPECTED;
	if (result < 0)
		return etw_hresult_of(result);
	if (ret)
		*ret = (TRACEHANDLE)stream + 1;
	return S_OK;
}

static bool has_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	CLEANUP(freep) char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;

	return !folder || access(folder, F_OK) == 0;
}

static HRESULT STDMETHODCALLTYPE add_file(ITraceRelogger *this, BSTR name, void *context,
					  TRACEHANDLE *ret)
{
	CLEANUP(freep) char *given = NULL;
	CLEANUP(freep) char *path = NULL;
	size_t stream = 0;
	int result;

	if (!name)
		return E_POINTER;
	result = etw_wide_to_utf8(name, &given);
	if (!result && !*given)
		return HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME);
	if (!result)
		result = etw_path_resolve(given, &path);
	if (!result)
		result = etw_relog_add_file(self(this)->relog, path, context, &stream, NULL);
	if (result == -ENOENT && path && !has_folder(path))
		return HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
	return added(result, stream, ret);
}

static HRESULT STDMETHODCALLTYPE add_session(ITraceRelogger *this, BSTR name, void *context,
					     TRACEHANDLE *ret)
{
	CLEANUP(freep) char *session = NULL;
	size_t stream = 0;
	int result;

	if (!name)
		return E_POINTER;
	result = etw_wide_to_utf8(name, &session);
	if (!result)
		result = etw_relog_add_session(self(this)->relog, session, context, &stream);
	if (!result)
		self(this)->is_live = true;
	return added(result, stream, ret);
}

static HRESULT STDMETHODCALLTYPE register_callback(ITraceRelogger *this,
						   ITraceEventCallback *callback)
{
	struct relogger *relogger = self(this);

	if (!callback)
		return E_POINTER;
	if (relogger->is_running)
		return E_UNEXPECTED;
	(void)callback->lpVtbl->AddRef(callback);
	if (relogger->callback)
		(void)relogger->callback->lpVtbl->Release(relogger->callback);
	relogger->callback = callback;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE inject(ITraceRelogger *this, ITraceEvent *injected)
{
	struct relogger *relogger = self(this);
	struct etw_com_event *event;

	if (!injected)
		return E_POINTER;
	event = etw_com_event_of(injected);
	if (!event || event->owner != relogger)
		return E_INVALIDARG;
	if (!relogger->is_running || !relogger->output)
		return E_UNEXPECTED;
	return etw_hresult_of(etw_relog_put(relogger->relog, &event->event));
}

static HRESULT STDMETHODCALLTYPE create_event(ITraceRelogger *this, TRACEHANDLE trace, ULONG flags,
					      ITraceEvent **ret)
{
	const ULONG both = EVENT_HEADER_FLAG_32_BIT_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER;
	struct relogger *relogger = self(this);
	struct etw_com_event *event;
	uint32_t pointer_bytes;
	size_t stream;

	if (!ret)
		return E_POINTER;
	*ret = NULL;
	if (trace < 1 || trace > etw_relog_streams(relogger->relog))
		return E_INVALIDARG;
	if (flags & ~(ULONG)CREATE_FLAGS || (flags & both) == both)
		return E_INVALIDARG;
	stream = (size_t)trace - 1;
	pointer_bytes = etw_relog_stream_header(relogger->relog, stream)->pointer_bytes;
	if (!(flags & both))
		flags |= pointer_bytes == 4 ? EVENT_HEADER_FLAG_32_BIT_HEADER
					    : EVENT_HEADER_FLAG_64_BIT_HEADER;
	if (etw_com_event_create(relogger, &event))
		return E_OUTOFMEMORY;
	event->memory = malloc(ETW_RELOG_HEADER_BYTES_MAX);
	if (!event->memory) {
		(void)etw_com_event_unref(event);
		return E_OUTOFMEMORY;
	}
	etw_relog_event_make((USHORT)flags, event->memory, &event->event);
	event->event.stream = stream;
	event->event.record.EventHeader.TimeStamp.QuadPart = etw_relog_time(relogger->relog,
									    stream);
	*ret = &event->base;
	return S_OK;
}

/* The object of the event that is shown; another one when a callback has kept the last. */
static int lend(struct relogger *relogger, const struct etw_relog_event *event)
{
	if (!relogger->shown)
		TRY(etw_com_event_create(relogger, &relogger->shown));
	relogger->shown->event = *event;
	return 0;
}

static int take_back(struct relogger *relogger, HRESULT status)
{
	struct etw_com_event *event = relogger->shown;
	int result = 0;

	if (load_acquire(&event->refs) > 1) {
		result = etw_com_event_keep(event);
		relogger->shown = NULL;
		(void)etw_com_event_unref(event);
	} else {
		free(event->payload);
		event->payload = NULL;
	}
	if (SUCCEEDED(status))
		return result;
	relogger->failure = status;
	return CALLBACK_FAILED;
}

static int begin(void *context, struct etw_relog_event *event)
{
	struct relogger *relogger = context;
	ITraceEventCallback *callback = relogger->callback;

	TRY(lend(relogger, event));
	return take_back(relogger, callback->lpVtbl->OnBeginProcessTrace(
					   callback, &relogger->shown->base, &relogger->base));
}

static int show(void *context, struct etw_relog_event *event)
{
	struct relogger *relogger = context;
	ITraceEventCallback *callback = relogger->callback;

	TRY(lend(relogger, event));
	return take_back(relogger, callback->lpVtbl->OnEvent(callback, &relogger->shown->base,
							     &relogger->base));
}

static int end(void *context)
{
	struct relogger *relogger = context;
	ITraceEventCallback *callback = relogger->callback;

	relogger->failure = callback->lpVtbl->OnFinalizeProcessTrace(callback, &relogger->base);
	return SUCCEEDED(relogger->failure) ? 0 : CALLBACK_FAILED;
}

/* A trace of Linux is known by the path in its header: it stays one. */
static const char *name_in_header(const struct relogger *relogger, char *room)
{
	const struct etw_etl_header *header = etw_relog_stream_header(relogger->relog, 0);
	const char *path = relogger->output;
	size_t bytes;

	if (!relogger->is_live && (!header->log_file_name || !etw_etl_header_has_unix_path(header)))
		return NAME_IN_HEADER;
	if (path[0] == '/')
		return path;
	if (!getcwd(room, PATH_MAX))
		return NAME_IN_HEADER;
	bytes = strlen(room);
	if (bytes + strlen(path) + 2 > 2 * PATH_MAX)
		return NAME_IN_HEADER;
	room[bytes] = '/';
	memcpy(room + bytes + 1, path, strlen(path) + 1);
	return room;
}

static HRESULT run_pass(struct relogger *relogger)
{
	const struct etw_relog_sink sink = {
		.context = relogger, .begin = begin, .event = show, .end = end};
	struct etw_relog_form form = {
		.mode = MODE_OF_COM,
		.is_compressed = relogger->is_compressed,
	};
	CLEANUP(freep) char *room = malloc(2 * PATH_MAX);
	int result;

	if (!room)
		return E_OUTOFMEMORY;
	if (relogger->output)
		form.log_file_name = name_in_header(relogger, room);
	etw_relog_set_output(relogger->relog, relogger->output, &form);
	result = etw_relog_run(relogger->relog, &sink);
	if (result == CALLBACK_FAILED)
		return relogger->failure;
	if (result == -ENOENT)
		return HRESULT_FROM_WIN32(relogger->is_live ? ERROR_WMI_INSTANCE_NOT_FOUND
							    : ERROR_PATH_NOT_FOUND);
	return etw_hresult_of(result);
}

static HRESULT STDMETHODCALLTYPE process_trace(ITraceRelogger *this)
{
	struct relogger *relogger = self(this);
	HRESULT status;

	if (relogger->is_running || !relogger->callback || !etw_relog_streams(relogger->relog))
		return E_UNEXPECTED;
	(void)add_ref(this); /* a callback may give the last one back */
	relogger->is_running = true;
	status = run_pass(relogger);
	relogger->is_running = false;
	(void)release(this);
	return status;
}

static HRESULT STDMETHODCALLTYPE set_output(ITraceRelogger *this, BSTR name)
{
	struct relogger *relogger = self(this);
	CLEANUP(freep) char *given = NULL;
	char *path;
	int result;

	if (!name)
		return E_POINTER;
	if (relogger->is_running)
		return E_UNEXPECTED;
	result = etw_wide_to_utf8(name, &given);
	if (!result && !*given)
		return HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME);
	if (!result)
		result = etw_path_resolve(given, &path);
	if (result < 0)
		return etw_hresult_of(result);
	free(relogger->output);
	relogger->output = path;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE set_compression(ITraceRelogger *this, BOOLEAN is_compressed)
{
	if (self(this)->is_running)
		return E_UNEXPECTED;
	self(this)->is_compressed = is_compressed != 0;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE cancel(ITraceRelogger *this)
{
	etw_relog_cancel(self(this)->relog);
	return S_OK;
}

static const ITraceReloggerVtbl vtable = {
	.QueryInterface = query_interface,
	.AddRef = add_ref,
	.Release = release,
	.AddLogfileTraceStream = add_file,
	.AddRealtimeTraceStream = add_session,
	.RegisterCallback = register_callback,
	.Inject = inject,
	.CreateEventInstance = create_event,
	.ProcessTrace = process_trace,
	.SetOutputFilename = set_output,
	.SetCompressionMode = set_compression,
	.Cancel = cancel,
};

HRESULT STDMETHODCALLTYPE EtwCreateTraceRelogger(ITraceRelogger **ret)
{
	struct relogger *relogger;

	if (!ret)
		return E_POINTER;
	*ret = NULL;
	relogger = calloc(1, sizeof(*relogger));
	if (!relogger || etw_relog_create(&relogger->relog)) {
		free(relogger);
		return E_OUTOFMEMORY;
	}
	relogger->base.lpVtbl = &vtable;
	relogger->refs = 1;
	relogger->is_compressed = true;
	*ret = &relogger->base;
	return S_OK;
}

HRESULT STDMETHODCALLTYPE EtwCreateInstance(REFCLSID class_id, REFIID interface_id, void **ret)
{
	ITraceRelogger *relogger;
	HRESULT status;

	if (!ret)
		return E_POINTER;
	*ret = NULL;
	if (!class_id || !interface_id)
		return E_INVALIDARG;
	if (!etw_guid_equal(class_id, &CLSID_CTraceRelogger))
		return REGDB_E_CLASSNOTREG;
	status = EtwCreateTraceRelogger(&relogger);
	if (FAILED(status))
		return status;
	status = query_interface(relogger, interface_id, ret);
	(void)release(relogger);
	return status;
}
