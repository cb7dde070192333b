/* SPDX-License-Identifier: MIT */
/* What an event is called, the same in every format and tool. */
#include <stdbool.h>

#include "export/export_internal.h"
#include "schema/event_name.h"

static void append_name(const char *name, struct etw_text *text)
{
	etw_text_append(text, name, etw_export_trimmed(name));
}

/* A class without schema has only numbers to tell it by; an id or an opcode. */
static void append_number(const EVENT_HEADER *header, struct etw_text *text)
{
	if (header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) {
		etw_text_puts(text, "/op ");
		etw_text_unsigned(text, header->EventDescriptor.Opcode);
	} else {
		etw_text_puts(text, "/#");
		etw_text_unsigned(text, header->EventDescriptor.Id);
	}
}

const char *etw_export_provider_name(const struct etw_export_event *event)
{
	const struct etw_schema *schema = event->decoding ? event->decoding->schema : NULL;

	if (schema && schema->provider_name &&
	    (schema->source == DecodingSourceXMLFile || !event->provider_name))
		return schema->provider_name;
	return event->provider_name;
}

void etw_export_event_name(const struct etw_export_event *event, struct etw_text *text)
{
	const struct etw_schema *schema = event->decoding ? event->decoding->schema : NULL;
	const EVENT_HEADER *header = &event->record->EventHeader;
	const char *task = etw_schema_event_task(schema);
	const char *opcode = etw_schema_event_opcode(schema, header->EventDescriptor.Opcode);
	bool is_class = schema && schema->source == DecodingSourceWbem && task;

	/* The display name of a class says it all; who writes it says less. */
	if (!is_class) {
		const char *provider = etw_export_provider_name(event);

		if (provider) {
			append_name(provider, text);
		} else {
			etw_text_putc(text, '{');
			etw_export_guid(&header->ProviderId, text);
			etw_text_putc(text, '}');
		}
	}
	if (task) {
		if (!is_class)
			etw_text_putc(text, '/');
		append_name(task, text);
	}
	if (opcode) {
		etw_text_putc(text, '/');
		append_name(opcode, text);
	}
	if (!task && !opcode)
		append_number(header, text);
}
