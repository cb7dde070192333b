/* SPDX-License-Identifier: MIT */
/* IN_ADDR is the in_addr of Linux. */
#ifndef ETW_COMPAT_INADDR_H
#define ETW_COMPAT_INADDR_H

#include <netinet/in.h>

typedef struct in_addr IN_ADDR, *PIN_ADDR, *LPIN_ADDR;
#endif
