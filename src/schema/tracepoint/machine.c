/* SPDX-License-Identifier: MIT */
#include "schema/tracepoint/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/pattern.h"

#define PREFIX       ETW_TRACEFS_PROVIDER_PREFIX
#define PREFIX_BYTES (sizeof(PREFIX) - 1)

/* What a system was when it was read. What was handed out stays, so a system that changed is there twice. */
struct reading {
	struct reading *next;
	GUID guid;
	struct etw_tracefs_names names;
	struct etw_provider_schema *provider; /* in the arena */
	struct etw_arena arena;
};

struct etw_tracepoint_machine {
	const char *folder;       /* borrowed; NULL: the machine's */
	struct reading *readings; /* owned; the latest first */
	struct kept_name *names;  /* in the arena */
	struct etw_arena arena;
};

/* The name of a provider that was listed once. */
struct kept_name {
	struct kept_name *next;
	const char *name;
};

/* Adds a system; one that has nothing to enable is left out. */
static int list_system(int events_fd, const char *system, struct etw_arena *arena,
		       struct etw_tracepoint_listed *list, size_t *count)
{
	CLEANUP(etw_tracefs_names_done) struct etw_tracefs_names events = {0};
	char name[PREFIX_BYTES + ETW_TRACEPOINT_NAME_BYTES_MAX + 1];
	int r = etw_tracefs_events(events_fd, system, &events);

	if (r == -ENOMEM || etw_is_shortage(r))
		return r;
	if (r < 0 || etw_tracefs_guid(system, &list[*count].guid) < 0)
		return 0;
	snprintf(name, sizeof(name), PREFIX "%s", system);
	list[*count].name = etw_arena_strdup(arena, name);
	list[*count].event_count = events.count;
	return list[(*count)++].name ? 0 : -ENOMEM;
}

int etw_tracepoint_list(int events_fd, struct etw_arena *arena, struct etw_tracepoint_listed **ret,
			size_t *ret_count)
{
	CLEANUP(etw_tracefs_names_done) struct etw_tracefs_names systems = {0};
	struct etw_tracepoint_listed *list;
	size_t count = 0;

	TRY(etw_tracefs_folders(events_fd, &systems));
	list = etw_arena_array(arena, systems.count + (size_t)1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < systems.count; i++)
		TRY(list_system(events_fd, systems.at[i], arena, list, &count));
	*ret = list;
	*ret_count = count;
	return 0;
}

int etw_tracepoint_machine_create(const char *folder, struct etw_tracepoint_machine **ret)
{
	struct etw_tracepoint_machine *machine = calloc(1, sizeof(*machine));

	if (!machine)
		return -ENOMEM;
	machine->folder = folder;
	etw_arena_init(&machine->arena);
	*ret = machine;
	return 0;
}

static void free_reading(struct reading *reading)
{
	etw_tracefs_names_done(&reading->names);
	etw_arena_done(&reading->arena);
	free(reading);
}

void etw_tracepoint_machine_free(struct etw_tracepoint_machine *machine)
{
	if (!machine)
		return;
	while (machine->readings) {
		struct reading *reading = machine->readings;

		machine->readings = reading->next;
		free_reading(reading);
	}
	etw_arena_done(&machine->arena);
	free(machine);
}

/* Returns NULL when memory ran out. */
static const char *keep_name(struct etw_tracepoint_machine *machine, const char *name)
{
	struct kept_name *kept = machine->names;

	while (kept && strcmp(kept->name, name) != 0)
		kept = kept->next;
	if (kept)
		return kept->name;
	kept = etw_arena_alloc(&machine->arena, sizeof(*kept));
	if (!kept)
		return NULL;
	kept->name = etw_arena_strdup(&machine->arena, name);
	if (!kept->name)
		return NULL;
	kept->next = machine->names;
	machine->names = kept;
	return kept->name;
}

int etw_tracepoint_machine_list(struct etw_tracepoint_machine *machine, struct etw_arena *arena,
				struct etw_tracepoint_listed **ret, size_t *ret_count)
{
	CLEANUP(etw_file_closep) int fd = -1;

