/* SPDX-License-Identifier: MIT */
/*
 * The processors, and how they belong together. Linux has no groups of processors: 64 that follow each other are one, as
 * their numbers in every event are.
 */
#ifndef ETW_SOURCE_KERNEL_MACHINE_PROCESSORS_H
#define ETW_SOURCE_KERNEL_MACHINE_PROCESSORS_H

#include <stdint.h>

#define ETW_KERNEL_GROUP_PROCESSORS 64
#define ETW_KERNEL_GROUPS_MAX       128
#define ETW_KERNEL_NODES_MAX        1024

struct etw_kernel_node {
	uint64_t mask; /* of the processors in @group */
	uint32_t group;
};

struct etw_kernel_processors {
	uint64_t masks[ETW_KERNEL_GROUPS_MAX]; /* of those that may ever be there, by group */
	uint32_t group_count;
	uint32_t count; /* the highest number and 1 */
	uint32_t node_count;
	/* By node; one that reaches into several groups has an entry for its first. */
	struct etw_kernel_node nodes[ETW_KERNEL_NODES_MAX];
};

/* etw_kernel_processors_read() - asks sysfs. @ret: overwritten */
void etw_kernel_processors_read(const char *root, struct etw_kernel_processors *ret);

struct etw_kernel_processor {
	uint32_t index;
	uint32_t family, model, stepping; /* of ARM: architecture, part and revision */
	char name[64];                    /* "model name"; empty on ARM */
	char vendor[32];                  /* "GenuineIntel"; of ARM the number of the implementer */
};

/* Told of a processor, borrowed for the call. */
typedef void etw_kernel_processor_told(void *context, const struct etw_kernel_processor *processor);

/* etw_kernel_processors_tell() - tells of those that are there now, as /proc/cpuinfo has them. */
void etw_kernel_processors_tell(const char *root, etw_kernel_processor_told *told, void *context);

#endif
