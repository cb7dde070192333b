/* SPDX-License-Identifier: MIT */
/* Floating-point numbers as they lie in payloads. */
#ifndef ETW_BASE_FLOAT_H
#define ETW_BASE_FLOAT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

/* etw_load_float() - a float of 4 bytes or a double of 8, little-endian. The caller has checked the bounds. */
static inline double etw_load_float(const uint8_t *at, size_t bytes)
{
	const uint64_t raw = bytes == 4 ? etw_load32(at) : etw_load64(at);
	const uint32_t raw_single = (uint32_t)raw;
	double value;
	float single;

	memcpy(&value, &raw, sizeof(value));
	memcpy(&single, &raw_single, sizeof(single));
	return bytes == 4 ? (double)single : value;
}

#endif
