/* SPDX-License-Identifier: MIT */
#include "api/tdh/context.h"

#include <winerror.h>

#include "base/macros.h"

static ULONG read_one(const TDH_CONTEXT *context, struct etw_tdh_context *ret)
{
	const WCHAR *path = (const WCHAR *)(uintptr_t)context->ParameterValue;

	switch (context->ParameterType) {
	case TDH_CONTEXT_WPP_TMFFILE:
		ret->tmf_file = path;
		return path ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
	case TDH_CONTEXT_WPP_TMFSEARCHPATH:
		ret->tmf_search_path = path;
		return path ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
	case TDH_CONTEXT_PDB_PATH:
		return path ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
	case TDH_CONTEXT_WPP_GMT:
		return ERROR_SUCCESS;
	case TDH_CONTEXT_POINTERSIZE:
		if (context->ParameterValue != 4 && context->ParameterValue != 8)
			return ERROR_INVALID_PARAMETER;
		ret->pointer_bytes = (unsigned)context->ParameterValue;
		return ERROR_SUCCESS;
	default:
		return ERROR_INVALID_PARAMETER;
	}
}

ULONG etw_tdh_context_read(ULONG count, const TDH_CONTEXT *list, struct etw_tdh_context *ret)
{
	*ret = (struct etw_tdh_context){0};
	if (count && !list)
		return ERROR_INVALID_PARAMETER;
	for (ULONG i = 0; i < count; i++) {
		ULONG error = read_one(&list[i], ret);

		if (error)
			return error;
	}
	return ERROR_SUCCESS;
}

const EVENT_RECORD *etw_tdh_context_apply(const struct etw_tdh_context *context,
					  const EVENT_RECORD *record, EVENT_RECORD *copy)
{
	const USHORT told = EVENT_HEADER_FLAG_32_BIT_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER;

	if (LIKELY(!context->pointer_bytes) || (record->EventHeader.Flags & told))
		return record;
	*copy = *record;
	copy->EventHeader.Flags |= context->pointer_bytes == 4 ? EVENT_HEADER_FLAG_32_BIT_HEADER
							       : EVENT_HEADER_FLAG_64_BIT_HEADER;
	return copy;
}
