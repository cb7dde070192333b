/* SPDX-License-Identifier: MIT */
/*
 * Files that were not recorded together: of different machines, or days apart. They are merged by time all the same,
 * which is what nobody wants who did not know.
 */
#ifndef ETW_TOOLS_COMMON_UNRELATED_H
#define ETW_TOOLS_COMMON_UNRELATED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "etl/header.h"
#include "tools/common/inputs.h"

/*
 * etw_unrelated_write() - a sentence about the first two files that do not belong together, without a full stop.
 *
 * @headers, @paths: @count of each, in the order of the command line
 *
 * Different machines are told by builds of Windows, processors and their speed, and by a boot of the one during the
 * other. A file is days apart when none of the others ends or starts within a day of it. Returns false, nothing
 * appended, when all belong together, as far as their headers tell.
 */
bool etw_unrelated_write(struct etw_text *text, const struct etw_etl_header *const *headers,
			 const char *const *paths, size_t count);

/* etw_unrelated_warn() - the same on standard error, for the files of a command that merges them. */
void etw_unrelated_warn(const struct etw_inputs *inputs);

#endif
