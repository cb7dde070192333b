/* SPDX-License-Identifier: MIT */
#include "compat/win32/object.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <psapi.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/process_facts.h"
#include "base/time.h"
#include "compat/win32/text.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#define PROC_TEXT_MAX ((size_t)1 << 22)

struct etw_object *etw_object_current_process(void)
{
	static struct etw_object self = {.type = ETW_OBJECT_PROCESS, .references = 1, .fd = -1};

	self.process.pid = getpid();
	return &self;
}

HANDLE GetCurrentProcess(void)
{
	return (HANDLE)(LONG_PTR)-1;
}

DWORD GetCurrentProcessId(void)
{
	return (DWORD)getpid();
}

HANDLE OpenProcess(DWORD dwDesiredAccess, BOOL bInheritHandle, DWORD dwProcessId)
{
	struct etw_object *process;
	HANDLE handle;
	int fd;

	(void)bInheritHandle;
	if (dwProcessId == 0 || dwProcessId > INT32_MAX)
		return etw_fail_null(ERROR_INVALID_PARAMETER);
	/* Who only looks may look at all that /proc shows; who ends or changes needs the right to. */
	if (dwDesiredAccess & (PROCESS_TERMINATE | PROCESS_SET_INFORMATION | PROCESS_VM_WRITE) &&
	    kill((pid_t)dwProcessId, 0))
		return etw_fail_null(errno == ESRCH ? ERROR_INVALID_PARAMETER
						    : ERROR_ACCESS_DENIED);
	fd = (int)syscall(SYS_pidfd_open, (pid_t)dwProcessId, 0);
	if (fd < 0)
		return etw_fail_null(errno == ESRCH || errno == EINVAL ? ERROR_INVALID_PARAMETER
								       : etw_error_of_errno(errno));
	process = etw_object_create(ETW_OBJECT_PROCESS);
	if (!process) {
		(void)close(fd);
		return NULL;
	}
	process->fd = fd;
	process->process.pid = (pid_t)dwProcessId;
	(void)pthread_mutex_lock(&etw_object_lock);
	handle = etw_handle_open(process);
	(void)pthread_mutex_unlock(&etw_object_lock);
	return handle;
}

void etw_process_ended(struct etw_object *process)
{
	siginfo_t status = {0};

	process->is_signalled = true;
	/* Only its parent learns how it ended; left for the parent to collect. */
	if (!waitid(P_PID, (id_t)process->process.pid, &status, WEXITED | WNOHANG | WNOWAIT) &&
	    status.si_pid == process->process.pid) {
		process->process.is_exit_known = true;
		process->process.exit_code = status.si_code == CLD_EXITED
						     ? (DWORD)status.si_status
						     : 128 + (DWORD)status.si_status;
	}
}

static bool look_whether_ended(struct etw_object *process)
{
	struct pollfd end = {.fd = process->fd, .events = POLLIN};

	if (!process->is_signalled && process->fd >= 0 && poll(&end, 1, 0) == 1)
		etw_process_ended(process);
	return process->is_signalled;
}

DWORD GetProcessId(HANDLE Process)
{
	struct etw_object *process = etw_handle_get(Process, ETW_OBJECT_PROCESS);
	DWORD pid;

	if (!process)
		return 0;
	pid = (DWORD)process->process.pid;
	etw_object_release(process);
	return pid;
}

BOOL GetExitCodeProcess(HANDLE hProcess, LPDWORD lpExitCode)
{
	struct etw_object *process = etw_handle_get(hProcess, ETW_OBJECT_PROCESS);
	bool has_ended, is_known;

	if (!process)
		return FALSE;
	(void)pthread_mutex_lock(&etw_object_lock);
	has_ended = look_whether_ended(process);
	/* Linux tells it to the parent alone. */
	is_known = !has_ended || process->process.is_exit_known;
	if (is_known)
		*lpExitCode = has_ended ? process->process.exit_code : STILL_ACTIVE;
	etw_object_unref(process);
	(void)pthread_mutex_unlock(&etw_object_lock);
	return is_known ? TRUE : etw_fail(ERROR_NOT_SUPPORTED);
}

