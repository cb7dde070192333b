/* SPDX-License-Identifier: MIT */
/* Single keys of the console: of a terminal without echo, else the bytes of standard input; EOF at its end. */
#ifndef _CONIO_H_
#define _CONIO_H_

#include <etw_compat_crt.h>
#include <wchar.h>

ETW_CRT_BEGIN
int _getch(void);
int _getche(void);
wint_t _getwch(void);
wint_t _getwche(void);
int _kbhit(void);
int _ungetch(int key);
wint_t _ungetwch(wint_t key);
int _putch(int key);
wint_t _putwch(wchar_t key);
int _cputs(const char *text);
int _cputws(const wchar_t *text);
ETW_CRT_END

#define _cprintf  printf
#define _cwprintf wprintf
#ifndef ETW_COMPAT_STANDARD_NAMES
#define getch   _getch
#define getche  _getche
#define kbhit   _kbhit
#define putch   _putch
#define ungetch _ungetch
#endif

#endif
