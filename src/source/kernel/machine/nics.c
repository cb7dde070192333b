/* SPDX-License-Identifier: MIT */
#include "source/kernel/machine/nics.h"

#include <arpa/inet.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "source/kernel/machine/facts.h"

#define RESOLV_BYTES 4096

struct walk {
	const char *root;
	const struct ifaddrs *addresses;
	etw_kernel_nic_told *told;
	void *context;
	uint32_t count;
	char name_servers[ETW_KERNEL_NIC_LIST_BYTES];
};

/* One more item of a list, as long as all of it fits. */
static void add_item(char list[ETW_KERNEL_NIC_LIST_BYTES], const char *item, size_t bytes)
{
	size_t used = strlen(list), blank = used ? 1 : 0;

	if (!bytes || used + blank + bytes >= ETW_KERNEL_NIC_LIST_BYTES)
		return;
	if (blank)
		list[used++] = ';';
	memcpy(list + used, item, bytes);
	list[used + bytes] = '\0';
}

static void read_name_servers(struct walk *walk)
{
	char text[RESOLV_BYTES], *save = NULL;

	(void)etw_kernel_fact_text(walk->root, text, sizeof(text), "etc/resolv.conf");
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		size_t blanks;

		line += strspn(line, " \t");
		if (strncmp(line, "nameserver", 10) != 0)
			continue;
		blanks = strspn(line + 10, " \t");
		if (blanks)
			add_item(walk->name_servers, line + 10 + blanks,
				 strcspn(line + 10 + blanks, " \t#;"));
	}
}

static void add_addresses(const struct walk *walk, struct etw_kernel_nic *nic, int family)
{
	char text[INET6_ADDRSTRLEN];

	for (const struct ifaddrs *at = walk->addresses; at; at = at->ifa_next) {
		const void *bytes;

		if (!at->ifa_addr || at->ifa_addr->sa_family != family ||
		    strcmp(at->ifa_name, nic->name) != 0)
			continue;
		if (family == AF_INET6)
			bytes = &((const struct sockaddr_in6 *)(const void *)at->ifa_addr)
					 ->sin6_addr;
		else
			bytes = &((const struct sockaddr_in *)(const void *)at->ifa_addr)->sin_addr;
		if (inet_ntop(family, bytes, text, sizeof(text)))
			add_item(nic->addresses, text, strlen(text));
	}
}

/* "02:42:ac:11:00:02"; of a loopback all of them are 0, and of a tunnel there are none. */
static void read_hardware(const char *root, struct etw_kernel_nic *nic)
{
	uint8_t sum = 0;
	char text[128], *at = text;

	(void)etw_kernel_fact_text(root, text, sizeof(text), "sys/class/net/%s/address", nic->name);
	while (nic->address_bytes < ETW_KERNEL_NIC_ADDRESS_BYTES) {
		unsigned byte;
		int used = 0;

		if (sscanf(at, "%2x%n", &byte, &used) != 1)
			break;
		nic->address[nic->address_bytes++] = (uint8_t)byte;
		sum |= (uint8_t)byte;
		at += used;
		if (*at != ':')
			break;
		at++;
	}
	if (!sum)
		nic->address_bytes = 0;
}

static void describe(const char *root, struct etw_kernel_nic *nic)
{
	char link[ETW_KERNEL_FACT_PATH_BYTES];

	if (etw_kernel_fact_link(root, link, sizeof(link), "sys/class/net/%s/device/driver",
				 nic->name))
		(void)snprintf(nic->description, sizeof(nic->description), "%s (%.48s)", nic->name,
			       etw_kernel_fact_base(link));
	else
		(void)snprintf(nic->description, sizeof(nic->description), "%s", nic->name);
}

static bool tell(void *context, const char *name)
{
	struct walk *walk = context;
	struct etw_kernel_nic nic = {0};
	uint64_t type;

	nic.index = (uint32_t)etw_kernel_fact_number(walk->root, 0, "sys/class/net/%s/ifindex",
						     name);
	/* bonding_masters is a file beside the interfaces. */
	if (!nic.index || strlen(name) >= sizeof(nic.name))
		return true;
	if (walk->count++ == ETW_KERNEL_NICS_MAX)
		return false;
	memcpy(nic.name, name, strlen(name) + 1);
	read_hardware(walk->root, &nic);
	describe(walk->root, &nic);
	add_addresses(walk, &nic, AF_INET6);
	add_addresses(walk, &nic, AF_INET);
	type = etw_kernel_fact_number(walk->root, 0, "sys/class/net/%s/type", name);
	if (type != ARPHRD_LOOPBACK)
		memcpy(nic.name_servers, walk->name_servers, sizeof(nic.name_servers));
	walk->told(walk->context, &nic);
	return true;
}

void etw_kernel_nics_tell(const char *root, const struct ifaddrs *addresses,
			  etw_kernel_nic_told *told, void *context)
{
	struct walk walk = {
		.root = root,
		.addresses = addresses,
		.told = told,
		.context = context,
	};

	read_name_servers(&walk);
	etw_kernel_fact_list(root, "sys/class/net", tell, &walk);
}
