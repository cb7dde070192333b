/* SPDX-License-Identifier: MIT */
/*
 * Which system calls are operations of files, by the numbers of this machine's native programs and of 32-bit ones.
 * Source: docs/kernel-events/file.md.
 */
#ifndef ETW_SOURCE_KERNEL_PROGRAMS_FILE_CALLS_H
#define ETW_SOURCE_KERNEL_PROGRAMS_FILE_CALLS_H

#include "source/kernel/bpf/file_records.h"

/* etw_kernel_file_calls_fill() - all of them; the others are zeroed. */
void etw_kernel_file_calls_fill(struct etw_kernel_file_calls *ret);

#endif
