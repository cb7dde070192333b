/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which table of numbers the system call of a thread is of. */
#ifndef ETW_SOURCE_KERNEL_BPF_CALLS_H
#define ETW_SOURCE_KERNEL_BPF_CALLS_H

#include "cpu_records.h"
#include "kernel_types.h"

#if defined(__TARGET_ARCH_x86)
#define TS_COMPAT 0x2
#elif defined(__TARGET_ARCH_arm64)
#define TIF_32BIT 22
#endif

/* abi_of() - ETW_KERNEL_SYSCALL_COMPAT, or 0. */
static __always_inline __u32 abi_of(struct task_struct *task)
{
#if defined(__TARGET_ARCH_x86)
	return task->thread_info.status & TS_COMPAT ? ETW_KERNEL_SYSCALL_COMPAT : 0;
#else
	return task->thread_info.flags >> TIF_32BIT & 1 ? ETW_KERNEL_SYSCALL_COMPAT : 0;
#endif
}

#endif
