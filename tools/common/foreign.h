/* SPDX-License-Identifier: MIT */
/* Files that are no traces, but that people take for one. */
#ifndef ETW_TOOLS_COMMON_FOREIGN_H
#define ETW_TOOLS_COMMON_FOREIGN_H

#include <stdbool.h>

/*
 * etw_foreign_tell() - tells on standard error what a file is, when its first bytes say it.
 *
 * Returns whether they did.
 */
bool etw_foreign_tell(const char *path);

#endif
