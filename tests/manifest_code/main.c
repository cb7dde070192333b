/* SPDX-License-Identifier: MIT */
/*
 * Events of manifests, written by generated code, recorded, and decoded to the same values.
 *
 *	manifest_code generate MANIFEST FOLDER [km] [co]   header.h, driver.c and values.bin in the folder
 *	manifest_code check MANIFEST DRIVER VALUES [km]    records what the driver writes, and compares
 *
 * check_manifests.py does the whole. $ETW_ETWD names the host.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <tdh.h>
#include <winerror.h>

#include "base/guid.h"
#include "base/macros.h"
#include "compile/read.h"
#include "manifest_code/generate.h"
#include "manifest_code/values.h"
#include "recording/support.h"

#define SEED       20261
#define NAME_UNITS 512
#define MAP_ROOM   65536

extern char **environ;

struct check {
	const struct mc_manifest *manifest;
	struct writing *list;
	size_t count;
	uint8_t *seen;
	size_t events, properties;
	PBYTE buffer; /* of a property */
	ULONG room;
};

static struct mc_manifest *read_manifest(const char *path)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	struct mc_manifest *manifest;
	FILE *file = fopen(path, "rb");
	size_t got = 1;
	char *to;

	if (!file)
		fail("%s cannot be opened", path);
	while (got && (to = etw_text_begin(&text, 65536))) {
		got = fread(to, 1, 65536, file);
		etw_text_end(&text, to + got);
	}
	(void)fclose(file);
	if (etw_compile_read(etw_text_string(&text), text.bytes, &manifest))
		fail("%s cannot be read", path);
	if (manifest->error_count)
		fail("%s has errors: %s", path, manifest->complaints->text);
	return manifest;
}

static void to_wide(const char *text, WCHAR name[static NAME_UNITS])
{
	size_t i = 0;

	for (; text[i] && i + 1 < NAME_UNITS; i++)
		name[i] = (WCHAR)(unsigned char)text[i];
	name[i] = 0;
}

static uint8_t level_of(const struct mc_name *name)
{
	return name ? (uint8_t)name->value : 0;
}

static void check_header(const EVENT_RECORD *record, const struct writing *writing)
{
	const struct mc_event *event = writing->event;
	const struct mc_provider *provider = writing->provider;
	EVENT_DESCRIPTOR expected = {
		.Id = event->value,
		.Version = event->version,
		.Channel = event->channel ? event->channel->value : 0,
		.Level = level_of(event->level),
		.Opcode = level_of(event->opcode),
		.Task = event->task ? (USHORT)event->task->value : 0,
		.Keyword = event->mask,
	};

	if (!event->channel && provider->has_control_guid)
		expected.Channel = 12;
	if (memcmp(&record->EventHeader.EventDescriptor, &expected, sizeof(expected)) != 0)
		fail("%s: another descriptor was recorded", event->symbol);
	if (!etw_guid_equal(&record->EventHeader.ProviderId,
			    provider->has_control_guid ? &provider->control_guid : &provider->guid))
		fail("%s: another provider was recorded", event->symbol);
}

static void check_payload(const EVENT_RECORD *record, const struct writing *writing,
			  const struct values *values)
{
	const struct etw_text *payload = &values->payload;

	if (record->UserDataLength != payload->bytes)
		fail("%s, round %u: %u bytes in place of %zu", writing->event->symbol,
		     writing->round, record->UserDataLength, payload->bytes);
	for (size_t i = 0; i < payload->bytes; i++) {
		if (((const char *)record->UserData)[i] != payload->at[i])
			fail("%s, round %u: byte %zu of %zu differs", writing->event->symbol,
			     writing->round, i, payload->bytes);
	}
}

