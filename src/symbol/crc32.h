/* SPDX-License-Identifier: MIT */
/* The checksum by which an image without a build id knows its debug file: CRC-32 as zlib has it. */
#ifndef ETW_SYMBOL_CRC32_H
#define ETW_SYMBOL_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* etw_symbol_crc32() - goes on from @crc, which is 0 at first. */
uint32_t etw_symbol_crc32(uint32_t crc, const uint8_t *at, size_t bytes);

#endif
