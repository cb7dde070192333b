/* SPDX-License-Identifier: MIT */
/*
 * tdh.h: payload filters, which EnableTraceEx2() takes. Filters that TdhCreatePayloadFilter() hands out are whole blobs; an
 * aggregated one is their parts behind one head.
 */
#include <tdh.h>
#include <winerror.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/tdh/answer.h"
#include "api/tdh/find.h"
#include "api/tdh/lock.h"
#include "api/tdh/payload_program.h"
#include "api/tdh/shared.h"
#include "api/win32_error.h"
#include "base/guid.h"
#include "base/macros.h"
#include "wire/payload_filter.h"

/* Why there is no schema: of the provider nothing is known, or not this event. */
static ULONG explain_missing(const GUID *provider)
{
	const struct etw_provider_schema *known;
	struct etw_tdh_shared *shared;
	ULONG error;

	TRY_WIN32(etw_tdh_lock(&shared));
	error = etw_tdh_provider(shared, provider, &known);
	etw_tdh_unlock();
	if (error == ERROR_NOT_FOUND)
		return ERROR_FILE_NOT_FOUND;
	return error ? error : ERROR_NOT_FOUND;
}

static ULONG map_result(int result)
{
	return result == -EMSGSIZE ? ERROR_INSUFFICIENT_BUFFER : etw_win32_from_result(result);
}

/* A tracepoint of this machine, where it would be filtered. Returns -ESRCH: its provider is none of this machine's. */
static int write_tracepoint_filter(const struct etw_payload_wish *wish,
				   struct etw_payload_blob *ret)
{
	const struct etw_provider_schema *provider;
	struct etw_tdh_shared *shared;
	int result;

	TRY(etw_tdh_lock(&shared));
	result = etw_tracepoint_machine_find(shared->tracepoints, wish->provider, &provider);
	if (!result) {
		const struct etw_schema *schema = etw_provider_schema_event(provider, wish->id,
									    wish->version);

		result = schema ? etw_payload_program_write(schema, wish, ret) : -ENOENT;
	}
	etw_tdh_unlock();
	return result;
}

static ULONG write_filter(const struct etw_payload_wish *wish, const EVENT_DESCRIPTOR *descriptor,
			  struct etw_payload_blob *ret)
{
	EVENT_RECORD record = {.EventHeader.ProviderId = *wish->provider};
	const struct etw_schema *schema;
	struct etw_tdh_shared *shared;
	int result;

	result = write_tracepoint_filter(wish, ret);
	if (result == -ENOENT)
		return ERROR_NOT_FOUND;
	if (result != -ESRCH)
		return map_result(result);
	record.EventHeader.EventDescriptor = *descriptor;
	result = etw_tdh_lock_for_event(&record, &shared, &schema);
	if (result == -ESRCH)
		return explain_missing(wish->provider);
	if (result < 0)
		return etw_win32_from_result(result);
	result = etw_payload_program_write(schema, wish, ret);
	etw_tdh_unlock();
	return map_result(result);
}

/* Owned memory with a blob's bytes. */
static void *copy_blob(const struct etw_payload_blob *blob)
{
	void *copy = malloc(blob->bytes);

	if (copy)
		memcpy(copy, blob->at, blob->bytes);
	return copy;
}

