/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* System calls that change what is mapped: which they are, and what they are given, whatever the program's numbers are. */
#ifndef ETW_SOURCE_KERNEL_BPF_MEMORY_CALLS_H
#define ETW_SOURCE_KERNEL_BPF_MEMORY_CALLS_H

#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"

enum memory_call {
	CALL_OTHER = 0,
	CALL_MAP,
	CALL_OLD_MAP, /* what it is given lies in the program's memory */
	CALL_UNMAP,
	CALL_BREAK,
	CALL_MOVE,
	CALL_PROTECT,
	CALL_ADVISE,
	CALL_ATTACH, /* shared memory of System V */
	CALL_DETACH,
};

struct call_arguments {
	__u64 at[5];
};

#define CASE(number, call) \
	case number:       \
		return call

#if defined(__TARGET_ARCH_x86)

#define TS_COMPAT 0x2
#define X32_CALL  0x40000000u

static __always_inline enum memory_call native_call(__u32 number)
{
	switch (number & ~X32_CALL) {
		CASE(9, CALL_MAP);
		CASE(10, CALL_PROTECT);
		CASE(11, CALL_UNMAP);
		CASE(12, CALL_BREAK);
		CASE(25, CALL_MOVE);
		CASE(28, CALL_ADVISE);
		CASE(30, CALL_ATTACH);
		CASE(67, CALL_DETACH);
		CASE(329, CALL_PROTECT);
	default:
		return CALL_OTHER;
	}
}

/* Of 32-bit programs. */
static __always_inline enum memory_call compat_call(__u32 number)
{
	switch (number) {
		CASE(45, CALL_BREAK);
		CASE(90, CALL_OLD_MAP);
		CASE(91, CALL_UNMAP);
		CASE(125, CALL_PROTECT);
		CASE(163, CALL_MOVE);
		CASE(192, CALL_MAP);
		CASE(219, CALL_ADVISE);
		CASE(380, CALL_PROTECT);
		CASE(397, CALL_ATTACH);
		CASE(398, CALL_DETACH);
	default:
		return CALL_OTHER;
	}
}

static __always_inline enum memory_call call_of(const struct task_struct *task, __u32 number)
{
	/* Most calls are none of these under any number. */
	if (number > 398 && !(number & X32_CALL))
		return CALL_OTHER;
	return task->thread_info.status & TS_COMPAT ? compat_call(number) : native_call(number);
}

static __always_inline __u32 number_of(const struct pt_regs *regs)
{
	return regs->orig_ax;
}

static __always_inline void read_arguments(const struct task_struct *task,
					   const struct pt_regs *regs, struct call_arguments *ret)
{
	if (task->thread_info.status & TS_COMPAT) {
		ret->at[0] = (__u32)regs->bx;
		ret->at[1] = (__u32)regs->cx;
		ret->at[2] = (__u32)regs->dx;
		ret->at[3] = (__u32)regs->si;
		ret->at[4] = (__u32)regs->di;
	} else {
		ret->at[0] = regs->di;
		ret->at[1] = regs->si;
		ret->at[2] = regs->dx;
		ret->at[3] = regs->r10;
		ret->at[4] = regs->r8;
	}
}

#elif defined(__TARGET_ARCH_arm64)

static __always_inline enum memory_call call_of(const struct task_struct *task, __u32 number)
{
	(void)task;
	switch (number) {
		CASE(196, CALL_ATTACH);
		CASE(197, CALL_DETACH);
		CASE(214, CALL_BREAK);
		CASE(215, CALL_UNMAP);
		CASE(216, CALL_MOVE);
		CASE(222, CALL_MAP);
		CASE(226, CALL_PROTECT);
		CASE(233, CALL_ADVISE);
		CASE(288, CALL_PROTECT);
	default:
		return CALL_OTHER;
	}
}

static __always_inline __u32 number_of(const struct pt_regs *regs)
{
	return regs->syscallno;
}

/* The first register has the result at the end. */
static __always_inline void read_arguments(const struct task_struct *task,
					   const struct pt_regs *regs, struct call_arguments *ret)
{
	(void)task;
	ret->at[0] = regs->orig_x0;
	ret->at[1] = regs->regs[1];
	ret->at[2] = regs->regs[2];
	ret->at[3] = regs->regs[3];
	ret->at[4] = regs->regs[4];
}

#endif

#undef CASE

/* The arguments of the oldest mmap of 32-bit programs are six words in memory. */
static __always_inline void read_old_map(struct call_arguments *arguments)
{
	__u32 words[4] = {};

	bpf_probe_read_user(words, sizeof(words), (void *)arguments->at[0]);
	for (int i = 0; i < 4; i++)
		arguments->at[i] = words[i];
}

#endif
