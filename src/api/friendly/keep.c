/* SPDX-License-Identifier: MIT */
/* etw/event.h: events that live beyond their callback, and the scratch of all events. */
#include <etw/event.h>

#include <errno.h>
#include <etw/schemas.h>
#include <stdlib.h>
#include <string.h>

#include "api/friendly/error.h"
#include "api/friendly/event.h"
#include "api/friendly/friendly.h"
#include "api/friendly/schemas.h"
#include "api/record.h"
#include "base/atomic.h"
#include "base/macros.h"
#include "consumer/trace.h"

/* One allocation: the event, its record, the places of its fields, extended items, and data of copies. */
struct kept {
	struct libetw_event event;
	EVENT_RECORD record;
};

void etw_event_lock(struct libetw_event *event)
{
	if (event->is_kept)
		(void)pthread_mutex_lock(&event->schemas->lock);
}

void etw_event_unlock(struct libetw_event *event)
{
	if (event->is_kept)
		(void)pthread_mutex_unlock(&event->schemas->lock);
}

const char *etw_event_scratch(struct libetw_event *event, const char *at, size_t bytes)
{
	event->has_scratch = true;
	return etw_arena_strndup(&event->scratch, at, bytes);
}

/* What a copy needs behind the kept event, and where each part lies. */
struct layout {
	size_t items, extended, data, bytes;
};

/* The sequence number of a message is no part of its buffer: see etw_trace_pin(). */
static bool has_own_items(const EVENT_RECORD *record, bool is_pinned)
{
	return !is_pinned || record->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE;
}

static struct layout lay_out(const EVENT_RECORD *record, const struct etw_decoding *decoding,
			     bool is_pinned)
{
	struct layout layout = {.items = ALIGN_UP(sizeof(struct kept), 16)};

	layout.extended = layout.items;
	if (decoding)
		layout.extended += ALIGN_UP(decoding->item_count * sizeof(*decoding->items), 16);
	layout.data = layout.extended + record->ExtendedDataCount * sizeof(*record->ExtendedData);
	layout.bytes = layout.data;
	if (!is_pinned)
		layout.bytes += ALIGN_UP((size_t)record->UserDataLength, 8);
	if (!has_own_items(record, is_pinned))
		return layout;
	for (unsigned i = 0; i < record->ExtendedDataCount; i++)
		layout.bytes += ALIGN_UP((size_t)record->ExtendedData[i].DataSize, 8);
	return layout;
}

/* Copies data behind the others; returns where the next goes. */
static uint8_t *put_data(uint8_t *to, const void *from, size_t bytes)
{
	if (bytes)
		memcpy(to, from, bytes);
	return to + ALIGN_UP(bytes, 8);
}

static void copy_record(struct kept *kept, const EVENT_RECORD *record, const struct layout *layout,
			bool is_pinned)
{
	uint8_t *base = (uint8_t *)kept, *data = base + layout->data;
	EVENT_HEADER_EXTENDED_DATA_ITEM *items = (void *)(base + layout->extended);

	kept->record = *record;
	if (record->ExtendedDataCount) {
		memcpy(items, record->ExtendedData, record->ExtendedDataCount * sizeof(*items));
		kept->record.ExtendedData = items;
	}
	if (!is_pinned) {
		kept->record.UserData = record->UserDataLength ? data : NULL;
		data = put_data(data, record->UserData, record->UserDataLength);
	}
	if (!has_own_items(record, is_pinned))
		return;
	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		const void *from = (const void *)(uintptr_t)items[i].DataPtr;

		items[i].DataPtr = (ULONGLONG)(uintptr_t)data;
		data = put_data(data, from, items[i].DataSize);
	}
}

/* Where the fields are, as the decoder of this moment's thread found it. */
static void copy_decoding(struct kept *kept, const struct etw_decoding *decoding,
			  const struct layout *layout)
{
	struct libetw_event *event = &kept->event;
	struct etw_item *items = (void *)((uint8_t *)kept + layout->items);

	event->decoding = *decoding;
	event->decoding.record = &kept->record;
	event->decoding.items = items;
	if (decoding->item_count)
		memcpy(items, decoding->items, decoding->item_count * sizeof(*items));
	event->is_decoded = true;
}

int etw_event_copy(struct libetw_schemas *schemas, const EVENT_RECORD *record, struct etw_pin *pin,
		   const struct etw_decoding *decoding, struct libetw_event **ret)
{
	bool is_pinned = pin != NULL;
	struct etw_decoding own;
	struct layout layout;
	struct kept *kept;

	if (!decoding) {
		int result = etw_schemas_decode(schemas, NULL, record, &own);

		if (result) {
			etw_pin_unref(pin);
			return etw_friendly_fail(result, "no memory to decode an event");
		}
		decoding = &own;
	}
	layout = lay_out(record, decoding, is_pinned);
	kept = calloc(1, layout.bytes);
	if (!kept) {
		etw_pin_unref(pin);
		return etw_friendly_fail(-ENOMEM, "no memory to keep an event");
	}
	copy_record(kept, record, &layout, is_pinned);
	copy_decoding(kept, decoding, &layout);
	kept->event.record = &kept->record;
	kept->event.schemas = etw_schemas_ref(schemas);
	kept->event.is_kept = true;
	kept->event.refs = 1;
	kept->event.pin = pin;
	*ret = &kept->event;
	return 0;
}

static struct libetw_event *ref_kept(struct libetw_event *event)
{
	(void)add_relaxed(&event->refs, 1);
	return event;
}

int libetw_event_retain(struct libetw_event *event, struct libetw_event **ret)
{
	struct etw_pin *pin = NULL;
	int result;

	if (event->is_kept) {
		*ret = ref_kept(event);
		return 0;
	}
	TRY(etw_event_decode(event));
	result = event->trace ? etw_trace_pin(event->trace, event->account, &pin) : -ENODATA;
	if (result == -ENOBUFS)
		return etw_friendly_fail(-ENOBUFS,
					 "retained events already pin %llu bytes of buffers, which "
					 "is the reader's limit",
					 (unsigned long long)etw_pin_account_bytes(event->account));
	/* A record that no buffer holds has no payload worth speaking of. */
	if (result && result != -ENODATA)
		return etw_friendly_fail(result, "no memory to keep an event");
	return etw_event_copy(event->schemas, event->record, pin, &event->decoding, ret);
}

int libetw_event_copy(struct libetw_event *event, struct libetw_event **ret)
{
	TRY(etw_event_decode(event));
	return etw_event_copy(event->schemas, event->record, NULL, &event->decoding, ret);
}

int libetw_event_of_record(struct libetw_schemas *schemas, const EVENT_RECORD *record,
			   struct libetw_event **ret)
{
	if (!etw_api_has_record(record))
		return etw_friendly_fail(-EINVAL, "the record lacks data that it says it has");
	if (etw_schema_store_is_metadata(record))
		TRY(etw_schemas_learn(schemas, record));
	return etw_event_copy(schemas, record, NULL, NULL, ret);
}

void libetw_event_release(struct libetw_event *event)
{
	struct libetw_schemas *schemas;

	if (!event || !event->is_kept || add_acq_rel(&event->refs, (uint64_t)-1) != 1)
		return;
	schemas = event->schemas;
	etw_arena_done(&event->scratch);
	etw_text_done(&event->text);
	etw_pin_unref(event->pin);
	free(event);
	libetw_schemas_free(schemas);
}
