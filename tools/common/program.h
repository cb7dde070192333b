/* SPDX-License-Identifier: MIT */
/* Manners that all tools share: exit statuses and how errors are told. */
#ifndef ETW_TOOLS_COMMON_PROGRAM_H
#define ETW_TOOLS_COMMON_PROGRAM_H

enum etw_exit {
	ETW_EXIT_OK = 0,
	ETW_EXIT_FAILED = 1, /* the work could not be done; one sentence on standard error says why */
	ETW_EXIT_USAGE = 2,  /* the command line was not understood */
};

/* etw_program_error() - "etw: sentence" on standard error. */
void etw_program_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
