/* SPDX-License-Identifier: MIT */
/*
 * What events are called: by their provider, their schema, their process. An event may have several names of one
 * sort; a comparison is true when one of them fits. What a schema says is asked once for each kind of event.
 */
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "decode/format.h"
#include "decode/format_message.h"
#include "decode/format_wpp.h"
#include "filter/filter_internal.h"
#include "schema/event_name.h"

#define MESSAGE_BYTES_MAX 16384 /* of a WPP message, as it is shown */

/* Whether one of the values is this text. */
static bool take_text(struct etw_filter_asking *asking, const char *text, size_t bytes)
{
	struct etw_filter *filter = asking->filter;

	asking->is_there = true;
	for (size_t i = 0; i < filter->value_count; i++) {
		if (etw_filter_value_has_text(&filter->values[i], text, bytes, &filter->folded))
			return true;
	}
	return false;
}

/* The same of a name, which may be NULL. */
static bool take_name(struct etw_filter_asking *asking, const char *name)
{
	size_t bytes = name ? strlen(name) : 0;

	/* Some schemas end names with blanks. */
	while (bytes && name[bytes - 1] == ' ')
		bytes--;
	return bytes && take_text(asking, name, bytes);
}

static bool take_event_name(void *context, const char *name, size_t bytes)
{
	return take_text(context, name, bytes);
}

/* "First; Second" */
static bool take_keywords(struct etw_filter_asking *asking, const char *names)
{
	while (names && *names) {
		const char *end = strstr(names, "; ");
		size_t bytes = end ? (size_t)(end - names) : strlen(names);

		while (bytes && names[bytes - 1] == ' ')
			bytes--;
		if (bytes && take_text(asking, names, bytes))
			return true;
		names = end ? end + 2 : NULL;
	}
	return false;
}

static bool take_opcode(struct etw_filter_asking *asking, const struct etw_schema *schema)
{
	const EVENT_DESCRIPTOR *descriptor = &asking->subject->record->EventHeader.EventDescriptor;

	return take_name(asking, etw_schema_event_opcode(schema, descriptor->Opcode)) ||
	       take_name(asking, schema->opcode_name);
}

static bool ask_schema(struct etw_filter_asking *asking, const struct etw_schema *schema)
{
	switch (asking->filter->operand->id) {
	case ETW_FILTER_EVENT:
		return etw_schema_each_event_name(&asking->subject->record->EventHeader, schema,
						  take_event_name, asking);
	case ETW_FILTER_OPCODE:
		return take_opcode(asking, schema);
	case ETW_FILTER_TASK:
		return take_name(asking, etw_schema_event_task(schema));
	case ETW_FILTER_KEYWORD:
		return take_keywords(asking, schema->keywords);
	default:
		return take_name(asking, schema->channel_name);
	}
}

static const struct etw_schema *find_schema(struct etw_filter_subject *subject)
{
	const struct etw_decoding *decoding = subject->source->decode(subject->context);

	return decoding ? decoding->schema : NULL;
}

static bool ask_memo(struct etw_filter_asking *asking)
{
	const struct etw_schema *schema = find_schema(asking->subject);
	struct etw_filter_memo *memo;

	if (!schema)
		return false;
	memo = &asking->filter->memos[((uintptr_t)schema >> 5) % ETW_FILTER_MEMOS];
	if (memo->schema != schema || memo->serial != asking->subject->serial) {
		const bool was_there = asking->is_there;

		asking->is_there = false;
		memo->is_match = ask_schema(asking, schema);
		memo->is_there = asking->is_there;
		memo->schema = schema;
		memo->serial = asking->subject->serial;
		asking->is_there = was_there;
	}
	asking->is_there |= memo->is_there;
	return memo->is_match;
}

bool etw_filter_take_guid(struct etw_filter_asking *asking, const GUID *guid)
{
	const struct etw_filter *filter = asking->filter;

	asking->is_there = true;
	for (size_t i = 0; i < filter->value_count; i++) {
		if (etw_filter_value_has_guid(&filter->values[i], guid))
			return true;
	}
	return false;
}

/* What the schema says of the provider; of classic events the class has a name, too. */
static bool ask_provider_schema(struct etw_filter_asking *asking)
{
	const struct etw_schema *schema = find_schema(asking->subject);

	if (!schema)
		return false;
	return etw_filter_take_guid(asking, &schema->provider) ||
	       take_name(asking, schema->provider_name) ||
	       (schema->source == DecodingSourceWbem && take_name(asking, schema->task_name));
}