void ExitProcess(UINT uExitCode)
{
	(void)fflush(NULL);
	_exit((int)uExitCode);
}

BOOL TerminateProcess(HANDLE hProcess, UINT uExitCode)
{
	struct etw_object *process = etw_handle_get(hProcess, ETW_OBJECT_PROCESS);
	BOOL is_ended = TRUE;

	if (!process)
		return FALSE;
	if (process->process.pid == getpid())
		_exit((int)uExitCode);
	if (syscall(SYS_pidfd_send_signal, process->fd, SIGKILL, NULL, 0))
		is_ended = etw_fail(errno == EPERM ? ERROR_ACCESS_DENIED : ERROR_INVALID_PARAMETER);
	etw_object_release(process);
	return is_ended;
}

char *etw_proc_read(const char *path, size_t *ret_bytes)
{
	CLEANUP(etw_file_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t bytes = 0, room = 4096;

	while (fd >= 0 && room <= PROC_TEXT_MAX) {
		char *grown = realloc(text, room + 1);
		size_t more = 0;

		if (!grown)
			break;
		text = grown;
		if (etw_file_read_all(fd, text + bytes, room - bytes, &more))
			break;
		bytes += more;
		text[bytes] = '\0';
		if (bytes < room) {
			*ret_bytes = bytes;
			return text;
		}
		room *= 2;
	}
	free(text);
	return etw_fail_null(fd < 0 ? ERROR_ACCESS_DENIED : ERROR_NOT_ENOUGH_MEMORY);
}

static FILETIME filetime_of(int64_t ft)
{
	return (FILETIME){(DWORD)ft, (DWORD)(ft >> 32)};
}

/* The numbers of /proc/<pid>/stat behind the name, from `state` on as field 3. */
static bool read_times(const char *path, int64_t *user_ft, int64_t *kernel_ft)
{
	unsigned long long user, kernel;
	bool is_read = false;
	size_t bytes;
	char *text = etw_proc_read(path, &bytes);
	const char *at;

	if (!text)
		return false;
	at = strrchr(text, ')');
	if (at && sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
			 &kernel) == 2) {
		const int64_t tick_ft = ETW_FILETIME_PER_SECOND / sysconf(_SC_CLK_TCK);

		*user_ft = (int64_t)user * tick_ft;
		*kernel_ft = (int64_t)kernel * tick_ft;
		is_read = true;
	}
	free(text);
	return is_read;
}

static int64_t start_of(pid_t pid)
{
	const uint64_t start_ns = etw_process_start_boot_ns((uint32_t)pid);

	if (!start_ns)
		return 0;
	return etw_filetime_now() -
	       (int64_t)((etw_time_read_ns(CLOCK_BOOTTIME) - start_ns) / ETW_NS_PER_FT);
}

BOOL GetProcessTimes(HANDLE hProcess, LPFILETIME lpCreationTime, LPFILETIME lpExitTime,
		     LPFILETIME lpKernelTime, LPFILETIME lpUserTime)
{
	struct etw_object *process = etw_handle_get(hProcess, ETW_OBJECT_PROCESS);
	int64_t user_ft = 0, kernel_ft = 0;
	char path[40];
	BOOL is_read;

	if (!process)
		return FALSE;
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)process->process.pid);
	is_read = read_times(path, &user_ft, &kernel_ft);
	*lpCreationTime = filetime_of(start_of(process->process.pid));
	*lpExitTime = filetime_of(0);
	*lpKernelTime = filetime_of(kernel_ft);
	*lpUserTime = filetime_of(user_ft);
	etw_object_release(process);
	return is_read ? TRUE : etw_fail(ERROR_ACCESS_DENIED);
}

BOOL GetThreadTimes(HANDLE hThread, LPFILETIME lpCreationTime, LPFILETIME lpExitTime,
		    LPFILETIME lpKernelTime, LPFILETIME lpUserTime)
{
	struct etw_object *thread = etw_handle_get(hThread, ETW_OBJECT_THREAD);
	int64_t user_ft = 0, kernel_ft = 0;
	char path[64];

	if (!thread)
		return FALSE;
	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread->thread.tid);
	(void)read_times(path, &user_ft, &kernel_ft);
	*lpCreationTime = filetime_of(thread->thread.created_ft);
	*lpExitTime = filetime_of(thread->thread.ended_ft);
	*lpKernelTime = filetime_of(kernel_ft);
	*lpUserTime = filetime_of(user_ft);
	etw_object_release(thread);
	return TRUE;
}

