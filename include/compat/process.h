/* SPDX-License-Identifier: MIT */
/* Threads by the C run time's names. */
#ifndef ETW_COMPAT_PROCESS_H
#define ETW_COMPAT_PROCESS_H

#include <etw_compat_keywords.h>
#include <stdint.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

uintptr_t _beginthreadex(void *security, unsigned stack_size, unsigned (*start_address)(void *),
			 void *arglist, unsigned initflag, unsigned *thrdaddr);
uintptr_t _beginthread(void (*start_address)(void *), unsigned stack_size, void *arglist);
void _endthreadex(unsigned retval) __attribute__((__noreturn__));
void _endthread(void) __attribute__((__noreturn__));
#define _getpid() getpid()

#ifdef __cplusplus
}
#endif

#endif
