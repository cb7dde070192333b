/* SPDX-License-Identifier: MIT */
/* GUIDs: bytes, text, comparison, hashing. The type is Microsoft's, from the public header. */
#ifndef ETW_BASE_GUID_H
#define ETW_BASE_GUID_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <guiddef.h>

/* Characters of "{8-4-4-4-12}" and of the form without braces, NUL included. */
#define ETW_GUID_BRACED_BYTES 39
#define ETW_GUID_BARE_BYTES   37

static inline bool etw_guid_equal(const GUID *left, const GUID *right)
{
	return memcmp(left, right, sizeof(*left)) == 0;
}

static inline bool etw_guid_is_null(const GUID *guid)
{
	static const GUID null_guid;

	return etw_guid_equal(guid, &null_guid);
}

/* etw_guid_make() - a random one, of version 4. Returns 0 or -EIO. */
int etw_guid_make(GUID *ret);

/* etw_guid_read() - the GUID stored little-endian in 16 bytes. */
GUID etw_guid_read(const uint8_t *at);

/* etw_guid_write() - stores @guid as 16 bytes, the reverse of etw_guid_read(). */
void etw_guid_write(uint8_t *at, const GUID *guid);

/* etw_guid_format() - lower-case text without braces into @text, NUL-terminated. */
void etw_guid_format(const GUID *guid, char text[ETW_GUID_BARE_BYTES]);

/* etw_guid_format_braced() - lower-case text with braces into @text, NUL-terminated. */
void etw_guid_format_braced(const GUID *guid, char text[ETW_GUID_BRACED_BYTES]);

/*
 * etw_guid_parse() - reads 8-4-4-4-12 hex digits of either case, with or without braces.
 *
 * @text: NUL-terminated; nothing may follow the GUID
 *
 * Returns 0, or -EINVAL with @ret untouched.
 */
int etw_guid_parse(const char *text, GUID *ret);

/* etw_guid_hash() - a well-mixed value for hash tables of this process; begins with etw_hash_seed(). */
uint64_t etw_guid_hash(const GUID *guid);

#endif
