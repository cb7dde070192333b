/* SPDX-License-Identifier: MIT */
/* The trace relogger's COM interfaces, for C (lpVtbl, COBJMACROS) and C++ (abstract structs). */
#ifndef ETW_RELOGGER_H
#define ETW_RELOGGER_H

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <unknwn.h>

/*
 * Declared without DEFINE_GUID: libetw exports them weak, and a program that defines its own
 * copies still links. CLSID_TraceRelogger is another spelling in use.
 */
EXTERN_C const IID IID_ITraceEvent;
EXTERN_C const IID IID_ITraceEventCallback;
EXTERN_C const IID IID_ITraceRelogger;
EXTERN_C const CLSID CLSID_CTraceRelogger;
EXTERN_C const CLSID CLSID_TraceRelogger;

/* The values, for libetw itself and its ABI test. */
#ifdef ETW_DEFINE_COM_GUIDS
ETW_WEAK_GUID(IID_ITraceEvent, 0x8cc97f40, 0x9028, 0x4ff3, 0x9b, 0x62, 0x7d, 0x1f, 0x79, 0xca, 0x7b,
	      0xcb);
ETW_WEAK_GUID(IID_ITraceEventCallback, 0x3ed25501, 0x593f, 0x43e9, 0x8f, 0x38, 0x3a, 0xb4, 0x6f,
	      0x5a, 0x4a, 0x52);
ETW_WEAK_GUID(IID_ITraceRelogger, 0xf754ad43, 0x3bcc, 0x4286, 0x80, 0x09, 0x9c, 0x5d, 0xa2, 0x14,
	      0xe8, 0x4e);
ETW_WEAK_GUID(CLSID_CTraceRelogger, 0x7b40792d, 0x05ff, 0x44c4, 0x90, 0x58, 0xf4, 0x40, 0xc7, 0x1f,
	      0x17, 0xd4);
ETW_WEAK_GUID(CLSID_TraceRelogger, 0x7b40792d, 0x05ff, 0x44c4, 0x90, 0x58, 0xf4, 0x40, 0xc7, 0x1f,
	      0x17, 0xd4);
#endif

typedef struct ITraceEvent ITraceEvent;
typedef struct ITraceEventCallback ITraceEventCallback;
typedef struct ITraceRelogger ITraceRelogger;

#ifdef __cplusplus

struct ITraceEvent : public IUnknown {
	virtual HRESULT STDMETHODCALLTYPE Clone(ITraceEvent **NewEvent) = 0;
	virtual HRESULT STDMETHODCALLTYPE GetUserContext(void **UserContext) = 0;
	virtual HRESULT STDMETHODCALLTYPE GetEventRecord(PEVENT_RECORD *EventRecord) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetPayload(BYTE *Payload, ULONG PayloadSize) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetEventDescriptor(
		PCEVENT_DESCRIPTOR EventDescriptor) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetProcessId(ULONG ProcessId) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetProcessorIndex(ULONG ProcessorIndex) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetThreadId(ULONG ThreadId) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetThreadTimes(ULONG KernelTime, ULONG UserTime) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetActivityId(LPCGUID ActivityId) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetTimeStamp(LARGE_INTEGER *TimeStamp) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetProviderId(LPCGUID ProviderId) = 0;
};

struct ITraceEventCallback : public IUnknown {
	virtual HRESULT STDMETHODCALLTYPE OnBeginProcessTrace(
		ITraceEvent *HeaderEvent, ITraceRelogger *Relogger) = 0;
	virtual HRESULT STDMETHODCALLTYPE OnFinalizeProcessTrace(ITraceRelogger *Relogger) = 0;
	virtual HRESULT STDMETHODCALLTYPE OnEvent(
		ITraceEvent *Event, ITraceRelogger *Relogger) = 0;
};

struct ITraceRelogger : public IUnknown {
	virtual HRESULT STDMETHODCALLTYPE AddLogfileTraceStream(
		BSTR LogfileName, void *UserContext, TRACEHANDLE *TraceHandle) = 0;
	virtual HRESULT STDMETHODCALLTYPE AddRealtimeTraceStream(
		BSTR LoggerName, void *UserContext, TRACEHANDLE *TraceHandle) = 0;
	virtual HRESULT STDMETHODCALLTYPE RegisterCallback(ITraceEventCallback *Callback) = 0;
	virtual HRESULT STDMETHODCALLTYPE Inject(ITraceEvent *Event) = 0;
	virtual HRESULT STDMETHODCALLTYPE CreateEventInstance(
		TRACEHANDLE TraceHandle, ULONG Flags, ITraceEvent **Event) = 0;
	virtual HRESULT STDMETHODCALLTYPE ProcessTrace() = 0;
	virtual HRESULT STDMETHODCALLTYPE SetOutputFilename(BSTR LogfileName) = 0;
	virtual HRESULT STDMETHODCALLTYPE SetCompressionMode(BOOLEAN CompressionMode) = 0;
	virtual HRESULT STDMETHODCALLTYPE Cancel() = 0;
};

class CTraceRelogger;

