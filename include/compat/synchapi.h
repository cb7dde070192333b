/* SPDX-License-Identifier: MIT */
/* Events, mutexes, semaphores, timers, waits; critical sections and the other locks of one process. */
#ifndef ETW_COMPAT_SYNCHAPI_H
#define ETW_COMPAT_SYNCHAPI_H

#include <minwinbase.h>

#define WAIT_OBJECT_0      0x00000000
#define WAIT_ABANDONED     0x00000080
#define WAIT_ABANDONED_0   0x00000080
#define WAIT_IO_COMPLETION 0x000000C0
#define WAIT_FAILED        ((DWORD)0xFFFFFFFF)
#ifndef WAIT_TIMEOUT
#define WAIT_TIMEOUT 258
#endif

#define CREATE_EVENT_MANUAL_RESET             0x00000001
#define CREATE_EVENT_INITIAL_SET              0x00000002
#define CREATE_MUTEX_INITIAL_OWNER            0x00000001
#define CREATE_WAITABLE_TIMER_MANUAL_RESET    0x00000001
#define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 0x00000002

typedef VOID(WINAPI *PTIMERAPCROUTINE)(LPVOID lpArgToCompletionRoutine, DWORD dwTimerLowValue,
				       DWORD dwTimerHighValue);

ETW_EXTERN_C_BEGIN
HANDLE WINAPI CreateEventA(LPSECURITY_ATTRIBUTES lpEventAttributes, BOOL bManualReset,
			   BOOL bInitialState, LPCSTR lpName);
HANDLE WINAPI CreateEventW(LPSECURITY_ATTRIBUTES lpEventAttributes, BOOL bManualReset,
			   BOOL bInitialState, LPCWSTR lpName);
HANDLE WINAPI CreateEventExA(LPSECURITY_ATTRIBUTES lpEventAttributes, LPCSTR lpName, DWORD dwFlags,
			     DWORD dwDesiredAccess);
HANDLE WINAPI CreateEventExW(LPSECURITY_ATTRIBUTES lpEventAttributes, LPCWSTR lpName, DWORD dwFlags,
			     DWORD dwDesiredAccess);
HANDLE WINAPI OpenEventA(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCSTR lpName);
HANDLE WINAPI OpenEventW(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCWSTR lpName);
BOOL WINAPI SetEvent(HANDLE hEvent);
BOOL WINAPI ResetEvent(HANDLE hEvent);
BOOL WINAPI PulseEvent(HANDLE hEvent);

HANDLE WINAPI CreateMutexA(LPSECURITY_ATTRIBUTES lpMutexAttributes, BOOL bInitialOwner,
			   LPCSTR lpName);
HANDLE WINAPI CreateMutexW(LPSECURITY_ATTRIBUTES lpMutexAttributes, BOOL bInitialOwner,
			   LPCWSTR lpName);
HANDLE WINAPI OpenMutexA(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCSTR lpName);
HANDLE WINAPI OpenMutexW(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCWSTR lpName);
BOOL WINAPI ReleaseMutex(HANDLE hMutex);

HANDLE WINAPI CreateSemaphoreA(LPSECURITY_ATTRIBUTES lpSemaphoreAttributes, LONG lInitialCount,
			       LONG lMaximumCount, LPCSTR lpName);
HANDLE WINAPI CreateSemaphoreW(LPSECURITY_ATTRIBUTES lpSemaphoreAttributes, LONG lInitialCount,
			       LONG lMaximumCount, LPCWSTR lpName);
HANDLE WINAPI OpenSemaphoreA(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCSTR lpName);
HANDLE WINAPI OpenSemaphoreW(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCWSTR lpName);
BOOL WINAPI ReleaseSemaphore(HANDLE hSemaphore, LONG lReleaseCount, LPLONG lpPreviousCount);

HANDLE WINAPI CreateWaitableTimerA(LPSECURITY_ATTRIBUTES lpTimerAttributes, BOOL bManualReset,
				   LPCSTR lpTimerName);
HANDLE WINAPI CreateWaitableTimerW(LPSECURITY_ATTRIBUTES lpTimerAttributes, BOOL bManualReset,
				   LPCWSTR lpTimerName);
HANDLE WINAPI CreateWaitableTimerExW(LPSECURITY_ATTRIBUTES lpTimerAttributes, LPCWSTR lpTimerName,
				     DWORD dwFlags, DWORD dwDesiredAccess);
BOOL WINAPI SetWaitableTimer(HANDLE hTimer, const LARGE_INTEGER *lpDueTime, LONG lPeriod,
			     PTIMERAPCROUTINE pfnCompletionRoutine, LPVOID lpArgToCompletionRoutine,
			     BOOL fResume);
BOOL WINAPI CancelWaitableTimer(HANDLE hTimer);

