/* SPDX-License-Identifier: MIT */
/* tdh.h: the numbers of a provider's events and their names: keywords, levels, channels, tasks, opcodes. */
#include <tdh.h>
#include <winerror.h>

#include <string.h>

#include "api/tdh/answer.h"
#include "api/tdh/lock.h"
#include "api/tdh/shared.h"
#include "api/win32_error.h"

/* Opcodes are told with the task that they belong to. */
#define OPCODE_SHIFT 16

struct fields {
	const struct etw_provider_schema *provider;
	EVENT_FIELD_TYPE type;
	size_t count;
};

static size_t count_fields(const struct etw_provider_schema *provider, EVENT_FIELD_TYPE type)
{
	/* A MOF class knows of keywords and levels only. */
	if (provider->source == DecodingSourceWbem && type != EventKeywordInformation &&
	    type != EventLevelInformation)
		return 0;
	switch (type) {
	case EventKeywordInformation:
		return provider->keyword_count;
	case EventLevelInformation:
		return provider->level_count;
	case EventChannelInformation:
		return provider->channel_count;
	case EventTaskInformation:
		return provider->task_count;
	default:
		return provider->opcode_count;
	}
}

static const struct etw_named *field_at(const struct fields *fields, size_t i, uint64_t *ret_value)
{
	const struct etw_provider_schema *provider = fields->provider;
	const struct etw_named *named;

	switch (fields->type) {
	case EventKeywordInformation:
		named = &provider->keywords[i];
		break;
	case EventLevelInformation:
		named = &provider->levels[i];
		break;
	case EventChannelInformation:
		named = &provider->channels[i].named;
		break;
	case EventTaskInformation:
		named = &provider->tasks[i].named;
		break;
	default:
		named = &provider->opcodes[i].named;
		*ret_value = named->value << OPCODE_SHIFT | provider->opcodes[i].task;
		return named;
	}
	*ret_value = named->value;
	return named;
}

/* Every task has the opcodes that are nobody's own, but where it has one of that number itself. */
static bool is_opcode(const struct fields *fields, uint64_t value, uint64_t wanted)
{
	uint64_t own;

	if (value == wanted)
		return true;
	if ((value & 0xffff) || value != (wanted & ~UINT64_C(0xffff)))
		return false;
	for (size_t i = 0; i < fields->count; i++) {
		(void)field_at(fields, i, &own);
		if (own == wanted)
			return false;
	}
	return true;
}

static bool is_match(const struct fields *fields, uint64_t value, const ULONGLONG *wanted)
{
	if (!wanted)
		return true;
	if (fields->type == EventKeywordInformation)
		return (value & *wanted) != 0;
	if (fields->type == EventOpcodeInformation)
		return is_opcode(fields, value, *wanted);
	return value == *wanted;
}

static size_t count_matches(const struct fields *fields, const ULONGLONG *wanted)
{
	size_t count = 0;
	uint64_t value;

	for (size_t i = 0; i < fields->count; i++) {
		(void)field_at(fields, i, &value);
		count += is_match(fields, value, wanted);
	}
	return count;
}

static void write_fields(const struct fields *fields, const ULONGLONG *wanted, size_t count,
			 struct etw_text *answer)
{
	const PROVIDER_FIELD_INFOARRAY head = {.NumberOfElements = (ULONG)count,
					       .FieldType = fields->type};
	const size_t head_bytes = offsetof(PROVIDER_FIELD_INFOARRAY, FieldInfoArray);
	size_t at = head_bytes;

	etw_text_append(answer, (const char *)&head, head_bytes);
	for (size_t i = 0; i < count; i++)
		etw_text_append(answer, (const char *)&(PROVIDER_FIELD_INFO){0},
				sizeof(PROVIDER_FIELD_INFO));
	for (size_t i = 0; i < fields->count; i++) {
		const struct etw_named *named;
		PROVIDER_FIELD_INFO info = {0};
		uint64_t value;

		named = field_at(fields, i, &value);
		if (!is_match(fields, value, wanted))
			continue;
		info.Value = value;
		info.NameOffset = etw_tdh_answer_string(answer, 0, named->name, "");
		info.DescriptionOffset = etw_tdh_answer_string(answer, 0, named->message, " ");
		if (etw_text_error(answer))
			return;
		memcpy(answer->at + at, &info, sizeof(info));
		at += sizeof(info);
	}
}

/* Holding the lock. */
static ULONG make_fields(struct etw_tdh_shared *shared, const GUID *guid, EVENT_FIELD_TYPE type,
			 const ULONGLONG *wanted, struct etw_text *answer)
{
	struct fields fields = {.type = type};
	ULONG error = etw_tdh_provider(shared, guid, &fields.provider);
	size_t count;

	if (error)
		return error;
	fields.count = count_fields(fields.provider, type);
	count = count_matches(&fields, wanted);
	if (!count)
		return ERROR_NOT_FOUND;
	write_fields(&fields, wanted, count, answer);
	return ERROR_SUCCESS;
}

static ULONG give_fields(const GUID *guid, EVENT_FIELD_TYPE type, const ULONGLONG *wanted,
			 void *buffer, ULONG *size)
{
	CLEANUP(etw_text_done) struct etw_text answer = {0};
	struct etw_tdh_shared *shared;
	ULONG error;

	if (!guid || !size || (*size && !buffer))
		return ERROR_INVALID_PARAMETER;
	if ((unsigned)type >= EventInformationMax)
		return ERROR_NOT_SUPPORTED;
	TRY_WIN32(etw_tdh_lock(&shared));
	error = make_fields(shared, guid, type, wanted, &answer);
	etw_tdh_unlock();
	return error ? error : etw_tdh_answer_give(&answer, buffer, *size, size);
}

TDHSTATUS TdhEnumerateProviderFieldInformation(LPGUID pGuid, EVENT_FIELD_TYPE EventFieldType,
					       PPROVIDER_FIELD_INFOARRAY pBuffer,
					       PULONG pBufferSize)
{
	return give_fields(pGuid, EventFieldType, NULL, pBuffer, pBufferSize);
}

TDHSTATUS TdhQueryProviderFieldInformation(LPGUID pGuid, ULONGLONG EventFieldValue,
					   EVENT_FIELD_TYPE EventFieldType,
					   PPROVIDER_FIELD_INFOARRAY pBuffer, PULONG pBufferSize)
{
	return give_fields(pGuid, EventFieldType, &EventFieldValue, pBuffer, pBufferSize);
}
