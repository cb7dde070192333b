/* SPDX-License-Identifier: MIT */
/*
 * Readers: files and real-time sessions, callbacks, and the account of what was read and lost. Part of the
 * friendly layer; etw/etw.h has the whole.
 *
 * Context: a reader belongs to one thread, on which libetw_reader_run() calls back. Other threads may call
 * libetw_reader_stop() while it exists, nothing else. In a child of fork() a reader may be freed, and run when it
 * has no sessions: their events are the parent's.
 */
#ifndef ETW_READER_H
#define ETW_READER_H

#include <stddef.h>
#include <stdint.h>

#include <etw/wintypes.h>
#include <guiddef.h>

ETW_EXTERN_C_BEGIN

struct libetw_event;
struct libetw_predicate;
struct libetw_reader;
struct libetw_schemas;

#define LIBETW_STOPPED 1 /* a run ended because it was stopped */

/* What retained events may pin unless libetw_reader_set_pin_limit() says otherwise. */
#define LIBETW_PIN_LIMIT_BYTES (UINT64_C(256) * 1024 * 1024)

/*
 * Called for an event. @event lives until the return; libetw_event_retain() keeps it. Returns 0 to go on;
 * anything else ends the run, which returns it. No exception of C++ may leave it: the run is C.
 */
typedef int (*libetw_event_callback)(void *context, struct libetw_event *event);

/*
 * libetw_reader_create() - a reader without sources.
 *
 * @schemas: what is known; the reader has a reference of its own. NULL: its own of libetw_schemas_create()
 *
 * What traces teach is added to the schemas. Returns 0 with an owned reader, or -ENOMEM.
 */
ETW_API int libetw_reader_create(struct libetw_schemas *schemas, struct libetw_reader **ret);

/*
 * libetw_reader_free() - frees a reader; takes NULL. Not within a callback. Retained events stay.
 */
ETW_API void libetw_reader_free(struct libetw_reader *reader);

/*
 * libetw_reader_add_file() - an .etl file as a source.
 *
 * @path: of Linux, or of Windows as etw/etw.h says
 *
 * Returns 0; -EBADMSG: it is no .etl file; -EINVAL: it is a pipe, or NULL; -EISDIR; -EBUSY: the reader is running;
 * -ENOMEM; what opening and reading fail with (-ENOENT, -EACCES ...).
 */
ETW_API int libetw_reader_add_file(struct libetw_reader *reader, const char *path);

/*
 * libetw_reader_add_session() - a real-time session as a source.
 *
 * The session keeps events for this reader from now on. Returns 0; -ENOENT: none that this user may have; -EINVAL: it is no
 * real-time session, or there is no name; -EBUSY: the reader is running, or the session has too many consumers; -EACCES:
 * the host's folder is another user's; -ENOMEM; -ETIMEDOUT, -EPIPE and -EPROTO of talking to a host that hangs or dies.
 */
ETW_API int libetw_reader_add_session(struct libetw_reader *reader, const char *name);

/*
 * libetw_reader_set_window() - only events from @from_ns to @to_ns, both included; ns since 1970 UTC.
 *
 * INT64_MIN and INT64_MAX are no limits. The ends are taken in steps of 100 ns, rounded outwards. Not
 * while the reader runs.
 */
ETW_API void libetw_reader_set_window(struct libetw_reader *reader, int64_t from_ns, int64_t to_ns);

/*
 * libetw_reader_on() - calls back for the events that a predicate means.
 *
 * @predicate: taken in every case; NULL gives -EINVAL
 * @context: borrowed
 *
 * An event goes to every callback that wants it, in the order in which they were added. The losses of a
 * trace are events too (class RT_LostEvent), as is the header of each file; a session has none.
 * Returns 0; -EINVAL: there is no callback, or the predicate could not be made, libetw_error() says why;
 * -EBUSY: the reader is running; -ENOMEM.
 */
ETW_API int libetw_reader_on(struct libetw_reader *reader, struct libetw_predicate *predicate,
			     libetw_event_callback callback, void *context);

/* libetw_reader_on_unknown() - calls back for events that nobody has a schema for. Returns the same. */
ETW_API int libetw_reader_on_unknown(struct libetw_reader *reader, libetw_event_callback callback,
				     void *context);

