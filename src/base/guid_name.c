/* SPDX-License-Identifier: MIT */
#include "base/guid_name.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/sha1.h"
#include "base/utf.h"

/* The name space that the rule puts in front of every name. */
static const uint8_t name_space[16] = {0x48, 0x2C, 0x2D, 0xB2, 0xC3, 0x90, 0x47, 0xC8,
				       0x87, 0xF8, 0x1A, 0x15, 0xBF, 0xC1, 0x30, 0xFB};

#define VERSION_AT 7 /* byte whose upper half says how the GUID was made */
#define VERSION    0x50

static uint16_t upper(uint16_t unit)
{
	return unit >= 'a' && unit <= 'z' ? (uint16_t)(unit - 'a' + 'A') : unit;
}

int etw_guid_of_name(const char *name, GUID *ret)
{
	CLEANUP(freep) uint8_t *wide = NULL;
	CLEANUP(freep) uint8_t *bytes = NULL;
	uint8_t digest[ETW_SHA1_BYTES];
	size_t units;

	if (!etw_utf8_is_valid((const uint8_t *)name, strlen(name)))
		return -EILSEQ;
	wide = etw_utf8_to_utf16(name, &units);
	if (!wide)
		return -ENOMEM;
	bytes = malloc(sizeof(name_space) + 2 * units);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, name_space, sizeof(name_space));
	for (size_t i = 0; i < units; i++) {
		uint16_t unit = upper((uint16_t)(wide[2 * i] | wide[2 * i + 1] << 8));

		bytes[sizeof(name_space) + 2 * i] = (uint8_t)(unit >> 8);
		bytes[sizeof(name_space) + 2 * i + 1] = (uint8_t)unit;
	}
	etw_sha1(bytes, sizeof(name_space) + 2 * units, digest);
	digest[VERSION_AT] = (uint8_t)((digest[VERSION_AT] & 0x0F) | VERSION);
	*ret = etw_guid_read(digest);
	return 0;
}
