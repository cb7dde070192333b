/* SPDX-License-Identifier: MIT */
/* The sentence that libetw_error() gives. Private to src/api/friendly. */
#ifndef ETW_API_FRIENDLY_ERROR_H
#define ETW_API_FRIENDLY_ERROR_H

/*
 * etw_friendly_fail() - notes the sentence that libetw_error() gives.
 *
 * Returns @error.
 */
int etw_friendly_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