static void check_property(struct check *check, EVENT_RECORD *record, const struct writing *writing,
			   const struct values *values, const struct values_property *property)
{
	WCHAR names[2][NAME_UNITS];
	PROPERTY_DATA_DESCRIPTOR path[2] = {
		{.PropertyName = (uintptr_t)names[0], .ArrayIndex = property->index},
		{.PropertyName = (uintptr_t)names[1], .ArrayIndex = property->member_index},
	};
	ULONG count = property->member ? 2 : 1, size = 0;
	const char *name = property->member ? property->member->name : property->field->name;
	ULONG error;

	to_wide(property->field->name, names[0]);
	to_wide(property->member ? property->member->name : "", names[1]);
	error = TdhGetPropertySize(record, 0, NULL, count, path, &size);
	if (error)
		fail("%s, round %u: %s[%u]: error %u", writing->event->symbol, writing->round, name,
		     property->index, error);
	if (size > check->room) {
		check->room = size + 4096;
		check->buffer = realloc(check->buffer, check->room);
	}
	error = size ? TdhGetProperty(record, 0, NULL, count, path, size, check->buffer) : 0;
	if (error || size != property->bytes ||
	    (size && memcmp(check->buffer, values->payload.at + property->offset, size) != 0))
		fail("%s, round %u: %s[%u] is decoded to another value (error %u, %u bytes of %zu)",
		     writing->event->symbol, writing->round, name, property->index, error, size,
		     property->bytes);
	check->properties++;
}

static void WINAPI on_event(PEVENT_RECORD record)
{
	struct check *check = record->UserContext;
	size_t index = record->EventHeader.ActivityId.Data1;
	const struct writing *writing;
	struct values values;

	if (etw_guid_equal(&record->EventHeader.ProviderId, &EventTraceGuid))
		return;
	if (!index || index > check->count)
		fail("an event that was not written");
	if (check->seen[index - 1]++)
		fail("an event that was written once came twice");
	writing = &check->list[index - 1];
	values_make(&values, writing->event->template_of, writing->seed, writing->round);
	check_header(record, writing);
	check_payload(record, writing, &values);
	for (size_t i = 0; i < values.property_count; i++)
		check_property(check, record, writing, &values, &values.properties[i]);
	values_done(&values);
	check->events++;
}

static void run_driver(char *driver, char *values)
{
	char *arguments[] = {driver, values, NULL};
	int status = 0;
	pid_t pid;

	if (posix_spawn(&pid, driver, NULL, NULL, arguments, environ))
		fail("%s cannot be run", driver);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		fail("%s failed: %d", driver, status);
}

/* With all levels: manifests may have some of their own, above the usual ones. */
static void enable(const struct recording *recording, const struct mc_provider *provider)
{
	const GUID *guid = provider->has_control_guid ? &provider->control_guid : &provider->guid;
	ULONG error = EnableTraceEx2(recording->handle, guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
				     UINT8_MAX, UINT64_MAX, 0, 0, NULL);

	if (error)
		fail("%s cannot be enabled: error %u", provider->name, (unsigned)error);
}

static void record(const struct check *check, const char *file, char *driver, char *values)
{
	struct recording recording = {0};
	const struct recording_options options = {
		.name = "manifest_code", .file = file, .buffer_kib = 1024, .buffers = 64};

	recording_start(&recording, &options);
	for (const struct mc_provider *at = check->manifest->providers; at; at = at->next) {
		if (at->event_count)
			enable(&recording, at);
	}
	run_driver(driver, values);
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	if (recording.block.properties.EventsLost)
		fail("%u events were lost", (unsigned)recording.block.properties.EventsLost);
}

static void check_recorded(const char *path, char *driver, char *values)
{
	struct check check = {.manifest = read_manifest(path)};
	WCHAR name[NAME_UNITS];
	char file[1024];

	check.list = list_writings(check.manifest, SEED, &check.count);
	check.seen = calloc(check.count + 1, 1);
	(void)snprintf(file, sizeof(file), "%s/manifest_code.etl", test_home());
	record(&check, file, driver, values);
	to_wide(path, name);
	if (TdhLoadManifest(name))
		fail("%s cannot be loaded", path);
	(void)recording_read(file, on_event, &check);
	if (check.events != check.count)
		fail("%zu of %zu events came", check.events, check.count);
	printf("%s: %zu events, %zu properties\n", path, check.events, check.properties);
	free(check.seen);
	free(check.list);
	free(check.buffer);
}

int main(int argc, char **argv)
{
	struct etw_compile_header_options options = {0};

	if (argc < 4)
		return 2;
	for (int i = 4; i < argc; i++) {
		options.is_kernel |= strcmp(argv[i], "km") == 0;
		options.has_callout |= strcmp(argv[i], "co") == 0;
	}
	if (strcmp(argv[1], "generate") == 0)
		generate_files(read_manifest(argv[2]), argv[3], SEED, &options);
	else
		check_recorded(argv[2], argv[3], argv[4]);
	return 0;
}
