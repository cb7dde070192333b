/* SPDX-License-Identifier: MIT */
/*
 * What Windows' kernel logger says of its machine when it stops, from Linux' facts.
 * Source: docs/kernel-events/config.md.
 */
#ifndef ETW_SOURCE_KERNEL_MACHINE_CONFIG_H
#define ETW_SOURCE_KERNEL_MACHINE_CONFIG_H

#include <stdint.h>
#include <uchar.h>

#define ETW_KERNEL_HOST_UNITS 256 /* of both names, with the NUL */

struct etw_kernel_config {
	uint32_t mhz, processors, memory_mib, page_bytes;
	uint64_t sibling_mask;         /* processors 0 to 63 that share a core with another one */
	uint64_t highest_user_address; /* of a process, without 5-level paging */
	uint16_t architecture;         /* PROCESSOR_ARCHITECTURE_* */
	uint16_t level, revision;      /* family; model and stepping, a byte each */
	char16_t computer[ETW_KERNEL_HOST_UNITS]; /* host name up to its first dot */
	char16_t domain[ETW_KERNEL_HOST_UNITS];   /* the rest, else the NIS domain, else empty */
};

/*
 * etw_kernel_config_gather() - asks Linux. What it does not say is 0.
 *
 * @root: in front of /sys and /proc, "" for the real ones
 */
void etw_kernel_config_gather(const char *root, struct etw_kernel_config *ret);

#endif