char *etw_process_path(pid_t pid)
{
	char link[40], path[4096];
	ssize_t bytes;

	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	bytes = readlink(link, path, sizeof(path) - 1);
	if (bytes < 0)
		return etw_fail_null(errno == ENOENT ? ERROR_GEN_FAILURE
						     : etw_error_of_errno(errno));
	path[bytes] = '\0';
	return strdup(path);
}

static char *path_of(HANDLE handle)
{
	struct etw_object *process = etw_handle_get(handle, ETW_OBJECT_PROCESS);
	char *path = process ? etw_process_path(process->process.pid) : NULL;

	etw_object_release(process);
	return path;
}

BOOL QueryFullProcessImageNameA(HANDLE hProcess, DWORD dwFlags, LPSTR lpExeName, PDWORD lpdwSize)
{
	char *path = path_of(hProcess);
	BOOL is_returned;

	(void)dwFlags;
	if (!path)
		return FALSE;
	is_returned = etw_return_sized_narrow(path, lpExeName, lpdwSize, ERROR_INSUFFICIENT_BUFFER,
					      FALSE);
	free(path);
	return is_returned;
}

BOOL QueryFullProcessImageNameW(HANDLE hProcess, DWORD dwFlags, LPWSTR lpExeName, PDWORD lpdwSize)
{
	char *path = path_of(hProcess);
	BOOL is_returned;

	(void)dwFlags;
	if (!path)
		return FALSE;
	is_returned = etw_return_sized_wide(path, lpExeName, lpdwSize, ERROR_INSUFFICIENT_BUFFER,
					    FALSE);
	free(path);
	return is_returned;
}

static DWORD image_narrow(HANDLE handle, LPSTR to, DWORD size, bool is_base)
{
	char *path = path_of(handle);
	DWORD length = 0;

	if (path)
		length = etw_return_narrow(is_base ? strrchr(path, '/') + 1 : path, to, size,
					   ETW_SIZE_CUT);
	free(path);
	return length;
}

static DWORD image_wide(HANDLE handle, LPWSTR to, DWORD size, bool is_base)
{
	char *path = path_of(handle);
	DWORD length = 0;

	if (path)
		length = etw_return_wide(is_base ? strrchr(path, '/') + 1 : path, to, size,
					 ETW_SIZE_CUT);
	free(path);
	return length;
}

DWORD GetProcessImageFileNameA(HANDLE hProcess, LPSTR lpImageFileName, DWORD nSize)
{
	return image_narrow(hProcess, lpImageFileName, nSize, false);
}

DWORD GetProcessImageFileNameW(HANDLE hProcess, LPWSTR lpImageFileName, DWORD nSize)
{
	return image_wide(hProcess, lpImageFileName, nSize, false);
}

DWORD GetModuleFileNameExA(HANDLE hProcess, HMODULE hModule, LPSTR lpFilename, DWORD nSize)
{
	return hModule ? (DWORD)etw_fail(ERROR_INVALID_HANDLE)
		       : image_narrow(hProcess, lpFilename, nSize, false);
}

DWORD GetModuleFileNameExW(HANDLE hProcess, HMODULE hModule, LPWSTR lpFilename, DWORD nSize)
{
	return hModule ? (DWORD)etw_fail(ERROR_INVALID_HANDLE)
		       : image_wide(hProcess, lpFilename, nSize, false);
}

DWORD GetModuleBaseNameA(HANDLE hProcess, HMODULE hModule, LPSTR lpBaseName, DWORD nSize)
{
	return hModule ? (DWORD)etw_fail(ERROR_INVALID_HANDLE)
		       : image_narrow(hProcess, lpBaseName, nSize, true);
}

