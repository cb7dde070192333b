/* SPDX-License-Identifier: MIT */
#include "source/kernel/events/network_events.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"
#include "source/kernel/bpf/network_records.h"
#include "source/kernel/events/event_bytes.h"
#include "source/kernel/events/nt_status.h"

#define GROUP_TCPIP   0x06
#define GROUP_UDPIP   0x08
#define IPV6_DISTANCE 16 /* between the types of an event of IPv4 and of IPv6 */
#define NS_PER_MS     UINT64_C(1000000)

/* Address families of Windows, which Fail names. */
#define FAMILY_IPV4 2
#define FAMILY_IPV6 23

static bool is_udp(const struct etw_kernel_network *record)
{
	return record->flags & ETW_KERNEL_NETWORK_UDP;
}

static bool is_ipv6(const struct etw_kernel_network *record)
{
	return record->flags & ETW_KERNEL_NETWORK_IPV6;
}

/* It says no process itself: its header does. */
static uint32_t make_fail(const struct etw_kernel_network *record, int64_t time_raw, uint8_t *to)
{
	const struct wire_system_header header = {
		.version = le16_of(PERFINFO_VERSION),
		.header_type = WIRE_HEADER_SYSTEM64,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.bytes = le16_of(sizeof(header) + 4),
		.type = record->event,
		.group = is_udp(record) ? GROUP_UDPIP : GROUP_TCPIP,
		.thread_id = le32_of(record->tid),
		.process_id = le32_of(record->pid),
		.time_raw = le64_of((uint64_t)time_raw),
	};
	uint8_t *at = to + sizeof(header);

	memcpy(to, &header, sizeof(header));
	at = put16(at, is_ipv6(record) ? FAMILY_IPV6 : FAMILY_IPV4);
	at = put16(at, (uint16_t)etw_kernel_nt_status(-(int64_t)record->error));
	return (uint32_t)(at - to);
}

/* Addresses and ports are in network order already. */
static uint8_t *put_ends(const struct etw_kernel_network *record, uint8_t *at)
{
	size_t bytes = is_ipv6(record) ? 16 : 4;

	at = put32(at, record->pid);
	at = put32(at, record->byte_count);
	memcpy(at, record->remote, bytes);
	memcpy(at + bytes, record->local, bytes);
	at += 2 * bytes;
	memcpy(at, &record->remote_port, 2);
	memcpy(at + 2, &record->local_port, 2);
	return at + 4;
}

static uint8_t *put_options(const struct etw_kernel_network *record, uint8_t *at)
{
	at = put16(at, record->mss);
	at = put16(at, (record->flags & ETW_KERNEL_NETWORK_SACK) != 0);
	at = put16(at, (record->flags & ETW_KERNEL_NETWORK_TIMESTAMPS) != 0);
	at = put16(at, (record->flags & ETW_KERNEL_NETWORK_WINDOW_SCALE) != 0);
	at = put32(at, record->window);
	at = put16(at, record->receive_scale);
	return put16(at, record->send_scale);
}

static uint32_t make_transfer(const struct etw_kernel_network *record, uint64_t time_ns,
			      int64_t time_raw, uint8_t *to)
{
	uint8_t type = (uint8_t)(record->event + (is_ipv6(record) ? IPV6_DISTANCE : 0));
	uint8_t group = is_udp(record) ? GROUP_UDPIP : GROUP_TCPIP;
	uint8_t *at = put_ends(record, etw_kernel_event_begin(to, group, type, 0, time_raw));

	if (!is_udp(record) && record->event == ETW_KERNEL_NETWORK_SEND) {
		at = put32(at, (uint32_t)(time_ns / NS_PER_MS));
		at = put32(at, (uint32_t)(time_ns / NS_PER_MS));
	} else if (record->event == ETW_KERNEL_NETWORK_CONNECT ||
		   record->event == ETW_KERNEL_NETWORK_ACCEPT) {
		at = put_options(record, at);
	}
	at = put32(at, record->sequence);
	at = put64(at, record->connection);
	etw_store16(to + offsetof(struct wire_perfinfo_header, bytes), (uint16_t)(at - to));
	return (uint32_t)(at - to);
}

static bool is_known(const struct etw_kernel_network *record)
{
	switch (record->event) {
	case ETW_KERNEL_NETWORK_SEND:
	case ETW_KERNEL_NETWORK_RECEIVE:
	case ETW_KERNEL_NETWORK_FAIL:
		return true;
	case ETW_KERNEL_NETWORK_CONNECT:
	case ETW_KERNEL_NETWORK_DISCONNECT:
	case ETW_KERNEL_NETWORK_RETRANSMIT:
	case ETW_KERNEL_NETWORK_ACCEPT:
		return !is_udp(record);
	default:
		return false;
	}
}

uint32_t etw_kernel_network_event(const struct etw_kernel_cpu_record *record, int64_t time_raw,
				  uint8_t *to)
{
	const struct etw_kernel_network *payload = (const void *)(record + 1);

	if (record->payload_bytes < sizeof(*payload) || !is_known(payload))
		return 0;
	return payload->event == ETW_KERNEL_NETWORK_FAIL
		       ? make_fail(payload, time_raw, to)
		       : make_transfer(payload, record->time_ns, time_raw, to);
}
