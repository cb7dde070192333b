/* SPDX-License-Identifier: MIT */
#include "tools/etw/catalogue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/pattern.h"
#include "schema/provider_names.h"
#include "schema/tracepoint/machine.h"
#include "tools/common/installed_providers.h"
#include "tools/common/program.h"

static bool has_guid(const void *item, const void *key)
{
	return etw_guid_equal(&((const struct catalogue_entry *)item)->guid, key);
}

static struct catalogue_entry *find_guid(const struct catalogue *catalogue, const GUID *guid)
{
	return etw_table_find(&catalogue->guids, etw_guid_hash(guid), has_guid, guid);
}

/* NULL when memory ran out. @guid: NULL where nobody knows it */
static struct catalogue_entry *add(struct catalogue *catalogue, const GUID *guid)
{
	struct catalogue_entry *entry = etw_arena_alloc(&catalogue->arena, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->builds = entry->formerly = "";
	if (guid) {
		entry->guid = *guid;
		entry->has_guid = true;
		if (etw_table_insert(&catalogue->guids, etw_guid_hash(guid), entry) < 0)
			return NULL;
	}
	catalogue->entries[catalogue->count++] = entry;
	return entry;
}

static int add_known(struct catalogue *catalogue)
{
	for (size_t i = 0; i < etw_known_provider_count(catalogue->known); i++) {
		struct etw_known_provider provider;
		struct catalogue_entry *entry;

		/* Damage is told when the catalogue is closed. */
		if (etw_known_provider_at(catalogue->known, i, &provider) < 0)
			continue;
		entry = add(catalogue, provider.has_guid ? &provider.guid : NULL);
		if (!entry)
			return -ENOMEM;
		entry->name = provider.name;
		entry->formerly = provider.formerly;
		entry->builds = provider.builds;
		entry->is_known = true;
		entry->known_index = i;
		entry->event_count = provider.event_count;
		entry->class_count = provider.class_count;
	}
	return 0;
}

/* Of several definitions of a GUID the last one counts. */
static int add_installed(struct catalogue *catalogue)
{
	for (size_t i = 0; i < etw_registry_count(catalogue->registry); i++) {
		const struct etw_registry_entry from = etw_registry_entry(catalogue->registry, i);
		const uint32_t events = from.row.counts[WIRE_REGISTRY_COUNT_EVENTS];
		const bool is_classic = from.row.source == DecodingSourceWbem;
		struct catalogue_entry *entry;

		if (from.row.role != WIRE_REGISTRY_PROVIDER)
			continue;
		entry = find_guid(catalogue, &from.row.guid);
		if (!entry)
			entry = add(catalogue, &from.row.guid);
		if (!entry)
			return -ENOMEM;
		if (from.row.name && entry->name && strcasecmp(from.row.name, entry->name) != 0)
			entry->also = entry->name;
		if (from.row.name)
			entry->name = from.row.name;
		entry->is_installed = true;
		entry->file = from.file.from;
		entry->event_count = is_classic ? 0 : events;
		entry->class_count = is_classic ? events : 0;
	}
	return 0;
}

static int add_names(struct catalogue *catalogue)
{
	for (size_t i = 0; i < etw_provider_name_count(); i++) {
		const struct etw_provider_name *from = etw_provider_name_at(i);
		struct catalogue_entry *entry = find_guid(catalogue, &from->guid);

		if (entry && entry->name)
			continue;
		if (!entry)
			entry = add(catalogue, &from->guid);
		if (!entry)
			return -ENOMEM;
		entry->name = from->name;
	}
	return 0;
}

/* Each system of tracepoints is a provider; who may not read tracefs has none of them. */
static int add_tracepoints(struct catalogue *catalogue, const struct etw_tracepoint_listed *listed,
			   size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct catalogue_entry *entry = add(catalogue, &listed[i].guid);

		if (!entry)
			return -ENOMEM;
		entry->name = listed[i].name;
		entry->system = entry->name + sizeof(ETW_TRACEFS_PROVIDER_PREFIX) - 1;
		entry->event_count = listed[i].event_count;
	}
	return 0;
}

static int compare(const void *left_at, const void *right_at)
{
	const struct catalogue_entry *left = *(struct catalogue_entry *const *)left_at;
	const struct catalogue_entry *right = *(struct catalogue_entry *const *)right_at;
	int order = (left->name == NULL) - (right->name == NULL);

	if (!order && left->name)
		order = strcasecmp(left->name, right->name);
	return order ? order : memcmp(&left->guid, &right->guid, sizeof(left->guid));
}

/* An index that is not there is told as well, unless that is wanted: most of what people look for is in it. */
static void open_known(struct catalogue *catalogue)
{
	struct etw_fault fault = {0};
	int r = etw_known_open(NULL, &catalogue->known, &fault);

	const char *wish = getenv("ETW_KNOWN_PROVIDERS");

	if (r == -ENOENT && wish && !*wish)
		return;
	if (r == -ENOENT) {
		etw_program_message(
			"warning: the table of known providers is missing; only what is "
			"installed and plain names are here");
	} else if (r < 0) {
		etw_program_message("warning: the table of known providers is left out: %s",
				    fault.sentence ? fault.sentence : strerror(-r));
		catalogue->is_damaged = true;
	}
}