#else /* C */

typedef struct ITraceEventVtbl {
	HRESULT(STDMETHODCALLTYPE *QueryInterface)(
		ITraceEvent *This, REFIID riid, void **ppvObject);
	ULONG(STDMETHODCALLTYPE *AddRef)(ITraceEvent *This);
	ULONG(STDMETHODCALLTYPE *Release)(ITraceEvent *This);
	HRESULT(STDMETHODCALLTYPE *Clone)(ITraceEvent *This, ITraceEvent **NewEvent);
	HRESULT(STDMETHODCALLTYPE *GetUserContext)(ITraceEvent *This, void **UserContext);
	HRESULT(STDMETHODCALLTYPE *GetEventRecord)(ITraceEvent *This, PEVENT_RECORD *EventRecord);
	HRESULT(STDMETHODCALLTYPE *SetPayload)(
		ITraceEvent *This, BYTE *Payload, ULONG PayloadSize);
	HRESULT(STDMETHODCALLTYPE *SetEventDescriptor)(
		ITraceEvent *This, PCEVENT_DESCRIPTOR EventDescriptor);
	HRESULT(STDMETHODCALLTYPE *SetProcessId)(ITraceEvent *This, ULONG ProcessId);
	HRESULT(STDMETHODCALLTYPE *SetProcessorIndex)(ITraceEvent *This, ULONG ProcessorIndex);
	HRESULT(STDMETHODCALLTYPE *SetThreadId)(ITraceEvent *This, ULONG ThreadId);
	HRESULT(STDMETHODCALLTYPE *SetThreadTimes)(
		ITraceEvent *This, ULONG KernelTime, ULONG UserTime);
	HRESULT(STDMETHODCALLTYPE *SetActivityId)(ITraceEvent *This, LPCGUID ActivityId);
	HRESULT(STDMETHODCALLTYPE *SetTimeStamp)(ITraceEvent *This, LARGE_INTEGER *TimeStamp);
	HRESULT(STDMETHODCALLTYPE *SetProviderId)(ITraceEvent *This, LPCGUID ProviderId);
} ITraceEventVtbl;

struct ITraceEvent {
	const ITraceEventVtbl *lpVtbl;
};

typedef struct ITraceEventCallbackVtbl {
	HRESULT(STDMETHODCALLTYPE *QueryInterface)(
		ITraceEventCallback *This, REFIID riid, void **ppvObject);
	ULONG(STDMETHODCALLTYPE *AddRef)(ITraceEventCallback *This);
	ULONG(STDMETHODCALLTYPE *Release)(ITraceEventCallback *This);
	HRESULT(STDMETHODCALLTYPE *OnBeginProcessTrace)(
		ITraceEventCallback *This, ITraceEvent *HeaderEvent, ITraceRelogger *Relogger);
	HRESULT(STDMETHODCALLTYPE *OnFinalizeProcessTrace)(
		ITraceEventCallback *This, ITraceRelogger *Relogger);
	HRESULT(STDMETHODCALLTYPE *OnEvent)(
		ITraceEventCallback *This, ITraceEvent *Event, ITraceRelogger *Relogger);
} ITraceEventCallbackVtbl;

struct ITraceEventCallback {
	const ITraceEventCallbackVtbl *lpVtbl;
};

typedef struct ITraceReloggerVtbl {
	HRESULT(STDMETHODCALLTYPE *QueryInterface)(
		ITraceRelogger *This, REFIID riid, void **ppvObject);
	ULONG(STDMETHODCALLTYPE *AddRef)(ITraceRelogger *This);
	ULONG(STDMETHODCALLTYPE *Release)(ITraceRelogger *This);
	HRESULT(STDMETHODCALLTYPE *AddLogfileTraceStream)(
		ITraceRelogger *This, BSTR LogfileName, void *UserContext,
		TRACEHANDLE *TraceHandle);
	HRESULT(STDMETHODCALLTYPE *AddRealtimeTraceStream)(
		ITraceRelogger *This, BSTR LoggerName, void *UserContext,
		TRACEHANDLE *TraceHandle);
	HRESULT(STDMETHODCALLTYPE *RegisterCallback)(
		ITraceRelogger *This, ITraceEventCallback *Callback);
	HRESULT(STDMETHODCALLTYPE *Inject)(ITraceRelogger *This, ITraceEvent *Event);
	HRESULT(STDMETHODCALLTYPE *CreateEventInstance)(
		ITraceRelogger *This, TRACEHANDLE TraceHandle, ULONG Flags, ITraceEvent **Event);
	HRESULT(STDMETHODCALLTYPE *ProcessTrace)(ITraceRelogger *This);
	HRESULT(STDMETHODCALLTYPE *SetOutputFilename)(ITraceRelogger *This, BSTR LogfileName);
	HRESULT(STDMETHODCALLTYPE *SetCompressionMode)(
		ITraceRelogger *This, BOOLEAN CompressionMode);
	HRESULT(STDMETHODCALLTYPE *Cancel)(ITraceRelogger *This);
} ITraceReloggerVtbl;

