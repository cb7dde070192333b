/* SPDX-License-Identifier: MIT */
/* Files that people take for a trace, or for event schemas, and that are something else. */
#ifndef ETW_TOOLS_COMMON_FOREIGN_H
#define ETW_TOOLS_COMMON_FOREIGN_H

#include <stdbool.h>

/*
 * etw_foreign_tell() - tells on standard error what a file is, when its first bytes say it, and what to do.
 *
 * @path:  to read
 * @shown: what the user calls it; the same pointer, if it can be named in a command
 *
 * Returns whether they did.
 */
bool etw_foreign_tell(const char *path, const char *shown);

/* etw_foreign_name() - what a file is, "a zip archive"; NULL when its first bytes do not say. Static. */
const char *etw_foreign_name(const char *path);

/* etw_foreign_tell_folder() - the same of a folder. */
void etw_foreign_tell_folder(const char *path);

#endif
