/* SPDX-License-Identifier: MIT */
#include "tools/etw/record_tracepoints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macros.h"
#include "schema/tracepoint/machine.h"
#include "wire/filter_list.h"

#define PREFIX       ETW_TRACEFS_PROVIDER_PREFIX
#define PREFIX_BYTES (sizeof(PREFIX) - 1)

bool record_tracepoints_is(const char *text)
{
	return strncmp(text, PREFIX, PREFIX_BYTES) == 0;
}

/* The provider's names, each with its NUL. Returns NULL where they are there, or nobody can say. */
static const char *look_up(const char *system, const struct record_provider *provider)
{
	const char *name = provider->names;

	CLEANUP(etw_tracefs_names_done) struct etw_tracefs_names names = {0};
	CLEANUP(etw_file_closep) int fd = -1;
	int r;

	if (etw_tracefs_open(NULL, &fd, NULL) < 0)
		return NULL;
	r = etw_tracefs_events(fd, system, &names);
	if (r == -ENOENT)
		return "is no system of tracepoints of this machine; etw providers 'linux:*' lists "
		       "them";
	for (uint16_t i = 0; r == 0 && i < provider->name_count; i++) {
		if (!etw_tracepoint_names_match(&names, name))
			return "has no such tracepoint on this machine; etw providers "
			       "linux:SYSTEM lists them";
		name += strlen(name) + 1;
	}
	return NULL;
}

const char *record_tracepoints_why_silent(const char *text)
{
	CLEANUP(etw_file_closep) int fd = -1;

	if (!record_tracepoints_is(text) || etw_tracefs_open(NULL, &fd, NULL) >= 0)
		return NULL;
	return "this user cannot read tracefs; an etwd that root started records tracepoints, as "
	       "by `sudo etw record`";
}

const char *record_tracepoints_why_none(const char *text, enum etw_instance instance)
{
	if (!etw_runtime_is_own(instance))
		return NULL;
	return record_tracepoints_why_silent(text);
}

/* Names with commas between them. Returns false when memory ran out. */
static bool take_names(const char *text, struct record_provider *ret)
{
	ret->names = malloc(strlen(text) + 1);
	if (!ret->names)
		return false;
	while (*text) {
		const size_t bytes = strcspn(text, ",");

		if (bytes) {
			memcpy(ret->names + ret->names_bytes, text, bytes);
			ret->names[ret->names_bytes + bytes] = '\0';
			ret->names_bytes += bytes + 1;
			ret->name_count++;
		}
		text += bytes + (text[bytes] != '\0');
	}
	return true;
}

const char *record_tracepoints_parse(const char *text, struct record_provider *ret)
{
	char system[ETW_TRACEPOINT_NAME_BYTES_MAX + 1];
	const char *event;

	if (etw_tracepoint_name_split(text, system, &event) < 0)
		return "is none of linux:SYSTEM and linux:SYSTEM:EVENT,EVENT, where EVENT may have "
		       "*";
	ret->text = text;
	if (etw_tracefs_guid(system, &ret->guid) < 0)
		return "names no system of tracepoints";
	if (event && !take_names(event, ret))
		return "needs more memory than there is";
	if (event && !ret->name_count)
		return "names no tracepoint behind its system";
	return look_up(system, ret);
}

bool record_tracepoints_merge(struct record_provider *to, struct record_provider *from)
{
	char *grown;

	/* One that chooses all is no less with the other. */
	if (!to->name_count || !from->name_count) {
		free(TAKE(to->names));
		free(TAKE(from->names));
		to->names_bytes = 0;
		to->name_count = 0;
		return true;
	}
	grown = realloc(to->names, to->names_bytes + from->names_bytes);
	if (!grown)
		return false;
	memcpy(grown + to->names_bytes, from->names, from->names_bytes);
	to->names = grown;
	to->names_bytes += from->names_bytes;
	to->name_count = (uint16_t)(to->name_count + from->name_count);
	free(TAKE(from->names));
	return true;
}

int record_tracepoints_filter(const struct record_provider *provider, uint8_t *room)
{
	size_t bytes;

	if (!provider->name_count)
		return 0;
	bytes = wire_filter_put_names(
		room, RECORD_TRACEPOINT_FILTER_BYTES,
		(struct etw_bytes){(const uint8_t *)provider->names, provider->names_bytes},
		provider->name_count);
	return bytes ? (int)bytes : -EMSGSIZE;
}

/* @word: may have several names with commas, of which the last is completed */
static void complete_events(int fd, const char *system, const char *word, struct etw_text *text)
{
	const char *comma = strrchr(word, ',');
	const size_t front = (size_t)((comma ? comma : strrchr(word, ':')) + 1 - word);
	CLEANUP(etw_tracefs_names_done) struct etw_tracefs_names names = {0};

	if (etw_tracefs_events(fd, system, &names) < 0)
		return;
	for (uint32_t i = 0; i < names.count; i++)
		etw_text_printf(text, "%.*s%s\n", (int)front, word, names.at[i]);
}

void record_tracepoints_complete(const char *word, struct etw_text *text)
{
	CLEANUP(etw_tracefs_names_done) struct etw_tracefs_names names = {0};
	CLEANUP(etw_file_closep) int fd = -1;
	char system[ETW_TRACEPOINT_NAME_BYTES_MAX + 1];
	size_t bytes = 0;

	if (etw_tracefs_open(NULL, &fd, NULL) < 0)
		return;
	if (record_tracepoints_is(word))
		bytes = strcspn(word + PREFIX_BYTES, ":");
	if (bytes && bytes < sizeof(system) && word[PREFIX_BYTES + bytes] == ':') {
		memcpy(system, word + PREFIX_BYTES, bytes);
		system[bytes] = '\0';
		complete_events(fd, system, word, text);
		return;
	}
	if (etw_tracefs_systems(fd, &names) < 0)
		return;
	for (uint32_t i = 0; i < names.count; i++)
		etw_text_printf(text, PREFIX "%s\n", names.at[i]);
}