/*
 * libetw_reader_run() - delivers the events of all sources, merged by time, on the calling thread.
 *
 * Files come first, together; then the sessions, together, until all of them are over. Sessions keep events
 * meanwhile, as much as their memory holds. When a file has events that are unknown, schemas are looked for
 * once in all of it, which reads the files a second time. Files may be run again; what a session
 * has delivered is gone.
 * Returns 0 at the end; LIBETW_STOPPED; what a callback returned; -EBUSY: it is running; -ENOMEM; the errno of
 * reading; -ENOENT when a session was over before its host was replaced.
 */
ETW_API int libetw_reader_run(struct libetw_reader *reader);

/*
 * libetw_reader_stop() - ends the run that is going on after the present event, or the next run at once.
 *
 * Context: any thread, also within a callback, and the handler of a signal.
 */
ETW_API void libetw_reader_stop(struct libetw_reader *reader);

/*
 * libetw_reader_deliver() - gives an event to the callbacks that want it, as a run would: for tests.
 *
 * @event: built, copied or retained, of the reader's schemas or others. Not counted.
 *
 * Returns 0, or what a callback returned; -ENOMEM.
 */
ETW_API int libetw_reader_deliver(struct libetw_reader *reader, struct libetw_event *event);

/* libetw_reader_set_pin_limit() - how many bytes of buffers retained events may keep in memory. */
ETW_API void libetw_reader_set_pin_limit(struct libetw_reader *reader, uint64_t bytes);

/* Counts of all runs so far. */
struct libetw_stats {
	uint64_t events;         /* delivered, whoever wanted them */
	uint64_t payload_bytes;  /* of those */
	uint64_t buffers;        /* delivered to their end */
	uint64_t unknown;        /* events without a schema, of those that were looked at */
	uint64_t events_lost;    /* by the sessions, as they count them themselves */
	uint64_t buffers_lost;   /* likewise */
	uint64_t loss_marks;     /* places where a trace says that something is missing */
	uint64_t skipped_places; /* where a file or buffer is damaged, or looks so */
	uint64_t pinned_bytes;   /* by retained events, now */
	uint64_t late_events;    /* delivered behind a younger one, which could not wait longer */
	uint64_t reserved[6];
};

/* libetw_reader_stats() - fills @ret. Context: the reader's thread, also within a callback. */
ETW_API void libetw_reader_stats(const struct libetw_reader *reader, struct libetw_stats *ret);

/*
 * libetw_reader_each_provider() - what came from each provider, in the order of their first events.
 *
 * @provider: returns other than 0 to stop; @name may be NULL
 *
 * Of more than 65536 providers the first ones; libetw_reader_stats() counts all events.
 * Returns 0, or what the callback returned.
 */
ETW_API int libetw_reader_each_provider(const struct libetw_reader *reader,
					int (*provider)(void *context, const GUID *guid,
							const char *name, uint64_t events,
							uint64_t payload_bytes),
					void *context);

/*
 * libetw_reader_each_loss() - the stretches of time in which events may be missing, in their order.
 *
 * @loss: @from_ns and @to_ns in ns since 1970 UTC; returns other than 0 to stop
 *
 * A trace tells of loss with a buffer: before it, or while it filled. So a stretch begins at the last event
 * of the same processor's buffer before, or at the start of the trace, and ends with the buffer's last event.
 * Stretches that overlap are given as one. Of many, the nearest are put together: at most 65536 are kept. How
 * much was lost, libetw_reader_stats() counts whatever becomes of the stretches.
 * Returns 0, or what the callback returned; -ENOMEM.
 */
ETW_API int libetw_reader_each_loss(const struct libetw_reader *reader,
				    int (*loss)(void *context, int64_t from_ns, int64_t to_ns),
				    void *context);

/*
 * libetw_reader_is_complete() - whether nothing between two times is known or suspected to be missing.
 *
 * Returns 1: all that the sessions recorded in this time was delivered; 0: a stretch of loss touches it, or
 * there is loss that nobody can place: a session counts lost events or buffers of which no buffer tells, or
 * something could not be read. Of time that no run went over, nothing is known, and the answer is no help.
 */
ETW_API int libetw_reader_is_complete(const struct libetw_reader *reader, int64_t from_ns,
				      int64_t to_ns);

ETW_EXTERN_C_END

#endif
