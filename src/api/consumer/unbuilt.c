/* SPDX-License-Identifier: MIT */
/* evntrace.h, the consumer's side: the newer ways to open a trace. The others are in evntrace.c. */
#include <errhandlingapi.h>
#include <evntrace.h>
#include <winerror.h>

#include "api/unbuilt.h"

PROCESSTRACE_HANDLE OpenTraceFromFile(LPCWSTR LogFileName, const ETW_OPEN_TRACE_OPTIONS *Options,
				      TRACE_LOGFILE_HEADER *LogFileHeader)
{
	ETW_UNBUILT(OpenTraceFromFile, LogFileName, Options, LogFileHeader);
	SetLastError(ERROR_CALL_NOT_IMPLEMENTED);
	return INVALID_PROCESSTRACE_HANDLE;
}

PROCESSTRACE_HANDLE OpenTraceFromRealTimeLogger(LPCWSTR LoggerName,
						const ETW_OPEN_TRACE_OPTIONS *Options,
						TRACE_LOGFILE_HEADER *LogFileHeader)
{
	ETW_UNBUILT(OpenTraceFromRealTimeLogger, LoggerName, Options, LogFileHeader);
	SetLastError(ERROR_CALL_NOT_IMPLEMENTED);
	return INVALID_PROCESSTRACE_HANDLE;
}

PROCESSTRACE_HANDLE OpenTraceFromRealTimeLoggerWithAllocationOptions(
	LPCWSTR LoggerName, const ETW_OPEN_TRACE_OPTIONS *Options, ULONG_PTR AllocationSize,
	HANDLE MemoryPartitionHandle, TRACE_LOGFILE_HEADER *LogFileHeader)
{
	ETW_UNBUILT(OpenTraceFromRealTimeLoggerWithAllocationOptions, LoggerName, Options,
		    AllocationSize, MemoryPartitionHandle, LogFileHeader);
	SetLastError(ERROR_CALL_NOT_IMPLEMENTED);
	return INVALID_PROCESSTRACE_HANDLE;
}

PROCESSTRACE_HANDLE OpenTraceFromBufferStream(
	const ETW_OPEN_TRACE_OPTIONS *Options,
	PETW_BUFFER_COMPLETION_CALLBACK BufferCompletionCallback, void *BufferCompletionContext)
{
	ETW_UNBUILT(OpenTraceFromBufferStream, Options, BufferCompletionCallback,
		    BufferCompletionContext);
	SetLastError(ERROR_CALL_NOT_IMPLEMENTED);
	return INVALID_PROCESSTRACE_HANDLE;
}

ULONG ProcessTraceAddBufferToBufferStream(PROCESSTRACE_HANDLE TraceHandle,
					  const ETW_BUFFER_HEADER *Buffer, ULONG BufferSize)
{
	ETW_UNBUILT(ProcessTraceAddBufferToBufferStream, TraceHandle, Buffer, BufferSize);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG ProcessTraceBufferIncrementReference(PROCESSTRACE_HANDLE TraceHandle,
					   const ETW_BUFFER_HEADER *Buffer)
{
	ETW_UNBUILT(ProcessTraceBufferIncrementReference, TraceHandle, Buffer);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG ProcessTraceBufferDecrementReference(const ETW_BUFFER_HEADER *Buffer)
{
	ETW_UNBUILT(ProcessTraceBufferDecrementReference, Buffer);
	return ERROR_CALL_NOT_IMPLEMENTED;
}
