/* SPDX-License-Identifier: MIT */
/* The network interfaces of the host's network namespace. */
#ifndef ETW_SOURCE_KERNEL_MACHINE_NICS_H
#define ETW_SOURCE_KERNEL_MACHINE_NICS_H

#include <ifaddrs.h>
#include <stdint.h>

#define ETW_KERNEL_NICS_MAX          1024
#define ETW_KERNEL_NIC_ADDRESS_BYTES 8
#define ETW_KERNEL_NIC_LIST_BYTES    1024 /* of addresses; what does not fit is left out */

struct etw_kernel_nic {
	uint8_t address
		[ETW_KERNEL_NIC_ADDRESS_BYTES]; /* of the hardware; the first bytes of a longer one */
	uint32_t address_bytes;                 /* of those that count */
	uint32_t index;                         /* IFINDEX, of IPv4 and IPv6 alike */
	char name[32];                          /* "eth0" */
	char description[96];                   /* name, with the driver in parentheses */
	char addresses[ETW_KERNEL_NIC_LIST_BYTES];    /* IPv6 before IPv4, a semicolon between */
	char name_servers[ETW_KERNEL_NIC_LIST_BYTES]; /* of the host; none of a loopback */
};

/* Told of an interface, borrowed for the call. */
typedef void etw_kernel_nic_told(void *context, const struct etw_kernel_nic *nic);

/*
 * etw_kernel_nics_tell() - tells of each, by name.
 *
 * @addresses: of getifaddrs(), or NULL: then nobody has one
 */
void etw_kernel_nics_tell(const char *root, const struct ifaddrs *addresses,
			  etw_kernel_nic_told *told, void *context);

#endif
