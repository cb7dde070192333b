/* SPDX-License-Identifier: MIT */
/*
 * Sessions: start, stop, query and flush them, and enable providers in them. Part of the friendly layer;
 * etw/etw.h has the whole. A session outlives the program that started it, until it is stopped.
 *
 * Context: any thread; one at a time per struct libetw_session.
 */
#ifndef ETW_SESSION_H
#define ETW_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include <etw/wintypes.h>
#include <guiddef.h>

ETW_EXTERN_C_BEGIN

struct libetw_schemas;
struct libetw_session;

/* What a session is to be. Zero everything first; what stays 0 or NULL has the meaning in brackets. */
struct libetw_session_options {
	const char *name; /* of at most 1024 UTF-16 units; "NT Kernel Logger" is the kernel's */
	const char *file; /* .etl file to write, made anew [none] */
	uint32_t is_real_time;     /* other than 0: libetw_reader_add_session() can read it [no] */
	uint32_t buffer_kib;       /* [the host's choice] */
	uint32_t minimum_buffers;  /* [likewise] */
	uint32_t maximum_buffers;  /* [likewise] */
	uint32_t maximum_file_mib; /* the session ends there unless it is real-time [no limit] */
	uint32_t flush_ms;         /* how long events may wait at most [the host's choice] */
	uint32_t
		kernel_flags; /* of the kernel's session: EVENT_TRACE_FLAG_* of evntrace.h [none] */
	uint32_t reserved[7]; /* 0 */
};

/* How a session is. */
struct libetw_session_info {
	uint64_t events;      /* taken into buffers so far */
	uint64_t bytes;       /* written to the file so far */
	uint64_t events_lost; /* for whatever reason */
	uint64_t buffers_written;
	uint64_t real_time_buffers_lost; /* by consumers that were slow or died, or for want of one */
	int64_t start_ns;                /* ns since 1970 UTC */
	uint32_t buffer_kib, minimum_buffers, maximum_buffers, buffers, free_buffers;
	uint32_t is_kernel;
	int32_t file_status; /* 0, or the negative errno that ended the file before the session */
	uint32_t reserved_pad;
	/*
	 * NULL, or a sentence on what the kernel's session does not get, though it runs: the kernel tells nothing
	 * without BTF or capabilities. The thread's, until its next call that fills one of these.
	 */
	const char *complaint;
	uint32_t reserved[4];
};

/*
 * libetw_session_start() - starts a session, and its host when there is none.
 *
 * @options: borrowed for the call
 *
 * Returns 0 with an owned handle; -EINVAL: a name or options that cannot be, neither file nor real time, or
 * something reserved that is not zero; -EEXIST: the name is in use, in whatever case; -EACCES: only the system's
 * host could, and this user may not; -ENOENT: the file's folder is not there; -ENAMETOOLONG; -EUSERS: 64 sessions
 * run; -ENOEXEC: there is no etwd; -ENOMEM. Of the machine as it is: what making the file fails with;
 * -ETIMEDOUT, -EPIPE and -EPROTO of talking to a host that hangs or dies. What the kernel refuses to its session is
 * no error: libetw_session_query() has the complaint.
 */
ETW_API int libetw_session_start(const struct libetw_session_options *options,
				 struct libetw_session **ret);

/*
 * libetw_session_open() - a handle for a session that runs.
 *
 * @name: in whatever case; copied
 *
 * Returns 0 with an owned handle; -ENOENT: there is no such session, or this user may not control it; -EINVAL: no
 * name can be so; -EACCES: the folder of the host's socket is another user's; -ENOMEM; -ETIMEDOUT, -EPIPE and -EPROTO
 * of talking to a host that hangs or dies.
 */
ETW_API int libetw_session_open(const char *name, struct libetw_session **ret);

/* libetw_session_close() - frees the handle; the session runs on. Takes NULL. */
ETW_API void libetw_session_close(struct libetw_session *session);

/* libetw_session_name() - lives as long as the handle. */
ETW_API const char *libetw_session_name(const struct libetw_session *session);

/*
 * libetw_session_stop() - ends the session; the handle stays, for libetw_session_close().
 *
 * @ret: how it was at its end; may be NULL
 *
 * Returns 0; -ENOENT: there is no such session any more; -EBUSY: another is just stopping it; -EACCES: the folder of
 * the host's socket is another user's; -ENOMEM; -ETIMEDOUT, -EPIPE and -EPROTO of talking to a host that hangs or
 * dies.
 */
ETW_API int libetw_session_stop(struct libetw_session *session, struct libetw_session_info *ret);

/* libetw_session_query() - how it is. Returns the same; one that is just being stopped is told of. */
ETW_API int libetw_session_query(struct libetw_session *session, struct libetw_session_info *ret);

/* libetw_session_flush() - hands out what the buffers hold now. Returns the same. */
ETW_API int libetw_session_flush(struct libetw_session *session);

/* What is wanted of a provider. Zero everything first. */
struct libetw_enable_options {
	uint8_t level; /* events of this level and graver ones [all] */
	uint8_t reserved_bytes[7];
	uint64_t match_any;  /* keywords of which an event has one [all events] */
	uint64_t match_all;  /* keywords of which an event has all [no condition] */
	uint32_t timeout_ms; /* how long to wait for the provider's callbacks [not at all] */
	/*
	 * A filter of any type of evntprov.h, as EnableTraceEx2 takes it; or data for the provider's own callback, of a
	 * type below 0x80000000 or EVENT_FILTER_TYPE_SCHEMATIZED, at most 1024 bytes.
	 */
	uint32_t filter_type;
	const void *filter;
	size_t filter_bytes;
	/* Only in these processes, 8 at most, of those that there are now [all]; only these events, 64 at most [all]. */
	const uint32_t *pids;
	size_t pid_count;
	const uint16_t *event_ids;
	size_t event_id_count;
	uint64_t reserved[4];
};

/*
 * libetw_session_enable() - enables a provider in the session, from now on and whenever it registers.
 *
 * @options: borrowed for the call; NULL: everything
 *
 * Returns 0; -ENOENT: there is no such session any more; -ETIMEDOUT: it is enabled, but a callback did not return in
 * time; -ENOSPC: 8 sessions have the provider already; -EOPNOTSUPP: filters that sessions do not have; -EINVAL:
 * filters that cannot be, or something reserved that is not zero; -EBUSY: the session is just stopping; -EACCES:
 * the folder of the host's socket is another user's; -ENOMEM; -EPIPE and -EPROTO of talking to a host that dies.
 */
ETW_API int libetw_session_enable(struct libetw_session *session, const GUID *provider,
				  const struct libetw_enable_options *options);

/*
 * libetw_session_enable_named() - the same by name, as libetw_schemas_find_provider() takes it.
 *
 * @schemas: as there
 * @name:    of tracepoints also linux:SYSTEM:EVENT, where EVENT may have `*`: these alone of the system. Like any other
 *           call it takes the place of what was enabled of the provider before
 *
 * Returns the same; -EINVAL also for what is no name of a provider; -ESRCH: this machine has no such tracepoints.
 */
ETW_API int libetw_session_enable_named(struct libetw_session *session,
					const struct libetw_schemas *schemas, const char *name,
					const struct libetw_enable_options *options);

/* libetw_session_disable() - the provider writes no more into this session. Returns the same. */
ETW_API int libetw_session_disable(struct libetw_session *session, const GUID *provider);

ETW_EXTERN_C_END

#endif
