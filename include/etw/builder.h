/* SPDX-License-Identifier: MIT */
/*
 * Events made up, so that a callback can be tested without a session or a file. Part of the friendly layer;
 * etw/etw.h has the whole.
 *
 *	libetw_builder_begin(builder, &provider, 1, 3);
 *	libetw_builder_set_unsigned(builder, "ProcessID", 4242);
 *	libetw_builder_set_text(builder, "ImageName", "\\Device\\x\\notepad.exe");
 *	libetw_builder_finish(builder, &event);
 *	libetw_reader_deliver(reader, event);
 *
 * Fields that are not set are zero, empty, or have no elements. Numbers that say how long another field is, or
 * how many elements it has, follow from what is set, unless they are set themselves. Events are 64-bit ones.
 *
 * Context: a builder belongs to the thread of its schemas.
 */
#ifndef ETW_BUILDER_H
#define ETW_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include <etw/wintypes.h>
#include <evntprov.h>
#include <guiddef.h>

ETW_EXTERN_C_BEGIN

struct libetw_builder;
struct libetw_event;
struct libetw_schemas;

/* libetw_builder_create() - an owned builder with a reference to the schemas. Returns 0 or -ENOMEM. */
ETW_API int libetw_builder_create(struct libetw_schemas *schemas, struct libetw_builder **ret);

/* libetw_builder_free() - frees a builder; takes NULL. What was built stays. */
ETW_API void libetw_builder_free(struct libetw_builder *builder);

/*
 * libetw_builder_begin() - an event that the schemas know by provider, id and version.
 *
 * Forgets what was not finished. The header has the schema's level, opcode, task and keyword; process and
 * thread are 0, the time is that of libetw_builder_finish(). Returns 0; -ESRCH: there is no such event; -ENOMEM.
 */
ETW_API int libetw_builder_begin(struct libetw_builder *builder, const GUID *provider, uint16_t id,
				 uint8_t version);

/* libetw_builder_begin_class() - a classic event by class, opcode and version; returns the same. */
ETW_API int libetw_builder_begin_class(struct libetw_builder *builder, const GUID *class_guid,
				       uint8_t opcode, uint8_t version);

/*
 * libetw_builder_begin_raw() - an event with a payload as it is, whether the schemas know it or not.
 *
 * @payload: @bytes, copied
 *
 * Its header is not that of a classic event. Returns 0; -EMSGSIZE: more than 65,535 bytes; -ENOMEM.
 */
ETW_API int libetw_builder_begin_raw(struct libetw_builder *builder, const GUID *provider,
				     const EVENT_DESCRIPTOR *descriptor, const void *payload,
				     size_t bytes);

/* libetw_builder_ids() and its like - what the header says, of the event that was begun. */
ETW_API void libetw_builder_ids(struct libetw_builder *builder, uint32_t pid, uint32_t tid);
ETW_API void libetw_builder_time_ns(struct libetw_builder *builder, int64_t time_ns);
ETW_API void libetw_builder_level(struct libetw_builder *builder, uint8_t level);
ETW_API void libetw_builder_keyword(struct libetw_builder *builder, uint64_t keyword);
ETW_API void libetw_builder_activity(struct libetw_builder *builder, const GUID *activity);

/*
 * libetw_builder_set_unsigned() and its like - a field's value.
 *
 * @path: as in etw/fields.h, to a value: "Name", "Array[2]", "Outer.Inner[3].x"
 *
 * Integers, booleans, pointers, characters and times are set by _unsigned or _signed (FILETIME in its own
 * unit), floats by _double, strings by _text from UTF-8. _bytes sets the bytes of a value of whatever type as
 * they are, without prefix and terminator; SIDs and binaries have no other way. A value that is set again is
 * replaced.
 * Returns 0; -ENOENT: no such field, or the index is beyond the array; -EINVAL: no such value, a whole array
 * or struct, or nothing was begun by schema; -ERANGE: it does not fit the field, for example a text that is
 * longer than the length that the schema gives it; -ENOMEM.
 */
ETW_API int libetw_builder_set_unsigned(struct libetw_builder *builder, const char *path,
					uint64_t value);
ETW_API int libetw_builder_set_signed(struct libetw_builder *builder, const char *path,
				      int64_t value);
ETW_API int libetw_builder_set_double(struct libetw_builder *builder, const char *path,
				      double value);
ETW_API int libetw_builder_set_text(struct libetw_builder *builder, const char *path,
				    const char *text);
ETW_API int libetw_builder_set_guid(struct libetw_builder *builder, const char *path,
				    const GUID *guid);
ETW_API int libetw_builder_set_bytes(struct libetw_builder *builder, const char *path,
				     const void *bytes, size_t count);

/*
 * libetw_builder_finish() - the event, kept like a retained one.
 *
 * What was set stays for further events of the kind, until another is begun.
 * Returns 0 with a reference for libetw_event_release(); -EINVAL: nothing was begun; -EMSGSIZE: more than
 * 65,535 bytes; -E2BIG: more than 65,536 values, structs and elements of arrays; -EBADMSG: what was set does not
 * make a payload that the schema describes, for example a count that is set to more than there is; -ENOMEM.
 */
ETW_API int libetw_builder_finish(struct libetw_builder *builder, struct libetw_event **ret);

ETW_EXTERN_C_END

#endif
