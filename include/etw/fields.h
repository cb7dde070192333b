/* SPDX-License-Identifier: MIT */
/*
 * An event's fields, by path or through a handle, with the types that C has. Part of the friendly layer;
 * etw/etw.h has the whole.
 *
 * A path is a field's name, with members of structs behind a dot and elements of arrays in brackets, from 0:
 * "ImageName", "Outer.Inner[3].x". Names count as they are written. Where a name itself has a dot, the longest
 * name that fits is meant.
 *
 * libetw_get_...() look a path up at each call; they keep nothing, so that any thread may use any path.
 * libetw_read_...() go through a handle that looks its path up once for each kind of event.
 *
 * What is read has a predicate that compares it (etw/predicate.h), and a function of builders that sets it
 * (etw/builder.h):
 *
 *	field                    libetw_get_, _read_   libetw_...            libetw_builder_set_
 *	integer, pointer, char   u8 u16 u32 u64        unsigned_is, _in      unsigned
 *	  the same, signed       i8 i16 i32 i64        signed_is, _in        signed
 *	  the same, as address   pointer               unsigned_is, _in      unsigned
 *	  the same, as truth     bool                  bool_is               unsigned
 *	float, double            float double          double_in             double
 *	FILETIME, SYSTEMTIME     filetime              filetime_in           unsigned (FILETIME), bytes
 *	  the same, since 1970   time_ns               time_ns_in
 *	GUID                     guid                  guid_is               guid
 *	string                   string                text_is               text
 *	SID                      sid                   sid_is                bytes
 *	any, as TDH shows it     text                  text_is
 *	any, as it lies there    bytes                 bytes_is              bytes
 *	array                    count                 count_in              each element
 *	whether it is there      count                 has_field
 *
 * All of these return 0 with the value in @ret, or leave @ret untouched and return one of
 * -ENOENT:  the event's schema has no such field
 * -ENODATA: it has, but the payload ends before it, or the array has fewer elements
 * -ESRCH:   nobody has a schema for the event
 * -EINVAL:  the field is no such value, or the path is none
 * -ERANGE:  the number does not fit the type that was asked for
 * -ENOMEM:  memory ran out
 *
 * libetw_error() then names event and field in a sentence.
 *
 * Borrowed results of an event that a callback got live until the callback returns; those of a retained or
 * built event, until its last libetw_event_release().
 *
 * Context: an event of a callback belongs to the thread of the callback. Retained and built events may be
 * read by several threads at once. A handle belongs to one thread at a time.
 */
#ifndef ETW_FIELDS_H
#define ETW_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include <etw/wintypes.h>
#include <guiddef.h>

ETW_EXTERN_C_BEGIN

struct libetw_event;
struct libetw_field;

/*
 * libetw_field_create() - a handle for a path.
 *
 * @path: copied
 *
 * Returns 0 with an owned handle; -EINVAL for an empty path or one longer than 1000 bytes; -ENOMEM.
 */
ETW_API int libetw_field_create(const char *path, struct libetw_field **ret);

/* libetw_field_free() - frees a handle; takes NULL. */
ETW_API void libetw_field_free(struct libetw_field *field);

/*
 * libetw_get_u8() and its like - a number of an integer, boolean, pointer, character or time field.
 *
 * What fits the type is given, whatever the width of the field: an 8-bit field may be read as u64, and a
 * 64-bit field as u8 when its value is below 256. _bool gives 0 or 1, of any width. _float and _double are
 * for floats of either width; a _float that was a double is rounded. _pointer takes pointers and integers.
 * _filetime is 100 ns since 1601 UTC and _time_ns is ns since 1970 UTC, both of FILETIME and SYSTEMTIME
 * fields.
 */
ETW_API int libetw_get_u8(struct libetw_event *event, const char *path, uint8_t *ret);
ETW_API int libetw_get_u16(struct libetw_event *event, const char *path, uint16_t *ret);
ETW_API int libetw_get_u32(struct libetw_event *event, const char *path, uint32_t *ret);
ETW_API int libetw_get_u64(struct libetw_event *event, const char *path, uint64_t *ret);
ETW_API int libetw_get_i8(struct libetw_event *event, const char *path, int8_t *ret);
ETW_API int libetw_get_i16(struct libetw_event *event, const char *path, int16_t *ret);
ETW_API int libetw_get_i32(struct libetw_event *event, const char *path, int32_t *ret);
ETW_API int libetw_get_i64(struct libetw_event *event, const char *path, int64_t *ret);
ETW_API int libetw_get_bool(struct libetw_event *event, const char *path, int *ret);
ETW_API int libetw_get_float(struct libetw_event *event, const char *path, float *ret);
ETW_API int libetw_get_double(struct libetw_event *event, const char *path, double *ret);
ETW_API int libetw_get_pointer(struct libetw_event *event, const char *path, uint64_t *ret);
ETW_API int libetw_get_guid(struct libetw_event *event, const char *path, GUID *ret);
ETW_API int libetw_get_filetime(struct libetw_event *event, const char *path, int64_t *ret);
ETW_API int libetw_get_time_ns(struct libetw_event *event, const char *path, int64_t *ret);

