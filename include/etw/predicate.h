/* SPDX-License-Identifier: MIT */
/*
 * Which events a callback wants, as expressions. Part of the friendly layer; etw/etw.h has the whole.
 *
 *	libetw_and(libetw_provider_named(NULL, "Microsoft-Windows-Kernel-Process"),
 *		   libetw_or(libetw_id(1), libetw_not(libetw_pid(4))))
 *
 * or as text: libetw_filter("guid = 22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716 and (id = 1 or not header_pid = 4)", NULL).
 *
 * Each function returns a new predicate, owned by the caller, or NULL: memory ran out, or an argument is no
 * good (libetw_error() says which). What takes predicates owns them from then on, and gives NULL for NULL, so
 * that only the end of an expression needs to be checked.
 *
 * Comparisons of fields are false for events that do not have the field, have no schema, or whose field is no
 * such value. Paths are those of etw/fields.h.
 *
 * Context: one thread at a time per predicate.
 */
#ifndef ETW_PREDICATE_H
#define ETW_PREDICATE_H

#include <stddef.h>
#include <stdint.h>

#include <etw/wintypes.h>
#include <guiddef.h>

ETW_EXTERN_C_BEGIN

struct libetw_event;
struct libetw_predicate;
struct libetw_schemas;

/* libetw_predicate_free() - frees a predicate; takes NULL. Not for what a function of this layer took. */
ETW_API void libetw_predicate_free(struct libetw_predicate *predicate);

/* libetw_predicate_matches() - 1 when the event is meant, else 0. */
ETW_API int libetw_predicate_matches(struct libetw_predicate *predicate,
				     struct libetw_event *event);

/*
 * libetw_filter() - a predicate from an expression, as `etw dump --filter` takes them.
 *
 * @expression: "process = notepad.exe and level <= warning"; docs/format/filter.md has the language. Copied
 * @ret_at:     where the expression is wrong, in bytes; untouched otherwise; may be NULL
 *
 * Parts are asked in the order of their costs. Times such as +1.5s count from the start of the event's trace; of kept
 * events, which have none, they are never true. `process`, `pid` and `tid` know what the pass has told of processes
 * before the event or by it; a rundown at the end of a trace comes too late for them. Returns NULL where the expression is wrong: libetw_error() says what is expected.
 */
ETW_API struct libetw_predicate *libetw_filter(const char *expression, size_t *ret_at);

/* libetw_any() - every event. */
ETW_API struct libetw_predicate *libetw_any(void);

/* libetw_and() and its like - predicates put together; take both, the right one is asked only when it matters. */
ETW_API struct libetw_predicate *libetw_and(struct libetw_predicate *left,
					    struct libetw_predicate *right);
ETW_API struct libetw_predicate *libetw_or(struct libetw_predicate *left,
					   struct libetw_predicate *right);
ETW_API struct libetw_predicate *libetw_not(struct libetw_predicate *predicate);

/* libetw_provider() - events of this provider; of classic events: of this class. */
ETW_API struct libetw_predicate *libetw_provider(const GUID *provider);

/*
 * libetw_provider_named() - the same by name.
 *
 * @schemas: as libetw_schemas_find_provider() takes them; what they know now counts
 */
ETW_API struct libetw_predicate *libetw_provider_named(const struct libetw_schemas *schemas,
						       const char *name);

/* libetw_id() and its like - what the header says. */
ETW_API struct libetw_predicate *libetw_id(uint16_t id);
ETW_API struct libetw_predicate *libetw_version(uint8_t version);
ETW_API struct libetw_predicate *libetw_opcode(uint8_t opcode);
ETW_API struct libetw_predicate *libetw_task(uint16_t task);
ETW_API struct libetw_predicate *libetw_pid(uint32_t pid);
ETW_API struct libetw_predicate *libetw_tid(uint32_t tid);

/* libetw_level() - of this level or a graver one, as sessions filter: level 0 passes always. */
ETW_API struct libetw_predicate *libetw_level(uint8_t level);

/* libetw_keyword_any() / _all() - with one bit, or all bits, of @mask. */
ETW_API struct libetw_predicate *libetw_keyword_any(uint64_t mask);
ETW_API struct libetw_predicate *libetw_keyword_all(uint64_t mask);

/*
 * libetw_event_named() - events by name, as `etw dump --event` takes them.
 *
 * @name: an event's own name, its task, its opcode, or "Task/Opcode", with `*` for any characters and letters of
 *        ASCII in either case: "Process/Start", "proc*", "DiskIo"; or a number, the id, of classic events the
 *        opcode. What libetw_schema_name() gives means its event among others.
 */
ETW_API struct libetw_predicate *libetw_event_named(const char *name);

/* libetw_has_field() - events that hold this field. */
ETW_API struct libetw_predicate *libetw_has_field(const char *path);

/*
 * libetw_unsigned_is() and its like - a field's number against one, or within a range, ends included.
 *
 * Each compares what the accessor of its name gives, in the accessor's unit; the table in etw/fields.h has them
 * side by side. _count_in compares the elements of an array. A range whose first end is above its second gives
 * NULL.
 */
ETW_API struct libetw_predicate *libetw_unsigned_is(const char *path, uint64_t value);
ETW_API struct libetw_predicate *libetw_unsigned_in(const char *path, uint64_t from, uint64_t to);
ETW_API struct libetw_predicate *libetw_signed_is(const char *path, int64_t value);
ETW_API struct libetw_predicate *libetw_signed_in(const char *path, int64_t from, int64_t to);
ETW_API struct libetw_predicate *libetw_bool_is(const char *path, int value);
ETW_API struct libetw_predicate *libetw_double_in(const char *path, double from, double to);
ETW_API struct libetw_predicate *libetw_filetime_in(const char *path, int64_t from, int64_t to);
ETW_API struct libetw_predicate *libetw_time_ns_in(const char *path, int64_t from_ns,
						   int64_t to_ns);
ETW_API struct libetw_predicate *libetw_count_in(const char *path, size_t from, size_t to);

/* libetw_guid_is() - a field's GUID. */
ETW_API struct libetw_predicate *libetw_guid_is(const char *path, const GUID *guid);

/* libetw_sid_is() - a field's SID, written "S-1-5-18". */
ETW_API struct libetw_predicate *libetw_sid_is(const char *path, const char *sid);

/* libetw_bytes_is() - a field's bytes as libetw_get_bytes() gives them; @bytes are copied. */
ETW_API struct libetw_predicate *libetw_bytes_is(const char *path, const void *bytes, size_t count);

enum libetw_text_match {
	LIBETW_TEXT_EQUALS = 0,
	LIBETW_TEXT_CONTAINS = 1,
	LIBETW_TEXT_BEGINS = 2,
	LIBETW_TEXT_ENDS = 3,
};

#define LIBETW_TEXT_ANY_CASE 0x100 /* to be added: letters of ASCII count in either case */

/*
 * libetw_text_is() - a field's text: of strings what they hold, of others what libetw_get_text() gives.
 *
 * @how: an enum libetw_text_match, and LIBETW_TEXT_ANY_CASE
 * @text: UTF-8, copied
 */
ETW_API struct libetw_predicate *libetw_text_is(const char *path, int how, const char *text);

/*
 * libetw_function() - whatever a function says.
 *
 * @matches: returns other than 0 for events that are meant; @context is borrowed
 */
ETW_API struct libetw_predicate *libetw_function(int (*matches)(void *context,
								struct libetw_event *event),
						 void *context);

ETW_EXTERN_C_END

#endif
