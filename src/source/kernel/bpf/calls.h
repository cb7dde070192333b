/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The system call of a thread: its number, the table of numbers that it is of, and its arguments. */
#ifndef ETW_SOURCE_KERNEL_BPF_CALLS_H
#define ETW_SOURCE_KERNEL_BPF_CALLS_H

#include "kernel_types.h"

#define CALL_ARGUMENTS 6

#if defined(__TARGET_ARCH_x86)

#define TS_COMPAT 0x2

/* is_compat_call() - whether the call is of the table of 32-bit programs; 0 or 1. */
static __always_inline __u32 is_compat_call(const struct task_struct *task)
{
	return !!(task->thread_info.status & TS_COMPAT);
}

/* number_of() - of the call that is being made or ends. */
static __always_inline __u32 number_of(const struct pt_regs *regs)
{
	return regs->orig_ax;
}

/* read_arguments() - also where the call ends. @to: CALL_ARGUMENTS of them */
static __always_inline void read_arguments(const struct pt_regs *regs, __u32 of_compat, __u64 *to)
{
	if (of_compat) {
		to[0] = (__u32)regs->bx;
		to[1] = (__u32)regs->cx;
		to[2] = (__u32)regs->dx;
		to[3] = (__u32)regs->si;
		to[4] = (__u32)regs->di;
		to[5] = (__u32)regs->bp;
		return;
	}
	to[0] = regs->di;
	to[1] = regs->si;
	to[2] = regs->dx;
	to[3] = regs->r10;
	to[4] = regs->r8;
	to[5] = regs->r9;
}

#elif defined(__TARGET_ARCH_arm64)

#define TIF_32BIT 22

static __always_inline __u32 is_compat_call(const struct task_struct *task)
{
	return task->thread_info.flags >> TIF_32BIT & 1;
}

static __always_inline __u32 number_of(const struct pt_regs *regs)
{
	return regs->syscallno;
}

/* The first register has the result at the end. */
static __always_inline void read_arguments(const struct pt_regs *regs, __u32 of_compat, __u64 *to)
{
	(void)of_compat;
	to[0] = regs->orig_x0;
	for (int i = 1; i < CALL_ARGUMENTS; i++)
		to[i] = regs->regs[i];
}

#endif

#endif
