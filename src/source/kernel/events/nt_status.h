/* SPDX-License-Identifier: MIT */
/* What Windows says where Linux says an errno. Source: docs/kernel-events/file.md. */
#ifndef ETW_SOURCE_KERNEL_EVENTS_NT_STATUS_H
#define ETW_SOURCE_KERNEL_EVENTS_NT_STATUS_H

#include <stdint.h>

/* etw_kernel_nt_status() - the NTSTATUS of a result of a system call; STATUS_UNSUCCESSFUL for an errno without a like. */
uint32_t etw_kernel_nt_status(int64_t result);

#endif
