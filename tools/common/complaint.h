/* SPDX-License-Identifier: MIT */
/* What is wrong with files of event schemas: one form in all tools, "FILE, line 3: sentence". */
#ifndef ETW_TOOLS_COMMON_COMPLAINT_H
#define ETW_TOOLS_COMMON_COMPLAINT_H

#include <stddef.h>

#include "base/fault.h"
#include "schema/provider_schema.h"

/*
 * etw_complaint_error() - tells on standard error why a file was not read.
 *
 * @severity: "" or "warning: "
 * @fault:    of -EBADMSG; NULL when there is none
 */
void etw_complaint_error(const char *severity, const char *path, int error,
			 const struct etw_fault *fault);

/*
 * etw_complaint_list() - tells, as warnings, which rules a file breaks that was read all the same.
 *
 * @kept:   how many of @total are at @at
 * @budget: lines that may still be printed; NULL: as many as one file may have
 */
void etw_complaint_list(const char *path, const struct etw_complaint *at, size_t kept, size_t total,
			size_t *budget);

#endif
