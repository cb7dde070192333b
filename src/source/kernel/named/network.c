/* SPDX-License-Identifier: MIT */
/*
 * Microsoft-Windows-Kernel-Network: TcpIp's and UdpIp's events. Ids are the types of TcpIp, and 32 more of UdpIp's; a
 * connection's id has 32 bits in the place of 64.
 * Source: docs/kernel-events/named.md "File, Network, Disk".
 */
#include "base/bytes.h"
#include "base/macros.h"
#include "source/kernel/named/named.h"
#include "wire/well_known.h"

#define GROUP_TCPIP 0x06
#define GROUP_UDPIP 0x08
#define TASK_TCPIP  10
#define TASK_UDPIP  11
#define UDP_IDS     32 /* what UdpIp's types are raised by */
#define IPV6_TYPES  26 /* from here on */
#define TYPE_FAIL   17
#define IPV4        0x10
#define IPV6        0x20

/* What a type's payload has in front of the connection's id; 0: there is no such event. */
static uint32_t fixed_bytes(bool is_udp, uint8_t type)
{
	const bool is_ipv6 = type >= IPV6_TYPES;
	const uint32_t common = 2 * 4 + (is_ipv6 ? 2 * 16 : 2 * 4) + 2 * 2 + 4;

	switch (is_ipv6 ? type - 16 : type) {
	case 10: /* send */
		return is_udp ? common : common + 2 * 4;
	case 11: /* receive */
		return common;
	case 12: /* connect */
	case 15: /* accept */
		return is_udp ? 0 : common + 6 * 2 + 4;
	case 13: /* disconnect */
	case 14: /* retransmit */
	case 16: /* reconnect */
	case 18: /* copy */
		return is_udp ? 0 : common;
	default:
		return 0;
	}
}

static bool make_fail(bool is_udp, const struct etw_kernel_named_classic *from,
		      struct etw_kernel_named_event *ret)
{
	struct etw_kernel_named_writer writer = etw_kernel_named_begin(ret);

	if (from->byte_count < 4)
		return false;
	ret->descriptor = etw_kernel_named_describe(TYPE_FAIL + (is_udp ? UDP_IDS : 0), 0,
						    TYPE_FAIL + (is_udp ? UDP_IDS : 0),
						    is_udp ? TASK_UDPIP : TASK_TCPIP, IPV4 | IPV6);
	etw_kernel_named_put(&writer, from->payload, 4);
	return etw_kernel_named_end(&writer, ret);
}

static bool make(struct etw_kernel_named_maker *maker, const struct etw_kernel_named_classic *from,
		 struct etw_kernel_named_event *ret)
{
	const bool is_udp = from->group == GROUP_UDPIP, is_ipv6 = from->type >= IPV6_TYPES;
	const uint32_t fixed = fixed_bytes(is_udp, from->type);
	uint8_t opcode = is_ipv6 ? from->type - 16 : from->type;
	struct etw_kernel_named_writer writer = etw_kernel_named_begin(ret);

	(void)maker;
	if (from->group != GROUP_TCPIP && !is_udp)
		return false;
	if (from->type == TYPE_FAIL)
		return make_fail(is_udp, from, ret);
	if (!fixed || from->byte_count < fixed + 4)
		return false;
	if (is_udp)
		opcode += UDP_IDS;
	ret->descriptor = etw_kernel_named_describe((uint16_t)(from->type + (is_udp ? UDP_IDS : 0)),
						    0, opcode, is_udp ? TASK_UDPIP : TASK_TCPIP,
						    is_ipv6 ? IPV6 : IPV4);
	if (!from->has_actor)
		ret->pid = etw_load32(from->payload);
	etw_kernel_named_put(&writer, from->payload, fixed + 4);
	return etw_kernel_named_end(&writer, ret);
}

static const struct etw_kernel_named_need needs[] = {
	{IPV4 | ETW_KERNEL_NAMED_CHANNEL_KEYWORD, 0, 0x10000}, /* EVENT_TRACE_FLAG_NETWORK_TCPIP */
	{IPV6 | ETW_KERNEL_NAMED_CHANNEL_KEYWORD, 0, 0x10000},
	{IPV4 | IPV6 | ETW_KERNEL_NAMED_CHANNEL_KEYWORD, 0, 0x10000},
};

/* Stacks of what the caller of a system call does. */
static const uint16_t stack_hooks[] = {0x060A, 0x060B, 0x060C, 0x060F, 0x061A, 0x061B,
				       0x061C, 0x061F, 0x080A, 0x080B, 0x081A, 0x081B};

const struct etw_kernel_named_provider etw_kernel_named_network = {
	.guid = WIRE_PROVIDER_KERNEL_NETWORK,
	.name = "Microsoft-Windows-Kernel-Network",
	.needs = needs,
	.need_count = ARRAY_SIZE(needs),
	.stack_hooks = stack_hooks,
	.stack_hook_count = ARRAY_SIZE(stack_hooks),
	.make = make,
};
