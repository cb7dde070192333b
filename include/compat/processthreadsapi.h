/* SPDX-License-Identifier: MIT */
/* Threads and processes. */
#ifndef ETW_COMPAT_PROCESSTHREADSAPI_H
#define ETW_COMPAT_PROCESSTHREADSAPI_H

#include <minwinbase.h>

#define STILL_ACTIVE                       259
#define CREATE_SUSPENDED                   0x00000004
#define DETACHED_PROCESS                   0x00000008
#define CREATE_NEW_CONSOLE                 0x00000010
#define NORMAL_PRIORITY_CLASS              0x00000020
#define IDLE_PRIORITY_CLASS                0x00000040
#define HIGH_PRIORITY_CLASS                0x00000080
#define REALTIME_PRIORITY_CLASS            0x00000100
#define CREATE_NEW_PROCESS_GROUP           0x00000200
#define CREATE_UNICODE_ENVIRONMENT         0x00000400
#define BELOW_NORMAL_PRIORITY_CLASS        0x00004000
#define ABOVE_NORMAL_PRIORITY_CLASS        0x00008000
#define STACK_SIZE_PARAM_IS_A_RESERVATION  0x00010000
#define CREATE_NO_WINDOW                   0x08000000
#define THREAD_PRIORITY_IDLE               (-15)
#define THREAD_PRIORITY_LOWEST             (-2)
#define THREAD_PRIORITY_BELOW_NORMAL       (-1)
#define THREAD_PRIORITY_NORMAL             0
#define THREAD_PRIORITY_ABOVE_NORMAL       1
#define THREAD_PRIORITY_HIGHEST            2
#define THREAD_PRIORITY_TIME_CRITICAL      15
#define THREAD_PRIORITY_ERROR_RETURN       0x7fffffff
#define TLS_OUT_OF_INDEXES                 ((DWORD)0xFFFFFFFF)

typedef VOID(NTAPI *PAPCFUNC)(ULONG_PTR Parameter);

ETW_EXTERN_C_BEGIN
HANDLE WINAPI CreateThread(LPSECURITY_ATTRIBUTES lpThreadAttributes, SIZE_T dwStackSize,
			   LPTHREAD_START_ROUTINE lpStartAddress, LPVOID lpParameter,
			   DWORD dwCreationFlags, LPDWORD lpThreadId);
HANDLE WINAPI OpenThread(DWORD dwDesiredAccess, BOOL bInheritHandle, DWORD dwThreadId)
	ETW_NOT_HERE("OpenThread is not built yet: keep the handle of CreateThread()");
VOID WINAPI ExitThread(DWORD dwExitCode) __attribute__((__noreturn__));
BOOL WINAPI GetExitCodeThread(HANDLE hThread, LPDWORD lpExitCode);
DWORD WINAPI ResumeThread(HANDLE hThread);
HANDLE WINAPI GetCurrentThread(VOID);
DWORD WINAPI GetCurrentThreadId(VOID);
DWORD WINAPI GetThreadId(HANDLE Thread);
DWORD WINAPI GetProcessIdOfThread(HANDLE Thread);
BOOL WINAPI GetThreadTimes(HANDLE hThread, LPFILETIME lpCreationTime, LPFILETIME lpExitTime,
			   LPFILETIME lpKernelTime, LPFILETIME lpUserTime);
BOOL WINAPI SetThreadPriority(HANDLE hThread, int nPriority);
int WINAPI GetThreadPriority(HANDLE hThread);
HRESULT WINAPI SetThreadDescription(HANDLE hThread, PCWSTR lpThreadDescription);
DWORD WINAPI QueueUserAPC(PAPCFUNC pfnAPC, HANDLE hThread, ULONG_PTR dwData);
BOOL WINAPI SwitchToThread(VOID);
DWORD WINAPI GetCurrentProcessorNumber(VOID);
VOID WINAPI GetCurrentProcessorNumberEx(PPROCESSOR_NUMBER ProcNumber);
DWORD WINAPI SuspendThread(HANDLE hThread)
	ETW_NOT_HERE("SuspendThread: Linux stops no single thread; let the thread wait for an event (CreateEvent)");
