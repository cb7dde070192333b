/* SPDX-License-Identifier: MIT */
#include "compat/win32/object.h"

#include <errno.h>
#include <process.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/time.h"
#include "compat/win32/text.h"

#define STACK_BYTES_MIN ((size_t)1 << 20)

static pthread_key_t current_key;
static pthread_once_t current_once = PTHREAD_ONCE_INIT;

/* Gives up what a thread owns: whoever waits for its mutexes learns that they were left behind. */
static void abandon_mutexes(struct etw_object *thread)
{
	while (thread->thread.owned_mutexes) {
		struct etw_object *mutex = thread->thread.owned_mutexes;

		thread->thread.owned_mutexes = mutex->mutex.next_owned;
		mutex->mutex.owner = NULL;
		mutex->mutex.depth = 0;
		mutex->mutex.is_abandoned = true;
		etw_object_changed(mutex);
	}
}

static void end_current(void *value)
{
	struct etw_object *thread = value;

	(void)pthread_mutex_lock(&etw_object_lock);
	abandon_mutexes(thread);
	thread->thread.ended_ft = etw_filetime_now();
	thread->is_signalled = true;
	etw_object_changed(thread);
	etw_object_unref(thread);
	(void)pthread_mutex_unlock(&etw_object_lock);
}

static void make_key(void)
{
	(void)pthread_key_create(&current_key, end_current);
}

static struct etw_object *create_record(void)
{
	struct etw_object *thread = etw_object_create(ETW_OBJECT_THREAD);

	if (!thread)
		return NULL;
	(void)pthread_cond_init(&thread->thread.changed, NULL);
	thread->thread.exit_code = STILL_ACTIVE;
	thread->thread.created_ft = etw_filetime_now();
	return thread;
}

void etw_object_thread_done(struct etw_object *thread)
{
	while (thread->thread.calls) {
		struct etw_call *call = thread->thread.calls;

		thread->thread.calls = call->next;
		free(call);
	}
	(void)pthread_cond_destroy(&thread->thread.changed);
}

struct etw_object *etw_object_current_thread(void)
{
	struct etw_object *thread;

	(void)pthread_once(&current_once, make_key);
	thread = pthread_getspecific(current_key);
	if (thread)
		return thread;
	thread = create_record();
	if (!thread)
		return NULL;
	thread->thread.tid = gettid();
	thread->thread.id = pthread_self();
	(void)pthread_setspecific(current_key, thread);
	return thread;
}

static void *run(void *argument)
{
	struct etw_object *thread = argument;

	(void)pthread_once(&current_once, make_key);
	(void)pthread_mutex_lock(&etw_object_lock);
	(void)pthread_setspecific(current_key, thread);
	thread->thread.tid = gettid();
	thread->thread.is_begun = true;
	(void)pthread_cond_broadcast(&thread->thread.changed);
	while (thread->thread.suspended)
		(void)pthread_cond_wait(&thread->thread.changed, &etw_object_lock);
	(void)pthread_mutex_unlock(&etw_object_lock);
	if (!_setjmp(thread->thread.exit)) {
		const DWORD code = thread->thread.start(thread->thread.argument);

		(void)pthread_mutex_lock(&etw_object_lock);
		thread->thread.exit_code = code;
		(void)pthread_mutex_unlock(&etw_object_lock);
	}
	return NULL;
}

static int begin(struct etw_object *thread, size_t stack_bytes)
{
	pthread_attr_t attributes;
	int error;

	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (stack_bytes > STACK_BYTES_MIN)
		(void)pthread_attr_setstacksize(&attributes, (stack_bytes + 4095) & ~(size_t)4095);
	error = pthread_create(&thread->thread.id, &attributes, run, thread);
	(void)pthread_attr_destroy(&attributes);
	return error;
}

