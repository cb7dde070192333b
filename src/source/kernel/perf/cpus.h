/* SPDX-License-Identifier: MIT */
/*
 * Which processors there are at the moment, from the kernel's list: they come and go (hotplug, a virtual machine that is
 * given more). What is opened for one processor ends when it goes, and must be opened again when it comes back.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_PERF_CPUS_H
#define ETW_SOURCE_KERNEL_PERF_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETW_KERNEL_CPUS_MAX        8192 /* as many as Linux can be built for */
#define ETW_KERNEL_CPUS_TEXT_BYTES 4096 /* a page, which is all that the kernel writes */
#define ETW_KERNEL_CPUS_LOOK_NS    UINT64_C(50000000)

struct etw_kernel_cpus {
	int fd; /* owned; -1: the list cannot be read */
	uint64_t looked_ns;
	size_t text_bytes;
	char text[ETW_KERNEL_CPUS_TEXT_BYTES]; /* as it was read last */
	uint8_t online[ETW_KERNEL_CPUS_MAX / 8];
};

/* etw_kernel_cpus_open() - opens the list @path, /sys/devices/system/cpu/online; without it no processor is known. */
void etw_kernel_cpus_open(struct etw_kernel_cpus *cpus, const char *path);

/* etw_kernel_cpus_close() - closes the list. */
void etw_kernel_cpus_close(struct etw_kernel_cpus *cpus);

/*
 * etw_kernel_cpus_look() - reads the list, unless it did so a moment ago.
 *
 * @now_ns: CLOCK_MONOTONIC
 *
 * Returns whether it says something else than before.
 */
bool etw_kernel_cpus_look(struct etw_kernel_cpus *cpus, uint64_t now_ns);

/* etw_kernel_cpus_is_online() - as the last look had it. */
bool etw_kernel_cpus_is_online(const struct etw_kernel_cpus *cpus, uint32_t cpu);

/*
 * etw_kernel_cpus_parse() - ranges such as "0-3,5".
 *
 * @ret: of ETW_KERNEL_CPUS_MAX bits; set for each number of the list
 *
 * Returns 0; -EBADMSG for what is no such list, or has larger numbers; @ret may have some of it then.
 */
int etw_kernel_cpus_parse(const char *text, size_t byte_count,
			  uint8_t ret[ETW_KERNEL_CPUS_MAX / 8]);

#endif