struct ITraceRelogger {
	const ITraceReloggerVtbl *lpVtbl;
};

#ifdef COBJMACROS
#define ITraceEvent_QueryInterface(This, riid, ppvObject)                                        \
	((This)->lpVtbl->QueryInterface(This, riid, ppvObject))
#define ITraceEvent_AddRef(This) ((This)->lpVtbl->AddRef(This))
#define ITraceEvent_Release(This) ((This)->lpVtbl->Release(This))
#define ITraceEvent_Clone(This, NewEvent) ((This)->lpVtbl->Clone(This, NewEvent))
#define ITraceEvent_GetUserContext(This, UserContext)                                            \
	((This)->lpVtbl->GetUserContext(This, UserContext))
#define ITraceEvent_GetEventRecord(This, EventRecord)                                            \
	((This)->lpVtbl->GetEventRecord(This, EventRecord))
#define ITraceEvent_SetPayload(This, Payload, PayloadSize)                                       \
	((This)->lpVtbl->SetPayload(This, Payload, PayloadSize))
#define ITraceEvent_SetEventDescriptor(This, EventDescriptor)                                    \
	((This)->lpVtbl->SetEventDescriptor(This, EventDescriptor))
#define ITraceEvent_SetProcessId(This, ProcessId) ((This)->lpVtbl->SetProcessId(This, ProcessId))
#define ITraceEvent_SetProcessorIndex(This, ProcessorIndex)                                      \
	((This)->lpVtbl->SetProcessorIndex(This, ProcessorIndex))
#define ITraceEvent_SetThreadId(This, ThreadId) ((This)->lpVtbl->SetThreadId(This, ThreadId))
#define ITraceEvent_SetThreadTimes(This, KernelTime, UserTime)                                   \
	((This)->lpVtbl->SetThreadTimes(This, KernelTime, UserTime))
#define ITraceEvent_SetActivityId(This, ActivityId)                                              \
	((This)->lpVtbl->SetActivityId(This, ActivityId))
#define ITraceEvent_SetTimeStamp(This, TimeStamp) ((This)->lpVtbl->SetTimeStamp(This, TimeStamp))
#define ITraceEvent_SetProviderId(This, ProviderId)                                              \
	((This)->lpVtbl->SetProviderId(This, ProviderId))
#define ITraceEventCallback_QueryInterface(This, riid, ppvObject)                                \
	((This)->lpVtbl->QueryInterface(This, riid, ppvObject))
#define ITraceEventCallback_AddRef(This) ((This)->lpVtbl->AddRef(This))
#define ITraceEventCallback_Release(This) ((This)->lpVtbl->Release(This))
#define ITraceEventCallback_OnBeginProcessTrace(This, HeaderEvent, Relogger)                     \
	((This)->lpVtbl->OnBeginProcessTrace(This, HeaderEvent, Relogger))
#define ITraceEventCallback_OnFinalizeProcessTrace(This, Relogger)                               \
	((This)->lpVtbl->OnFinalizeProcessTrace(This, Relogger))
#define ITraceEventCallback_OnEvent(This, Event, Relogger)                                       \
	((This)->lpVtbl->OnEvent(This, Event, Relogger))
#define ITraceRelogger_QueryInterface(This, riid, ppvObject)                                     \
	((This)->lpVtbl->QueryInterface(This, riid, ppvObject))
#define ITraceRelogger_AddRef(This) ((This)->lpVtbl->AddRef(This))
#define ITraceRelogger_Release(This) ((This)->lpVtbl->Release(This))
#define ITraceRelogger_AddLogfileTraceStream(This, LogfileName, UserContext, TraceHandle)        \
	((This)->lpVtbl->AddLogfileTraceStream(This, LogfileName, UserContext, TraceHandle))
#define ITraceRelogger_AddRealtimeTraceStream(This, LoggerName, UserContext, TraceHandle)        \
	((This)->lpVtbl->AddRealtimeTraceStream(This, LoggerName, UserContext, TraceHandle))
#define ITraceRelogger_RegisterCallback(This, Callback)                                          \
	((This)->lpVtbl->RegisterCallback(This, Callback))
#define ITraceRelogger_Inject(This, Event) ((This)->lpVtbl->Inject(This, Event))
#define ITraceRelogger_CreateEventInstance(This, TraceHandle, Flags, Event)                      \
	((This)->lpVtbl->CreateEventInstance(This, TraceHandle, Flags, Event))
#define ITraceRelogger_ProcessTrace(This) ((This)->lpVtbl->ProcessTrace(This))
#define ITraceRelogger_SetOutputFilename(This, LogfileName)                                      \
	((This)->lpVtbl->SetOutputFilename(This, LogfileName))
#define ITraceRelogger_SetCompressionMode(This, CompressionMode)                                 \
	((This)->lpVtbl->SetCompressionMode(This, CompressionMode))
#define ITraceRelogger_Cancel(This) ((This)->lpVtbl->Cancel(This))
#endif /* COBJMACROS */

#endif /* C */

#endif /* ETW_RELOGGER_H */
