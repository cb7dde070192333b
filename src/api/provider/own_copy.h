/* SPDX-License-Identifier: MIT */
/* What this copy of the library does for others. The note of copies.c leads here. */
#ifndef ETW_API_PROVIDER_OWN_COPY_H
#define ETW_API_PROVIDER_OWN_COPY_H

#include "api/provider/copies.h"

extern __attribute__((visibility("hidden"))) const struct etw_copy etw_own_copy;

#endif
