/* SPDX-License-Identifier: MIT */
/*
 * What happens before a program's main function: arguments are kept, a console's output is not buffered, and SIGINT is blocked
 * but in one thread, so that it ends no system call of the program. What Ctrl-C does beside is SetConsoleCtrlHandler()'s.
 */
#ifndef ETW_COMPAT_START_H
#define ETW_COMPAT_START_H

#include <stddef.h>

/* The linker is told to look for this name, so that what comes before main() is part of each program. */
extern const int etw_compat_start;

/* Arguments as __argc and __argv, and as __wargv: UTF-16, made when they are first asked for. */
int *etw_compat_argument_count(void);
char ***etw_compat_arguments(void);
wchar_t ***etw_compat_wide_arguments(void);
wchar_t ***etw_compat_wide_environment(void);

#endif
