/* SPDX-License-Identifier: MIT */
#include "api/tdh/wpp_property.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "api/tdh/scratch.h"
#include "api/tdh/wide_name.h"
#include "base/bytes.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/time.h"
#include "base/utf.h"
#include "decode/format_wpp.h"
#include "schema/metadata/event_info_write.h"
#include "schema/wpp/wpp.h"

#define U32_OF(name_)                                                                             \
	{                                                                                         \
		.name = name_, .in_type = TDH_INTYPE_UINT32, .out_type = TDH_OUTTYPE_UNSIGNEDINT, \
		.count = 1, .length = 4                                                           \
	}
#define TEXT_OF(name_)                                              \
	{                                                           \
		.name = name_, .in_type = TDH_INTYPE_UNICODESTRING, \
		.out_type = TDH_OUTTYPE_STRING, .count = 1          \
	}
#define ID_OF(name_)                                                                     \
	{                                                                                \
		.name = name_, .in_type = TDH_INTYPE_GUID, .out_type = TDH_OUTTYPE_GUID, \
		.count = 1, .length = 16                                                 \
	}
#define TIME_OF(name_, in_type_, length_)                                                         \
	{                                                                                         \
		.name = name_, .in_type = in_type_, .out_type = TDH_OUTTYPE_DATETIME, .count = 1, \
		.length = length_                                                                 \
	}

enum property {
	VERSION,
	TRACE_GUID,
	GUID_NAME,
	GUID_TYPE_NAME,
	THREAD_ID,
	SYSTEM_TIME,
	USER_TIME,
	KERNEL_TIME,
	SEQUENCE_NUM,
	PROCESS_ID,
	CPU_NUMBER,
	INDENT,
	FLAGS_NAME,
	LEVEL_NAME,
	FUNCTION_NAME,
	COMPONENT_NAME,
	SUB_COMPONENT_NAME,
	FORMATTED_STRING,
	RAW_SYSTEM_TIME,
	PROVIDER_GUID,
	PROPERTY_COUNT
};

static const struct etw_field fields[PROPERTY_COUNT] = {
	[VERSION] = U32_OF("Version"),
	[TRACE_GUID] = ID_OF("TraceGuid"),
	[GUID_NAME] = TEXT_OF("GuidName"),
	[GUID_TYPE_NAME] = TEXT_OF("GuidTypeName"),
	[THREAD_ID] = U32_OF("ThreadId"),
	[SYSTEM_TIME] = TIME_OF("SystemTime", TDH_INTYPE_SYSTEMTIME, 16),
	[USER_TIME] = U32_OF("UserTime"),
	[KERNEL_TIME] = U32_OF("KernelTime"),
	[SEQUENCE_NUM] = U32_OF("SequenceNum"),
	[PROCESS_ID] = U32_OF("ProcessId"),
	[CPU_NUMBER] = U32_OF("CpuNumber"),
	[INDENT] = U32_OF("Indent"),
	[FLAGS_NAME] = TEXT_OF("FlagsName"),
	[LEVEL_NAME] = TEXT_OF("LevelName"),
	[FUNCTION_NAME] = TEXT_OF("FunctionName"),
	[COMPONENT_NAME] = TEXT_OF("ComponentName"),
	[SUB_COMPONENT_NAME] = TEXT_OF("SubComponentName"),
	[FORMATTED_STRING] = TEXT_OF("FormattedString"),
	[RAW_SYSTEM_TIME] = TIME_OF("RawSystemTime", TDH_INTYPE_FILETIME, 8),
	[PROVIDER_GUID] = ID_OF("ProviderGuid"),
};

static void set_u32(struct etw_wpp_value *value, uint32_t number)
{
	value->bytes = 4;
	etw_store32(value->raw, number);
}

static void set_guid(struct etw_wpp_value *value, const GUID *guid)
{
	value->bytes = 16;
	etw_guid_write(value->raw, guid);
}

static void set_text(struct etw_wpp_value *value, const char *text)
{
	value->is_text = true;
	value->text = text ? text : "";
	value->text_bytes = strlen(value->text);
	value->bytes = 2 * ((uint32_t)etw_utf8_put_utf16(value->text, value->text_bytes, NULL) + 1);
}

static int32_t local_offset_minutes(int64_t filetime)
{
	struct tm local;
	time_t seconds;

	if (filetime < 0)
		return 0;
	seconds = (time_t)((filetime - ETW_FILETIME_UNIX_EPOCH) / ETW_FILETIME_PER_SECOND);
	if (!localtime_r(&seconds, &local))
		return 0;
	return (int32_t)(local.tm_gmtoff / 60);
}

/* SYSTEMTIME, all zeros for what is no date. */
static void set_system_time(struct etw_wpp_value *value, int64_t filetime, bool is_utc)
{
	const int64_t day = 24 * 3600 * ETW_FILETIME_PER_SECOND;
	struct etw_date date;
	int64_t shown;

	value->bytes = 16;
	if (__builtin_add_overflow(
		    filetime,
		    is_utc ? 0 : local_offset_minutes(filetime) * 60 * ETW_FILETIME_PER_SECOND,
		    &shown) ||
	    !etw_date_of_filetime(shown, &date))
		return;
	etw_store16(value->raw, (uint16_t)date.year);
	etw_store16(value->raw + 2, date.month);
	/* 1601-01-01 was a Monday. */
	etw_store16(value->raw + 4, (uint16_t)((shown / day + 1) % 7));
	etw_store16(value->raw + 6, date.day);
	etw_store16(value->raw + 8, date.hour);
	etw_store16(value->raw + 10, date.minute);
	etw_store16(value->raw + 12, date.second);
	etw_store16(value->raw + 14, (uint16_t)(date.ticks / 10000));
}

