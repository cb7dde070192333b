/* SPDX-License-Identifier: MIT */
#include "api/tdh/payload_blob.h"

#include <string.h>

void *etw_payload_blob_add(struct etw_payload_blob *blob, size_t bytes)
{
	void *at = blob->at + blob->bytes;

	if (bytes > sizeof(blob->at) - blob->bytes)
		return NULL;
	memset(at, 0, bytes);
	blob->bytes += bytes;
	return at;
}
