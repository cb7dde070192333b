/* SPDX-License-Identifier: MIT */
#include "source/kernel/processes/thread_facts.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "source/kernel/processes/priority.h"

#define PRIO_NICE_0     120
#define PRIO_NICE_LEAST 100

#define WHO_PROCESS  1 /* IOPRIO_WHO_PROCESS, of ioprio_get(2) */
#define CLASS_SHIFT  13
#define LEVEL_MASK   7
#define NORMAL_LEVEL 4 /* of nice 0 */

enum io_class {
	IO_CLASS_NONE,
	IO_CLASS_REALTIME,
	IO_CLASS_BEST_EFFORT,
	IO_CLASS_IDLE
};

enum windows_io_priority {
	VERY_LOW,
	LOW,
	NORMAL,
	HIGH,
	CRITICAL
};

static uint8_t of_level(int32_t level)
{
	if (level > NORMAL_LEVEL)
		return LOW;
	return level < NORMAL_LEVEL ? HIGH : NORMAL;
}

uint8_t etw_kernel_io_priority_of(uint16_t io_priority, int32_t nice)
{
	switch (io_priority >> CLASS_SHIFT) {
	case IO_CLASS_REALTIME:
		return CRITICAL;
	case IO_CLASS_BEST_EFFORT:
		return of_level(io_priority & LEVEL_MASK);
	case IO_CLASS_IDLE:
		return VERY_LOW;
	default:
		/* As the kernel derives it: 5 nice values a level. */
		return of_level((nice + 20) / 5);
	}
}

struct etw_kernel_thread_facts etw_kernel_thread_facts_of(const struct etw_kernel_task *task)
{
	int32_t nice = task->priority >= PRIO_NICE_LEAST ? task->priority - PRIO_NICE_0 : 0;

	return (struct etw_kernel_thread_facts){
		.affinity = task->affinity,
		.user_stack = task->user_stack,
		.entry = task->entry,
		.priority = etw_kernel_priority_of(task->priority, task->policy),
		.io_priority = etw_kernel_io_priority_of(task->io_priority, nice),
	};
}

void etw_kernel_thread_facts_ask(uint32_t tid, int32_t nice, struct etw_kernel_thread_facts *ret)
{
	uint64_t words[1024 / 8] = {0}; /* of 8,192 processors, as many as Linux can have */
	long io_priority = syscall(SYS_ioprio_get, WHO_PROCESS, (int)tid);

	/* Without the library's wrapper, which knows of 1,024 processors. */
	if (syscall(SYS_sched_getaffinity, (pid_t)tid, sizeof(words), words) > 0)
		ret->affinity = words[0];
	if (io_priority >= 0)
		ret->io_priority = etw_kernel_io_priority_of((uint16_t)io_priority, nice);
}