DWORD GetModuleBaseNameW(HANDLE hProcess, HMODULE hModule, LPWSTR lpBaseName, DWORD nSize)
{
	return hModule ? (DWORD)etw_fail(ERROR_INVALID_HANDLE)
		       : image_wide(hProcess, lpBaseName, nSize, true);
}

BOOL SetPriorityClass(HANDLE hProcess, DWORD dwPriorityClass)
{
	const DWORD pid = GetProcessId(hProcess);
	const int nice_value = dwPriorityClass == IDLE_PRIORITY_CLASS           ? 19
			       : dwPriorityClass == BELOW_NORMAL_PRIORITY_CLASS ? 10
			       : dwPriorityClass == NORMAL_PRIORITY_CLASS       ? 0
			       : dwPriorityClass == ABOVE_NORMAL_PRIORITY_CLASS ? -5
			       : dwPriorityClass == HIGH_PRIORITY_CLASS         ? -10
			       : dwPriorityClass == REALTIME_PRIORITY_CLASS     ? -20
										: 100;

	if (!pid)
		return FALSE;
	if (nice_value == 100)
		return etw_fail(ERROR_INVALID_PARAMETER);
	if (setpriority(PRIO_PROCESS, (id_t)pid, nice_value))
		return etw_fail(etw_error_of_errno(errno));
	return TRUE;
}

DWORD GetPriorityClass(HANDLE hProcess)
{
	const DWORD pid = GetProcessId(hProcess);
	int nice_value;

	if (!pid)
		return 0;
	errno = 0;
	nice_value = getpriority(PRIO_PROCESS, (id_t)pid);
	if (nice_value == -1 && errno)
		return (DWORD)etw_fail(etw_error_of_errno(errno));
	return nice_value >= 15   ? IDLE_PRIORITY_CLASS
	       : nice_value > 0   ? BELOW_NORMAL_PRIORITY_CLASS
	       : nice_value == 0  ? NORMAL_PRIORITY_CLASS
	       : nice_value > -10 ? ABOVE_NORMAL_PRIORITY_CLASS
	       : nice_value > -20 ? HIGH_PRIORITY_CLASS
				  : REALTIME_PRIORITY_CLASS;
}

BOOL ProcessIdToSessionId(DWORD dwProcessId, DWORD *pSessionId)
{
	struct etw_process_facts facts;

	if (etw_process_facts_read(dwProcessId, &facts))
		return etw_fail(ERROR_INVALID_PARAMETER);
	*pSessionId = facts.session_id == ETW_SESSION_ID_UNKNOWN ? 0 : facts.session_id;
	return TRUE;
}

DWORD_PTR SetThreadAffinityMask(HANDLE hThread, DWORD_PTR dwThreadAffinityMask)
{
	const pid_t tid = (pid_t)GetThreadId(hThread);
	cpu_set_t before, set;
	DWORD_PTR mask = 0;

	CPU_ZERO(&before);
	CPU_ZERO(&set);
	if (!tid || sched_getaffinity(tid, sizeof(before), &before))
		return 0;
	for (size_t i = 0; i < 64; i++) {
		if (CPU_ISSET(i, &before))
			mask |= (DWORD_PTR)1 << i;
		if (dwThreadAffinityMask >> i & 1)
			CPU_SET(i, &set);
	}
	if (sched_setaffinity(tid, sizeof(set), &set))
		return (DWORD_PTR)etw_fail(ERROR_INVALID_PARAMETER);
	return mask;
}

BOOL GetProcessAffinityMask(HANDLE hProcess, PDWORD_PTR lpProcessAffinityMask,
			    PDWORD_PTR lpSystemAffinityMask)
{
	const DWORD pid = GetProcessId(hProcess);
	const long count = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	if (!pid || sched_getaffinity((pid_t)pid, sizeof(set), &set))
		return FALSE;
	*lpProcessAffinityMask = 0;
	for (size_t i = 0; i < 64; i++) {
		if (CPU_ISSET(i, &set))
			*lpProcessAffinityMask |= (DWORD_PTR)1 << i;
	}
	*lpSystemAffinityMask = count >= 64 ? ~(DWORD_PTR)0 : ((DWORD_PTR)1 << count) - 1;
	return TRUE;
}