	*ret = NULL;
	*ret_count = 0;
	if (etw_tracefs_open(machine->folder, &fd, NULL) < 0)
		return 0;
	TRY(etw_tracepoint_list(fd, arena, ret, ret_count));
	for (size_t i = 0; i < *ret_count; i++) {
		(*ret)[i].name = keep_name(machine, (*ret)[i].name);
		if (!(*ret)[i].name)
			return -ENOMEM;
	}
	return 0;
}

/* The name of the system whose provider it is; NULL: there is none. */
static const char *name_of(const struct etw_tracefs_names *systems, const GUID *provider)
{
	for (uint32_t i = 0; i < systems->count; i++) {
		GUID guid;

		if (etw_tracefs_guid(systems->at[i], &guid) == 0 && etw_guid_equal(&guid, provider))
			return systems->at[i];
	}
	return NULL;
}

static bool are_same(const struct etw_tracefs_names *left, const struct etw_tracefs_names *right)
{
	if (left->count != right->count)
		return false;
	for (uint32_t i = 0; i < left->count; i++)
		if (strcmp(left->at[i], right->at[i]) != 0)
			return false;
	return true;
}

/* Takes @names, also when it fails. */
static int read_system(struct etw_tracepoint_machine *machine, int events_fd, const char *system,
		       const GUID *provider, struct etw_tracefs_names *names)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	int r;

	if (!reading) {
		etw_tracefs_names_done(names);
		return -ENOMEM;
	}
	etw_arena_init(&reading->arena);
	reading->guid = *provider;
	reading->names = *names;
	r = etw_tracefs_read_provider(events_fd, system, &reading->arena, &reading->provider);
	if (r < 0) {
		free_reading(reading);
		return r;
	}
	reading->next = machine->readings;
	machine->readings = reading;
	return 0;
}

int etw_tracepoint_machine_find(struct etw_tracepoint_machine *machine, const GUID *provider,
				const struct etw_provider_schema **ret)
{
	CLEANUP(etw_tracefs_names_done) struct etw_tracefs_names systems = {0};
	CLEANUP(etw_file_closep) int fd = -1;
	struct etw_tracefs_names names = {0};
	struct reading *reading = machine->readings;
	const char *system;
	int r;

	if (etw_tracefs_open(machine->folder, &fd, NULL) < 0)
		return -ESRCH;
	TRY(etw_tracefs_folders(fd, &systems));
	system = name_of(&systems, provider);
	r = system ? etw_tracefs_events(fd, system, &names) : -ENOENT;
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	while (reading && !etw_guid_equal(&reading->guid, provider))
		reading = reading->next;
	if (reading && are_same(&reading->names, &names)) {
		etw_tracefs_names_done(&names);
	} else {
		TRY(read_system(machine, fd, system, provider, &names));
		reading = machine->readings;
	}
	*ret = reading->provider;
	return 0;
}

int etw_tracepoint_name_split(const char *text, char ret_system[ETW_TRACEPOINT_NAME_BYTES_MAX + 1],
			      const char **ret_event)
{
	const char *at = text + PREFIX_BYTES;
	size_t bytes;

	if (strncmp(text, PREFIX, PREFIX_BYTES) != 0)
		return -ESRCH;
	bytes = strcspn(at, ":");
	*ret_event = at[bytes] ? at + bytes + 1 : NULL;
	if (!bytes || bytes > ETW_TRACEPOINT_NAME_BYTES_MAX ||
	    (*ret_event && (!**ret_event || strchr(*ret_event, ':'))))
		return -EINVAL;
	memcpy(ret_system, at, bytes);
	ret_system[bytes] = '\0';
	return 0;
}

bool etw_tracepoint_names_match(const struct etw_tracefs_names *names, const char *pattern)
{
	for (uint32_t i = 0; i < names->count; i++)
		if (etw_pattern_matches(pattern, names->at[i], strlen(names->at[i])))
			return true;
	return false;
}