TDHSTATUS TdhCreatePayloadFilter(LPCGUID ProviderGuid, PCEVENT_DESCRIPTOR EventDescriptor,
				 BOOLEAN EventMatchANY, ULONG PayloadPredicateCount,
				 PPAYLOAD_FILTER_PREDICATE PayloadPredicates, PVOID *PayloadFilter)
{
	struct etw_payload_blob blob;
	struct etw_payload_wish wish = {
		.provider = ProviderGuid,
		.is_any = EventMatchANY != 0,
		.predicates = PayloadPredicates,
		.count = PayloadPredicateCount,
	};
	ULONG error;

	if (!ProviderGuid || !EventDescriptor || !PayloadPredicates || !PayloadFilter ||
	    !PayloadPredicateCount || PayloadPredicateCount > MAX_PAYLOAD_PREDICATES)
		return ERROR_INVALID_PARAMETER;
	wish.id = EventDescriptor->Id;
	wish.version = EventDescriptor->Version;
	error = write_filter(&wish, EventDescriptor, &blob);
	if (error)
		return error;
	*PayloadFilter = copy_blob(&blob);
	return *PayloadFilter ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

TDHSTATUS TdhDeletePayloadFilter(PVOID *PayloadFilter)
{
	if (!PayloadFilter || !*PayloadFilter)
		return ERROR_INVALID_PARAMETER;
	free(*PayloadFilter);
	*PayloadFilter = NULL;
	return ERROR_SUCCESS;
}

/* The one event's part of a filter that TdhCreatePayloadFilter() made; NULL: it did not. */
static const struct wire_payload_event *part_of(const void *filter, const GUID *provider)
{
	const struct wire_payload_filter *head = filter;
	GUID own;

	if (!head || memcmp(head->magic, WIRE_PAYLOAD_FILTER_MAGIC, sizeof(head->magic)) != 0 ||
	    wire_payload_filter_check(head, le32_get(head->bytes), NULL) < 0 ||
	    le16_get(head->filter_count) != 1)
		return NULL;
	own = etw_guid_read(head->provider);
	return etw_guid_equal(&own, provider) ? (const struct wire_payload_event *)(head + 1)
					      : NULL;
}

static int add_part(struct etw_payload_blob *blob, const struct wire_payload_event *part,
		    bool needs_all)
{
	struct wire_payload_event *to = etw_payload_blob_add(blob, le32_get(part->bytes));

	if (!to)
		return -EMSGSIZE;
	memcpy(to, part, le32_get(part->bytes));
	if (needs_all)
		to->flags |= WIRE_PAYLOAD_ALL;
	return 0;
}

static int aggregate(ULONG count, void *const *filters, const BOOLEAN *flags,
		     struct etw_payload_blob *ret)
{
	struct wire_payload_filter *head;
	GUID provider;

	if (!filters[0])
		return -EINVAL;
	ret->bytes = 0;
	head = etw_payload_blob_add(ret, sizeof(*head));
	memcpy(head, filters[0], sizeof(*head));
	provider = etw_guid_read(head->provider);
	for (ULONG i = 0; i < count; i++) {
		const struct wire_payload_event *part = part_of(filters[i], &provider);

		if (!part)
			return -EINVAL;
		TRY(add_part(ret, part, flags && flags[i]));
	}
	head->filter_count = le16_of((uint16_t)count);
	head->bytes = le32_of((uint32_t)ret->bytes);
	return 0;
}

TDHSTATUS TdhAggregatePayloadFilters(ULONG PayloadFilterCount, PVOID *PayloadFilterPtrs,
				     PBOOLEAN EventMatchALLFlags,
				     PEVENT_FILTER_DESCRIPTOR EventFilterDescriptor)
{
	struct etw_payload_blob blob;
	void *copy;
	int result;

	if (!PayloadFilterCount || !PayloadFilterPtrs || !EventFilterDescriptor)
		return ERROR_INVALID_PARAMETER;
	result = aggregate(PayloadFilterCount, PayloadFilterPtrs, EventMatchALLFlags, &blob);
	if (result < 0)
		return map_result(result);
	copy = copy_blob(&blob);
	if (!copy)
		return ERROR_NOT_ENOUGH_MEMORY;
	*EventFilterDescriptor = (EVENT_FILTER_DESCRIPTOR){
		.Ptr = (ULONGLONG)(uintptr_t)copy,
		.Size = (ULONG)blob.bytes,
		.Type = EVENT_FILTER_TYPE_PAYLOAD,
	};
	return ERROR_SUCCESS;
}

TDHSTATUS TdhCleanupPayloadEventFilterDescriptor(PEVENT_FILTER_DESCRIPTOR EventFilterDescriptor)
{
	if (!EventFilterDescriptor || EventFilterDescriptor->Type != EVENT_FILTER_TYPE_PAYLOAD)
		return ERROR_INVALID_PARAMETER;
	free((void *)(uintptr_t)EventFilterDescriptor->Ptr);
	*EventFilterDescriptor = (EVENT_FILTER_DESCRIPTOR){0};
	return ERROR_SUCCESS;
}
