/* SPDX-License-Identifier: MIT */
/* What the system says of an error code, in English. */
#ifndef ETW_COMPAT_WIN32_MESSAGE_TEXTS_H
#define ETW_COMPAT_WIN32_MESSAGE_TEXTS_H

#include <stdint.h>

/* etw_message_text() - with inserts such as %1, without a line's end; NULL for a code that has none. */
const char *etw_message_text(uint32_t code);

#endif
