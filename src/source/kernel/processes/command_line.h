/* SPDX-License-Identifier: MIT */
/*
 * An argument vector as the one line that Windows has: quoted so that CommandLineToArgvW takes it apart
 * into the same arguments.
 */
#ifndef ETW_SOURCE_KERNEL_PROCESSES_COMMAND_LINE_H
#define ETW_SOURCE_KERNEL_PROCESSES_COMMAND_LINE_H

#include <stddef.h>

#include "base/text.h"

/*
 * etw_kernel_command_line() - appends the line to @text, as UTF-8.
 *
 * @arguments: a NUL after each argument (the last one's may be missing); bytes of any kind, what is not
 *             UTF-8 becomes U+FFFD
 *
 * The program's name follows its own rule on Windows: quotes around it, and none inside, where it holds
 * blanks. Failure to get memory is remembered by @text.
 */
void etw_kernel_command_line(struct etw_text *text, const char *arguments, size_t byte_count);

#endif
