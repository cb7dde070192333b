/* SPDX-License-Identifier: MIT */
#include "compile/mof.h"

#include <tdh.h>

#include "base/guid.h"
#include "base/macros.h"
#include "compile/read_internal.h"

static const char *odd_type(const struct mc_field *field)
{
	switch (field->in_type) {
	case TDH_INTYPE_BINARY:
	case TDH_INTYPE_MANIFEST_COUNTEDBINARY:
		return "is binary";
	case TDH_INTYPE_SYSTEMTIME:
		return "is a SYSTEMTIME";
	default:
		return NULL;
	}
}

/* What of a field no property of a class can be; NULL: nothing. */
static const char *odd_field(const struct mc_field *field)
{
	if (field->is_struct)
		return "is a struct";
	if (field->count.field)
		return "has a count that varies";
	if (field->length.is_given &&
	    (field->in_type == TDH_INTYPE_UNICODESTRING || field->in_type == TDH_INTYPE_ANSISTRING))
		return "is a string with a length";
	return odd_type(field);
}

static int complain(struct mc_reader *reader, const struct mc_event *event, const char *what)
{
	return etw_compile_complain(reader, event->element, "with -mof the event %s must have %s",
				    event->symbol, what);
}

static int check_event(struct mc_reader *reader, const struct mc_event *event)
{
	const struct mc_field *field = event->template_of ? event->template_of->fields : NULL;

	if (!event->task)
		TRY(complain(reader, event, "a task"));
	else if (etw_guid_is_null(&event->task->event_guid))
		TRY(complain(reader, event, "a task with an eventGUID"));
	if (!event->opcode)
		TRY(complain(reader, event, "an opcode"));
	for (; field; field = field->next) {
		const char *odd = odd_field(field);

		if (odd)
			TRY(etw_compile_complain(
				reader, field->element,
				"with -mof the field %s of the event %s is not possible: it %s",
				field->name, event->symbol, odd));
	}
	return 0;
}

int etw_compile_check_mof(struct mc_manifest *manifest)
{
	struct mc_reader reader = {.manifest = manifest};

	for (const struct mc_provider *provider = manifest->providers; provider;
	     provider = provider->next) {
		for (const struct mc_event *event = provider->events; event; event = event->next)
			TRY(check_event(&reader, event));
	}
	return etw_compile_sort_complaints(manifest);
}
