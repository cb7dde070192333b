/* SPDX-License-Identifier: MIT */
/* SHA-1 (RFC 3174): provider ids are made from names with it. Not for security. */
#ifndef ETW_BASE_SHA1_H
#define ETW_BASE_SHA1_H

#include <stddef.h>
#include <stdint.h>

#define ETW_SHA1_BYTES 20

/* etw_sha1() - the digest of @bytes bytes. */
void etw_sha1(const uint8_t *at, size_t bytes, uint8_t ret[ETW_SHA1_BYTES]);

#endif
