/* SPDX-License-Identifier: MIT */
/* tdh.h: what a manifest says of its events and filters, without an event at hand. */
#include <tdh.h>
#include <winerror.h>

#include <string.h>

#include "api/tdh/answer.h"
#include "api/tdh/blob.h"
#include "api/tdh/context.h"
#include "api/tdh/give.h"
#include "api/tdh/lock.h"
#include "api/tdh/shared.h"
#include "api/win32_error.h"
#include "schema/metadata/event_info_write.h"

/* Holding the lock. MOF classes are no manifests. */
static ULONG find_manifest(struct etw_tdh_shared *shared, const GUID *guid,
			   const struct etw_provider_schema **ret)
{
	ULONG error = etw_tdh_provider(shared, guid, ret);

	if (!error && (*ret)->source != DecodingSourceXMLFile)
		return ERROR_NOT_FOUND;
	return error;
}

/* Holding the lock. The same, of a provider that has events. */
static ULONG find_events(struct etw_tdh_shared *shared, const GUID *guid,
			 const struct etw_provider_schema **ret)
{
	ULONG error = find_manifest(shared, guid, ret);

	return error || (*ret)->schema_count ? error : ERROR_EMPTY;
}

static ULONG make_events(struct etw_tdh_shared *shared, const GUID *guid, struct etw_text *answer)
{
	const struct etw_provider_schema *provider;
	PROVIDER_EVENT_INFO head = {0};
	ULONG error = find_events(shared, guid, &provider);

	if (error)
		return error;
	head.NumberOfEvents = (ULONG)provider->schema_count;
	etw_text_append(answer, (const char *)&head,
			offsetof(PROVIDER_EVENT_INFO, EventDescriptorsArray));
	for (size_t i = 0; i < provider->schema_count; i++)
		etw_text_append(answer, (const char *)&provider->schemas[i].descriptor,
				sizeof(EVENT_DESCRIPTOR));
	return ERROR_SUCCESS;
}

TDHSTATUS TdhEnumerateManifestProviderEvents(LPGUID ProviderGuid, PPROVIDER_EVENT_INFO Buffer,
					     PULONG BufferSize)
{
	CLEANUP(etw_text_done) struct etw_text answer = {0};
	struct etw_tdh_shared *shared;
	ULONG error;

	if (!ProviderGuid || !BufferSize || (*BufferSize && !Buffer))
		return ERROR_INVALID_PARAMETER;
	TRY_WIN32(etw_tdh_lock(&shared));
	error = make_events(shared, ProviderGuid, &answer);
	etw_tdh_unlock();
	return error ? error : etw_tdh_answer_give(&answer, Buffer, *BufferSize, BufferSize);
}

/* Holding the lock. */
static ULONG give_event(struct etw_tdh_shared *shared, const GUID *guid,
			const EVENT_DESCRIPTOR *wanted, TRACE_EVENT_INFO *buffer, ULONG *size)
{
	const struct etw_provider_schema *provider;
	const struct etw_schema *schema;
	const struct etw_tdh_blob *blob;
	ULONG error = find_events(shared, guid, &provider);

	if (error)
		return error;
	schema = etw_provider_schema_event(provider, wanted->Id, wanted->Version);
	if (!schema)
		return ERROR_NOT_FOUND;
	TRY_WIN32(etw_tdh_schema_blob(shared, schema, &blob));
	return etw_tdh_give(blob->at, blob->bytes, buffer, *size, size);
}

TDHSTATUS TdhGetManifestEventInformation(LPGUID ProviderGuid, PEVENT_DESCRIPTOR EventDescriptor,
					 PTRACE_EVENT_INFO Buffer, PULONG BufferSize)
{
	struct etw_tdh_shared *shared;
	ULONG error;

	if (!ProviderGuid || !EventDescriptor || !BufferSize || (*BufferSize && !Buffer))
		return ERROR_INVALID_PARAMETER;
	TRY_WIN32(etw_tdh_lock(&shared));
	error = give_event(shared, ProviderGuid, EventDescriptor, Buffer, BufferSize);
	etw_tdh_unlock();
	return error;
}

/* Aligned for what follows. */
static size_t align(struct etw_text *answer)
{
	static const char zeros[8];

	etw_text_append(answer, zeros, (8 - answer->bytes % 8) % 8);
	return answer->bytes;
}

/* The pointers hold offsets until the place of the buffer is known. */
static int write_filters(const struct etw_provider_schema *provider, struct etw_text *answer)
{
	for (size_t i = 0; i < provider->filter_count; i++)
		etw_text_append(answer, (const char *)&(uintptr_t){0}, sizeof(uintptr_t));
	for (size_t i = 0; i < provider->filter_count; i++) {
		CLEANUP(freep) uint8_t *blob = NULL;
		uintptr_t offset = align(answer);
		size_t bytes;

		TRY(etw_filter_info_write(&provider->filters[i], &blob, &bytes));
		etw_text_append(answer, (const char *)blob, bytes);
		TRY(etw_text_error(answer));
		memcpy(answer->at + i * sizeof(offset), &offset, sizeof(offset));
	}
	return 0;
}

static ULONG make_filters(struct etw_tdh_shared *shared, const GUID *guid, ULONG *ret_count,
			  struct etw_text *answer)
{
	const struct etw_provider_schema *provider;
	ULONG error = find_manifest(shared, guid, &provider);

	if (error)
		return error;
	if (!provider->filter_count)
		return ERROR_NOT_FOUND;
	*ret_count = (ULONG)provider->filter_count;
	TRY_WIN32(write_filters(provider, answer));
	return ERROR_SUCCESS;
}

TDHSTATUS TdhEnumerateProviderFilters(LPGUID Guid, ULONG TdhContextCount, PTDH_CONTEXT TdhContext,
				      PULONG FilterCount, PPROVIDER_FILTER_INFO *Buffer,
				      PULONG BufferSize)
{
	CLEANUP(etw_text_done) struct etw_text answer = {0};
	struct etw_tdh_context context;
	struct etw_tdh_shared *shared;
	ULONG count = 0, error;

	if (!Guid || !FilterCount || !BufferSize || (*BufferSize && !Buffer))
		return ERROR_INVALID_PARAMETER;
	error = etw_tdh_context_read(TdhContextCount, TdhContext, &context);
	if (error)
		return error;
	TRY_WIN32(etw_tdh_lock(&shared));
	error = make_filters(shared, Guid, &count, &answer);
	etw_tdh_unlock();
	if (error)
		return error;
	*FilterCount = count;
	error = etw_tdh_answer_give(&answer, Buffer, *BufferSize, BufferSize);
	for (ULONG i = 0; !error && i < count; i++) {
		uintptr_t offset;

		memcpy(&offset, &Buffer[i], sizeof(offset));
		Buffer[i] = (PPROVIDER_FILTER_INFO)(void *)((uint8_t *)Buffer + offset);
	}
	return error;
}
