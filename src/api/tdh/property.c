/* SPDX-License-Identifier: MIT */
/* tdh.h: one property's bytes, by name. */
#include <tdh.h>
#include <winerror.h>

#include <string.h>

#include "api/record.h"
#include "api/tdh/context.h"
#include "api/tdh/find.h"
#include "api/tdh/give.h"
#include "api/tdh/lock.h"
#include "api/tdh/shared.h"
#include "api/tdh/wide_name.h"
#include "api/tdh/wpp_context.h"
#include "api/win32_error.h"
#include "base/macros.h"

#define WHOLE UINT32_C(0xFFFFFFFF) /* ArrayIndex: not one element but all */

/* A question as TdhGetPropertySize and TdhGetProperty have it in common. */
struct question {
	const EVENT_RECORD *record;
	struct etw_tdh_context context;
	const PROPERTY_DATA_DESCRIPTOR *descriptors;
	ULONG count;
};

/* The answer: bytes of the payload, and zeroed ones behind them. */
struct answer {
	const uint8_t *at;
	uint32_t bytes;
	uint32_t terminator; /* bytes of a NUL that is put behind them */
};

/* Fields and items of one level: the top, or the members of one struct. */
struct level {
	uint32_t first_field, end_field;
	uint32_t first_item, end_item;
};

static uint32_t find_field(const struct etw_schema *schema, const struct level *level,
			   const WCHAR *name)
{
	for (uint32_t i = level->first_field; i < level->end_field; i++) {
		if (etw_wide_is(name, schema->fields[i].name))
			return i;
	}
	return level->end_field;
}

static const struct etw_item *find_item(const struct etw_decoding *decoding,
					const struct level *level, uint32_t field)
{
	for (uint32_t i = level->first_item; i < level->end_item; i = decoding->items[i].end) {
		if (decoding->items[i].field == field)
			return &decoding->items[i];
	}
	return NULL;
}

/* The element of an item that a descriptor means; a value by itself is its own and only element. */
static const struct etw_item *find_element(const struct etw_decoding *decoding,
					   const struct etw_item *item, ULONG index)
{
	if (item->kind != ETW_ITEM_ARRAY)
		return index == 0 ? item : NULL;
	if (index >= item->count)
		return NULL;
	for (uint32_t i = (uint32_t)(item - decoding->items) + 1; i < item->end;
	     i = decoding->items[i].end) {
		if (decoding->items[i].index == index)
			return &decoding->items[i];
	}
	return NULL;
}

/* Follows one descriptor that is not the last: the members of one struct become the level. */
static ULONG enter(const struct etw_decoding *decoding, const struct etw_item *item, ULONG index,
		   struct level *level)
{
	const struct etw_field *field = &decoding->schema->fields[item->field];

	if (!(field->flags & PropertyStruct))
		return ERROR_INVALID_PARAMETER;
	if (index == WHOLE && item->kind == ETW_ITEM_STRUCT)
		index = 0;
	item = find_element(decoding, item, index);
	if (!item)
		return ERROR_INVALID_PARAMETER;
	*level = (struct level){
		.first_field = field->struct_first,
		.end_field = (uint32_t)field->struct_first + field->struct_count,
		.first_item = (uint32_t)(item - decoding->items) + 1,
		.end_item = item->end,
	};
	return ERROR_SUCCESS;
}

/* The item that the descriptors lead to. */
static ULONG follow(const struct etw_decoding *decoding, const struct question *question,
		    const struct etw_item **ret)
{
	struct level level = {0, decoding->schema->top_count, 0, (uint32_t)decoding->item_count};
	const PROPERTY_DATA_DESCRIPTOR *descriptor = question->descriptors;

	for (ULONG left = question->count;; descriptor++) {
		const WCHAR *name = (const WCHAR *)(uintptr_t)descriptor->PropertyName;
		const struct etw_item *item;
		uint32_t field;
		ULONG error;

		if (!name)
			return ERROR_INVALID_PARAMETER;
		field = find_field(decoding->schema, &level, name);
		if (field == level.end_field)
			return ERROR_NOT_FOUND;
		item = find_item(decoding, &level, field);
		/* The payload ended before it; where that is in order, the event has no such property. */
		if (!item)
			return decoding->schema->fields[field].flags & ETW_FIELD_OPTIONAL
				       ? ERROR_NOT_FOUND
				       : ERROR_EVT_INVALID_EVENT_DATA;
		if (--left == 0) {
			*ret = descriptor->ArrayIndex == WHOLE
				       ? item
				       : find_element(decoding, item, descriptor->ArrayIndex);
			return *ret ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
		}
		error = enter(decoding, item, descriptor->ArrayIndex, &level);
		if (error)
			return error;
	}
}

/* Whether the value is text that a NUL ends. */
static bool is_terminated(const struct etw_field *field)
{
	return (field->in_type == TDH_INTYPE_UNICODESTRING ||
		field->in_type == TDH_INTYPE_ANSISTRING) &&
	       !field->length && !(field->flags & (PropertyParamLength | PropertyParamFixedLength));
}

