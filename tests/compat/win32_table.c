/* SPDX-License-Identifier: MIT */
/*
 * What src/compat/win32 does, held against the pages of learn.microsoft.com of each function. Legal C and C++.
 * Exit status 0: all hold.
 */
#include <windows.h>

#include <shellapi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <versionhelpers.h>

static int failures;

#define CHECK(condition)                                                                          \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: %s (error %u)\n", __FILE__, __LINE__, #condition, \
				(unsigned)GetLastError());                                        \
			failures++;                                                               \
		}                                                                                 \
	} while (0)

static int same(LPCWSTR left, LPCWSTR right)
{
	return lstrcmpW(left, right) == 0;
}

/* --- "CreateEvent function", "WaitForMultipleObjects function". */
static void check_events(void)
{
	HANDLE manual = CreateEventW(NULL, TRUE, FALSE, NULL);
	HANDLE single = CreateEventW(NULL, FALSE, TRUE, L"Global\\etw_table");
	HANDLE again, both[2];

	CHECK(WaitForSingleObject(manual, 0) == WAIT_TIMEOUT);
	CHECK(SetEvent(manual) && WaitForSingleObject(manual, 0) == WAIT_OBJECT_0);
	CHECK(WaitForSingleObject(manual, INFINITE) == WAIT_OBJECT_0);
	again = CreateEventA(NULL, TRUE, FALSE, "Global\\etw_table");
	CHECK(again && GetLastError() == ERROR_ALREADY_EXISTS);
	CHECK(WaitForSingleObject(again, 0) == WAIT_OBJECT_0);
	CHECK(WaitForSingleObject(single, 0) == WAIT_TIMEOUT);
	both[0] = single;
	both[1] = manual;
	CHECK(WaitForMultipleObjects(2, both, FALSE, 0) == WAIT_OBJECT_0 + 1);
	CHECK(WaitForMultipleObjects(2, both, TRUE, 10) == WAIT_TIMEOUT);
	CHECK(SetEvent(again) && WaitForMultipleObjects(2, both, TRUE, 0) == WAIT_OBJECT_0);
	CHECK(WaitForSingleObject(single, 0) == WAIT_TIMEOUT);
	CHECK(ResetEvent(manual) && WaitForSingleObject(manual, 0) == WAIT_TIMEOUT);
	CHECK(WaitForMultipleObjects(0, both, FALSE, 0) == WAIT_FAILED);
	CHECK(GetLastError() == ERROR_INVALID_PARAMETER);
	CHECK(CloseHandle(again) && CloseHandle(single) && CloseHandle(manual));
	CHECK(!CloseHandle(manual) && GetLastError() == ERROR_INVALID_HANDLE);
	CHECK(WaitForSingleObject(manual, 0) == WAIT_FAILED);
	CHECK(!OpenEventW(EVENT_ALL_ACCESS, FALSE, L"etw_table"));
	CHECK(GetLastError() == ERROR_FILE_NOT_FOUND);
}

static DWORD WINAPI take_mutex(LPVOID mutex)
{
	return WaitForSingleObject((HANDLE)mutex, INFINITE);
}

static DWORD WINAPI exit_deep(LPVOID unused)
{
	(void)unused;
	ExitThread(77);
}

static void NTAPI count_call(ULONG_PTR at)
{
	++*(int *)at;
}

/* --- "CreateThread function", "Mutex Objects", "QueueUserAPC function". */
static void check_threads(void)
{
	HANDLE mutex = CreateMutexW(NULL, FALSE, NULL);
	HANDLE thread = CreateThread(NULL, 0, take_mutex, mutex, CREATE_SUSPENDED, NULL);
	DWORD code = 0, id = 0;
	int calls = 0;

	CHECK(GetExitCodeThread(thread, &code) && code == STILL_ACTIVE);
	CHECK(WaitForSingleObject(thread, 20) == WAIT_TIMEOUT);
	CHECK(ResumeThread(thread) == 1);
	CHECK(WaitForSingleObject(thread, INFINITE) == WAIT_OBJECT_0);
	CHECK(GetExitCodeThread(thread, &code) && code == WAIT_OBJECT_0);
	CHECK(WaitForSingleObject(mutex, 0) == WAIT_ABANDONED);
	CHECK(WaitForSingleObject(mutex, 0) == WAIT_OBJECT_0);
	CHECK(ReleaseMutex(mutex) && ReleaseMutex(mutex));
	CHECK(!ReleaseMutex(mutex) && GetLastError() == ERROR_NOT_OWNER);
	CHECK(CloseHandle(thread) && CloseHandle(mutex));

	thread = CreateThread(NULL, 0, exit_deep, NULL, 0, &id);
	CHECK(thread && id && GetThreadId(thread) == id);
	CHECK(WaitForSingleObject(thread, INFINITE) == WAIT_OBJECT_0);
	CHECK(GetExitCodeThread(thread, &code) && code == 77 && CloseHandle(thread));
	CHECK(!CreateThread(NULL, 0, NULL, NULL, 0, NULL));

	CHECK(QueueUserAPC(count_call, GetCurrentThread(), (ULONG_PTR)&calls));
	CHECK(SleepEx(0, FALSE) == 0 && calls == 0);
	CHECK(SleepEx(INFINITE, TRUE) == WAIT_IO_COMPLETION && calls == 1);
}

