/* SPDX-License-Identifier: MIT */
/* Process and thread of an event, the same in every format. */
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "export/export_internal.h"
#include "schema/types.h"

struct etw_export_subject etw_export_subject_of(const struct etw_export_event *event)
{
	const EVENT_HEADER *header = &event->record->EventHeader;

	if (LIKELY(event->subject))
		return *event->subject;
	return (struct etw_export_subject){.pid = header->ProcessId, .tid = header->ThreadId};
}

/* Short ones as words of their own: ReJITID is no TID. */
static bool ends_with(const char *name, const char *end)
{
	const size_t bytes = strlen(name), end_bytes = strlen(end);
	const size_t at = bytes - end_bytes;

	if (bytes < end_bytes || strcmp(name + at, end) != 0)
		return false;
	return end_bytes > 3 || !at || name[at - 1] < 'A' || name[at - 1] > 'Z';
}

/* Names of ids in the kernel's classes and in manifests. */
static bool has_name_of_id(const char *name)
{
	static const char *const ends[] = {"ProcessId", "ProcessID", "ThreadId", "ThreadID",
					   "PID",       "Pid",       "TID",      "Tid"};
	static const char *const names[] = {"ParentId", "StackProcess", "StackThread"};

	/* The address of .NET's object for a thread. */
	if (!strcmp(name, "ManagedThreadID"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		if (ends_with(name, ends[i]))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

bool etw_export_is_id(const struct etw_field *field)
{
	if (field->map || field->map_name || field->flags & PropertyStruct ||
	    etw_field_is_array(field))
		return false;
	switch (field->in_type) {
	case TDH_INTYPE_UINT32:
	case TDH_INTYPE_INT32:
	case TDH_INTYPE_UINT64:
		if (field->out_type != TDH_OUTTYPE_HEXINT32 &&
		    field->out_type != TDH_OUTTYPE_HEXINT64)
			return false;
		break;
	case TDH_INTYPE_HEXINT32:
	case TDH_INTYPE_HEXINT64:
	case TDH_INTYPE_POINTER:
		if (field->out_type != TDH_OUTTYPE_NULL &&
		    field->out_type != TDH_OUTTYPE_HEXINT32 &&
		    field->out_type != TDH_OUTTYPE_HEXINT64)
			return false;
		break;
	default:
		return false;
	}
	return has_name_of_id(field->name);
}

bool etw_export_put_id(const struct etw_decoding *decoding, const struct etw_item *item,
		       struct etw_text *text)
{
	uint64_t value;

	if (item->kind != ETW_ITEM_VALUE || (item->bytes != 4 && item->bytes != 8) ||
	    !etw_decoding_u64(decoding, item, &value))
		return false;
	etw_text_unsigned(text, item->bytes == 4 ? (uint32_t)value : value);
	return true;
}
