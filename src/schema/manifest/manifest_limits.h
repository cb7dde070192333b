/* SPDX-License-Identifier: MIT */
/* How large a manifest may be: limits of its text, which its XML is held to. */
#ifndef ETW_SCHEMA_MANIFEST_LIMITS_H
#define ETW_SCHEMA_MANIFEST_LIMITS_H

#include <stddef.h>

#define ETW_MANIFEST_BYTES_MAX      ((size_t)64 << 20)
#define ETW_MANIFEST_ELEMENTS_MAX   ((size_t)1 << 20)
#define ETW_MANIFEST_DEPTH_MAX      64  /* elements within elements */
#define ETW_MANIFEST_ATTRIBUTES_MAX 128 /* of one element */

#endif
