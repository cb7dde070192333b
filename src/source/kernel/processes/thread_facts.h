/* SPDX-License-Identifier: MIT */
/*
 * What the events of threads say beside ids and name: from a record of the BPF programs, or asked of the kernel.
 * Source: docs/kernel-events/thread.md.
 */
#ifndef ETW_SOURCE_KERNEL_PROCESSES_THREAD_FACTS_H
#define ETW_SOURCE_KERNEL_PROCESSES_THREAD_FACTS_H

#include <stdint.h>

#include "source/kernel/bpf/records.h"

struct etw_kernel_thread_facts {
	uint64_t affinity;   /* processors 0 to 63; 0: not known */
	uint64_t user_stack; /* where it began; 0: not known */
	uint64_t entry;      /* of the program, of its main thread; 0: not known */
	uint8_t priority;    /* Windows' */
	uint8_t io_priority; /* Windows' IO_PRIORITY_HINT */
};

/* etw_kernel_thread_facts_of() - what a record says. */
struct etw_kernel_thread_facts etw_kernel_thread_facts_of(const struct etw_kernel_task *task);

/* etw_kernel_thread_facts_ask() - affinity and I/O priority of a thread that is there, into @ret; 0 when it is not. */
void etw_kernel_thread_facts_ask(uint32_t tid, int32_t nice, struct etw_kernel_thread_facts *ret);

/*
 * etw_kernel_io_priority_of() - as Windows counts: 0 very low, 1 low, 2 normal, 3 high, 4 critical.
 *
 * @io_priority: Linux' class << 13 and level; class 0 counts by the nice value
 */
uint8_t etw_kernel_io_priority_of(uint16_t io_priority, int32_t nice);

#endif
