/* SPDX-License-Identifier: MIT */
/* tdh.h: WPP events by way of a decoding handle. */
#include <tdh.h>
#include <winerror.h>

#include "api/record.h"
#include "api/tdh/decoding_handle.h"
#include "api/tdh/give.h"
#include "api/tdh/wpp_property.h"
#include "api/win32_error.h"
#include "base/macros.h"

/* One question; `name` is NULL when the message is asked for. */
struct question {
	const EVENT_RECORD *record;
	const WCHAR *name;
	ULONG *size;
	uint8_t *buffer;
};

/* Holding the symbols' lock. */
static ULONG answer(const struct question *question, const struct etw_decoding *decoding,
		    bool is_utc)
{
	struct etw_wpp_value value;
	ULONG error;

	if (question->name)
		TRY_WIN32(etw_wpp_property(decoding, is_utc, question->name, &value));
	else
		TRY_WIN32(etw_wpp_message(decoding, is_utc, &value));
	error = etw_tdh_claim(value.bytes, *question->size, question->size);
	if (!error)
		etw_wpp_value_write(&value, question->buffer);
	return error;
}

/* Holding the handle's object. */
static ULONG ask(struct etw_decoding_handle *object, const struct question *question)
{
	const struct etw_tdh_context context = {.pointer_bytes = object->pointer_bytes};
	struct etw_decoding decoding;
	struct etw_symbols *symbols;
	const EVENT_RECORD *record;
	EVENT_RECORD copy;
	ULONG error;

	TRY_WIN32(etw_decoding_handle_symbols(object, &symbols));
	record = etw_tdh_context_apply(&context, question->record, &copy);
	TRY_WIN32(etw_symbols_lock(symbols, record, &decoding));
	error = answer(question, &decoding, object->is_utc);
	etw_symbols_unlock(symbols);
	return error;
}

static ULONG ask_handle(TDH_HANDLE handle, const struct question *question)
{
	struct etw_decoding_handle *object;
	ULONG error;

	if (!etw_api_has_record(question->record) || !question->size ||
	    (*question->size && !question->buffer))
		return ERROR_INVALID_PARAMETER;
	object = etw_decoding_handle_take(handle);
	if (!object)
		return ERROR_INVALID_PARAMETER;
	error = ask(object, question);
	etw_decoding_handle_give(object);
	return error;
}

TDHSTATUS TdhGetWppProperty(TDH_HANDLE Handle, PEVENT_RECORD EventRecord, PWSTR PropertyName,
			    PULONG BufferSize, PBYTE Buffer)
{
	const struct question question = {EventRecord, PropertyName, BufferSize, Buffer};

	return PropertyName ? ask_handle(Handle, &question) : ERROR_INVALID_PARAMETER;
}

TDHSTATUS TdhGetWppMessage(TDH_HANDLE Handle, PEVENT_RECORD EventRecord, PULONG BufferSize,
			   PBYTE Buffer)
{
	const struct question question = {EventRecord, NULL, BufferSize, Buffer};

	return ask_handle(Handle, &question);
}
