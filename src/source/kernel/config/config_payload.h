/* SPDX-License-Identifier: MIT */
/*
 * The bytes of an event about the machine, put together piece by piece: numbers, and texts of UTF-8 that become UTF-16LE.
 * What has no room is left out, and the payload remembers it.
 */
#ifndef ETW_SOURCE_KERNEL_CONFIG_CONFIG_PAYLOAD_H
#define ETW_SOURCE_KERNEL_CONFIG_CONFIG_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guiddef.h>

#include "source/kernel/events/events.h"
#include "source/kernel/out/out.h"

#define ETW_KERNEL_PAYLOAD_BYTES 20480 /* enough for a node of each processor group */

struct etw_kernel_payload {
	size_t count;
	bool is_full; /* something was left out */
	uint8_t at[ETW_KERNEL_PAYLOAD_BYTES];
};

/* etw_kernel_payload_begin() - an empty one. */
void etw_kernel_payload_begin(struct etw_kernel_payload *payload);

/* etw_kernel_payload_put() - a number of 1, 2, 4 or 8 bytes. */
void etw_kernel_payload_put(struct etw_kernel_payload *payload, uint64_t value, size_t bytes);

/* etw_kernel_payload_put_guid() - a GUID as events have it. */
void etw_kernel_payload_put_guid(struct etw_kernel_payload *payload, const GUID *guid);

/* etw_kernel_payload_put_text() - a text with its NUL, cut after @units_max units. */
void etw_kernel_payload_put_text(struct etw_kernel_payload *payload, const char *text,
				 size_t units_max);

/* etw_kernel_payload_put_field() - a text in a field of @units units, cut so that a NUL follows, zeroed behind it. */
void etw_kernel_payload_put_field(struct etw_kernel_payload *payload, const char *text,
				  size_t units);

/*
 * etw_kernel_payload_write() - an event of SystemConfig, at the moment that etw_kernel_out_begin() set.
 *
 * @actor: NULL: the short header, which names nobody
 *
 * A payload that had no room is counted as one more event lost, and not written.
 */
void etw_kernel_payload_write(const struct etw_kernel_payload *payload, struct etw_kernel_out *out,
			      const struct etw_kernel_actor *actor, uint8_t opcode,
			      uint8_t version);

/* etw_kernel_payload_write_classic() - the same, with the full header and a class of its own; version 0, by nobody. */
void etw_kernel_payload_write_classic(const struct etw_kernel_payload *payload,
				      struct etw_kernel_out *out, const GUID *class_guid,
				      uint8_t opcode);

#endif
