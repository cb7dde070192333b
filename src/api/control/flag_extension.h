/* SPDX-License-Identifier: MIT */
/*
 * EnableFlags with EVENT_TRACE_FLAG_EXTENSION: what they would say lies in the block of properties: group masks, or
 * items of several kinds. Whatever lies there is the caller's memory, and any offset may be wrong.
 * Source: TRACE_ENABLE_FLAG_EXTENSION and TRACE_ENABLE_FLAG_EXT_HEADER of the public headers that System Informer has
 * (ntwmi.h); PerfView writes items of this form.
 */
#ifndef ETW_API_CONTROL_FLAG_EXTENSION_H
#define ETW_API_CONTROL_FLAG_EXTENSION_H

#include <etw/wintypes.h>

#include "base/bytes.h"
#include "wire/message.h"

/*
 * etw_flag_extension_read() - what the flags lead to.
 *
 * @block: the properties, all of them
 * @struct_bytes: of the structure, behind which it lies
 *
 * Sets the masks, and the stacks where there is an item of them. Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: it is not
 * within the block, too long, or does not come out even; ERROR_NOT_SUPPORTED: items of processes, tags of pools, caches of
 * stacks, and kinds that nobody has named.
 */
ULONG etw_flag_extension_read(struct etw_bytes block, size_t struct_bytes, uint32_t enable_flags,
			      struct wire_kernel_request *ret);

#endif
