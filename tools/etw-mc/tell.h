/* SPDX-License-Identifier: MIT */
/* Messages in the form of Microsoft's tools, which build systems and editors recognize. */
#ifndef ETW_TOOLS_ETW_MC_TELL_H
#define ETW_TOOLS_ETW_MC_TELL_H

#include <stdbool.h>
#include <stdint.h>

/* mc_tell() - "mc : error : sentence" on standard error, harmless to a terminal. */
void mc_tell(bool is_warning, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* mc_tell_at() - "path(line,column) : error : sentence"; without the column when it is 0. */
void mc_tell_at(bool is_warning, const char *path, uint64_t line, uint64_t column,
		const char *sentence);

#endif