BOOL WINAPI TerminateThread(HANDLE hThread, DWORD dwExitCode)
	ETW_NOT_HERE("TerminateThread: Linux ends no thread from outside; ask it to end by an event (CreateEvent)");

DWORD WINAPI TlsAlloc(VOID);
LPVOID WINAPI TlsGetValue(DWORD dwTlsIndex);
BOOL WINAPI TlsSetValue(DWORD dwTlsIndex, LPVOID lpTlsValue);
BOOL WINAPI TlsFree(DWORD dwTlsIndex);

HANDLE WINAPI GetCurrentProcess(VOID);
DWORD WINAPI GetCurrentProcessId(VOID);
HANDLE WINAPI OpenProcess(DWORD dwDesiredAccess, BOOL bInheritHandle, DWORD dwProcessId);
DWORD WINAPI GetProcessId(HANDLE Process);
VOID WINAPI ExitProcess(UINT uExitCode) __attribute__((__noreturn__));
BOOL WINAPI TerminateProcess(HANDLE hProcess, UINT uExitCode);
BOOL WINAPI GetExitCodeProcess(HANDLE hProcess, LPDWORD lpExitCode);
BOOL WINAPI GetProcessTimes(HANDLE hProcess, LPFILETIME lpCreationTime, LPFILETIME lpExitTime,
			    LPFILETIME lpKernelTime, LPFILETIME lpUserTime);
BOOL WINAPI SetPriorityClass(HANDLE hProcess, DWORD dwPriorityClass);
DWORD WINAPI GetPriorityClass(HANDLE hProcess);
BOOL WINAPI ProcessIdToSessionId(DWORD dwProcessId, DWORD *pSessionId);
BOOL WINAPI IsProcessCritical(HANDLE hProcess, PBOOL Critical)
	ETW_NOT_HERE("IsProcessCritical: Linux has no critical processes; process 1 is the one that must not end");
BOOL WINAPI CreateProcessA(LPCSTR lpApplicationName, LPSTR lpCommandLine,
			   LPSECURITY_ATTRIBUTES lpProcessAttributes,
			   LPSECURITY_ATTRIBUTES lpThreadAttributes, BOOL bInheritHandles,
			   DWORD dwCreationFlags, LPVOID lpEnvironment, LPCSTR lpCurrentDirectory,
			   LPVOID lpStartupInfo, LPPROCESS_INFORMATION lpProcessInformation)
	ETW_NOT_HERE("CreateProcess: start programs by posix_spawn(), and wait by OpenProcess() with their number");
BOOL WINAPI CreateProcessW(LPCWSTR lpApplicationName, LPWSTR lpCommandLine,
			   LPSECURITY_ATTRIBUTES lpProcessAttributes,
			   LPSECURITY_ATTRIBUTES lpThreadAttributes, BOOL bInheritHandles,
			   DWORD dwCreationFlags, LPVOID lpEnvironment, LPCWSTR lpCurrentDirectory,
			   LPSTARTUPINFOW lpStartupInfo,
			   LPPROCESS_INFORMATION lpProcessInformation)
	ETW_NOT_HERE("CreateProcess: start programs by posix_spawn(), and wait by OpenProcess() with their number");

BOOL WINAPI OpenProcessToken(HANDLE ProcessHandle, DWORD DesiredAccess, PHANDLE TokenHandle)
	ETW_NOT_HERE("OpenProcessToken is not built yet: ask geteuid(), getgroups() and capget()");
BOOL WINAPI OpenThreadToken(HANDLE ThreadHandle, DWORD DesiredAccess, BOOL OpenAsSelf,
			    PHANDLE TokenHandle)
	ETW_NOT_HERE("OpenThreadToken is not built yet: ask geteuid(), getgroups() and capget()");
ETW_EXTERN_C_END

#define CreateProcess ETW_AW(CreateProcess)
#endif
