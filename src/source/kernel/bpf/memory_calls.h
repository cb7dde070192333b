/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* System calls that change what is mapped: which they are, and what they are given, whatever the program's numbers are. */
#ifndef ETW_SOURCE_KERNEL_BPF_MEMORY_CALLS_H
#define ETW_SOURCE_KERNEL_BPF_MEMORY_CALLS_H

#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "calls.h"

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

#define CASE(number, call) \
	case number:       \
		return call

#if defined(__TARGET_ARCH_x86)

#define X32_CALL 0x40000000u

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
	return is_compat_call(task) ? compat_call(number) : native_call(number);
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

#endif

#undef CASE

/* The arguments of the oldest mmap of 32-bit programs are six words in memory. */
static __always_inline void read_old_map(__u64 *arguments)
{
	__u32 words[4] = {};

	bpf_probe_read_user(words, sizeof(words), (void *)arguments[0]);
	for (int i = 0; i < 4; i++)
		arguments[i] = words[i];
}

#endif