/* Who enables the message; null when the symbols do not tell. */
static GUID control_of(const struct etw_wpp_message *message)
{
	return message->control ? message->control->guid : (GUID){0};
}

int etw_wpp_message(const struct etw_decoding *decoding, bool is_utc, struct etw_wpp_value *ret)
{
	struct etw_tdh_scratch *scratch = etw_tdh_scratch();
	struct etw_wpp_options options = {0};

	if (!scratch)
		return -ENOMEM;
	if (!is_utc)
		options.utc_offset_minutes =
			local_offset_minutes(decoding->record->EventHeader.TimeStamp.QuadPart);
	(void)etw_format_wpp(decoding, &options, &scratch->text);
	TRY(etw_text_error(&scratch->text));
	*ret = (struct etw_wpp_value){0};
	set_text(ret, scratch->text.bytes ? scratch->text.at : "");
	return 0;
}

/* What the message says. */
static void set_name(const struct etw_wpp_message *message, enum property property,
		     struct etw_wpp_value *ret)
{
	switch (property) {
	case GUID_NAME:
		set_text(ret, message->module);
		break;
	case GUID_TYPE_NAME:
		set_text(ret, message->type_name);
		break;
	case FLAGS_NAME:
		set_text(ret, message->flags);
		break;
	case LEVEL_NAME:
		set_text(ret, message->level);
		break;
	case FUNCTION_NAME:
		set_text(ret, message->function);
		break;
	case COMPONENT_NAME:
		set_text(ret, message->component);
		break;
	default:
		set_text(ret, message->subcomponent);
	}
}

/* What the event's header says; false: something else. */
static bool set_from_header(const EVENT_RECORD *record, enum property property,
			    struct etw_wpp_value *ret)
{
	const EVENT_HEADER *header = &record->EventHeader;

	switch (property) {
	case VERSION:
	case INDENT:
		set_u32(ret, 0);
		return true;
	case TRACE_GUID:
		set_guid(ret, &header->ProviderId);
		return true;
	case THREAD_ID:
		set_u32(ret, header->ThreadId);
		return true;
	case PROCESS_ID:
		set_u32(ret, header->ProcessId);
		return true;
	case USER_TIME:
		set_u32(ret, header->UserTime);
		return true;
	case KERNEL_TIME:
		set_u32(ret, header->KernelTime);
		return true;
	case CPU_NUMBER:
		set_u32(ret, GetEventProcessorIndex(record));
		return true;
	case RAW_SYSTEM_TIME:
		ret->bytes = 8;
		etw_store64(ret->raw, (uint64_t)header->TimeStamp.QuadPart);
		return true;
	default:
		return false;
	}
}

static enum property find_property(const WCHAR *name)
{
	for (unsigned i = 0; i < PROPERTY_COUNT; i++) {
		if (etw_wide_is(name, fields[i].name))
			return (enum property)i;
	}
	return PROPERTY_COUNT;
}

int etw_wpp_property(const struct etw_decoding *decoding, bool is_utc, const WCHAR *name,
		     struct etw_wpp_value *ret)
{
	const struct etw_wpp_message *message = decoding->schema->wpp;
	const EVENT_RECORD *record = decoding->record;
	enum property property = find_property(name);
	uint32_t sequence;
	GUID control;

	*ret = (struct etw_wpp_value){0};
	if (property == PROPERTY_COUNT)
		return -ESRCH;
	if (set_from_header(record, property, ret))
		return 0;
	switch (property) {
	case SYSTEM_TIME:
		set_system_time(ret, record->EventHeader.TimeStamp.QuadPart, is_utc);
		return 0;
	case SEQUENCE_NUM:
		if (!etw_wpp_sequence(record, &sequence))
			return -ESRCH;
		set_u32(ret, sequence);
		return 0;
	case FORMATTED_STRING:
		return etw_wpp_message(decoding, is_utc, ret);
	case PROVIDER_GUID:
		control = control_of(message);
		set_guid(ret, &control);
		return 0;
	default:
		set_name(message, property, ret);
		return 0;
	}
}

void etw_wpp_value_write(const struct etw_wpp_value *value, uint8_t *to)
{
	if (!value->is_text) {
		memcpy(to, value->raw, value->bytes);
		return;
	}
	(void)etw_utf8_put_utf16(value->text, value->text_bytes, to);
	memset(to + value->bytes - 2, 0, 2);
}

int etw_wpp_event_info(const struct etw_decoding *decoding, TRACE_EVENT_INFO **ret,
		       size_t *ret_bytes)
{
	const struct etw_schema schema = {
		.provider = control_of(decoding->schema->wpp),
		.event_guid = decoding->record->EventHeader.ProviderId,
		.descriptor = decoding->record->EventHeader.EventDescriptor,
		.source = DecodingSourceWPP,
		.field_count = PROPERTY_COUNT,
		.top_count = PROPERTY_COUNT,
		.fields = fields,
	};
	uint8_t *blob;

	TRY(etw_event_info_write(&schema, &blob, ret_bytes));
	*ret = (TRACE_EVENT_INFO *)(void *)blob;
	return 0;
}
