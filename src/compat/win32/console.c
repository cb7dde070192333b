/* SPDX-License-Identifier: MIT */
/* The terminal as Windows' console: modes, size, colours, text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "compat/win32/object.h"
#include "compat/win32/text.h"

/* The descriptor of a terminal; -1 with the last error. */
static int terminal_of(HANDLE handle)
{
	struct etw_object *file = etw_handle_get(handle, ETW_OBJECT_FILE);
	int fd = file ? file->fd : -1;

	etw_object_release(file);
	if (fd >= 0 && !isatty(fd)) {
		SetLastError(ERROR_INVALID_HANDLE);
		fd = -1;
	}
	return fd;
}

static bool is_input(HANDLE handle)
{
	return handle == GetStdHandle(STD_INPUT_HANDLE);
}

BOOL GetConsoleMode(HANDLE hConsoleHandle, LPDWORD lpMode)
{
	const int fd = terminal_of(hConsoleHandle);
	struct termios modes;

	if (fd < 0 || tcgetattr(fd, &modes))
		return FALSE;
	if (is_input(hConsoleHandle))
		*lpMode = (modes.c_lflag & ISIG ? ENABLE_PROCESSED_INPUT : 0U) |
			  (modes.c_lflag & ICANON ? ENABLE_LINE_INPUT : 0U) |
			  (modes.c_lflag & ECHO ? ENABLE_ECHO_INPUT : 0U) |
			  ENABLE_VIRTUAL_TERMINAL_INPUT;
	else
		*lpMode = ENABLE_PROCESSED_OUTPUT | ENABLE_WRAP_AT_EOL_OUTPUT |
			  ENABLE_VIRTUAL_TERMINAL_PROCESSING;
	return TRUE;
}

static tcflag_t with(tcflag_t flags, tcflag_t flag, bool is_set)
{
	return is_set ? flags | flag : flags & ~flag;
}

BOOL SetConsoleMode(HANDLE hConsoleHandle, DWORD dwMode)
{
	const int fd = terminal_of(hConsoleHandle);
	struct termios modes;

	if (fd < 0 || tcgetattr(fd, &modes))
		return FALSE;
	/* A terminal's output understands its sequences always. */
	if (!is_input(hConsoleHandle))
		return TRUE;
	modes.c_lflag = with(modes.c_lflag, ISIG, dwMode & ENABLE_PROCESSED_INPUT);
	modes.c_lflag = with(modes.c_lflag, ICANON, dwMode & ENABLE_LINE_INPUT);
	modes.c_lflag = with(modes.c_lflag, ECHO, dwMode & ENABLE_ECHO_INPUT);
	return tcsetattr(fd, TCSANOW, &modes) ? etw_fail(etw_error_of_errno(errno)) : TRUE;
}

BOOL WriteConsoleA(HANDLE hConsoleOutput, const VOID *lpBuffer, DWORD nNumberOfCharsToWrite,
		   LPDWORD lpNumberOfCharsWritten, LPVOID lpReserved)
{
	(void)lpReserved;
	if (terminal_of(hConsoleOutput) < 0)
		return FALSE;
	return WriteFile(hConsoleOutput, lpBuffer, nNumberOfCharsToWrite, lpNumberOfCharsWritten,
			 NULL);
}

BOOL WriteConsoleW(HANDLE hConsoleOutput, const VOID *lpBuffer, DWORD nNumberOfCharsToWrite,
		   LPDWORD lpNumberOfCharsWritten, LPVOID lpReserved)
{
	struct etw_text text;
	BOOL is_written;

	(void)lpReserved;
	if (terminal_of(hConsoleOutput) < 0)
		return FALSE;
	etw_text_init(&text);
	etw_text_utf16(&text, lpBuffer, nNumberOfCharsToWrite);
	is_written = WriteFile(hConsoleOutput, etw_text_string(&text), (DWORD)text.bytes, NULL,
			       NULL);
	etw_text_done(&text);
	if (lpNumberOfCharsWritten)
		*lpNumberOfCharsWritten = is_written ? nNumberOfCharsToWrite : 0;
	return is_written;
}

static BOOL put_sequence(HANDLE output, const char *sequence)
{
	/* What the program printed before stands before it. */
	(void)fflush(stdout);
	return WriteConsoleA(output, sequence, (DWORD)strlen(sequence), NULL, NULL);
}

BOOL SetConsoleTitleA(LPCSTR lpConsoleTitle)
{
	struct etw_text sequence;
	BOOL is_set;

	etw_text_init(&sequence);
	etw_text_printf(&sequence, "\033]0;%s\007", lpConsoleTitle);
	is_set = put_sequence(GetStdHandle(STD_OUTPUT_HANDLE), etw_text_string(&sequence));
	etw_text_done(&sequence);
	return is_set;
}

BOOL SetConsoleTitleW(LPCWSTR lpConsoleTitle)
{
	char *title = etw_narrow(lpConsoleTitle);
	const BOOL is_set = title && SetConsoleTitleA(title);

	free(title);
	return is_set;
}

HWND GetConsoleWindow(void)
{
	return NULL;
}

BOOL GetConsoleScreenBufferInfo(HANDLE hConsoleOutput,
				PCONSOLE_SCREEN_BUFFER_INFO lpConsoleScreenBufferInfo)
{
	const int fd = terminal_of(hConsoleOutput);
	struct winsize size;

	if (fd < 0)
		return FALSE;
	if (ioctl(fd, TIOCGWINSZ, &size))
		return etw_fail(ERROR_INVALID_HANDLE);
	memset(lpConsoleScreenBufferInfo, 0, sizeof(*lpConsoleScreenBufferInfo));
	lpConsoleScreenBufferInfo->dwSize = (COORD){(SHORT)size.ws_col, (SHORT)size.ws_row};
	lpConsoleScreenBufferInfo->dwMaximumWindowSize = lpConsoleScreenBufferInfo->dwSize;
	lpConsoleScreenBufferInfo->srWindow.Right = (SHORT)(size.ws_col - 1);
	lpConsoleScreenBufferInfo->srWindow.Bottom = (SHORT)(size.ws_row - 1);
	lpConsoleScreenBufferInfo->wAttributes = FOREGROUND_RED | FOREGROUND_GREEN |
						 FOREGROUND_BLUE;
	return TRUE;
}

BOOL SetConsoleTextAttribute(HANDLE hConsoleOutput, WORD wAttributes)
{
	/* Windows' bits are blue, green, red; a terminal's red, green, blue. */
	static const char colours[] = "04261537";
	char sequence[32];

	if (terminal_of(hConsoleOutput) < 0)
		return FALSE;
	if ((wAttributes & 0xFF) == (FOREGROUND_RED | FOREGROUND_GREEN | FOREGROUND_BLUE))
		return put_sequence(hConsoleOutput, "\033[0m");
	(void)snprintf(sequence, sizeof(sequence), "\033[0;%s%cm",
		       wAttributes & FOREGROUND_INTENSITY ? "9" : "3", colours[wAttributes & 7]);
	return put_sequence(hConsoleOutput, sequence);
}
