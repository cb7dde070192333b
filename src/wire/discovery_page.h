/* SPDX-License-Identifier: MIT */
/*
 * The discovery page: the file `epoch` in a host's runtime directory. A process without a host waits on
 * its word by futex; a host that starts or goes counts it up and wakes everybody.
 * Source: docs/design/recording.md "Discovery".
 */
#ifndef ETW_WIRE_DISCOVERY_PAGE_H
#define ETW_WIRE_DISCOVERY_PAGE_H

#include <assert.h>
#include <stdint.h>

#define WIRE_DISCOVERY_PAGE_BYTES 4096
#define WIRE_DISCOVERY_PAGE_MAGIC UINT32_C(0x43534445) /* "EDSC" */

struct wire_discovery_page {
	uint32_t magic;
	uint32_t version; /* 1 */
	uint32_t epoch;   /* atomic, futex: odd while a host accepts connections, even otherwise */
	/* Of the host's keeper, the keeper's standby, the host. 0: none; hints for people. Atomic. */
	uint32_t keeper_pid;
	uint32_t standby_pid;
	uint32_t host_pid;
};
static_assert(sizeof(struct wire_discovery_page) == 24, "layout");

#endif
