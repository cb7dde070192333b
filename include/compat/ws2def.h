/* SPDX-License-Identifier: MIT */
/* Address families. */
#ifndef ETW_COMPAT_WS2DEF_H
#define ETW_COMPAT_WS2DEF_H

#include <winsock2.h>
#endif
