/* SPDX-License-Identifier: MIT */
/* etw/event.h: what the header says, names, and the error sentence. */
#include <etw/event.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/friendly/error.h"
#include "api/friendly/event.h"
#include "api/friendly/friendly.h"
#include "api/friendly/schema.h"
#include "api/friendly/schemas.h"
#include "api/friendly/times.h"
#include "base/guid.h"
#include "base/macros.h"
#include "decode/format_message.h"
#include "decode/format_wpp.h"

const EVENT_RECORD *libetw_event_record(const struct libetw_event *event)
{
	return event->record;
}

int64_t libetw_event_time_ns(const struct libetw_event *event)
{
	int64_t filetime = event->record->EventHeader.TimeStamp.QuadPart, ns;

	if (etw_time_ns_of_filetime(filetime, &ns))
		return filetime < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

const GUID *libetw_event_provider(const struct libetw_event *event)
{
	return &event->record->EventHeader.ProviderId;
}

uint16_t libetw_event_id(const struct libetw_event *event)
{
	return event->record->EventHeader.EventDescriptor.Id;
}

uint8_t libetw_event_version(const struct libetw_event *event)
{
	return event->record->EventHeader.EventDescriptor.Version;
}

uint8_t libetw_event_opcode(const struct libetw_event *event)
{
	return event->record->EventHeader.EventDescriptor.Opcode;
}

uint8_t libetw_event_level(const struct libetw_event *event)
{
	return event->record->EventHeader.EventDescriptor.Level;
}

uint64_t libetw_event_keyword(const struct libetw_event *event)
{
	return event->record->EventHeader.EventDescriptor.Keyword;
}

uint32_t libetw_event_pid(const struct libetw_event *event)
{
	return event->record->EventHeader.ProcessId;
}

uint32_t libetw_event_tid(const struct libetw_event *event)
{
	return event->record->EventHeader.ThreadId;
}

uint32_t libetw_event_cpu(const struct libetw_event *event)
{
	return GetEventProcessorIndex(event->record);
}

int etw_event_decode(struct libetw_event *event)
{
	int result;

	if (etw_event_has_decoding(event))
		return 0;
	event->is_decoded = false;
	result = etw_schemas_decode(event->schemas, event->trace, event->record, &event->decoding);
	if (!result && !event->decoding.schema && event->more &&
	    (event->decoding.miss == ETW_SCHEMA_NO_PROVIDER ||
	     event->decoding.miss == ETW_SCHEMA_NO_EVENT ||
	     event->decoding.miss == ETW_SCHEMA_NO_CLASS) &&
	    event->more->learn(event->more->context))
		result = etw_schemas_decode(event->schemas, event->trace, event->record,
					    &event->decoding);
	if (result || event->decoding.miss == ETW_SCHEMA_NO_MEMORY)
		return etw_friendly_fail(-ENOMEM, "no memory to decode an event");
	event->run = event->schemas->runs;
	event->is_decoded = true;
	return 0;
}

bool etw_event_is_unknown(const struct libetw_event *event)
{
	return !event->decoding.schema && event->decoding.miss != ETW_SCHEMA_STRING_ONLY;
}

const struct libetw_schema *libetw_event_schema(struct libetw_event *event)
{
	if (etw_event_decode(event))
		return NULL;
	return (const struct libetw_schema *)event->decoding.schema;
}

int libetw_event_decode_status(struct libetw_event *event)
{
	TRY(etw_event_decode(event));
	switch (event->decoding.status) {
	case ETW_DECODE_COMPLETE:
		return 0;
	case ETW_DECODE_EXTRA:
		return 1;
	case ETW_DECODE_TRUNCATED:
		return -ENODATA;
	case ETW_DECODE_MALFORMED:
		return -EBADMSG;
	default:
		return -ESRCH;
	}
}

void etw_event_title(struct libetw_event *event, struct etw_text *text)
{
	const EVENT_HEADER *header = &event->record->EventHeader;
	const struct etw_schema *schema = NULL;
	const char *provider = NULL;
	char guid[ETW_GUID_BRACED_BYTES];

	if (!etw_event_decode(event))
		schema = event->decoding.schema;
	if (schema)
		provider = schema->provider_name;
	/* The names may be learnt by the thread that reads while others have kept this event. */
	if (!provider && !event->is_kept)
		provider = etw_schema_store_provider_name(event->schemas->store,
							  &header->ProviderId);
	if (!provider) {
		etw_guid_format_braced(&header->ProviderId, guid);
		provider = guid;
	}
	etw_text_puts(text, provider);
	etw_text_putc(text, '/');
	if (schema)
		etw_schema_title(schema, text);
	else if (header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER)
		etw_text_printf(text, "opcode %u", header->EventDescriptor.Opcode);
	else
		etw_text_printf(text, "%u", header->EventDescriptor.Id);
	etw_text_printf(text, " v%u", header->EventDescriptor.Version);
}

/* What was made in the event's text, in its scratch. */
static const char *take_text(struct libetw_event *event)
{
	if (etw_text_error(&event->text))
		return NULL;
	return etw_event_scratch(event, etw_text_string(&event->text), event->text.bytes);
}

const char *libetw_event_title(struct libetw_event *event)
{
	const char *title;

	etw_event_lock(event);
	etw_text_clear(&event->text);
	etw_event_title(event, &event->text);
	title = take_text(event);
	etw_event_unlock(event);
	return title;
}

/* A WPP message has its text in its symbols, without a prefix and in UTC here. */
static bool put_message(const struct etw_decoding *decoding, struct etw_text *text)
{
	if (decoding->schema->wpp)
		return etw_format_wpp(decoding, NULL, text);
	return etw_format_message(decoding, text);
}

int libetw_event_message(struct libetw_event *event, const char **ret)
{
	const char *message = NULL;
	bool has_message;

	TRY(etw_event_decode(event));
	if (!event->decoding.schema)
		return etw_friendly_fail(-ESRCH, "the event has no schema: %s",
					 event->decoding.reason);
	etw_event_lock(event);
	etw_text_clear(&event->text);
	has_message = put_message(&event->decoding, &event->text);
	if (has_message)
		message = take_text(event);
	etw_event_unlock(event);
	if (!has_message)
		return etw_friendly_fail(-ENOENT, "events of this kind have no message");
	if (!message)
		return etw_friendly_fail(-ENOMEM, "no memory for an event's message");
	*ret = message;
	return 0;
}
