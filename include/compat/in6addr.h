/* SPDX-License-Identifier: MIT */
/* IN6_ADDR. Its members by their short names would be macros that break <netinet/in.h>; u.Byte and u.Word are there. */
#ifndef ETW_COMPAT_IN6ADDR_H
#define ETW_COMPAT_IN6ADDR_H

#include <etw/winstructs.h>

#ifndef s6_bytes
#define s6_bytes u.Byte
#define s6_words u.Word
#endif
#endif