/*
 * libetw_get_string() - a text field, or an array of characters, as UTF-8.
 *
 * @ret: borrowed, NUL-terminated; what is no character is U+FFFD
 * @ret_bytes: without the NUL; may be NULL
 *
 * libetw_get_sid(): a SID as "S-1-5-18". libetw_get_text(): any field as TDH shows it: maps by their names,
 * structs as "{a=1, b=2}", arrays as "[1, 2]".
 */
ETW_API int libetw_get_string(struct libetw_event *event, const char *path, const char **ret,
			      size_t *ret_bytes);
ETW_API int libetw_get_sid(struct libetw_event *event, const char *path, const char **ret,
			   size_t *ret_bytes);
ETW_API int libetw_get_text(struct libetw_event *event, const char *path, const char **ret,
			    size_t *ret_bytes);

/*
 * libetw_get_bytes() - a field's value as it lies in the payload, of whatever type.
 *
 * @ret: borrowed, of any alignment; without length prefix and terminating NUL. Not NULL
 */
ETW_API int libetw_get_bytes(struct libetw_event *event, const char *path, const void **ret,
			     size_t *ret_bytes);

/* libetw_get_count() - the elements of an array; 1 for what is none. */
ETW_API int libetw_get_count(struct libetw_event *event, const char *path, size_t *ret);

/* libetw_read_u8() and its like - what the function libetw_get_ of that name gives, through a handle. */
ETW_API int libetw_read_u8(struct libetw_event *event, struct libetw_field *field, uint8_t *ret);
ETW_API int libetw_read_u16(struct libetw_event *event, struct libetw_field *field, uint16_t *ret);
ETW_API int libetw_read_u32(struct libetw_event *event, struct libetw_field *field, uint32_t *ret);
ETW_API int libetw_read_u64(struct libetw_event *event, struct libetw_field *field, uint64_t *ret);
ETW_API int libetw_read_i8(struct libetw_event *event, struct libetw_field *field, int8_t *ret);
ETW_API int libetw_read_i16(struct libetw_event *event, struct libetw_field *field, int16_t *ret);
ETW_API int libetw_read_i32(struct libetw_event *event, struct libetw_field *field, int32_t *ret);
ETW_API int libetw_read_i64(struct libetw_event *event, struct libetw_field *field, int64_t *ret);
ETW_API int libetw_read_bool(struct libetw_event *event, struct libetw_field *field, int *ret);
ETW_API int libetw_read_float(struct libetw_event *event, struct libetw_field *field, float *ret);
ETW_API int libetw_read_double(struct libetw_event *event, struct libetw_field *field, double *ret);
ETW_API int libetw_read_pointer(struct libetw_event *event, struct libetw_field *field,
				uint64_t *ret);
ETW_API int libetw_read_guid(struct libetw_event *event, struct libetw_field *field, GUID *ret);
ETW_API int libetw_read_filetime(struct libetw_event *event, struct libetw_field *field,
				 int64_t *ret);
ETW_API int libetw_read_time_ns(struct libetw_event *event, struct libetw_field *field,
				int64_t *ret);
ETW_API int libetw_read_string(struct libetw_event *event, struct libetw_field *field,
			       const char **ret, size_t *ret_bytes);
ETW_API int libetw_read_sid(struct libetw_event *event, struct libetw_field *field,
			    const char **ret, size_t *ret_bytes);
ETW_API int libetw_read_text(struct libetw_event *event, struct libetw_field *field,
			     const char **ret, size_t *ret_bytes);
ETW_API int libetw_read_bytes(struct libetw_event *event, struct libetw_field *field,
			      const void **ret, size_t *ret_bytes);
ETW_API int libetw_read_count(struct libetw_event *event, struct libetw_field *field, size_t *ret);

ETW_EXTERN_C_END

#endif
