/* SPDX-License-Identifier: MIT */
/* CRC-32, a half byte at a time. See crc32.h. */
#include "symbol/crc32.h"

#define POLYNOMIAL UINT32_C(0xEDB88320)

uint32_t etw_symbol_crc32(uint32_t crc, const uint8_t *at, size_t bytes)
{
	uint32_t table[16];

	for (uint32_t i = 0; i < 16; i++) {
		table[i] = i;
		for (unsigned bit = 0; bit < 4; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? POLYNOMIAL : 0);
	}
	crc = ~crc;
	while (bytes--) {
		crc ^= *at++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}
