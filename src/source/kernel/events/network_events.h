/* SPDX-License-Identifier: MIT */
/*
 * The bytes of TcpIp's and UdpIp's events.
 * Source: docs/kernel-events/network.md.
 */
#ifndef ETW_SOURCE_KERNEL_EVENTS_NETWORK_EVENTS_H
#define ETW_SOURCE_KERNEL_EVENTS_NETWORK_EVENTS_H

#include <stdint.h>

#include "source/kernel/bpf/cpu_records.h"

/*
 * etw_kernel_network_event() - the event of a record of ETW_KERNEL_NETWORK.
 *
 * @to: ETW_KERNEL_CPU_EVENT_MAX bytes, 8-aligned
 *
 * Returns its bytes; 0 when the record makes none.
 */
uint32_t etw_kernel_network_event(const struct etw_kernel_cpu_record *record, int64_t time_raw,
				  uint8_t *to);

#endif