/* --- "CreateSemaphore function", "SetWaitableTimer function", "Critical Section Objects". */
static void check_others(void)
{
	HANDLE semaphore = CreateSemaphoreW(NULL, 1, 2, NULL);
	HANDLE timer = CreateWaitableTimerW(NULL, FALSE, NULL);
	CRITICAL_SECTION section;
	LARGE_INTEGER due;
	LONG before = -1;

	CHECK(WaitForSingleObject(semaphore, 0) == WAIT_OBJECT_0);
	CHECK(WaitForSingleObject(semaphore, 0) == WAIT_TIMEOUT);
	CHECK(ReleaseSemaphore(semaphore, 2, &before) && before == 0);
	CHECK(!ReleaseSemaphore(semaphore, 1, NULL) && GetLastError() == ERROR_TOO_MANY_POSTS);
	due.QuadPart = -10000;
	CHECK(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
	CHECK(WaitForSingleObject(timer, INFINITE) == WAIT_OBJECT_0);
	CHECK(WaitForSingleObject(timer, 20) == WAIT_TIMEOUT);
	CHECK(CloseHandle(semaphore) && CloseHandle(timer));
	InitializeCriticalSection(&section);
	EnterCriticalSection(&section);
	CHECK(TryEnterCriticalSection(&section));
	LeaveCriticalSection(&section);
	LeaveCriticalSection(&section);
	DeleteCriticalSection(&section);
}

/* --- "FileTimeToSystemTime function", "GetDateFormatW function", "GetTimeFormatW function". */
static void check_time(void)
{
	SYSTEMTIME time = {2011, 1, 5, 23, 22, 6, 37, 476};
	FILETIME ft, back = {0, 0x80000000};
	WCHAR text[64];

	CHECK(SystemTimeToFileTime(&time, &ft));
	memset(&time, 0, sizeof(time));
	CHECK(FileTimeToSystemTime(&ft, &time));
	CHECK(time.wYear == 2011 && time.wDayOfWeek == 0 && time.wMilliseconds == 476);
	CHECK(!FileTimeToSystemTime(&back, &time) && GetLastError() == ERROR_INVALID_PARAMETER);
	CHECK(GetDateFormatW(LOCALE_USER_DEFAULT, 0, &time, NULL, text, 64) == 10 &&
	      same(text, L"1/23/2011"));
	CHECK(GetDateFormatW(0x409, DATE_LONGDATE, &time, NULL, text, 64) == 25 &&
	      same(text, L"Sunday, January 23, 2011"));
	CHECK(GetDateFormatW(0x409, 0, &time, L"ddd','MMM dd yy 'o''clock'", text, 64) == 22 &&
	      same(text, L"Sun,Jan 23 11 o'clock"));
	CHECK(GetTimeFormatW(0x409, 0, &time, NULL, text, 64) == 12 && same(text, L"10:06:37 PM"));
	CHECK(GetTimeFormatW(0x409, 0, &time, L"HH':'mm':'ss", text, 64) == 9 &&
	      same(text, L"22:06:37"));
	CHECK(GetTimeFormatW(0x409, 0, &time, L"HH':'mm':'ss", text, 0) == 9);
	CHECK(!GetTimeFormatW(0x409, 0, &time, L"HH':'mm", text, 3));
	CHECK(GetLastError() == ERROR_INSUFFICIENT_BUFFER);
	CHECK(!GetTimeFormatW(0x409, TIME_NOSECONDS, &time, L"H", text, 64));
	CHECK(GetLastError() == ERROR_INVALID_FLAGS);
	time.wMonth = 13;
	CHECK(!SystemTimeToFileTime(&time, &ft) && GetLastError() == ERROR_INVALID_PARAMETER);
}

/* --- "MultiByteToWideChar function", "WideCharToMultiByte function". */
static void check_code_pages(void)
{
	WCHAR wide[8];
	char narrow[16];

	CHECK(MultiByteToWideChar(CP_UTF8, 0, "a\xC3\xA4", -1, NULL, 0) == 3);
	CHECK(MultiByteToWideChar(CP_UTF8, 0, "a\xC3\xA4", -1, wide, 8) == 3 && wide[1] == 0xE4);
	CHECK(MultiByteToWideChar(CP_UTF8, 0, "\xF0\x9F\x98\x80", 4, wide, 8) == 2 &&
	      wide[0] == 0xD83D);
	CHECK(!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, "\xFF", 1, wide, 8));
	CHECK(GetLastError() == ERROR_NO_UNICODE_TRANSLATION);
	CHECK(MultiByteToWideChar(CP_UTF8, 0, "\xFF", 1, wide, 8) == 1 && wide[0] == 0xFFFD);
	CHECK(!MultiByteToWideChar(CP_UTF8, MB_PRECOMPOSED, "a", 1, wide, 8));
	CHECK(GetLastError() == ERROR_INVALID_FLAGS);
	CHECK(!MultiByteToWideChar(CP_UTF8, 0, "a", 0, wide, 8) &&
	      GetLastError() == ERROR_INVALID_PARAMETER);
	CHECK(!MultiByteToWideChar(CP_UTF8, 0, "abc", 3, wide, 2));
	CHECK(GetLastError() == ERROR_INSUFFICIENT_BUFFER);
	CHECK(WideCharToMultiByte(CP_UTF8, 0, L"\x20AC", -1, narrow, 16, NULL, NULL) == 4);
	CHECK(!strcmp(narrow, "\xE2\x82\xAC"));
	CHECK(WideCharToMultiByte(1252, 0, L"\x20AC\x416", 2, narrow, 16, NULL, NULL) == 2);
	CHECK(narrow[0] == '\x80' && narrow[1] == '?');
}

