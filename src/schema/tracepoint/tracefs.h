/* SPDX-License-Identifier: MIT */
/*
 * The tracepoints of this machine, as its tracefs lists them: events/SYSTEM/EVENT. Each system is a provider, "linux:SYSTEM",
 * with a GUID made of that name (base/guid_name.h); each tracepoint is an event of it. An event's id is its place in the
 * sorted list of its system, from 1 on; its keyword is bit (id - 1) % 48, so that the tracepoints of a system with more than
 * 48 share bits, in turn. Filters by id choose exactly.
 * Source: docs/tracepoints.md.
 */
#ifndef ETW_SCHEMA_TRACEPOINT_TRACEFS_H
#define ETW_SCHEMA_TRACEPOINT_TRACEFS_H

#include <guiddef.h>

#include "base/arena.h"
#include "base/fault.h"
#include "schema/provider_schema.h"
#include "schema/tracepoint/layout.h"

#define ETW_TRACEFS_PROVIDER_PREFIX "linux:"
#define ETW_TRACEFS_SYSTEMS_MAX     4096

/* Names in the order of their bytes. */
struct etw_tracefs_names {
	uint32_t count;
	const char **at; /* owned with all texts: etw_tracefs_names_done() */
};

/* One tracepoint, read whole. */
struct etw_tracefs_event {
	const char *text; /* of its format */
	size_t text_bytes;
	const struct etw_tracepoint_format *format;
	const struct etw_tracepoint_layout *layout;
};

/*
 * etw_tracefs_open() - opens the folder `events` of tracefs, where it is mounted; where it is not, tracefs is mounted for this
 * descriptor alone, if the process may.
 *
 * @folder: of `events`; NULL: the one that $ETW_TRACEFS names (none, where it is empty), else the machine's
 * @ret:    owned descriptor
 *
 * Returns 0; -EACCES, -ENOENT ... with @reterr, which says what to do.
 */
int etw_tracefs_open(const char *folder, int *ret, struct etw_fault *reterr);

/* etw_tracefs_systems() - those that have a tracepoint which can be enabled. Returns 0, -ENOMEM, what reading fails with. */
int etw_tracefs_systems(int events_fd, struct etw_tracefs_names *ret);

/* etw_tracefs_folders() - as etw_tracefs_systems(), with those that have none; cheap. */
int etw_tracefs_folders(int events_fd, struct etw_tracefs_names *ret);

/* etw_tracefs_events() - the tracepoints of a system that can be enabled; of one that is not there -ENOENT. */
int etw_tracefs_events(int events_fd, const char *system, struct etw_tracefs_names *ret);

/* etw_tracefs_names_done() - frees them; takes what was zeroed. */
void etw_tracefs_names_done(struct etw_tracefs_names *names);

/* etw_tracefs_names_find() - the place of a name, UINT32_MAX where it is none of them. */
uint32_t etw_tracefs_names_find(const struct etw_tracefs_names *names, const char *name);

/* etw_tracefs_guid() - of the provider of a system. Returns as etw_guid_of_name(). */
int etw_tracefs_guid(const char *system, GUID *ret);

/* etw_tracefs_keyword() - the bit of an event. @id: from 1 on */
static inline uint64_t etw_tracefs_keyword(uint32_t id)
{
	return UINT64_C(1) << ((id - 1) % ETW_TRACEPOINT_KEYWORDS);
}

/*
 * etw_tracefs_read_text() - reads a tracepoint's format alone.
 *
 * @ret: its text is set, which lives in @arena
 *
 * Returns 0; -ENOMEM; what reading fails with.
 */
int etw_tracefs_read_text(int events_fd, const char *system, const char *event,
			  struct etw_arena *arena, struct etw_tracefs_event *ret);

/*
 * etw_tracefs_read_event() - reads a tracepoint's format, and makes its event.
 *
 * @identity: its id, keyword and provider; the provider's name is borrowed as long as @arena lives
 *
 * Returns 0; -EBADMSG with @reterr; -ENOMEM; what reading fails with.
 */
int etw_tracefs_read_event(int events_fd, const char *system, const char *event,
			   const struct etw_tracepoint_identity *identity, struct etw_arena *arena,
			   struct etw_tracefs_event *ret, struct etw_fault *reterr);

/*
 * etw_tracefs_read_provider() - a system with all of its tracepoints, as a definition. Those whose format cannot be read are
 * left out.
 *
 * @ret: lives in @arena
 *
 * Returns 0; -ENOENT: there is no such system; -ENOMEM; what reading fails with.
 */
int etw_tracefs_read_provider(int events_fd, const char *system, struct etw_arena *arena,
			      struct etw_provider_schema **ret);

#endif
