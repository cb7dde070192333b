/* SPDX-License-Identifier: MIT */
/*
 * tdh.h: all events of a provider. Microsoft documents little of it, and no header declares it there; published
 * programs set a header's ProviderId and Version, take an array of pointers from the buffer, and stop at
 * ERROR_NOT_FOUND. So it is here: the events of that version, in the order of their definition.
 */
#include <tdh.h>
#include <winerror.h>

#include <errno.h>
#include <string.h>

#include "api/record.h"
#include "api/tdh/answer.h"
#include "api/tdh/blob.h"
#include "api/tdh/find.h"
#include "api/tdh/give.h"
#include "api/tdh/lock.h"
#include "api/tdh/shared.h"
#include "api/win32_error.h"
#include "base/macros.h"

#define BLOB_ALIGNMENT 8

/* What is collected, holding the lock. */
struct collection {
	struct etw_tdh_shared *shared;
	const EVENT_RECORD *record;
	const struct etw_schema *own; /* the event's schema; NULL: it has none */
	TRACE_EVENT_INFO **buffer;    /* NULL: only counted */
	ULONG index, count;
	size_t bytes; /* of pointers and blobs */
};

static bool is_wanted(const struct collection *collection, const struct etw_schema *schema)
{
	return schema->descriptor.Version ==
	       collection->record->EventHeader.EventDescriptor.Version;
}

/* Puts one blob behind those that are there, with its pointer at the front. */
static int add_schema(struct collection *collection, const struct etw_schema *schema)
{
	const struct etw_tdh_blob *blob;
	uint16_t count;

	TRY(etw_tdh_event_blob(collection->shared, collection->record, schema, &blob, &count));
	collection->bytes = ALIGN_UP(collection->bytes, BLOB_ALIGNMENT);
	if (collection->buffer) {
		uint8_t *to = (uint8_t *)collection->buffer + collection->bytes;

		memcpy(to, blob->at, blob->bytes);
		collection->buffer[collection->count] = (TRACE_EVENT_INFO *)(void *)to;
	}
	if (schema == collection->own)
		collection->index = collection->count;
	collection->count++;
	collection->bytes += blob->bytes;
	return 0;
}

/* A definition of the provider is taken as a whole; else there is the event's schema alone. */
static int add_schemas(struct collection *collection, const struct etw_provider_schema *provider)
{
	collection->count = 0;
	if (!provider)
		return collection->own ? add_schema(collection, collection->own) : 0;
	for (size_t i = 0; i < provider->schema_count; i++) {
		if (is_wanted(collection, &provider->schemas[i]))
			TRY(add_schema(collection, &provider->schemas[i]));
	}
	return 0;
}

/* Room for the pointers comes first, so they are counted first. */
static ULONG collect(struct collection *collection, ULONG *size)
{
	const struct etw_provider_schema *provider = NULL;
	TRACE_EVENT_INFO **buffer = TAKE(collection->buffer);
	ULONG error;

	/* What only the trace describes is no definition; then the event is all there is. */
	(void)(collection->own ? etw_tdh_provider_of_event : etw_tdh_provider)(
		collection->shared, &collection->record->EventHeader.ProviderId, &provider);
	TRY_WIN32(add_schemas(collection, provider));
	if (!collection->count)
		return ERROR_NOT_FOUND;
	collection->bytes = ALIGN_UP(collection->bytes, BLOB_ALIGNMENT) +
			    ALIGN_UP(collection->count * sizeof(void *), BLOB_ALIGNMENT);
	error = etw_tdh_claim(collection->bytes, *size, size);
	if (error)
		return error;
	collection->buffer = buffer;
	collection->bytes = ALIGN_UP(collection->count * sizeof(void *), BLOB_ALIGNMENT);
	TRY_WIN32(add_schemas(collection, provider));
	return ERROR_SUCCESS;
}

TDHSTATUS TdhGetAllEventsInformation(PEVENT_RECORD Event, PVOID WbemService, PULONG Index,
				     PULONG Count, PTRACE_EVENT_INFO *Buffer, PULONG BufferSize)
{
	struct collection collection = {.record = Event, .buffer = Buffer};
	ULONG error;
	int result;

	(void)WbemService; /* names a place of WMI, which is not here */
	if (!etw_api_has_record(Event) || !Index || !Count || !BufferSize ||
	    (*BufferSize && !Buffer))
		return ERROR_INVALID_PARAMETER;
	result = etw_tdh_lock_for_event(Event, &collection.shared, &collection.own);
	if (result == -ESRCH)
		result = etw_tdh_lock(&collection.shared);
	if (result < 0)
		return etw_win32_from_result(result);
	error = collect(&collection, BufferSize);
	etw_tdh_unlock();
	if (error && error != ERROR_INSUFFICIENT_BUFFER)
		return error;
	*Index = collection.index;
	*Count = collection.count;
	return error;
}
