/* SPDX-License-Identifier: MIT */
/* The bytes of a payload filter (wire/payload_filter.h) while they are written. */
#ifndef ETW_API_TDH_PAYLOAD_BLOB_H
#define ETW_API_TDH_PAYLOAD_BLOB_H

#include <stddef.h>
#include <stdint.h>

#include "wire/payload_filter.h"

/* A blob while it is written; it never gets longer than a filter may be. */
struct etw_payload_blob {
	uint8_t at[WIRE_PAYLOAD_FILTER_BYTES_MAX];
	size_t bytes;
};

/*
 * etw_payload_blob_add() - room for @bytes more, zeroed.
 *
 * Returns it, valid as long as the blob; NULL, with the blob unchanged, when it would get too long.
 */
void *etw_payload_blob_add(struct etw_payload_blob *blob, size_t bytes);

#endif