/*
 * The names of a class are the same for all events of a class, opcode and version, so that only the first of them
 * is decoded.
 */
static bool ask_class(struct etw_filter_asking *asking)
{
	const EVENT_HEADER *header = &asking->subject->record->EventHeader;
	const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;
	struct etw_filter *filter = asking->filter;
	struct etw_filter_class_memo *memo;

	if (!filter->classes)
		filter->classes = calloc(ETW_FILTER_MEMOS, sizeof(*filter->classes));
	if (!filter->classes)
		return ask_provider_schema(asking);
	memo = &filter->classes[(header->ProviderId.Data1 + descriptor->Opcode +
				 descriptor->Version) %
				ETW_FILTER_MEMOS];
	if (!memo->is_used || memo->opcode != descriptor->Opcode ||
	    memo->version != descriptor->Version || memo->serial != asking->subject->serial ||
	    !etw_guid_equal(&memo->class, &header->ProviderId)) {
		asking->is_there = false;
		memo->is_match = ask_provider_schema(asking);
		memo->is_there = asking->is_there;
		memo->class = header->ProviderId;
		memo->serial = asking->subject->serial;
		memo->opcode = descriptor->Opcode;
		memo->version = descriptor->Version;
		memo->is_used = true;
	}
	asking->is_there = true;
	return memo->is_match;
}

/*
 * The name that the provider's GUID has is the one that is shown. Only where there is none, and of classic events,
 * whose provider is a class of it, the schema is asked.
 */
static bool ask_provider(struct etw_filter_asking *asking)
{
	struct etw_filter_subject *subject = asking->subject;
	const EVENT_HEADER *header = &subject->record->EventHeader;
	const char *name = subject->source->provider_name(subject->context, &header->ProviderId);

	if (etw_filter_take_guid(asking, &header->ProviderId) || take_name(asking, name))
		return true;
	if (header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER)
		return ask_class(asking);
	return !name && ask_provider_schema(asking);
}

static bool ask_user(struct etw_filter_asking *asking)
{
	const EVENT_RECORD *record = asking->subject->record;
	struct etw_text *text = &asking->filter->text;

	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];
		const uint8_t *at = (const uint8_t *)(uintptr_t)item->DataPtr;

		if (item->ExtType != EVENT_HEADER_EXT_TYPE_SID || item->DataSize < 8 ||
		    item->DataSize != 8 + 4 * (size_t)at[1])
			continue;
		etw_text_clear(text);
		etw_format_value(TDH_INTYPE_SID, TDH_OUTTYPE_NULL, NULL, at, item->DataSize, text);
		return !etw_text_error(text) &&
		       take_text(asking, etw_text_string(text), text->bytes);
	}
	return false;
}

static bool ask_status(struct etw_filter_asking *asking)
{
	struct etw_filter_subject *subject = asking->subject;
	const struct etw_decoding *decoding = subject->source->decode(subject->context);

	return decoding && take_name(asking, etw_decode_status_name(decoding->status));
}

static bool make_message(struct etw_filter_subject *subject, const struct etw_decoding *decoding,
			 struct etw_text *text)
{
	static const struct etw_wpp_options options = {.bytes_max = MESSAGE_BYTES_MAX};
	bool is_made;

	if (subject->source->lock)
		subject->source->lock(subject->context);
	etw_text_clear(text);
	is_made = decoding->schema->wpp ? etw_format_wpp(decoding, &options, text)
					: etw_format_message(decoding, text);
	if (subject->source->unlock)
		subject->source->unlock(subject->context);
	return is_made && !etw_text_error(text);
}

static bool ask_message(struct etw_filter_asking *asking)
{
	struct etw_filter_subject *subject = asking->subject;
	const struct etw_decoding *decoding = subject->source->decode(subject->context);
	struct etw_text *text = &asking->filter->text;

	return decoding && decoding->schema && make_message(subject, decoding, text) &&
	       take_text(asking, etw_text_string(text), text->bytes);
}

bool etw_filter_ask_names(struct etw_filter_asking *asking)
{
	switch (asking->filter->operand->id) {
	case ETW_FILTER_PROVIDER:
		return ask_provider(asking);
	case ETW_FILTER_PROCESS:
		return take_name(asking, etw_filter_process_name(asking->subject));
	case ETW_FILTER_USER:
		return ask_user(asking);
	case ETW_FILTER_STATUS:
		return ask_status(asking);
	case ETW_FILTER_MESSAGE:
		return ask_message(asking);
	default:
		return ask_memo(asking);
	}
}