/* --- "FormatMessageW function". */
static void check_messages(void)
{
	DWORD_PTR arguments[4];
	WCHAR text[128], *made = NULL;
	char narrow[64];

	CHECK(FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, 5,
			     0x400, text, 128, NULL) == 19);
	CHECK(same(text, L"Access is denied.\r\n"));
	CHECK(FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM, NULL, 0x80070005U, 0, narrow, 64, NULL) ==
	      19);
	CHECK(!FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM, NULL, 0x12345, 0, text, 128, NULL));
	CHECK(GetLastError() == ERROR_MR_MID_NOT_FOUND);
	CHECK(!FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM, NULL, 5, 0, text, 4, NULL));
	CHECK(GetLastError() == ERROR_INSUFFICIENT_BUFFER);
	arguments[0] = 4;
	arguments[1] = 2;
	arguments[2] = (DWORD_PTR)L"Bill";
	arguments[3] = 0xAB;
	CHECK(FormatMessageW(FORMAT_MESSAGE_FROM_STRING | FORMAT_MESSAGE_ARGUMENT_ARRAY |
				     FORMAT_MESSAGE_ALLOCATE_BUFFER,
			     L"%1!*.*s! %4!04x! %3%%%!%n%0gone", 0, 0, (LPWSTR)&made, 0,
			     (va_list *)arguments) == 18);
	CHECK(made && same(made, L"  Bi 00ab Bill%!\r\n"));
	CHECK(LocalFree(made) == NULL);
}

/* --- "CommandLineToArgvW function". */
static void check_command_lines(void)
{
	int count = 0;
	LPWSTR *arguments = CommandLineToArgvW(L"\"a b\" \"abc\" d\\e a\\\\\\\"b \"c d\\\\\" \"\"",
					       &count);

	CHECK(arguments && count == 6);
	CHECK(same(arguments[0], L"a b") && same(arguments[1], L"abc") &&
	      same(arguments[2], L"d\\e"));
	CHECK(same(arguments[3], L"a\\\"b") && same(arguments[4], L"c d\\") &&
	      same(arguments[5], L""));
	CHECK(!LocalFree(arguments));
	arguments = CommandLineToArgvW(L" x", &count);
	CHECK(count == 2 && same(arguments[0], L"") && same(arguments[1], L"x"));
	CHECK(!LocalFree(arguments));
	arguments = CommandLineToArgvW(L"", &count);
	CHECK(count == 1 && arguments[0][0] == '/' && !arguments[1]);
	CHECK(!LocalFree(arguments));
	CHECK(lstrlenW(GetCommandLineW()) > 0 && lstrlenA(GetCommandLineA()) > 0);
}

