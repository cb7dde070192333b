/* SPDX-License-Identifier: MIT */
/* What ntdll has for ETW, as thin forms over the public functions. What those cannot answer is said not to be there. */
#include <string.h>

#include <evntprov.h>
#include <evntrace.h>
#include <windows.h>
#include <winternl.h>

#define GROUP_MASK_BYTES   48 /* class, handle at 8, eight masks at 16 */
#define TIME_PROFILE_BYTES 8  /* class, interval in 100 ns */

static const struct {
	NTSTATUS status;
	ULONG code;
} statuses[] = {
	{STATUS_SUCCESS, ERROR_SUCCESS},
	{STATUS_UNSUCCESSFUL, ERROR_GEN_FAILURE},
	{STATUS_NOT_IMPLEMENTED, ERROR_INVALID_FUNCTION},
	{STATUS_INFO_LENGTH_MISMATCH, ERROR_BAD_LENGTH},
	{STATUS_INVALID_HANDLE, ERROR_INVALID_HANDLE},
	{STATUS_INVALID_PARAMETER, ERROR_INVALID_PARAMETER},
	{STATUS_NO_MEMORY, ERROR_NOT_ENOUGH_MEMORY},
	{STATUS_ACCESS_DENIED, ERROR_ACCESS_DENIED},
	{STATUS_BUFFER_TOO_SMALL, ERROR_INSUFFICIENT_BUFFER},
	{STATUS_OBJECT_NAME_NOT_FOUND, ERROR_FILE_NOT_FOUND},
	{STATUS_OBJECT_NAME_COLLISION, ERROR_ALREADY_EXISTS},
	{STATUS_PRIVILEGE_NOT_HELD, ERROR_PRIVILEGE_NOT_HELD},
	{STATUS_DISK_FULL, ERROR_DISK_FULL},
	{STATUS_INSUFFICIENT_RESOURCES, ERROR_NO_SYSTEM_RESOURCES},
	{STATUS_NOT_SUPPORTED, ERROR_NOT_SUPPORTED},
	{STATUS_INTERNAL_ERROR, ERROR_INTERNAL_ERROR},
	{STATUS_CANCELLED, ERROR_OPERATION_ABORTED},
	{STATUS_NOT_FOUND, ERROR_NOT_FOUND},
	{STATUS_WMI_GUID_NOT_FOUND, ERROR_WMI_GUID_NOT_FOUND},
	{STATUS_WMI_INSTANCE_NOT_FOUND, ERROR_WMI_INSTANCE_NOT_FOUND},
	{STATUS_BUFFER_OVERFLOW, ERROR_MORE_DATA},
	{STATUS_NO_MORE_ENTRIES, ERROR_NO_MORE_ITEMS},
};

ULONG RtlNtStatusToDosError(NTSTATUS Status)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		if (statuses[i].status == Status)
			return statuses[i].code;
	}
	return ERROR_MR_MID_NOT_FOUND;
}

static NTSTATUS status_of(ULONG code)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		if (statuses[i].code == code)
			return statuses[i].status;
	}
	return STATUS_UNSUCCESSFUL;
}

void RtlInitUnicodeString(PUNICODE_STRING DestinationString, PCWSTR SourceString)
{
	const size_t bytes = (size_t)lstrlenW(SourceString) * sizeof(WCHAR);
	const USHORT length = bytes > UNICODE_STRING_MAX_BYTES - sizeof(WCHAR)
				      ? (USHORT)(UNICODE_STRING_MAX_BYTES - sizeof(WCHAR))
				      : (USHORT)bytes;

	DestinationString->Length = length;
	DestinationString->MaximumLength = SourceString ? (USHORT)(length + sizeof(WCHAR)) : 0;
	DestinationString->Buffer = (PWSTR)(uintptr_t)SourceString;
}

/* The class that begins the buffer; returns whether the buffer holds one. */
static BOOL read_class(const void *buffer, ULONG bytes, ULONG *ret)
{
	if (!buffer || bytes < sizeof(*ret))
		return FALSE;
	memcpy(ret, buffer, sizeof(*ret));
	return TRUE;
}

static NTSTATUS change_group_mask(PVOID buffer, ULONG bytes, BOOL is_set)
{
	TRACEHANDLE handle;
	ULONG returned;

	if (bytes < GROUP_MASK_BYTES)
		return STATUS_INFO_LENGTH_MISMATCH;
	memcpy(&handle, (char *)buffer + 8, sizeof(handle));
	return status_of(is_set ? TraceSetInformation(handle, TraceSystemTraceEnableFlagsInfo,
						      (char *)buffer + 16, GROUP_MASK_BYTES - 16)
				: TraceQueryInformation(handle, TraceSystemTraceEnableFlagsInfo,
							(char *)buffer + 16, GROUP_MASK_BYTES - 16,
							&returned));
}

