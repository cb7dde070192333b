/* SPDX-License-Identifier: MIT */
/*
 * Bounded little-endian reading. Bytes from outside are never cast to structs of stricter
 * alignment: they are copied out after a bounds check.
 */
#ifndef ETW_BASE_BYTES_H
#define ETW_BASE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A borrowed run of bytes; `at` moves forward as values are taken, `left` shrinks. */
struct etw_bytes {
	const uint8_t *at;
	size_t left;
};

/* Unaligned little-endian loads and stores. The caller has checked the bounds. */
static inline uint16_t etw_load16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return le16toh(value);
}

static inline uint32_t etw_load32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static inline uint64_t etw_load64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

/* etw_load_unsigned() / etw_load_signed() - an integer of 1, 2, 4 or 8 bytes; other sizes count as 8. */
static inline uint64_t etw_load_unsigned(const uint8_t *at, size_t bytes)
{
	switch (bytes) {
	case 1:
		return at[0];
	case 2:
		return etw_load16(at);
	case 4:
		return etw_load32(at);
	default:
		return etw_load64(at);
	}
}

static inline int64_t etw_load_signed(const uint8_t *at, size_t bytes)
{
	switch (bytes) {
	case 1:
		return (int8_t)at[0];
	case 2:
		return (int16_t)etw_load16(at);
	case 4:
		return (int32_t)etw_load32(at);
	default:
		return (int64_t)etw_load64(at);
	}
}

static inline void etw_store16(uint8_t *at, uint16_t value)
{
	value = htole16(value);
	memcpy(at, &value, sizeof(value));
}

static inline void etw_store32(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static inline void etw_store64(uint8_t *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
}

/* Little-endian members of wire structs: byte arrays, so the structs have alignment 1. */
typedef struct {
	uint8_t raw[2];
} le16;
typedef struct {
	uint8_t raw[4];
} le32;
typedef struct {
	uint8_t raw[8];
} le64;

static inline uint16_t le16_get(le16 value)
{
	return etw_load16(value.raw);
}

static inline uint32_t le32_get(le32 value)
{
	return etw_load32(value.raw);
}

static inline uint64_t le64_get(le64 value)
{
	return etw_load64(value.raw);
}

static inline le16 le16_of(uint16_t value)
{
	le16 result;

	etw_store16(result.raw, value);
	return result;
}

static inline le32 le32_of(uint32_t value)
{
	le32 result;

	etw_store32(result.raw, value);
	return result;
}

static inline le64 le64_of(uint64_t value)
{
	le64 result;

	etw_store64(result.raw, value);
	return result;
}

/* Takes @count bytes from the front; returns their start, or NULL (nothing taken) when too few. */
static inline const uint8_t *etw_bytes_take(struct etw_bytes *bytes, size_t count)
{
	const uint8_t *at = bytes->at;

	if (count > bytes->left)
		return NULL;
	bytes->at += count;
	bytes->left -= count;
	return at;
}

/* etw_bytes_u8() and its like take one value; false (nothing taken, @ret untouched) when too few. */
static inline bool etw_bytes_u8(struct etw_bytes *bytes, uint8_t *ret)
{
	const uint8_t *at = etw_bytes_take(bytes, 1);

	if (!at)
		return false;
	*ret = *at;
	return true;
}

static inline bool etw_bytes_u16(struct etw_bytes *bytes, uint16_t *ret)
{
	const uint8_t *at = etw_bytes_take(bytes, 2);

	if (!at)
		return false;
	*ret = etw_load16(at);
	return true;
}

static inline bool etw_bytes_u32(struct etw_bytes *bytes, uint32_t *ret)
{
	const uint8_t *at = etw_bytes_take(bytes, 4);

	if (!at)
		return false;
	*ret = etw_load32(at);
	return true;
}

#endif