/*
 * What is handed out of an item: of arrays and structs everything, of strings that end with a NUL the NUL
 * too, also where the payload lacks it, of strings of a given length all of it, of counted values what is
 * counted, of a WBEM SID the TOKEN_USER before it too.
 */
static void measure(const struct etw_decoding *decoding, const struct etw_item *item,
		    struct answer *ret)
{
	const struct etw_field *field = &decoding->schema->fields[item->field];
	const uint8_t *payload = decoding->record->UserData;

	*ret = (struct answer){payload ? payload + item->offset : NULL, item->bytes, 0};
	if (item->kind != ETW_ITEM_VALUE) {
		ret->bytes = item->taken;
	} else if (is_terminated(field)) {
		ret->terminator = field->in_type == TDH_INTYPE_UNICODESTRING ? 2 : 1;
	} else if (field->in_type == TDH_INTYPE_UNICODESTRING ||
		   field->in_type == TDH_INTYPE_ANSISTRING) {
		ret->bytes = item->taken;
	} else if (field->in_type == TDH_INTYPE_WBEMSID && payload) {
		ret->at -= item->taken - item->bytes;
		ret->bytes = item->taken;
	}
}

/* Holding the lock. */
static ULONG answer(struct etw_tdh_shared *shared, const struct question *question,
		    struct answer *ret)
{
	const struct etw_item *item = NULL;
	struct etw_decoding decoding;
	ULONG error;

	TRY_WIN32(etw_decoder_run(shared->decoder, question->record, &decoding));
	error = follow(&decoding, question, &item);
	if (!error)
		measure(&decoding, item, ret);
	return error;
}

/* Checks what both functions take; @copy is room for the record. */
static ULONG read_question(const EVENT_RECORD *event, ULONG context_count,
			   const TDH_CONTEXT *contexts, EVENT_RECORD *copy,
			   struct question *question)
{
	ULONG error;

	if (!etw_api_has_record(event) || !question->count || !question->descriptors)
		return ERROR_INVALID_PARAMETER;
	error = etw_tdh_context_read(context_count, contexts, &question->context);
	if (!error)
		question->record = etw_tdh_context_apply(&question->context, event, copy);
	return error;
}

static ULONG ask(const struct question *question, struct answer *ret)
{
	const struct etw_schema *schema;
	struct etw_tdh_shared *shared;
	ULONG error;

	TRY_WIN32(etw_tdh_lock_for_event(question->record, &shared, &schema));
	error = answer(shared, question, ret);
	etw_tdh_unlock();
	return error;
}

/* A property of a WPP event, which is none of its payload's fields. */
static ULONG ask_wpp(const struct question *question, uint8_t *buffer, ULONG *size)
{
	return etw_wpp_context_property(&question->context, question->record, question->count,
					question->descriptors, buffer, size);
}

TDHSTATUS TdhGetPropertySize(PEVENT_RECORD pEvent, ULONG TdhContextCount, PTDH_CONTEXT pTdhContext,
			     ULONG PropertyDataCount, PPROPERTY_DATA_DESCRIPTOR pPropertyData,
			     PULONG pPropertySize)
{
	struct question question = {.descriptors = pPropertyData, .count = PropertyDataCount};
	struct answer found;
	EVENT_RECORD copy;
	ULONG size = 0;
	ULONG error;

	if (!pPropertySize)
		return ERROR_INVALID_PARAMETER;
	error = read_question(pEvent, TdhContextCount, pTdhContext, &copy, &question);
	if (error)
		return error;
	if (UNLIKELY(etw_wpp_is_event(question.record))) {
		error = ask_wpp(&question, NULL, &size);
		if (error != ERROR_INSUFFICIENT_BUFFER)
			return error;
	} else {
		error = ask(&question, &found);
		if (error)
			return error;
		size = found.bytes + found.terminator;
	}
	*pPropertySize = size;
	return ERROR_SUCCESS;
}

TDHSTATUS TdhGetProperty(PEVENT_RECORD pEvent, ULONG TdhContextCount, PTDH_CONTEXT pTdhContext,
			 ULONG PropertyDataCount, PPROPERTY_DATA_DESCRIPTOR pPropertyData,
			 ULONG BufferSize, PBYTE pBuffer)
{
	struct question question = {.descriptors = pPropertyData, .count = PropertyDataCount};
	struct answer found;
	EVENT_RECORD copy;
	ULONG error;

	if (BufferSize && !pBuffer)
		return ERROR_INVALID_PARAMETER;
	error = read_question(pEvent, TdhContextCount, pTdhContext, &copy, &question);
	if (error)
		return error;
	if (UNLIKELY(etw_wpp_is_event(question.record)))
		return ask_wpp(&question, pBuffer, &BufferSize);
	error = ask(&question, &found);
	if (error)
		return error;
	error = etw_tdh_claim((size_t)found.bytes + found.terminator, BufferSize, &BufferSize);
	if (error)
		return error;
	/* The bytes are the caller's own event: the lock is not needed for them. */
	if (found.bytes)
		memcpy(pBuffer, found.at, found.bytes);
	if (found.terminator)
		memset(pBuffer + found.bytes, 0, found.terminator);
	return ERROR_SUCCESS;
}