static NTSTATUS change_time_profile(PVOID buffer, ULONG bytes, BOOL is_set)
{
	TRACE_PROFILE_INTERVAL interval = {0};
	ULONG code, returned;

	if (bytes < TIME_PROFILE_BYTES)
		return STATUS_INFO_LENGTH_MISMATCH;
	if (is_set) {
		memcpy(&interval.Interval, (char *)buffer + 4, sizeof(interval.Interval));
		return status_of(TraceSetInformation(0, TraceSampledProfileIntervalInfo, &interval,
						     sizeof(interval)));
	}
	code = TraceQueryInformation(0, TraceSampledProfileIntervalInfo, &interval,
				     sizeof(interval), &returned);
	if (!code)
		memcpy((char *)buffer + 4, &interval.Interval, sizeof(interval.Interval));
	return status_of(code);
}

static NTSTATUS change(PVOID buffer, ULONG bytes, BOOL is_set)
{
	ULONG class;

	if (!read_class(buffer, bytes, &class))
		return STATUS_INFO_LENGTH_MISMATCH;
	switch (class) {
	case EventTraceGroupMaskInformation:
		return change_group_mask(buffer, bytes, is_set);
	case EventTraceTimeProfileInformation:
		return change_time_profile(buffer, bytes, is_set);
	default:
		return class < MaxEventTraceInfoClass ? STATUS_NOT_SUPPORTED
						      : STATUS_INVALID_INFO_CLASS;
	}
}

NTSTATUS NtQuerySystemInformation(SYSTEM_INFORMATION_CLASS SystemInformationClass,
				  PVOID SystemInformation, ULONG SystemInformationLength,
				  PULONG ReturnLength)
{
	NTSTATUS status;

	if (SystemInformationClass != SystemPerformanceTraceInformation)
		return STATUS_NOT_IMPLEMENTED;
	status = change(SystemInformation, SystemInformationLength, FALSE);
	if (ReturnLength)
		*ReturnLength = NT_SUCCESS(status) ? SystemInformationLength : 0;
	return status;
}

NTSTATUS NtSetSystemInformation(SYSTEM_INFORMATION_CLASS SystemInformationClass,
				PVOID SystemInformation, ULONG SystemInformationLength)
{
	if (SystemInformationClass != SystemPerformanceTraceInformation)
		return STATUS_NOT_IMPLEMENTED;
	return change(SystemInformation, SystemInformationLength, TRUE);
}

/* Codes of NtTraceControl. */
enum {
	CODE_ACTIVITY_ID_CREATE = 12,
	CODE_ENUM_TRACE_GUID_LIST = 21,
	CODE_GET_TRACE_GUID_INFO = 22,
	CODE_MAX_LOGGERS = 42,
	CODE_LAST = 46,
};

NTSTATUS NtTraceControl(ULONG FunctionCode, PVOID InBuffer, ULONG InBufferLen, PVOID OutBuffer,
			ULONG OutBufferLen, PULONG ReturnLength)
{
	ULONG returned = 0;
	NTSTATUS status;

	switch (FunctionCode) {
	case CODE_ACTIVITY_ID_CREATE:
		if (!OutBuffer || OutBufferLen < sizeof(GUID))
			return STATUS_INVALID_PARAMETER;
		returned = sizeof(GUID);
		status =
			status_of(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, OutBuffer));
		break;
	case CODE_ENUM_TRACE_GUID_LIST:
		status = status_of(EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, OutBuffer,
							 OutBufferLen, &returned));
		break;
	case CODE_GET_TRACE_GUID_INFO:
		status = status_of(EnumerateTraceGuidsEx(TraceGuidQueryInfo, InBuffer, InBufferLen,
							 OutBuffer, OutBufferLen, &returned));
		break;
	case CODE_MAX_LOGGERS:
		status = status_of(TraceQueryInformation(0, TraceMaxLoggersQuery, OutBuffer,
							 OutBufferLen, &returned));
		break;
	default:
		return FunctionCode && FunctionCode <= CODE_LAST ? STATUS_NOT_SUPPORTED
								 : STATUS_INVALID_PARAMETER;
	}
	if (ReturnLength)
		*ReturnLength = returned;
	return status;
}
