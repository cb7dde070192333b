/* SPDX-License-Identifier: MIT */
/*
 * etw/fields.h: each value by path and through a handle, which differ in where they look alone. What a value is,
 * is in value.c.
 */
#include <etw/fields.h>

#include "api/friendly/value.h"

/* @name: of libetw_get_<name>() and libetw_read_<name>(); the results' type is @type */
#define BOTH(name, type, find)                                                                    \
	int libetw_get_##name(struct libetw_event *event, const char *path, type *ret)            \
	{                                                                                         \
		return find(event, &(struct etw_where){.path = path}, ret);                       \
	}                                                                                         \
	int libetw_read_##name(struct libetw_event *event, struct libetw_field *field, type *ret) \
	{                                                                                         \
		return find(event, &(struct etw_where){.field = field}, ret);                     \
	}

/* The same for borrowed results, which have a length. */
#define BOTH_WITH_BYTES(name, type, find)                                                         \
	int libetw_get_##name(struct libetw_event *event, const char *path, type *ret,            \
			      size_t *ret_bytes)                                                  \
	{                                                                                         \
		return find(event, &(struct etw_where){.path = path}, ret, ret_bytes);            \
	}                                                                                         \
	int libetw_read_##name(struct libetw_event *event, struct libetw_field *field, type *ret, \
			       size_t *ret_bytes)                                                 \
	{                                                                                         \
		return find(event, &(struct etw_where){.field = field}, ret, ret_bytes);          \
	}

#define UNSIGNED(name, type, max)                                                         \
	static int find_##name(struct libetw_event *event, const struct etw_where *where, \
			       type *ret)                                                 \
	{                                                                                 \
		uint64_t value;                                                           \
		int result = etw_value_unsigned(event, where, max, &value);               \
                                                                                          \
		if (!result)                                                              \
			*ret = (type)value;                                               \
		return result;                                                            \
	}                                                                                 \
	BOTH(name, type, find_##name)

#define SIGNED(name, type, min, max)                                                      \
	static int find_##name(struct libetw_event *event, const struct etw_where *where, \
			       type *ret)                                                 \
	{                                                                                 \
		int64_t value;                                                            \
		int result = etw_value_signed(event, where, min, max, &value);            \
                                                                                          \
		if (!result)                                                              \
			*ret = (type)value;                                               \
		return result;                                                            \
	}                                                                                 \
	BOTH(name, type, find_##name)

static int find_float(struct libetw_event *event, const struct etw_where *where, float *ret)
{
	double value;
	int result = etw_value_double(event, where, &value);

	if (!result)
		*ret = (float)value;
	return result;
}

UNSIGNED(u8, uint8_t, UINT8_MAX)
UNSIGNED(u16, uint16_t, UINT16_MAX)
UNSIGNED(u32, uint32_t, UINT32_MAX)
UNSIGNED(u64, uint64_t, UINT64_MAX)
UNSIGNED(pointer, uint64_t, UINT64_MAX)
SIGNED(i8, int8_t, INT8_MIN, INT8_MAX)
SIGNED(i16, int16_t, INT16_MIN, INT16_MAX)
SIGNED(i32, int32_t, INT32_MIN, INT32_MAX)
SIGNED(i64, int64_t, INT64_MIN, INT64_MAX)
BOTH(bool, int, etw_value_bool)
BOTH(float, float, find_float)
BOTH(double, double, etw_value_double)
BOTH(guid, GUID, etw_value_guid)
BOTH(filetime, int64_t, etw_value_filetime)
BOTH(time_ns, int64_t, etw_value_time_ns)
BOTH(count, size_t, etw_value_count)
BOTH_WITH_BYTES(string, const char *, etw_value_string)
BOTH_WITH_BYTES(sid, const char *, etw_value_sid)
BOTH_WITH_BYTES(text, const char *, etw_value_text)
BOTH_WITH_BYTES(bytes, const void *, etw_value_bytes)
