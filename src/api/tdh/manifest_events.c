/* SPDX-License-Identifier: MIT */
/* tdh.h: what a manifest says of its events and filters, without an event at hand. */
#include <tdh.h>
#include <winerror.h>

#include <stdlib.h>
#include <string.h>

#include "api/tdh/answer.h"
#include "api/tdh/context.h"
#include "api/tdh/state.h"
#include "api/win32_error.h"
#include "schema/metadata/event_info_write.h"

/* Holding the lock. MOF classes are no manifests. */
static ULONG find_manifest(struct etw_tdh_state *state, const GUID *guid,
			   const struct etw_provider_schema **ret)
{
	ULONG error = etw_tdh_provider(state, guid, ret);

	if (!error && (*ret)->source != DecodingSourceXMLFile)
		return ERROR_NOT_FOUND;
	return error;
}

static ULONG make_events(struct etw_tdh_state *state, const GUID *guid, struct etw_text *answer)
{
	const struct etw_provider_schema *provider;
	PROVIDER_EVENT_INFO head = {0};
	ULONG error = find_manifest(state, guid, &provider);

	if (error)
		return error;
	if (!provider->schema_count)
		return ERROR_EMPTY;
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
	struct etw_tdh_state *state;
	ULONG error;

	if (!ProviderGuid || !BufferSize || (*BufferSize && !Buffer))
		return ERROR_INVALID_PARAMETER;
	TRY_WIN32(etw_tdh_lock(&state));
	error = make_events(state, ProviderGuid, &answer);
	etw_tdh_unlock();
	return error ? error : etw_tdh_answer_give(&answer, Buffer, *BufferSize, BufferSize);
}

static ULONG make_event(struct etw_tdh_state *state, const GUID *guid,
			const EVENT_DESCRIPTOR *wanted, uint8_t **ret, size_t *ret_bytes)
{
	const struct etw_provider_schema *provider;
	ULONG error = find_manifest(state, guid, &provider);

	if (error)
		return error;
	for (size_t i = 0; i < provider->schema_count; i++) {
		const struct etw_schema *schema = &provider->schemas[i];

		if (schema->descriptor.Id != wanted->Id ||
		    schema->descriptor.Version != wanted->Version)
			continue;
		TRY_WIN32(etw_event_info_write(schema, ret, ret_bytes));
		return ERROR_SUCCESS;
	}
	return ERROR_NOT_FOUND;
}

TDHSTATUS TdhGetManifestEventInformation(LPGUID ProviderGuid, PEVENT_DESCRIPTOR EventDescriptor,
					 PTRACE_EVENT_INFO Buffer, PULONG BufferSize)
{
	CLEANUP(freep) uint8_t *blob = NULL;
	struct etw_tdh_state *state;
	size_t bytes = 0;
	ULONG room, error;

	if (!ProviderGuid || !EventDescriptor || !BufferSize || (*BufferSize && !Buffer))
		return ERROR_INVALID_PARAMETER;
	TRY_WIN32(etw_tdh_lock(&state));
	error = make_event(state, ProviderGuid, EventDescriptor, &blob, &bytes);
	etw_tdh_unlock();
	if (error)
		return error;
	room = *BufferSize;
	*BufferSize = (ULONG)bytes;
	if (room < bytes)
		return ERROR_INSUFFICIENT_BUFFER;
	memcpy(Buffer, blob, bytes);
	return ERROR_SUCCESS;
}

static void write_property(const struct etw_field *field, size_t base, size_t at,
			   struct etw_text *answer)
{
	EVENT_PROPERTY_INFO info = {0};

	info.Flags = (PROPERTY_FLAGS)(field->flags & ~(ETW_FIELD_OPTIONAL | ETW_FIELD_TO_END));
	info.NameOffset = etw_tdh_answer_string(answer, base, field->name, "");
	info.nonStructType.InType = field->in_type;
	info.nonStructType.OutType = field->out_type;
	info.count = field->count;
	info.length = field->length;
	if (!etw_text_error(answer))
		memcpy(answer->at + at, &info, sizeof(info));
}

/* Aligned for what follows. */
static size_t align(struct etw_text *answer)
{
	static const char zeros[8];

	etw_text_append(answer, zeros, (8 - answer->bytes % 8) % 8);
	return answer->bytes;
}

/* Offsets of a filter count from its own beginning. */
static void write_filter(const struct etw_filter_schema *filter, struct etw_text *answer)
{
	const size_t head_bytes = offsetof(PROVIDER_FILTER_INFO, EventPropertyInfoArray);
	size_t base = align(answer);
	PROVIDER_FILTER_INFO head = {.Id = filter->value,
				     .Version = filter->version,
				     .PropertyCount = filter->field_count};

	etw_text_append(answer, (const char *)&head, head_bytes);
	for (uint16_t i = 0; i < filter->field_count; i++)
		etw_text_append(answer, (const char *)&(EVENT_PROPERTY_INFO){0},
				sizeof(EVENT_PROPERTY_INFO));
	for (uint16_t i = 0; i < filter->field_count; i++)
		write_property(&filter->fields[i], base,
			       base + head_bytes + i * sizeof(EVENT_PROPERTY_INFO), answer);
	head.MessageOffset = etw_tdh_answer_string(answer, base, filter->message, " ");
	if (!etw_text_error(answer))
		memcpy(answer->at + base, &head, head_bytes);
}

/* The pointers hold offsets until the place of the buffer is known. */
static void write_filters(const struct etw_provider_schema *provider, struct etw_text *answer)
{
	for (size_t i = 0; i < provider->filter_count; i++)
		etw_text_append(answer, (const char *)&(uintptr_t){0}, sizeof(uintptr_t));
	for (size_t i = 0; i < provider->filter_count; i++) {
		uintptr_t offset = align(answer);

		write_filter(&provider->filters[i], answer);
		if (!etw_text_error(answer))
			memcpy(answer->at + i * sizeof(offset), &offset, sizeof(offset));
	}
}

static ULONG make_filters(struct etw_tdh_state *state, const GUID *guid, ULONG *ret_count,
			  struct etw_text *answer)
{
	const struct etw_provider_schema *provider;
	ULONG error = find_manifest(state, guid, &provider);

	if (error)
		return error;
	if (!provider->filter_count)
		return ERROR_NOT_FOUND;
	*ret_count = (ULONG)provider->filter_count;
	write_filters(provider, answer);
	return ERROR_SUCCESS;
}

TDHSTATUS TdhEnumerateProviderFilters(LPGUID Guid, ULONG TdhContextCount, PTDH_CONTEXT TdhContext,
				      PULONG FilterCount, PPROVIDER_FILTER_INFO *Buffer,
				      PULONG BufferSize)
{
	CLEANUP(etw_text_done) struct etw_text answer = {0};
	struct etw_tdh_context context;
	struct etw_tdh_state *state;
	ULONG count = 0, error;

	if (!Guid || !FilterCount || !BufferSize || (*BufferSize && !Buffer))
		return ERROR_INVALID_PARAMETER;
	error = etw_tdh_context_read(TdhContextCount, TdhContext, &context);
	if (error)
		return error;
	TRY_WIN32(etw_tdh_lock(&state));
	error = make_filters(state, Guid, &count, &answer);
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
