/* SPDX-License-Identifier: MIT */
/* The console's screen: its size and the colours of text, in a terminal's own sequences. */
#ifndef ETW_COMPAT_WINCON_H
#define ETW_COMPAT_WINCON_H

#include <consoleapi.h>

#define FOREGROUND_BLUE      0x0001
#define FOREGROUND_GREEN     0x0002
#define FOREGROUND_RED       0x0004
#define FOREGROUND_INTENSITY 0x0008
#define BACKGROUND_BLUE      0x0010
#define BACKGROUND_GREEN     0x0020
#define BACKGROUND_RED       0x0040
#define BACKGROUND_INTENSITY 0x0080

typedef struct _COORD {
	SHORT X;
	SHORT Y;
} COORD, *PCOORD;
typedef struct _SMALL_RECT {
	SHORT Left;
	SHORT Top;
	SHORT Right;
	SHORT Bottom;
} SMALL_RECT, *PSMALL_RECT;
typedef struct _CONSOLE_SCREEN_BUFFER_INFO {
	COORD dwSize;
	COORD dwCursorPosition;
	WORD wAttributes;
	SMALL_RECT srWindow;
	COORD dwMaximumWindowSize;
} CONSOLE_SCREEN_BUFFER_INFO, *PCONSOLE_SCREEN_BUFFER_INFO;

ETW_EXTERN_C_BEGIN
BOOL WINAPI GetConsoleScreenBufferInfo(HANDLE hConsoleOutput,
				       PCONSOLE_SCREEN_BUFFER_INFO lpConsoleScreenBufferInfo);
BOOL WINAPI SetConsoleTextAttribute(HANDLE hConsoleOutput, WORD wAttributes);
BOOL WINAPI SetConsoleCursorPosition(HANDLE hConsoleOutput, COORD dwCursorPosition)
	ETW_NOT_HERE("SetConsoleCursorPosition: write the sequence ESC [ row ; column H");
BOOL WINAPI ReadConsoleInputW(HANDLE hConsoleInput, PVOID lpBuffer, DWORD nLength,
			      LPDWORD lpNumberOfEventsRead)
	ETW_NOT_HERE("ReadConsoleInput: read keys by _getch() and _kbhit() of conio.h");
ETW_EXTERN_C_END

#define ReadConsoleInput ReadConsoleInputW
#endif
