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
	uint32_t maximum_file_mib; /* [no limit] */
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
	uint64_t real_time_buffers_lost; /* by consumers that were too slow */
	int64_t start_ns;                /* ns since 1970 UTC */
	uint32_t buffer_kib, minimum_buffers, maximum_buffers, buffers, free_buffers;
	uint32_t is_kernel;
	int32_t file_status; /* 0, or the negative errno that ended the file before the session */
	uint32_t reserved[7];
};

/*
 * libetw_session_start() - starts a session, and its host when there is none.
 *
 * Returns 0 with an owned handle; -EINVAL: a name or options that cannot be, or neither file nor real time;
 * -EEXIST: the name is in use; -EACCES: only the system's host could, and this user may not; -ENOENT: the
 * file's folder is not there; -ENOSPC; -EUSERS: too many sessions; -EOPNOTSUPP; -ENOMEM; errno of finding
 * and talking to the host (-ENOEXEC: there is no etwd; -ETIMEDOUT; -EPIPE; -EPROTO).
 */
ETW_API int libetw_session_start(const struct libetw_session_options *options,
				 struct libetw_session **ret);

/* libetw_session_open() - a handle for a session that runs. Returns 0; -ENOENT; others as above. */
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
 * Returns 0; -ENOENT: there is no such session any more; -EBUSY: it is stopping already; -EACCES; -ENOMEM;
 * errno of talking to the host. libetw_session_query() and _flush() return the same.
 */
ETW_API int libetw_session_stop(struct libetw_session *session, struct libetw_session_info *ret);

/* libetw_session_query() - how it is. */
ETW_API int libetw_session_query(struct libetw_session *session, struct libetw_session_info *ret);

/* libetw_session_flush() - hands out what the buffers hold now. */
ETW_API int libetw_session_flush(struct libetw_session *session);

/* What is wanted of a provider. Zero everything first. */
struct libetw_enable_options {
	uint8_t level; /* events of this level and graver ones [all] */
	uint8_t reserved_bytes[7];
	uint64_t match_any;  /* keywords of which an event has one [all events] */
	uint64_t match_all;  /* keywords of which an event has all [no condition] */
	uint32_t timeout_ms; /* how long to wait for the provider's callbacks [not at all] */
	/*
	 * Data for the provider's own callback, of a type below 0x80000000 or EVENT_FILTER_TYPE_SCHEMATIZED
	 * of evntprov.h; at most 1024 bytes.
	 */
	uint32_t filter_type;
	const void *filter;
	size_t filter_bytes;
	/*
	 * Sessions cannot filter by process or by event yet: anything here gives -EOPNOTSUPP. libetw_pid() and
	 * libetw_id() choose among what is read.
	 */
	const uint32_t *pids;
	size_t pid_count;
	const uint16_t *event_ids;
	size_t event_id_count;
	uint64_t reserved[4];
};

/*
 * libetw_session_enable() - enables a provider in the session, from now on and whenever it registers.
 *
 * @options: NULL: everything
 *
 * Returns 0; -ENOENT: there is no such session any more; -ETIMEDOUT: it is enabled, but a callback did not
 * return in time; -ENOSPC: 8 sessions have the provider already; -EOPNOTSUPP: see above; -EINVAL; -EACCES;
 * errno of talking to the host.
 */
ETW_API int libetw_session_enable(struct libetw_session *session, const GUID *provider,
				  const struct libetw_enable_options *options);

/*
 * libetw_session_enable_named() - the same by name, as libetw_schemas_find_provider() takes it.
 *
 * @schemas: whose manifests may define it; NULL for names of Windows and hashed ones alone
 */
ETW_API int libetw_session_enable_named(struct libetw_session *session,
					const struct libetw_schemas *schemas, const char *name,
					const struct libetw_enable_options *options);

/* libetw_session_disable() - the provider writes no more into this session. Returns as above. */
ETW_API int libetw_session_disable(struct libetw_session *session, const GUID *provider);

ETW_EXTERN_C_END

#endif
