/* SPDX-License-Identifier: MIT */
#include "api/tdh/wpp_context.h"

#include <stdlib.h>

#include <winerror.h>

#include "api/tdh/give.h"
#include "api/tdh/symbol_cache.h"
#include "api/tdh/wpp_property.h"
#include "api/win32_error.h"
#include "base/macros.h"

static ULONG give_event(const struct etw_decoding *decoding, TRACE_EVENT_INFO *buffer, ULONG *size)
{
	CLEANUP(freep) TRACE_EVENT_INFO *info = NULL;
	size_t bytes;

	TRY_WIN32(etw_wpp_event_info(decoding, &info, &bytes));
	return etw_tdh_give(info, bytes, buffer, *size, size);
}

ULONG etw_wpp_context_event(const struct etw_tdh_context *context, const EVENT_RECORD *record,
			    TRACE_EVENT_INFO *buffer, ULONG *size)
{
	struct etw_decoding decoding;
	struct etw_symbols *symbols;
	ULONG error;
	int result;

	TRY_WIN32(etw_symbol_cache_borrow(context, &symbols));
	result = etw_symbols_lock(symbols, record, &decoding);
	error = etw_win32_from_result(result);
	if (!error) {
		error = give_event(&decoding, buffer, size);
		etw_symbols_unlock(symbols);
	}
	etw_symbol_cache_return(symbols);
	return error;
}

static ULONG give_property(const struct etw_decoding *decoding, const WCHAR *name, uint8_t *buffer,
			   ULONG *size)
{
	struct etw_wpp_value value;
	ULONG error;

	TRY_WIN32(etw_wpp_property(decoding, /* is_utc= */ false, name, &value));
	error = etw_tdh_claim(value.bytes, *size, size);
	if (!error)
		etw_wpp_value_write(&value, buffer);
	return error;
}

ULONG etw_wpp_context_property(const struct etw_tdh_context *context, const EVENT_RECORD *record,
			       ULONG count, const PROPERTY_DATA_DESCRIPTOR *descriptors,
			       uint8_t *buffer, ULONG *size)
{
	const WCHAR *name = (const WCHAR *)(uintptr_t)descriptors->PropertyName;
	struct etw_decoding decoding;
	struct etw_symbols *symbols;
	ULONG error;
	int result;

	if (count != 1 || !name ||
	    (descriptors->ArrayIndex && descriptors->ArrayIndex != UINT32_MAX))
		return ERROR_INVALID_PARAMETER;
	TRY_WIN32(etw_symbol_cache_borrow(context, &symbols));
	result = etw_symbols_lock(symbols, record, &decoding);
	error = etw_win32_from_result(result);
	if (!error) {
		error = give_property(&decoding, name, buffer, size);
		etw_symbols_unlock(symbols);
	}
	etw_symbol_cache_return(symbols);
	return error;
}