static int fill(struct catalogue *catalogue)
{
	size_t room = etw_registry_count(catalogue->registry) + etw_provider_name_count() + 1;
	struct etw_tracepoint_listed *listed = NULL;
	size_t listed_count = 0;

	if (catalogue->events_fd >= 0)
		(void)etw_tracepoint_list(catalogue->events_fd, &catalogue->arena, &listed,
					  &listed_count);
	room += listed_count;
	if (catalogue->known)
		room += etw_known_provider_count(catalogue->known);
	catalogue->entries = etw_arena_array(&catalogue->arena, room, sizeof(void *));
	if (!catalogue->entries)
		return -ENOMEM;
	if (catalogue->known)
		TRY(add_known(catalogue));
	TRY(add_installed(catalogue));
	TRY(add_names(catalogue));
	TRY(add_tracepoints(catalogue, listed, listed_count));
	qsort(catalogue->entries, catalogue->count, sizeof(void *), compare);
	return 0;
}

int catalogue_open(struct catalogue *ret)
{
	struct etw_registry *registry;

	*ret = (struct catalogue){.events_fd = -1};
	if (etw_schema_store_create(&ret->store) < 0) {
		etw_program_message("out of memory");
		return -1;
	}
	if (etw_installed_providers_open(&registry) < 0)
		return -1;
	etw_registry_attach(registry, ret->store);
	ret->registry = registry;
	open_known(ret);
	(void)etw_tracefs_open(NULL, &ret->events_fd, NULL);
	if (fill(ret) < 0) {
		etw_program_message("out of memory");
		return -1;
	}
	return 0;
}

bool catalogue_close(struct catalogue *catalogue)
{
	struct etw_fault fault = {0};
	bool is_damaged = catalogue->is_damaged;

	if (catalogue->known && etw_known_damage(catalogue->known, &fault)) {
		etw_program_message("warning: the table of known providers is damaged: %s",
				    fault.sentence);
		is_damaged = true;
	}
	etw_file_closep(&catalogue->events_fd);
	etw_table_done(&catalogue->guids);
	etw_arena_done(&catalogue->arena);
	etw_schema_store_freep(&catalogue->store);
	etw_known_closep(&catalogue->known);
	return is_damaged;
}

bool catalogue_is_pattern(const char *word)
{
	return strchr(word, '*') != NULL;
}

static bool is_name(const char *word, bool is_pattern, const char *name, size_t bytes)
{
	if (is_pattern)
		return etw_pattern_matches(word, name, bytes);
	return strlen(word) == bytes && !strncasecmp(word, name, bytes);
}

static bool is_called(const struct catalogue_entry *entry, const char *word)
{
	const bool is_pattern = catalogue_is_pattern(word);

	if (entry->name && is_name(word, is_pattern, entry->name, strlen(entry->name)))
		return true;
	if (entry->also && is_name(word, is_pattern, entry->also, strlen(entry->also)))
		return true;
	return *entry->formerly &&
	       is_name(word, is_pattern, entry->formerly, strlen(entry->formerly));
}

const struct catalogue_entry *catalogue_next(const struct catalogue *catalogue, const char *word,
					     size_t *place)
{
	GUID guid, further;
	const bool is_guid = word && etw_guid_parse(word, &guid) == 0;
	const bool is_further = word && !is_guid && etw_provider_guid_find(word, &further) == 0;

	while (*place < catalogue->count) {
		const struct catalogue_entry *entry = catalogue->entries[(*place)++];

		if (!word || (is_guid ? entry->has_guid && etw_guid_equal(&entry->guid, &guid)
				      : is_called(entry, word)))
			return entry;
		if (is_further && entry->has_guid && etw_guid_equal(&entry->guid, &further))
			return entry;
	}
	return NULL;
}

/* How many names have the word within. */
static size_t count_containing(const struct catalogue *catalogue, const char *word)
{
	size_t count = 0;

	for (size_t i = 0; i < catalogue->count; i++) {
		const char *name = catalogue->entries[i]->name;

		count += name && strcasestr(name, word);
	}
	return count;
}

/* A name of tracepoints that is not found: it means events of a provider, or tracefs cannot be read. Returns whether it was told. */
static bool miss_tracepoints(const struct catalogue *catalogue, const char *word)
{
	char system[ETW_TRACEPOINT_NAME_BYTES_MAX + 1];
	const char *event;

	if (etw_tracepoint_name_split(word, system, &event) == -ESRCH)
		return false;
	if (catalogue->events_fd < 0) {
		etw_program_message("no provider is called %s: the tracepoints of this machine are "
				    "in tracefs, which cannot be read; root can, where it is "
				    "mounted",
				    word);
		return true;
	}
	if (!event)
		return false;
	etw_program_message("no provider is called %s: what is behind the second colon are events; "
			    "etw providers %.*s --event '%s'",
			    word, (int)(event - 1 - word), word, event);
	return true;
}

void catalogue_miss(const struct catalogue *catalogue, const char *word)
{
	CLEANUP(freep) const char **names = calloc(catalogue->count + 1, sizeof(*names));
	const char *nearest = NULL;
	size_t count = *word ? count_containing(catalogue, word) : 0;
	GUID guid;

	if (etw_guid_parse(word, &guid) == 0) {
		etw_program_message("no provider with the GUID %s is known or installed", word);
		return;
	}
	if (miss_tracepoints(catalogue, word))
		return;
	if (catalogue_is_pattern(word)) {
		etw_program_message("no provider that is known or installed has a name like %s",
				    word);
		return;
	}
	for (size_t i = 0; names && i < catalogue->count; i++)
		names[i] = catalogue->entries[i]->name;
	if (names)
		nearest = etw_program_nearest(word, names, catalogue->count);
	if (nearest)
		etw_program_message("no provider is called %s; did you mean \"%s\"?", word,
				    nearest);
	else if (count)
		etw_program_message(
			"no provider is called %s; %zu %s it in the name: etw providers "
			"'*%s*'",
			word, count, count == 1 ? "has" : "have", word);
	else
		etw_program_message("no provider is called %s; etw providers lists all, and etw "
				    "providers --search WORD looks into their events",
				    word);
}
