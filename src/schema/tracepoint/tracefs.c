/* SPDX-License-Identifier: MIT */
#include "schema/tracepoint/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guid_name.h"
#include "base/macros.h"

#define STRUCTURE   "tracefs"
#define ENVIRONMENT "ETW_TRACEFS"

/* Of linux/mount.h, which does not go together with the C library's header everywhere. */
#define FSCONFIG_CREATE 6

static int open_folder(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* A mount that no path leads to. */
static int open_private(void)
{
#ifdef SYS_fsopen
	CLEANUP(etw_file_closep) int context = -1;
	CLEANUP(etw_file_closep) int mount = -1;

	context = (int)syscall(SYS_fsopen, "tracefs", 1 /* FSOPEN_CLOEXEC */);
	if (context < 0)
		return -errno;
	if (syscall(SYS_fsconfig, context, FSCONFIG_CREATE, NULL, NULL, 0) != 0)
		return -errno;
	mount = (int)syscall(SYS_fsmount, context, 1 /* FSMOUNT_CLOEXEC */, 0);
	if (mount < 0)
		return -errno;
	return open_folder(mount, "events");
#else
	return -ENOSYS;
#endif
}

int etw_tracefs_open(const char *folder, int *ret, struct etw_fault *reterr)
{
	static const char *const places[] = {"/sys/kernel/tracing/events",
					     "/sys/kernel/debug/tracing/events"};
	int fd = -ENOENT;

	if (!folder)
		folder = secure_getenv(ENVIRONMENT);
	if (folder) {
		fd = open_folder(AT_FDCWD, folder);
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(places) && fd < 0; i++) {
			int r = open_folder(AT_FDCWD, places[i]);

			if (r >= 0 || fd == -ENOENT)
				fd = r;
		}
		if (fd == -ENOENT) {
			int r = open_private();

			fd = r >= 0 ? r : fd;
		}
	}
	if (fd == -EACCES || fd == -EPERM)
		return etw_fault_set(reterr, -EACCES, 0, STRUCTURE, "events",
				     "tracepoints can only be read by root, as tracefs is not open "
				     "to other users");
	if (fd < 0)
		return etw_fault_set(reterr, fd, 0, STRUCTURE, "events",
				     "tracefs is not mounted; mount -t tracefs tracefs "
				     "/sys/kernel/tracing makes it so");
	*ret = fd;
	return 0;
}

