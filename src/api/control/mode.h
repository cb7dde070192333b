/* SPDX-License-Identifier: MIT */
/* LogFileMode: which bits go together and what they need. */
#ifndef ETW_API_CONTROL_MODE_H
#define ETW_API_CONTROL_MODE_H

#include <etw/wintypes.h>

#include "wire/message.h"

/*
 * etw_mode_check() - whether a session can be what its configuration says.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER for bits that exclude each other or lack what they need;
 * ERROR_INVALID_NAME for a file name of NEWFILE without exactly one "%d"; ERROR_BAD_PATHNAME when events
 * would go nowhere; ERROR_NOT_SUPPORTED for kinds of sessions that are not built.
 * Source: Microsoft's page "Logging Mode Constants".
 */
ULONG etw_mode_check(const struct wire_session_config *config);

/*
 * etw_mode_check_together() - whether any session can have these bits.
 *
 * Of an update, which changes one bit and says nothing of the file. Returns ERROR_SUCCESS or ERROR_INVALID_PARAMETER.
 */
ULONG etw_mode_check_together(uint32_t mode);

#endif