/* --- "CreateFileW function", "SetFilePointer function", "FindFirstFileW function". */
static void check_files(void)
{
	char folder[] = "/tmp/etw_win32_XXXXXX", path[64], pattern[64];
	WIN32_FIND_DATAA found;
	HANDLE file, find;
	FILE_DISPOSITION_INFO gone = {TRUE};
	DWORD bytes = 0;

	CHECK(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/a.etl", folder);
	(void)snprintf(pattern, sizeof(pattern), "%s/*.ETL", folder);
	CHECK(CreateFileA(path, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL) ==
	      INVALID_HANDLE_VALUE);
	CHECK(GetLastError() == ERROR_FILE_NOT_FOUND);
	file = CreateFileA(path, GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_ALWAYS,
			   FILE_ATTRIBUTE_NORMAL, NULL);
	CHECK(file != INVALID_HANDLE_VALUE && GetLastError() == ERROR_SUCCESS);
	CHECK(WriteFile(file, "hello", 5, &bytes, NULL) && bytes == 5);
	CHECK(GetFileSize(file, NULL) == 5 && SetFilePointer(file, 1, NULL, FILE_BEGIN) == 1);
	CHECK(ReadFile(file, pattern + sizeof(pattern) - 5, 4, &bytes, NULL) && bytes == 4);
	CHECK(ReadFile(file, pattern + sizeof(pattern) - 5, 4, &bytes, NULL) && bytes == 0);
	CHECK(SetFilePointer(file, -1, NULL, FILE_BEGIN) == INVALID_SET_FILE_POINTER);
	CHECK(GetLastError() == ERROR_NEGATIVE_SEEK && GetFileType(file) == FILE_TYPE_DISK);
	CHECK(CreateFileA(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL) ==
	      INVALID_HANDLE_VALUE);
	CHECK(GetLastError() == ERROR_FILE_EXISTS);
	find = FindFirstFileA(pattern, &found);
	CHECK(find != INVALID_HANDLE_VALUE && !strcmp(found.cFileName, "a.etl") &&
	      found.nFileSizeLow == 5);
	CHECK(!FindNextFileA(find, &found) && GetLastError() == ERROR_NO_MORE_FILES &&
	      FindClose(find));
	CHECK(SetFileInformationByHandle(file, FileDispositionInfo, &gone, sizeof(gone)) &&
	      CloseHandle(file));
	CHECK(GetFileAttributesA(path) == INVALID_FILE_ATTRIBUTES);
	CHECK(RemoveDirectoryA(folder));
	CHECK(GetFileAttributesA(path) == INVALID_FILE_ATTRIBUTES &&
	      GetLastError() == ERROR_PATH_NOT_FOUND);
}

/* --- Modules, versions, memory, processes, environment. */
static void check_process(void)
{
	FILETIME created, ended, kernel, user;
	HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE,
				     GetCurrentProcessId());
	WCHAR path[MAX_PATH];
	DWORD size = MAX_PATH, code = 0;

	CHECK(process && GetProcessId(process) == GetCurrentProcessId());
	CHECK(GetProcessTimes(process, &created, &ended, &kernel, &user) && created.dwHighDateTime);
	CHECK(QueryFullProcessImageNameW(process, 0, path, &size) && path[0] == '/' &&
	      path[size] == 0);
	CHECK(GetExitCodeProcess(process, &code) && code == STILL_ACTIVE && CloseHandle(process));
	CHECK(!OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, 0));
	CHECK(GetLastError() == ERROR_INVALID_PARAMETER);
	CHECK(GetProcAddress(LoadLibraryW(L"advapi32.dll"), "EventRegister"));
	CHECK(GetProcAddress(GetModuleHandleA("KERNEL32"), "GetTickCount64"));
	CHECK(!GetProcAddress(LoadLibraryA("ntdll"), "NoSuchFunction"));
	CHECK(GetLastError() == ERROR_PROC_NOT_FOUND);
	CHECK(!LoadLibraryW(L"no_such_module") && GetLastError() == ERROR_MOD_NOT_FOUND);
	CHECK(IsWindows7OrGreater() && IsWindows10OrGreater() &&
	      !IsWindowsVersionOrGreater(11, 0, 0));
	CHECK(GetEnvironmentVariableA("etw_no_such", NULL, 0) == 0);
	CHECK(GetLastError() == ERROR_ENVVAR_NOT_FOUND);
	CHECK(SetEnvironmentVariableW(L"etw_x", L"abc"));
	CHECK(GetEnvironmentVariableW(L"etw_x", path, 2) == 4);
	CHECK(GetEnvironmentVariableW(L"etw_x", path, 4) == 3 && same(path, L"abc"));
	CHECK(ExpandEnvironmentStringsW(L"<%etw_x%%no%>", path, MAX_PATH) == 10);
	CHECK(same(path, L"<abc%no%>"));
	CHECK(HeapFree(GetProcessHeap(), 0, HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, 10)));
}

