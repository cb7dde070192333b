/* SPDX-License-Identifier: MIT */
/*
 * Events of the friendly layer: who wrote them, when, what they are called, and keeping them. Their fields
 * are in etw/fields.h; etw/etw.h has the whole.
 */
#ifndef ETW_EVENT_H
#define ETW_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <evntcons.h>

ETW_EXTERN_C_BEGIN

struct libetw_event;
struct libetw_schema;
struct libetw_schemas;

/*
 * libetw_error() - the sentence about the last call of this thread that failed.
 *
 * Never NULL; valid until the thread's next call that fails. "" before the first.
 */
ETW_API const char *libetw_error(void);

/* libetw_event_record() - the record as ProcessTrace delivers it; its TimeStamp is FILETIME. Borrowed. */
ETW_API const EVENT_RECORD *libetw_event_record(const struct libetw_event *event);

/*
 * libetw_event_time_ns() - when it was written, ns since 1970 UTC, in steps of 100 ns.
 *
 * Saturates at the ends of 64 bits.
 */
ETW_API int64_t libetw_event_time_ns(const struct libetw_event *event);

/*
 * libetw_event_provider() and its like - who wrote an event, and what its header says of it.
 *
 * Process and thread are UINT32_MAX where the header does not know.
 */
ETW_API const GUID *libetw_event_provider(const struct libetw_event *event);
ETW_API uint16_t libetw_event_id(const struct libetw_event *event);
ETW_API uint8_t libetw_event_version(const struct libetw_event *event);
ETW_API uint8_t libetw_event_opcode(const struct libetw_event *event);
ETW_API uint8_t libetw_event_level(const struct libetw_event *event);
ETW_API uint64_t libetw_event_keyword(const struct libetw_event *event);
ETW_API uint32_t libetw_event_pid(const struct libetw_event *event);
ETW_API uint32_t libetw_event_tid(const struct libetw_event *event);
ETW_API uint32_t libetw_event_cpu(const struct libetw_event *event);

/*
 * libetw_event_schema() - what is known of events of this kind.
 *
 * Returns NULL when nobody has a schema for it, or memory ran out. Lives as long as the event's struct libetw_schemas.
 */
ETW_API const struct libetw_schema *libetw_event_schema(struct libetw_event *event);

/*
 * libetw_event_title() - "Microsoft-Windows-Kernel-Process/ProcessStart v3", as sentences name events.
 *
 * Borrowed as fields are. Returns NULL when memory ran out.
 */
ETW_API const char *libetw_event_title(struct libetw_event *event);

/*
 * libetw_event_message() - the schema's message with the event's values in it.
 *
 * @ret: borrowed as fields are, NUL-terminated
 *
 * Of a WPP message, its text without a prefix; times in it are UTC.
 * Returns 0; -ENOENT: the event has no message; -ESRCH: nobody has a schema for it; -ENOMEM.
 */
ETW_API int libetw_event_message(struct libetw_event *event, const char **ret);

/*
 * libetw_event_decode_status() - whether the payload is what the schema says.
 *
 * Returns 0: to the last byte; 1: there are bytes that no field has; -ENODATA: it ends within or before a
 * field; -EBADMSG: a field is damaged; -ESRCH: nobody has a schema; -ENOMEM. In each case the fields before
 * that place can be read.
 */
ETW_API int libetw_event_decode_status(struct libetw_event *event);

/*
 * libetw_event_retain() - keeps an event beyond its callback, for any thread.
 *
 * The buffer that the event lies in stays in memory; only the record, the places of its fields and the list of
 * extended items are copied. A buffer counts whole, and once, however many of its events are kept. When the
 * buffers so pinned have reached the reader's limit (libetw_reader_set_pin_limit()), nothing is kept: copy
 * the event, take what is needed out of it, or release others.
 * An event that is kept already gets one more reference.
 * Returns 0 with a reference of the caller's; -ENOBUFS: the limit is reached; -ENOMEM.
 * Context: within the callback; for an event that is kept, any thread that holds a reference.
 */
ETW_API int libetw_event_retain(struct libetw_event *event, struct libetw_event **ret);

/*
 * libetw_event_copy() - the same with a copy of the payload: pins nothing and has no limit.
 *
 * Returns 0 with a reference of the caller's, or -ENOMEM. Context: as libetw_event_retain().
 */
ETW_API int libetw_event_copy(struct libetw_event *event, struct libetw_event **ret);

/*
 * libetw_event_of_record() - an event of a record from elsewhere, say from within ProcessTrace.
 *
 * @schemas: what is known; learns from the record too
 * @record:  copied, with its payload and extended items
 *
 * Returns 0 with a reference of the caller's; -EINVAL: it lacks a payload or items that it says it has; -ENOMEM.
 * Context: the thread of the schemas.
 */
ETW_API int libetw_event_of_record(struct libetw_schemas *schemas, const EVENT_RECORD *record,
				   struct libetw_event **ret);

/* libetw_event_release() - gives a reference back. Takes NULL. Context: any thread. */
ETW_API void libetw_event_release(struct libetw_event *event);

ETW_EXTERN_C_END

#endif
