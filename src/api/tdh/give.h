/* SPDX-License-Identifier: MIT */
/*
 * The required-size protocol: a caller asks with the size of its buffer, learns how much the answer takes, and
 * gets it when it has the room.
 */
#ifndef ETW_API_TDH_GIVE_H
#define ETW_API_TDH_GIVE_H

#include <stddef.h>
#include <string.h>

#include <etw/wintypes.h>
#include <winerror.h>

/*
 * etw_tdh_claim() - whether an answer may be written.
 *
 * @bytes: that it takes
 * @room:  bytes of the caller's buffer
 * @size:  becomes @bytes; untouched for an answer beyond 4 GiB
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER; ERROR_ARITHMETIC_OVERFLOW beyond 4 GiB.
 */
static inline ULONG etw_tdh_claim(size_t bytes, ULONG room, ULONG *size)
{
	if (bytes > UINT32_MAX)
		return ERROR_ARITHMETIC_OVERFLOW;
	*size = (ULONG)bytes;
	return room < bytes ? ERROR_INSUFFICIENT_BUFFER : ERROR_SUCCESS;
}

/* etw_tdh_give() - copies an answer that lies ready at @at; parameters and results as etw_tdh_claim(). */
static inline ULONG etw_tdh_give(const void *at, size_t bytes, void *buffer, ULONG room,
				 ULONG *size)
{
	ULONG error = etw_tdh_claim(bytes, room, size);

	if (!error && bytes)
		memcpy(buffer, at, bytes);
	return error;
}

#endif