static HANDLE called;
static DWORD called_with = 99;
static int calls_of_older;

static BOOL WINAPI older(DWORD type)
{
	(void)type;
	calls_of_older++;
	return TRUE;
}

static BOOL WINAPI newer(DWORD type)
{
	called_with = type;
	SetEvent(called);
	return TRUE;
}

/* --- "SetConsoleCtrlHandler function": the newest handler is called first; its TRUE ends the chain. */
/* learn.microsoft.com: wsprintf, CopyFile, FindFirstFile, CreateMutex, CancelWaitableTimer. */
static void CALLBACK note_call(LPVOID argument, DWORD low, DWORD high)
{
	(void)low;
	(void)high;
	++*(int *)argument;
}

static void check_corners(void)
{
	char folder[] = "/tmp/etw_corners_XXXXXX", path[64], found[64], text[16];
	WIN32_FIND_DATAA data;
	LARGE_INTEGER due;
	HANDLE handle;
	FILE *file;
	int calls = 0;

	CHECK(wsprintfA(text, "%d %s", 7, "x") == 3 && !strcmp(text, "7 x"));
	CHECK(mkdtemp(folder) != NULL);
	(void)snprintf(path, sizeof(path), "%s/a[1].etl", folder);
	file = fopen(path, "w");
	CHECK(file != NULL);
	if (file) {
		(void)fputs("kept", file);
		(void)fclose(file);
	}
	CHECK(!CopyFileA(path, path, FALSE));
	file = fopen(path, "r");
	CHECK(file && fgets(text, sizeof(text), file) && !strcmp(text, "kept"));
	if (file)
		(void)fclose(file);
	(void)snprintf(found, sizeof(found), "%s/a[1].*", folder);
	handle = FindFirstFileA(found, &data);
	CHECK(handle != INVALID_HANDLE_VALUE && !strcmp(data.cFileName, "a[1].etl"));
	(void)FindClose(handle);
	CHECK(DeleteFileA(path) && RemoveDirectoryA(folder));

	handle = CreateMutexA(NULL, TRUE, NULL);
	CHECK(handle != NULL && ReleaseMutex(handle) && !ReleaseMutex(handle));
	CHECK(CloseHandle(handle));

	/* A call that was queued goes with the timer's setting. */
	handle = CreateWaitableTimerA(NULL, FALSE, NULL);
	due.QuadPart = -1;
	CHECK(SetWaitableTimer(handle, &due, 0, note_call, &calls, FALSE));
	CHECK(WaitForSingleObject(handle, 10000) == WAIT_OBJECT_0);
	CHECK(CancelWaitableTimer(handle));
	CHECK(SleepEx(0, TRUE) == 0 && calls == 0);
	CHECK(SetWaitableTimer(handle, &due, 0, note_call, &calls, FALSE));
	CHECK(SleepEx(10000, TRUE) == WAIT_IO_COMPLETION && calls == 1);
	CHECK(CloseHandle(handle));
}

static void check_console(void)
{
	called = CreateEventW(NULL, FALSE, FALSE, NULL);
	CHECK(SetConsoleCtrlHandler(older, TRUE) && SetConsoleCtrlHandler(newer, TRUE));
	(void)kill(getpid(), SIGINT);
	CHECK(WaitForSingleObject(called, INFINITE) == WAIT_OBJECT_0);
	CHECK(called_with == CTRL_C_EVENT && calls_of_older == 0);
	CHECK(SetConsoleCtrlHandler(newer, FALSE) && SetConsoleCtrlHandler(older, FALSE));
	CHECK(!SetConsoleCtrlHandler(newer, FALSE));
	CHECK(SetConsoleCtrlHandler(NULL, TRUE));
	(void)kill(getpid(), SIGINT);
	CHECK(SetConsoleCtrlHandler(NULL, TRUE) && CloseHandle(called));
}

int main(void)
{
	check_events();
	check_threads();
	check_others();
	check_time();
	check_code_pages();
	check_messages();
	check_command_lines();
	check_files();
	check_process();
	check_corners();
	check_console();
	return failures != 0;
}
