/* SPDX-License-Identifier: MIT */
/*
 * The systems of tracepoints of this machine as providers, for who asks what there is: a list, and definitions, each read when
 * it is first asked for. Events are not decoded by these: a trace has its own, as ids differ from machine to machine.
 *
 * Context: one owner thread per machine.
 */
#ifndef ETW_SCHEMA_TRACEPOINT_MACHINE_H
#define ETW_SCHEMA_TRACEPOINT_MACHINE_H

#include <stddef.h>

#include "base/arena.h"
#include "schema/provider_schema.h"
#include "schema/tracepoint/tracefs.h"

struct etw_tracepoint_listed {
	GUID guid;
	const char *name; /* linux:SYSTEM */
	uint32_t event_count;
};

/*
 * etw_tracepoint_list() - the systems that have a tracepoint which can be enabled, by name.
 *
 * @events_fd: of etw_tracefs_open()
 * @ret:       lives in @arena
 *
 * Returns 0, -ENOMEM, what reading fails with.
 */
int etw_tracepoint_list(int events_fd, struct etw_arena *arena, struct etw_tracepoint_listed **ret,
			size_t *ret_count);

struct etw_tracepoint_machine;

/*
 * etw_tracepoint_machine_create() - one of which nothing was read yet.
 *
 * @folder: as etw_tracefs_open() takes it; borrowed as long as the machine
 *
 * Returns 0 with an owned machine, or -ENOMEM.
 */
int etw_tracepoint_machine_create(const char *folder, struct etw_tracepoint_machine **ret);

/* etw_tracepoint_machine_free() - with all that it gave out; takes NULL. */
void etw_tracepoint_machine_free(struct etw_tracepoint_machine *machine);

/* etw_tracepoint_machine_list() - the same, of names that live as long as the machine; nothing where tracefs cannot be read. */
int etw_tracepoint_machine_list(struct etw_tracepoint_machine *machine, struct etw_arena *arena,
				struct etw_tracepoint_listed **ret, size_t *ret_count);

/*
 * etw_tracepoint_machine_find() - the definition of a provider. One whose tracepoints are others by now is read anew.
 *
 * @ret: lives as long as the machine
 *
 * Returns 0; -ESRCH: it is none of this machine's, or tracefs cannot be read; -ENOMEM; what reading fails with.
 */
int etw_tracepoint_machine_find(struct etw_tracepoint_machine *machine, const GUID *provider,
				const struct etw_provider_schema **ret);

/*
 * etw_tracepoint_name_split() - takes linux:SYSTEM or linux:SYSTEM:EVENT apart.
 *
 * @ret_system: room for the system's name
 * @ret_event:  in @text; may have `*`; NULL: all
 *
 * Returns 0; -ESRCH: it is no name of tracepoints; -EINVAL: it begins as one and is none.
 */
int etw_tracepoint_name_split(const char *text, char ret_system[ETW_TRACEPOINT_NAME_BYTES_MAX + 1],
			      const char **ret_event);

/* etw_tracepoint_names_match() - whether one of the names is as the pattern has it. */
bool etw_tracepoint_names_match(const struct etw_tracefs_names *names, const char *pattern);

#endif
