/* SPDX-License-Identifier: MIT */
/* etw/fields.h: values by path. What a value is, is in value.c. */
#include <etw/fields.h>

#include "api/friendly/value.h"

int libetw_get_u8(struct libetw_event *event, const char *path, uint8_t *ret)
{
	uint64_t value;
	int result = etw_value_unsigned(event, &(struct etw_where){.path = path}, UINT8_MAX,
					&value);

	if (!result)
		*ret = (uint8_t)value;
	return result;
}

int libetw_get_u16(struct libetw_event *event, const char *path, uint16_t *ret)
{
	uint64_t value;
	int result = etw_value_unsigned(event, &(struct etw_where){.path = path}, UINT16_MAX,
					&value);

	if (!result)
		*ret = (uint16_t)value;
	return result;
}

int libetw_get_u32(struct libetw_event *event, const char *path, uint32_t *ret)
{
	uint64_t value;
	int result = etw_value_unsigned(event, &(struct etw_where){.path = path}, UINT32_MAX,
					&value);

	if (!result)
		*ret = (uint32_t)value;
	return result;
}

int libetw_get_u64(struct libetw_event *event, const char *path, uint64_t *ret)
{
	uint64_t value;
	int result = etw_value_unsigned(event, &(struct etw_where){.path = path}, UINT64_MAX,
					&value);

	if (!result)
		*ret = (uint64_t)value;
	return result;
}

int libetw_get_i8(struct libetw_event *event, const char *path, int8_t *ret)
{
	int64_t value;
	int result = etw_value_signed(event, &(struct etw_where){.path = path}, INT8_MIN, INT8_MAX,
				      &value);

	if (!result)
		*ret = (int8_t)value;
	return result;
}

int libetw_get_i16(struct libetw_event *event, const char *path, int16_t *ret)
{
	int64_t value;
	int result = etw_value_signed(event, &(struct etw_where){.path = path}, INT16_MIN,
				      INT16_MAX, &value);

	if (!result)
		*ret = (int16_t)value;
	return result;
}

int libetw_get_i32(struct libetw_event *event, const char *path, int32_t *ret)
{
	int64_t value;
	int result = etw_value_signed(event, &(struct etw_where){.path = path}, INT32_MIN,
				      INT32_MAX, &value);

	if (!result)
		*ret = (int32_t)value;
	return result;
}

int libetw_get_i64(struct libetw_event *event, const char *path, int64_t *ret)
{
	int64_t value;
	int result = etw_value_signed(event, &(struct etw_where){.path = path}, INT64_MIN,
				      INT64_MAX, &value);

	if (!result)
		*ret = (int64_t)value;
	return result;
}

int libetw_get_bool(struct libetw_event *event, const char *path, int *ret)
{
	return etw_value_bool(event, &(struct etw_where){.path = path}, ret);
}

int libetw_get_float(struct libetw_event *event, const char *path, float *ret)
{
	double value;
	int result = etw_value_double(event, &(struct etw_where){.path = path}, &value);

	if (!result)
		*ret = (float)value;
	return result;
}

int libetw_get_double(struct libetw_event *event, const char *path, double *ret)
{
	return etw_value_double(event, &(struct etw_where){.path = path}, ret);
}

int libetw_get_pointer(struct libetw_event *event, const char *path, uint64_t *ret)
{
	uint64_t value;
	int result = etw_value_unsigned(event, &(struct etw_where){.path = path}, UINT64_MAX,
					&value);

	if (!result)
		*ret = (uint64_t)value;
	return result;
}

int libetw_get_guid(struct libetw_event *event, const char *path, GUID *ret)
{
	return etw_value_guid(event, &(struct etw_where){.path = path}, ret);
}

int libetw_get_filetime(struct libetw_event *event, const char *path, int64_t *ret)
{
	return etw_value_filetime(event, &(struct etw_where){.path = path}, ret);
}

int libetw_get_time_ns(struct libetw_event *event, const char *path, int64_t *ret)
{
	return etw_value_time_ns(event, &(struct etw_where){.path = path}, ret);
}

int libetw_get_string(struct libetw_event *event, const char *path, const char **ret,
		      size_t *ret_bytes)
{
	return etw_value_string(event, &(struct etw_where){.path = path}, ret, ret_bytes);
}

int libetw_get_sid(struct libetw_event *event, const char *path, const char **ret,
		   size_t *ret_bytes)
{
	return etw_value_sid(event, &(struct etw_where){.path = path}, ret, ret_bytes);
}

int libetw_get_text(struct libetw_event *event, const char *path, const char **ret,
		    size_t *ret_bytes)
{
	return etw_value_text(event, &(struct etw_where){.path = path}, ret, ret_bytes);
}

int libetw_get_bytes(struct libetw_event *event, const char *path, const void **ret,
		     size_t *ret_bytes)
{
	return etw_value_bytes(event, &(struct etw_where){.path = path}, ret, ret_bytes);
}

int libetw_get_count(struct libetw_event *event, const char *path, size_t *ret)
{
	return etw_value_count(event, &(struct etw_where){.path = path}, ret);
}
