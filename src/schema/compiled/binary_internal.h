/* SPDX-License-Identifier: MIT */
/* What binary.c and binary_file.c share. */
#ifndef ETW_SCHEMA_BINARY_INTERNAL_H
#define ETW_SCHEMA_BINARY_INTERNAL_H

#include "schema/compiled/binary.h"

/* etw_binary_is_template() - whether the bytes begin like a WEVT_TEMPLATE resource. */
bool etw_binary_is_template(struct etw_bytes file);

#endif