HANDLE CreateThread(LPSECURITY_ATTRIBUTES lpThreadAttributes, SIZE_T dwStackSize,
		    LPTHREAD_START_ROUTINE lpStartAddress, LPVOID lpParameter,
		    DWORD dwCreationFlags, LPDWORD lpThreadId)
{
	struct etw_object *thread;
	HANDLE handle = NULL;
	int error;

	(void)lpThreadAttributes;
	if (!lpStartAddress)
		return etw_fail_null(ERROR_INVALID_PARAMETER);
	thread = create_record();
	if (!thread)
		return NULL;
	thread->thread.start = lpStartAddress;
	thread->thread.argument = lpParameter;
	thread->thread.suspended = (dwCreationFlags & CREATE_SUSPENDED) != 0;
	thread->thread.is_ours = true;
	(void)pthread_mutex_lock(&etw_object_lock);
	handle = etw_handle_open(etw_object_ref(thread));
	if (!handle) {
		etw_object_unref(thread);
		(void)pthread_mutex_unlock(&etw_object_lock);
		return NULL;
	}
	error = begin(thread, dwStackSize);
	while (!error && !thread->thread.is_begun)
		(void)pthread_cond_wait(&thread->thread.changed, &etw_object_lock);
	if (lpThreadId)
		*lpThreadId = (DWORD)thread->thread.tid;
	if (error)
		etw_object_unref(thread);
	(void)pthread_mutex_unlock(&etw_object_lock);
	if (error) {
		(void)CloseHandle(handle);
		return etw_fail_null(etw_error_of_errno(error));
	}
	return handle;
}

void ExitThread(DWORD dwExitCode)
{
	struct etw_object *thread;
	bool is_ours;

	(void)pthread_mutex_lock(&etw_object_lock);
	thread = etw_object_current_thread();
	is_ours = thread && thread->thread.is_ours;
	if (thread)
		thread->thread.exit_code = dwExitCode;
	(void)pthread_mutex_unlock(&etw_object_lock);
	if (is_ours)
		_longjmp(thread->thread.exit, 1);
	pthread_exit(NULL);
}

BOOL GetExitCodeThread(HANDLE hThread, LPDWORD lpExitCode)
{
	struct etw_object *thread = etw_handle_get(hThread, ETW_OBJECT_THREAD);

	if (!thread)
		return FALSE;
	(void)pthread_mutex_lock(&etw_object_lock);
	/* Until it has ended, whatever it is about to return. */
	*lpExitCode = thread->is_signalled ? thread->thread.exit_code : STILL_ACTIVE;
	etw_object_unref(thread);
	(void)pthread_mutex_unlock(&etw_object_lock);
	return TRUE;
}

DWORD ResumeThread(HANDLE hThread)
{
	struct etw_object *thread = etw_handle_get(hThread, ETW_OBJECT_THREAD);
	DWORD before;

	if (!thread)
		return (DWORD)-1;
	(void)pthread_mutex_lock(&etw_object_lock);
	before = thread->thread.suspended;
	if (before)
		thread->thread.suspended--;
	(void)pthread_cond_broadcast(&thread->thread.changed);
	etw_object_unref(thread);
	(void)pthread_mutex_unlock(&etw_object_lock);
	return before;
}

HANDLE GetCurrentThread(void)
{
	return (HANDLE)(LONG_PTR)-2;
}

DWORD GetCurrentThreadId(void)
{
	return (DWORD)gettid();
}

DWORD GetThreadId(HANDLE Thread)
{
	struct etw_object *thread = etw_handle_get(Thread, ETW_OBJECT_THREAD);
	DWORD tid;

	if (!thread)
		return 0;
	tid = (DWORD)thread->thread.tid;
	etw_object_release(thread);
	return tid;
}

DWORD GetProcessIdOfThread(HANDLE Thread)
{
	return GetThreadId(Thread) ? (DWORD)getpid() : 0;
}

BOOL SwitchToThread(void)
{
	(void)sched_yield();
	return TRUE;
}

DWORD GetCurrentProcessorNumber(void)
{
	const int cpu = sched_getcpu();

	return cpu < 0 ? 0 : (DWORD)cpu;
}

void GetCurrentProcessorNumberEx(PPROCESSOR_NUMBER ProcNumber)
{
	const DWORD cpu = GetCurrentProcessorNumber();

	*ProcNumber = (PROCESSOR_NUMBER){.Group = (WORD)(cpu / 64), .Number = (BYTE)(cpu % 64)};
}

BOOL SetThreadPriority(HANDLE hThread, int nPriority)
{
	struct etw_object *thread = etw_handle_get(hThread, ETW_OBJECT_THREAD);
	BOOL is_set = TRUE;

	if (!thread)
		return FALSE;
	/* Priorities -15 .. 15 become nice values 19 .. -19; who may not go up hears of it. */
	if (setpriority(PRIO_PROCESS, (id_t)thread->thread.tid,
			nPriority == THREAD_PRIORITY_NORMAL ? 0
			: nPriority <= THREAD_PRIORITY_IDLE ? 19
			: -nPriority * 4 < -19              ? -19
							    : -nPriority * 4))
		is_set = etw_fail(etw_error_of_errno(errno));
	else
		thread->thread.priority = nPriority;
	etw_object_release(thread);
	return is_set;
}

