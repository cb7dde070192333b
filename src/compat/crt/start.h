/* SPDX-License-Identifier: MIT */
/* What happens before a program's main function, and what a console's Ctrl-C reaches. */
#ifndef ETW_COMPAT_START_H
#define ETW_COMPAT_START_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* The linker is told to look for this name, so that what comes before main() is part of each program. */
extern const int etw_compat_start;

/*
 * etw_compat_on_interrupt() - from now on Ctrl-C (SIGINT) calls @interrupted, on a thread that does nothing else.
 *
 * NULL: it does what it did before. SIGINT is blocked in all other threads, as it was before the first of them
 * started, so that no system call of the program ends early. Returns false where the process ignores SIGINT, as one
 * that a shell put into the background does: there is no Ctrl-C to be told of then.
 */
bool etw_compat_on_interrupt(void (*interrupted)(void));

/* etw_compat_child_signals() - the signal mask that a child process begins with: that of this process at its start. */
void etw_compat_child_signals(sigset_t *ret);

/* Arguments as __argc and __argv, and as __wargv: UTF-16, made when they are first asked for. */
int *etw_compat_argument_count(void);
char ***etw_compat_arguments(void);
wchar_t ***etw_compat_wide_arguments(void);
wchar_t ***etw_compat_wide_environment(void);

#endif