void etw_tracefs_names_done(struct etw_tracefs_names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free((char *)names->at[i]);
	free(names->at);
	*names = (struct etw_tracefs_names){0};
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

uint32_t etw_tracefs_names_find(const struct etw_tracefs_names *names, const char *name)
{
	const char **found = names->count ? bsearch(&name, names->at, names->count,
						    sizeof(*names->at), compare_names)
					  : NULL;

	return found ? (uint32_t)(found - names->at) : UINT32_MAX;
}

static int add_name(struct etw_tracefs_names *names, const char *name)
{
	if ((names->count & (names->count - 1)) == 0) {
		size_t room = names->count ? 2 * (size_t)names->count : 1;
		const char **grown = realloc(names->at, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		names->at = grown;
	}
	names->at[names->count] = strdup(name);
	if (!names->at[names->count])
		return -ENOMEM;
	names->count++;
	return 0;
}

static void close_folder(DIR **folder)
{
	if (*folder)
		(void)closedir(*folder);
}

/* The folders in a folder, sorted. */
static int list(int parent, const char *name, uint32_t max, struct etw_tracefs_names *ret)
{
	CLEANUP(close_folder) DIR *folder = NULL;
	CLEANUP(etw_tracefs_names_done) struct etw_tracefs_names names = {0};
	const struct dirent *entry;
	int fd = open_folder(parent, name);

	if (fd < 0)
		return fd;
	folder = fdopendir(fd);
	if (!folder) {
		close(fd);
		return -ENOMEM;
	}
	while (names.count < max && (errno = 0, entry = readdir(folder)) != NULL) {
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
		    strlen(entry->d_name) <= ETW_TRACEPOINT_NAME_BYTES_MAX)
			TRY(add_name(&names, entry->d_name));
	}
	if (names.count)
		qsort(names.at, names.count, sizeof(*names.at), compare_names);
	*ret = names;
	names = (struct etw_tracefs_names){0};
	return 0;
}

/* What the kernel only describes, as records of its own tracers, cannot be enabled. */
static bool can_enable(int events_fd, const char *system, const char *event)
{
	char path[2 * ETW_TRACEPOINT_NAME_BYTES_MAX + sizeof("//enable")];

	snprintf(path, sizeof(path), "%.127s/%.127s/enable", system, event);
	return faccessat(events_fd, path, F_OK, 0) == 0;
}

int etw_tracefs_events(int events_fd, const char *system, struct etw_tracefs_names *ret)
{
	CLEANUP(etw_tracefs_names_done) struct etw_tracefs_names names = {0};
	uint32_t count = 0;

	if (!*system || strchr(system, '/') || system[0] == '.' ||
	    strlen(system) > ETW_TRACEPOINT_NAME_BYTES_MAX)
		return -ENOENT;
	TRY(list(events_fd, system, ETW_TRACEPOINT_EVENTS_MAX, &names));
	for (uint32_t i = 0; i < names.count; i++) {
		if (can_enable(events_fd, system, names.at[i]))
			names.at[count++] = names.at[i];
		else
			free((char *)names.at[i]);
	}
	names.count = count;
	if (!count)
		return -ENOENT;
	*ret = names;
	names = (struct etw_tracefs_names){0};
	return 0;
}

int etw_tracefs_folders(int events_fd, struct etw_tracefs_names *ret)
{
	return list(events_fd, ".", ETW_TRACEFS_SYSTEMS_MAX, ret);
}

int etw_tracefs_systems(int events_fd, struct etw_tracefs_names *ret)
{
	CLEANUP(etw_tracefs_names_done) struct etw_tracefs_names names = {0};
	uint32_t count = 0;

	TRY(etw_tracefs_folders(events_fd, &names));
	for (uint32_t i = 0; i < names.count; i++) {
		struct etw_tracefs_names events = {0};
		int r = etw_tracefs_events(events_fd, names.at[i], &events);

		etw_tracefs_names_done(&events);
		if (r == 0)
			names.at[count++] = names.at[i];
		else
			free((char *)names.at[i]);
	}
	names.count = count;
	*ret = names;
	names = (struct etw_tracefs_names){0};
	return 0;
}

int etw_tracefs_guid(const char *system, GUID *ret)
{
	char name[sizeof(ETW_TRACEFS_PROVIDER_PREFIX) + ETW_TRACEPOINT_NAME_BYTES_MAX];

	if (strlen(system) > ETW_TRACEPOINT_NAME_BYTES_MAX)
		return -EINVAL;
	snprintf(name, sizeof(name), "%s%s", ETW_TRACEFS_PROVIDER_PREFIX, system);
	return etw_guid_of_name(name, ret);
}

int etw_tracefs_read_text(int events_fd, const char *system, const char *event,
			  struct etw_arena *arena, struct etw_tracefs_event *ret)
{
	char path[2 * ETW_TRACEPOINT_NAME_BYTES_MAX + sizeof("//format")];
	CLEANUP(freep) char *text = malloc(ETW_TRACEPOINT_FORMAT_BYTES_MAX + 1);
	CLEANUP(etw_file_closep) int fd = -1;

	if (!text)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%.127s/%.127s/format", system, event);
	fd = openat(events_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	TRY(etw_file_read_all(fd, text, ETW_TRACEPOINT_FORMAT_BYTES_MAX + 1, &ret->text_bytes));
	ret->text = etw_arena_strndup(arena, text, ret->text_bytes);
	return ret->text ? 0 : -ENOMEM;
}

int etw_tracefs_read_event(int events_fd, const char *system, const char *event,
			   const struct etw_tracepoint_identity *identity, struct etw_arena *arena,
			   struct etw_tracefs_event *ret, struct etw_fault *reterr)
{
	struct etw_tracepoint_format *format;
	struct etw_tracepoint_layout *layout;

	TRY(etw_tracefs_read_text(events_fd, system, event, arena, ret));
	TRY(etw_tracepoint_format_parse(arena, ret->text, ret->text_bytes, &format, reterr));
	TRY(etw_tracepoint_layout_make(arena, format, identity, &layout));
	ret->format = format;
	ret->layout = layout;
	return 0;
}

static int read_events(int events_fd, const char *system, const struct etw_tracefs_names *names,
		       struct etw_arena *arena, struct etw_provider_schema *provider)
{
	struct etw_tracepoint_identity identity = {.provider = provider->guid,
						   .provider_name = provider->name};
	struct etw_tracefs_event event;

	for (uint32_t i = 0; i < names->count; i++) {
		int r;

		identity.id = (uint16_t)(i + 1);
		identity.keyword = etw_tracefs_keyword(i + 1);
		r = etw_tracefs_read_event(events_fd, system, names->at[i], &identity, arena,
					   &event, NULL);
		if (r == -ENOMEM || etw_is_shortage(r))
			return r;
		if (r < 0)
			continue;
		provider->schemas[provider->schema_count] = event.layout->schema;
		provider->schemas[provider->schema_count++].origin = ETW_SCHEMA_ORIGIN_INSTALLED;
	}
	return 0;
}

/* The maps that fields have. */
static int gather_maps(struct etw_arena *arena, struct etw_provider_schema *provider)
{
	struct etw_map *maps = NULL;
	size_t count = 0;

	for (int is_second = 0; is_second <= 1; is_second++) {
		if (is_second) {
			maps = etw_arena_array(arena, count, sizeof(*maps));
			if (!maps)
				return -ENOMEM;
			count = 0;
		}
		for (size_t i = 0; i < provider->schema_count; i++) {
			const struct etw_schema *schema = &provider->schemas[i];

			for (uint32_t j = 0; j < schema->field_count; j++) {
				if (!schema->fields[j].map)
					continue;
				if (maps)
					maps[count] = *schema->fields[j].map;
				count++;
			}
		}
	}
	provider->maps = maps;
	provider->map_count = count;
	return 0;
}

/* A bit that several tracepoints share has the first one's name and how many more there are. */
static int name_keywords(struct etw_arena *arena, const struct etw_tracefs_names *names,
			 struct etw_provider_schema *provider)
{
	uint32_t count = names->count < ETW_TRACEPOINT_KEYWORDS ? names->count
								: ETW_TRACEPOINT_KEYWORDS;
	struct etw_named *keywords = etw_arena_array(arena, count, sizeof(*keywords));
	char text[ETW_TRACEPOINT_NAME_BYTES_MAX + 32];

	if (!keywords)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t others = (names->count - 1 - i) / ETW_TRACEPOINT_KEYWORDS;

		if (others)
			snprintf(text, sizeof(text), "%.127s+%u", names->at[i], others);
		else
			snprintf(text, sizeof(text), "%.127s", names->at[i]);
		keywords[i].value = etw_tracefs_keyword(i + 1);
		keywords[i].name = etw_arena_strdup(arena, text);
		if (!keywords[i].name)
			return -ENOMEM;
	}
	provider->keywords = keywords;
	provider->keyword_count = count;
	return 0;
}

static int name_tasks(struct etw_arena *arena, struct etw_provider_schema *provider)
{
	struct etw_task *tasks = etw_arena_array(arena, provider->schema_count, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	for (size_t i = 0; i < provider->schema_count; i++) {
		tasks[i].named.value = provider->schemas[i].descriptor.Task;
		tasks[i].named.name = provider->schemas[i].task_name;
	}
	provider->tasks = tasks;
	provider->task_count = provider->schema_count;
	return 0;
}

int etw_tracefs_read_provider(int events_fd, const char *system, struct etw_arena *arena,
			      struct etw_provider_schema **ret)
{
	CLEANUP(etw_tracefs_names_done) struct etw_tracefs_names names = {0};
	struct etw_provider_schema *provider;
	char name[sizeof(ETW_TRACEFS_PROVIDER_PREFIX) + ETW_TRACEPOINT_NAME_BYTES_MAX];

	TRY(etw_tracefs_events(events_fd, system, &names));
	provider = etw_arena_alloc(arena, sizeof(*provider));
	if (!provider)
		return -ENOMEM;
	TRY(etw_tracefs_guid(system, &provider->guid));
	snprintf(name, sizeof(name), "%s%s", ETW_TRACEFS_PROVIDER_PREFIX, system);
	provider->name = etw_arena_strdup(arena, name);
	provider->source = DecodingSourceXMLFile;
	provider->schemas = etw_arena_array(arena, names.count, sizeof(*provider->schemas));
	if (!provider->name || !provider->schemas)
		return -ENOMEM;
	TRY(read_events(events_fd, system, &names, arena, provider));
	TRY(gather_maps(arena, provider));
	TRY(name_tasks(arena, provider));
	TRY(name_keywords(arena, &names, provider));
	*ret = provider;
	return 0;
}
