/* SPDX-License-Identifier: MIT */
/*
 * tdh.h: which providers there are: those that are registered on this machine, those that this process has
 * loaded, the kernel, whose classes are built in, and its tracepoints, for who may read tracefs. Those of the table of known providers are listed where
 * libetw_tdh_use_known() asks for it, so that "installed" keeps its meaning.
 */
#include <tdh.h>
#include <winerror.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/tdh/answer.h"
#include "api/tdh/loaded.h"
#include "api/tdh/lock.h"
#include "api/tdh/shared.h"
#include "api/win32_error.h"
#include "base/guid.h"
#include "registry/registry.h"
#include "wire/well_known.h"

/* The control GUID of the kernel, under the name by which Windows lists it. */
static const GUID kernel_guid = WIRE_KERNEL_LOGGER_GUID;

#define SOURCE_ANY DecodingSourceMax

struct listed {
	GUID guid;
	bool is_known; /* of the table, and of nothing else where there is another entry */
	DECODING_SOURCE source;
	const char *name;
};

struct list {
	DECODING_SOURCE wanted; /* SOURCE_ANY: manifests and MOF */
	struct listed *at;      /* owned */
	size_t count;
	size_t room;
	struct etw_arena arena; /* owned: names that nobody else keeps */
};

static bool is_wanted(const struct list *list, DECODING_SOURCE source)
{
	if (list->wanted == SOURCE_ANY)
		return source == DecodingSourceXMLFile || source == DecodingSourceWbem;
	return source == list->wanted;
}

static int add(struct list *list, const GUID *guid, DECODING_SOURCE source, const char *name,
	       bool is_known)
{
	if (!is_wanted(list, source))
		return 0;
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		void *grown = realloc(list->at, room * sizeof(*list->at));

		if (!grown)
			return -ENOMEM;
		list->at = grown;
		list->room = room;
	}
	list->at[list->count++] = (struct listed){*guid, is_known, source, name};
	return 0;
}

/* Of some the events are known; of others only the name. Damage ends the list. */
static int collect_known(struct list *list, struct etw_known *known)
{
	struct etw_known_provider provider;

	for (size_t i = 0; !etw_known_provider_at(known, i, &provider); i++) {
		if (provider.has_guid && provider.event_count)
			TRY(add(list, &provider.guid, DecodingSourceXMLFile, provider.name, true));
	}
	return 0;
}

static int collect_tracepoints(struct list *list, const struct etw_tdh_shared *shared)
{
	struct etw_tracepoint_listed *listed;
	size_t count;

	if (!is_wanted(list, DecodingSourceXMLFile))
		return 0;
	TRY(etw_tracepoint_machine_list(shared->tracepoints, &list->arena, &listed, &count));
	for (size_t i = 0; i < count; i++)
		TRY(add(list, &listed[i].guid, DecodingSourceXMLFile, listed[i].name, false));
	return 0;
}

static int collect(struct list *list, const struct etw_tdh_shared *shared)
{
	const struct etw_registry *registry = shared->registry;

	TRY(add(list, &kernel_guid, DecodingSourceWbem, "Windows Kernel Trace", false));
	for (size_t i = 0; i < etw_registry_count(registry); i++) {
		const struct etw_registry_row row = etw_registry_entry(registry, i).row;

		if (row.role == WIRE_REGISTRY_PROVIDER)
			TRY(add(list, &row.guid, row.source, row.name, false));
	}
	for (const struct etw_tdh_loaded *at = shared->loaded; at; at = at->next) {
		for (size_t i = 0; i < at->definition->provider_count; i++) {
			const struct etw_provider_schema *one = &at->definition->providers[i];

			TRY(add(list, &one->guid, one->source, one->name, false));
		}
	}
	TRY(collect_tracepoints(list, shared));
	return shared->lists_known && shared->known ? collect_known(list, shared->known) : 0;
}

static int compare(const void *left, const void *right)
{
	const struct listed *a = left, *b = right;
	int r = memcmp(&a->guid, &b->guid, sizeof(a->guid));

	return r ? r : (a->source > b->source) - (a->source < b->source);
}

/* What is installed or loaded comes first. */
static int compare_all(const void *left, const void *right)
{
	const struct listed *a = left, *b = right;
	int r = compare(left, right);

	return r ? r : a->is_known - b->is_known;
}

/* Each provider once, in the order of the GUIDs' bytes. */
static void sort(struct list *list)
{
	size_t kept = 0;

	if (list->count)
		qsort(list->at, list->count, sizeof(*list->at), compare_all);
	for (size_t i = 0; i < list->count; i++) {
		if (!kept || compare(&list->at[kept - 1], &list->at[i]))
			list->at[kept++] = list->at[i];
	}
	list->count = kept;
}

static void write(const struct list *list, struct etw_text *answer)
{
	const size_t head = offsetof(PROVIDER_ENUMERATION_INFO, TraceProviderInfoArray);
	const size_t bytes = head + list->count * sizeof(TRACE_PROVIDER_INFO);
	char *to = etw_text_begin(answer, bytes);

	if (!to)
		return;
	memset(to, 0, bytes);
	etw_text_end(answer, to + bytes);
	for (size_t i = 0; i < list->count; i++) {
		TRACE_PROVIDER_INFO info = {
			.ProviderGuid = list->at[i].guid,
			.SchemaSource = (ULONG)list->at[i].source,
			.ProviderNameOffset = etw_tdh_answer_string(answer, 0, list->at[i].name,
								    ""),
		};

		if (etw_text_error(answer))
			return;
		memcpy(answer->at + head + i * sizeof(info), &info, sizeof(info));
	}
	((PROVIDER_ENUMERATION_INFO *)(void *)answer->at)->NumberOfProviders = (ULONG)list->count;
}

static void free_list(struct list *list)
{
	free(list->at);
	etw_arena_done(&list->arena);
}

/* What is on the disk now, not what it was when the process first asked. */
static int write_list(DECODING_SOURCE wanted, struct etw_text *answer)
{
	CLEANUP(free_list) struct list list = {.wanted = wanted};
	struct etw_tdh_shared *shared;
	int r;

	TRY(etw_tdh_lock(&shared));
	(void)etw_schema_store_look_again(shared->store);
	r = collect(&list, shared);
	if (!r) {
		sort(&list);
		write(&list, answer);
	}
	etw_tdh_unlock();
	return r;
}

static ULONG give_list(DECODING_SOURCE wanted, void *buffer, ULONG room, ULONG *size)
{
	CLEANUP(etw_text_done) struct etw_text answer = {0};

	TRY_WIN32(write_list(wanted, &answer));
	return etw_tdh_answer_give(&answer, buffer, room, size);
}

TDHSTATUS TdhEnumerateProviders(PPROVIDER_ENUMERATION_INFO pBuffer, PULONG pBufferSize)
{
	if (!pBufferSize || (*pBufferSize && !pBuffer))
		return ERROR_INVALID_PARAMETER;
	return give_list(SOURCE_ANY, pBuffer, *pBufferSize, pBufferSize);
}

TDHSTATUS TdhEnumerateProvidersForDecodingSource(DECODING_SOURCE filter,
						 PROVIDER_ENUMERATION_INFO *buffer,
						 ULONG bufferSize, PULONG bufferRequired)
{
	if (!bufferRequired || (bufferSize && !buffer) || (unsigned)filter >= DecodingSourceMax)
		return ERROR_INVALID_PARAMETER;
	return give_list(filter, buffer, bufferSize, bufferRequired);
}
