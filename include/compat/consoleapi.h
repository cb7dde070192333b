/* SPDX-License-Identifier: MIT */
/* The console: handlers of Ctrl-C and its like, modes, text. */
#ifndef ETW_COMPAT_CONSOLEAPI_H
#define ETW_COMPAT_CONSOLEAPI_H

#include <minwinbase.h>

#define CTRL_C_EVENT        0
#define CTRL_BREAK_EVENT    1
#define CTRL_CLOSE_EVENT    2
#define CTRL_LOGOFF_EVENT   5
#define CTRL_SHUTDOWN_EVENT 6

#define ENABLE_PROCESSED_INPUT             0x0001
#define ENABLE_LINE_INPUT                  0x0002
#define ENABLE_ECHO_INPUT                  0x0004
#define ENABLE_WINDOW_INPUT                0x0008
#define ENABLE_MOUSE_INPUT                 0x0010
#define ENABLE_INSERT_MODE                 0x0020
#define ENABLE_QUICK_EDIT_MODE             0x0040
#define ENABLE_EXTENDED_FLAGS              0x0080
#define ENABLE_VIRTUAL_TERMINAL_INPUT      0x0200
#define ENABLE_PROCESSED_OUTPUT            0x0001
#define ENABLE_WRAP_AT_EOL_OUTPUT          0x0002
#define ENABLE_VIRTUAL_TERMINAL_PROCESSING 0x0004

typedef BOOL(WINAPI *PHANDLER_ROUTINE)(DWORD CtrlType);

ETW_EXTERN_C_BEGIN
BOOL WINAPI SetConsoleCtrlHandler(PHANDLER_ROUTINE HandlerRoutine, BOOL Add);
BOOL WINAPI GenerateConsoleCtrlEvent(DWORD dwCtrlEvent, DWORD dwProcessGroupId);
BOOL WINAPI GetConsoleMode(HANDLE hConsoleHandle, LPDWORD lpMode);
BOOL WINAPI SetConsoleMode(HANDLE hConsoleHandle, DWORD dwMode);
UINT WINAPI GetConsoleCP(VOID);
UINT WINAPI GetConsoleOutputCP(VOID);
BOOL WINAPI SetConsoleCP(UINT wCodePageID);
BOOL WINAPI SetConsoleOutputCP(UINT wCodePageID);
BOOL WINAPI WriteConsoleA(HANDLE hConsoleOutput, const VOID *lpBuffer, DWORD nNumberOfCharsToWrite,
			  LPDWORD lpNumberOfCharsWritten, LPVOID lpReserved);
BOOL WINAPI WriteConsoleW(HANDLE hConsoleOutput, const VOID *lpBuffer, DWORD nNumberOfCharsToWrite,
			  LPDWORD lpNumberOfCharsWritten, LPVOID lpReserved);
BOOL WINAPI SetConsoleTitleA(LPCSTR lpConsoleTitle);
BOOL WINAPI SetConsoleTitleW(LPCWSTR lpConsoleTitle);
HWND WINAPI GetConsoleWindow(VOID);
ETW_EXTERN_C_END

#define WriteConsole    ETW_AW(WriteConsole)
#define SetConsoleTitle ETW_AW(SetConsoleTitle)
#endif