DWORD WINAPI WaitForSingleObject(HANDLE hHandle, DWORD dwMilliseconds);
DWORD WINAPI WaitForSingleObjectEx(HANDLE hHandle, DWORD dwMilliseconds, BOOL bAlertable);
DWORD WINAPI WaitForMultipleObjects(DWORD nCount, const HANDLE *lpHandles, BOOL bWaitAll,
				    DWORD dwMilliseconds);
DWORD WINAPI WaitForMultipleObjectsEx(DWORD nCount, const HANDLE *lpHandles, BOOL bWaitAll,
				      DWORD dwMilliseconds, BOOL bAlertable);
DWORD WINAPI SignalObjectAndWait(HANDLE hObjectToSignal, HANDLE hObjectToWaitOn,
				 DWORD dwMilliseconds, BOOL bAlertable);
VOID WINAPI Sleep(DWORD dwMilliseconds);
DWORD WINAPI SleepEx(DWORD dwMilliseconds, BOOL bAlertable);
ETW_EXTERN_C_END

#define CreateEvent           ETW_AW(CreateEvent)
#define CreateEventEx         ETW_AW(CreateEventEx)
#define OpenEvent             ETW_AW(OpenEvent)
#define CreateMutex           ETW_AW(CreateMutex)
#define OpenMutex             ETW_AW(OpenMutex)
#define CreateSemaphore       ETW_AW(CreateSemaphore)
#define OpenSemaphore         ETW_AW(OpenSemaphore)
#define CreateWaitableTimer   ETW_AW(CreateWaitableTimer)
#define CreateWaitableTimerEx CreateWaitableTimerExW

/* --- Locks of one process. */
typedef SRWLOCK RTL_SRWLOCK;
typedef struct _CONDITION_VARIABLE {
	PVOID Ptr;
} CONDITION_VARIABLE, *PCONDITION_VARIABLE;
typedef union _INIT_ONCE {
	PVOID Ptr;
} INIT_ONCE, *PINIT_ONCE, *LPINIT_ONCE;
typedef BOOL(WINAPI *PINIT_ONCE_FN)(PINIT_ONCE InitOnce, PVOID Parameter, PVOID *Context);

#define SRWLOCK_INIT               {0}
#define CONDITION_VARIABLE_INIT    {0}
#define INIT_ONCE_STATIC_INIT      {0}
#define CONDITION_VARIABLE_LOCKMODE_SHARED 0x1
#define INIT_ONCE_CHECK_ONLY       0x1
#define INIT_ONCE_ASYNC            0x2
#define INIT_ONCE_INIT_FAILED      0x4

ETW_EXTERN_C_BEGIN
VOID WINAPI InitializeCriticalSection(LPCRITICAL_SECTION lpCriticalSection);
BOOL WINAPI InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION lpCriticalSection,
						  DWORD dwSpinCount);
BOOL WINAPI InitializeCriticalSectionEx(LPCRITICAL_SECTION lpCriticalSection, DWORD dwSpinCount,
					DWORD Flags);
VOID WINAPI EnterCriticalSection(LPCRITICAL_SECTION lpCriticalSection);
BOOL WINAPI TryEnterCriticalSection(LPCRITICAL_SECTION lpCriticalSection);
VOID WINAPI LeaveCriticalSection(LPCRITICAL_SECTION lpCriticalSection);
VOID WINAPI DeleteCriticalSection(LPCRITICAL_SECTION lpCriticalSection);

VOID WINAPI InitializeSRWLock(PSRWLOCK SRWLock);
VOID WINAPI AcquireSRWLockExclusive(PSRWLOCK SRWLock);
VOID WINAPI AcquireSRWLockShared(PSRWLOCK SRWLock);
BOOLEAN WINAPI TryAcquireSRWLockExclusive(PSRWLOCK SRWLock);
BOOLEAN WINAPI TryAcquireSRWLockShared(PSRWLOCK SRWLock);
VOID WINAPI ReleaseSRWLockExclusive(PSRWLOCK SRWLock);
VOID WINAPI ReleaseSRWLockShared(PSRWLOCK SRWLock);

VOID WINAPI InitializeConditionVariable(PCONDITION_VARIABLE ConditionVariable);
BOOL WINAPI SleepConditionVariableCS(PCONDITION_VARIABLE ConditionVariable,
				     PCRITICAL_SECTION CriticalSection, DWORD dwMilliseconds);
BOOL WINAPI SleepConditionVariableSRW(PCONDITION_VARIABLE ConditionVariable, PSRWLOCK SRWLock,
				      DWORD dwMilliseconds, ULONG Flags);
VOID WINAPI WakeConditionVariable(PCONDITION_VARIABLE ConditionVariable);
VOID WINAPI WakeAllConditionVariable(PCONDITION_VARIABLE ConditionVariable);

VOID WINAPI InitOnceInitialize(PINIT_ONCE InitOnce);
BOOL WINAPI InitOnceExecuteOnce(PINIT_ONCE InitOnce, PINIT_ONCE_FN InitFn, PVOID Parameter,
				LPVOID *Context);
ETW_EXTERN_C_END
#endif