int GetThreadPriority(HANDLE hThread)
{
	struct etw_object *thread = etw_handle_get(hThread, ETW_OBJECT_THREAD);
	int priority;

	if (!thread)
		return THREAD_PRIORITY_ERROR_RETURN;
	priority = thread->thread.priority;
	etw_object_release(thread);
	return priority;
}

HRESULT SetThreadDescription(HANDLE hThread, PCWSTR lpThreadDescription)
{
	struct etw_object *thread = etw_handle_get(hThread, ETW_OBJECT_THREAD);
	char *name = etw_narrow(lpThreadDescription);
	char cut[16] = "";
	HRESULT result = E_HANDLE;

	if (thread && name) {
		for (size_t i = 0; i < sizeof(cut) - 1 && name[i]; i++)
			cut[i] = name[i];
		(void)pthread_mutex_lock(&etw_object_lock);
		/* The C library frees the thread once it has ended. */
		if (!thread->is_signalled)
			result = pthread_setname_np(thread->thread.id, cut) ? E_FAIL : S_OK;
		(void)pthread_mutex_unlock(&etw_object_lock);
	}
	free(name);
	etw_object_release(thread);
	return result;
}

/* --- Slots of each thread. */
DWORD TlsAlloc(void)
{
	pthread_key_t key;

	if (pthread_key_create(&key, NULL)) {
		SetLastError(ERROR_NO_SYSTEM_RESOURCES);
		return TLS_OUT_OF_INDEXES;
	}
	return (DWORD)key;
}

LPVOID TlsGetValue(DWORD dwTlsIndex)
{
	SetLastError(ERROR_SUCCESS);
	return pthread_getspecific((pthread_key_t)dwTlsIndex);
}

BOOL TlsSetValue(DWORD dwTlsIndex, LPVOID lpTlsValue)
{
	if (pthread_setspecific((pthread_key_t)dwTlsIndex, lpTlsValue))
		return etw_fail(ERROR_INVALID_PARAMETER);
	return TRUE;
}

BOOL TlsFree(DWORD dwTlsIndex)
{
	if (pthread_key_delete((pthread_key_t)dwTlsIndex))
		return etw_fail(ERROR_INVALID_PARAMETER);
	return TRUE;
}

/* --- The C run time's. */
uintptr_t _beginthreadex(void *security, unsigned stack_size, unsigned (*start_address)(void *),
			 void *arglist, unsigned initflag, unsigned *thrdaddr)
{
	HANDLE handle = CreateThread((LPSECURITY_ATTRIBUTES)security, stack_size,
				     (LPTHREAD_START_ROUTINE)start_address, arglist, initflag,
				     (LPDWORD)thrdaddr);

	if (!handle)
		errno = start_address ? EAGAIN : EINVAL;
	return (uintptr_t)handle;
}

void _endthreadex(unsigned retval)
{
	ExitThread(retval);
}

struct plain_start {
	void (*start)(void *);
	void *argument;
};

static DWORD run_plain(void *argument)
{
	const struct plain_start plain = *(struct plain_start *)argument;

	free(argument);
	plain.start(plain.argument);
	return 0;
}

uintptr_t _beginthread(void (*start_address)(void *), unsigned stack_size, void *arglist)
{
	struct plain_start *plain = malloc(sizeof(*plain));
	HANDLE handle;

	if (!plain || !start_address) {
		errno = start_address ? ENOMEM : EINVAL;
		free(plain);
		return (uintptr_t)-1;
	}
	*plain = (struct plain_start){start_address, arglist};
	handle = CreateThread(NULL, stack_size, run_plain, plain, 0, NULL);
	if (!handle) {
		free(plain);
		errno = EAGAIN;
		return (uintptr_t)-1;
	}
	/* It closes its handle itself; the number stays good to look at alone. */
	(void)CloseHandle(handle);
	return (uintptr_t)handle;
}

void _endthread(void)
{
	ExitThread(0);
}
