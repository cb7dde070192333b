/* SPDX-License-Identifier: MIT */
/* What happens when a program hands a function something that the function refuses. */
#ifndef ETW_COMPAT_INVALID_H
#define ETW_COMPAT_INVALID_H

/*
 * etw_invalid_parameter() - calls the program's handler, or ends the program with a sentence where it has none.
 *
 * Returns @error, which errno is then, too.
 */
int etw_invalid_parameter(int error, const char *function);

#endif
