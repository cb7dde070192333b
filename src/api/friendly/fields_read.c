/* SPDX-License-Identifier: MIT */
/* etw/fields.h: values through handles. What a value is, is in value.c. */
#include <etw/fields.h>

#include "api/friendly/value.h"

int libetw_read_u8(struct libetw_event *event, struct libetw_field *field, uint8_t *ret)
{
	uint64_t value;
	int result = etw_value_unsigned(event, &(struct etw_where){.field = field}, UINT8_MAX,
					&value);

	if (!result)
		*ret = (uint8_t)value;
	return result;
}

int libetw_read_u16(struct libetw_event *event, struct libetw_field *field, uint16_t *ret)
{
	uint64_t value;
	int result = etw_value_unsigned(event, &(struct etw_where){.field = field}, UINT16_MAX,
					&value);

	if (!result)
		*ret = (uint16_t)value;
	return result;
}

int libetw_read_u32(struct libetw_event *event, struct libetw_field *field, uint32_t *ret)
{
	uint64_t value;
	int result = etw_value_unsigned(event, &(struct etw_where){.field = field}, UINT32_MAX,
					&value);

	if (!result)
		*ret = (uint32_t)value;
	return result;
}

int libetw_read_u64(struct libetw_event *event, struct libetw_field *field, uint64_t *ret)
{
	uint64_t value;
	int result = etw_value_unsigned(event, &(struct etw_where){.field = field}, UINT64_MAX,
					&value);

	if (!result)
		*ret = (uint64_t)value;
	return result;
}

int libetw_read_i8(struct libetw_event *event, struct libetw_field *field, int8_t *ret)
{
	int64_t value;
	int result = etw_value_signed(event, &(struct etw_where){.field = field}, INT8_MIN,
				      INT8_MAX, &value);

	if (!result)
		*ret = (int8_t)value;
	return result;
}

int libetw_read_i16(struct libetw_event *event, struct libetw_field *field, int16_t *ret)
{
	int64_t value;
	int result = etw_value_signed(event, &(struct etw_where){.field = field}, INT16_MIN,
				      INT16_MAX, &value);

	if (!result)
		*ret = (int16_t)value;
	return result;
}

int libetw_read_i32(struct libetw_event *event, struct libetw_field *field, int32_t *ret)
{
	int64_t value;
	int result = etw_value_signed(event, &(struct etw_where){.field = field}, INT32_MIN,
				      INT32_MAX, &value);

	if (!result)
		*ret = (int32_t)value;
	return result;
}

int libetw_read_i64(struct libetw_event *event, struct libetw_field *field, int64_t *ret)
{
	int64_t value;
	int result = etw_value_signed(event, &(struct etw_where){.field = field}, INT64_MIN,
				      INT64_MAX, &value);

	if (!result)
		*ret = (int64_t)value;
	return result;
}

int libetw_read_bool(struct libetw_event *event, struct libetw_field *field, int *ret)
{
	return etw_value_bool(event, &(struct etw_where){.field = field}, ret);
}

int libetw_read_float(struct libetw_event *event, struct libetw_field *field, float *ret)
{
	double value;
	int result = etw_value_double(event, &(struct etw_where){.field = field}, &value);

	if (!result)
		*ret = (float)value;
	return result;
}

int libetw_read_double(struct libetw_event *event, struct libetw_field *field, double *ret)
{
	return etw_value_double(event, &(struct etw_where){.field = field}, ret);
}

int libetw_read_pointer(struct libetw_event *event, struct libetw_field *field, uint64_t *ret)
{
	uint64_t value;
	int result = etw_value_unsigned(event, &(struct etw_where){.field = field}, UINT64_MAX,
					&value);

	if (!result)
		*ret = (uint64_t)value;
	return result;
}

int libetw_read_guid(struct libetw_event *event, struct libetw_field *field, GUID *ret)
{
	return etw_value_guid(event, &(struct etw_where){.field = field}, ret);
}

int libetw_read_filetime(struct libetw_event *event, struct libetw_field *field, int64_t *ret)
{
	return etw_value_filetime(event, &(struct etw_where){.field = field}, ret);
}

int libetw_read_time_ns(struct libetw_event *event, struct libetw_field *field, int64_t *ret)
{
	return etw_value_time_ns(event, &(struct etw_where){.field = field}, ret);
}

int libetw_read_string(struct libetw_event *event, struct libetw_field *field, const char **ret,
		       size_t *ret_bytes)
{
	return etw_value_string(event, &(struct etw_where){.field = field}, ret, ret_bytes);
}

int libetw_read_sid(struct libetw_event *event, struct libetw_field *field, const char **ret,
		    size_t *ret_bytes)
{
	return etw_value_sid(event, &(struct etw_where){.field = field}, ret, ret_bytes);
}

int libetw_read_text(struct libetw_event *event, struct libetw_field *field, const char **ret,
		     size_t *ret_bytes)
{
	return etw_value_text(event, &(struct etw_where){.field = field}, ret, ret_bytes);
}

int libetw_read_bytes(struct libetw_event *event, struct libetw_field *field, const void **ret,
		      size_t *ret_bytes)
{
	return etw_value_bytes(event, &(struct etw_where){.field = field}, ret, ret_bytes);
}

int libetw_read_count(struct libetw_event *event, struct libetw_field *field, size_t *ret)
{
	return etw_value_count(event, &(struct etw_where){.field = field}, ret);
}
