/* SPDX-License-Identifier: MIT */
#include "etl/packer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/etl_buffer.h"
#include "wire/xpress.h"

struct etw_etl_packer {
	struct etw_xpress_places places;
	uint32_t buffer_bytes;
	_Alignas(8) uint8_t room[];
};

int etw_etl_packer_create(uint32_t buffer_bytes, struct etw_etl_packer **ret)
{
	struct etw_etl_packer *packer = malloc(sizeof(*packer) + buffer_bytes);

	if (!packer)
		return -ENOMEM;
	packer->buffer_bytes = buffer_bytes;
	*ret = packer;
	return 0;
}

void etw_etl_packer_free(struct etw_etl_packer *packer)
{
	free(packer);
}

uint32_t etw_etl_packer_pack(struct etw_etl_packer *packer, const uint8_t *buffer,
			     const uint8_t **ret)
{
	struct wire_buffer_header header;
	uint32_t valid, body;
	size_t packed = 0;

	memcpy(&header, buffer, sizeof(header));
	valid = le32_get(header.valid_bytes);
	assert(valid >= sizeof(header) && valid <= packer->buffer_bytes);
	body = valid - WIRE_BUFFER_HEADER_BYTES;
	/* What is not shorter than the events is not worth its decoding. */
	if (body > 0)
		packed = etw_xpress_encode(&packer->places, buffer + WIRE_BUFFER_HEADER_BYTES, body,
					   packer->room + WIRE_BUFFER_HEADER_BYTES, body - 1);
	if (packed > 0) {
		header.flags = le16_of(le16_get(header.flags) | WIRE_BUFFER_COMPRESSED);
	} else {
		packed = body;
		memcpy(packer->room + WIRE_BUFFER_HEADER_BYTES, buffer + WIRE_BUFFER_HEADER_BYTES,
		       body);
	}
	header.buffer_bytes = le32_of(WIRE_BUFFER_HEADER_BYTES + (uint32_t)packed);
	memcpy(packer->room, &header, sizeof(header));
	*ret = packer->room;
	return WIRE_BUFFER_HEADER_BYTES + (uint32_t)packed;
}
