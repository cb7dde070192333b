/* SPDX-License-Identifier: MIT */
/* What programs with ETW call of ntdll (src/compat/nt). */
#ifndef ETW_COMPAT_WINTERNL_H
#define ETW_COMPAT_WINTERNL_H

#include <etw/winstructs.h>
#include <ntstatus.h>
#include <windef.h>

typedef enum _SYSTEM_INFORMATION_CLASS {
	SystemBasicInformation = 0,
	SystemPerformanceInformation = 2,
	SystemTimeOfDayInformation = 3,
	SystemProcessInformation = 5,
	SystemPerformanceTraceInformation = 31
} SYSTEM_INFORMATION_CLASS;

/* The beginning of the buffer of SystemPerformanceTraceInformation. */
typedef enum _EVENT_TRACE_INFORMATION_CLASS {
	EventTraceKernelVersionInformation = 0,
	EventTraceGroupMaskInformation = 1,
	EventTracePerformanceInformation = 2,
	EventTraceTimeProfileInformation = 3,
	EventTraceSessionSecurityInformation = 4,
	EventTraceStackTracingInformation = 6,
	MaxEventTraceInfoClass = 27
} EVENT_TRACE_INFORMATION_CLASS;

ETW_EXTERN_C_BEGIN
NTSTATUS NTAPI NtQuerySystemInformation(SYSTEM_INFORMATION_CLASS SystemInformationClass,
					PVOID SystemInformation, ULONG SystemInformationLength,
					PULONG ReturnLength);
NTSTATUS NTAPI NtSetSystemInformation(SYSTEM_INFORMATION_CLASS SystemInformationClass,
				      PVOID SystemInformation, ULONG SystemInformationLength);
NTSTATUS NTAPI NtTraceControl(ULONG FunctionCode, PVOID InBuffer, ULONG InBufferLen,
			      PVOID OutBuffer, ULONG OutBufferLen, PULONG ReturnLength);
ULONG NTAPI RtlNtStatusToDosError(NTSTATUS Status);
VOID NTAPI RtlInitUnicodeString(PUNICODE_STRING DestinationString, PCWSTR SourceString);
NTSTATUS NTAPI RtlGetVersion(PRTL_OSVERSIONINFOW VersionInformation);
ETW_EXTERN_C_END
#endif
