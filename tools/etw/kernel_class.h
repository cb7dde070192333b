/* SPDX-License-Identifier: MIT */
/* The kernel's event classes of processes and threads, which several parts of the page look into. */
#ifndef ETW_TOOLS_ETW_KERNEL_CLASS_H
#define ETW_TOOLS_ETW_KERNEL_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/decode.h"

extern const GUID kernel_class_process;
extern const GUID kernel_class_thread;

/* kernel_class_number() - the number in the field of this name. Returns false where there is none. */
bool kernel_class_number(const struct etw_decoding *decoding, const char *name, uint64_t *ret);

#endif
