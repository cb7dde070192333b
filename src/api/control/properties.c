/* SPDX-License-Identifier: MIT */
#include "api/control/properties.h"

#include <winerror.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/control/flag_extension.h"
#include "api/wide.h"
#include "api/win32_error.h"
#include "base/macros.h"
#include "base/path.h"
#include "base/time.h"
#include "base/utf.h"

#define PROPERTIES_VERSION 2 /* of EVENT_TRACE_PROPERTIES_V2 */

static bool is_offset_sound(const struct etw_properties *properties, ULONG offset)
{
	return !offset || (offset >= properties->struct_bytes && offset < properties->bytes &&
			   properties->bytes - offset >= properties->unit_bytes);
}

static ULONG check_version(const EVENT_TRACE_PROPERTIES *block, struct etw_properties *properties)
{
	const EVENT_TRACE_PROPERTIES_V2 *second = (const EVENT_TRACE_PROPERTIES_V2 *)block;

	if (!(block->Wnode.Flags & WNODE_FLAG_VERSIONED_PROPERTIES))
		return ERROR_SUCCESS;
	if (properties->bytes < sizeof(*second))
		return ERROR_BAD_LENGTH;
	if (second->VersionNumber != PROPERTIES_VERSION)
		return ERROR_INVALID_PARAMETER;
	properties->struct_bytes = sizeof(*second);
	return ERROR_SUCCESS;
}

ULONG etw_properties_check(EVENT_TRACE_PROPERTIES *block, bool is_wide, struct etw_properties *ret)
{
	ULONG error;

	if (!block)
		return ERROR_INVALID_PARAMETER;
	*ret = (struct etw_properties){
		.block = block,
		.bytes = block->Wnode.BufferSize,
		.struct_bytes = sizeof(*block),
		.unit_bytes = is_wide ? sizeof(WCHAR) : 1,
	};
	if (ret->bytes < sizeof(*block))
		return ERROR_BAD_LENGTH;
	error = check_version(block, ret);
	if (error)
		return error;
	if (!is_offset_sound(ret, block->LoggerNameOffset) ||
	    !is_offset_sound(ret, block->LogFileNameOffset))
		return ERROR_INVALID_PARAMETER;
	/* One place cannot hold two names. */
	if (block->LoggerNameOffset && block->LoggerNameOffset == block->LogFileNameOffset)
		return ERROR_INVALID_PARAMETER;
	return ERROR_SUCCESS;
}

/* Characters up to the NUL, or SIZE_MAX without one in @room of them. */
static size_t name_units(const uint8_t *at, size_t room, size_t unit_bytes)
{
	size_t units = unit_bytes == 1 ? strnlen((const char *)at, room)
				       : etw_utf16_length(at, room);

	return units == room ? SIZE_MAX : units;
}

/* Whether @text says all of @at: half a character would become another one, and the name that of another session. */
static bool is_whole(const uint8_t *at, size_t units, const char *text)
{
	size_t count = strlen(text);
	CLEANUP(freep) uint8_t *back = etw_utf8_to_utf16(text, &count);

	return back && count == units && !memcmp(back, at, units * sizeof(WCHAR));
}

/* @units characters as UTF-8 into a wire's room. */
static ULONG put_name(const uint8_t *at, size_t units, size_t unit_bytes,
		      char to[WIRE_MESSAGE_NAME_MAX + 1])
{
	CLEANUP(freep)
	char *text = unit_bytes == 1 ? strndup((const char *)at, units)
				     : etw_utf16_to_utf8(at, units);
	size_t bytes;

	if (!text)
		return ERROR_NOT_ENOUGH_MEMORY;
	bytes = strlen(text);
	if (unit_bytes != 1 && !is_whole(at, units, text))
		return ERROR_INVALID_PARAMETER;
	if (units > ETW_PROPERTIES_NAME_UNITS || bytes > WIRE_MESSAGE_NAME_MAX ||
	    !etw_utf8_is_valid((const uint8_t *)text, bytes))
		return ERROR_INVALID_PARAMETER;
	memcpy(to, text, bytes + 1);
	return ERROR_SUCCESS;
}

ULONG etw_properties_set_name(const void *name, bool is_wide, char to[WIRE_MESSAGE_NAME_MAX + 1])
{
	size_t units = is_wide ? etw_wide_units(name) : strlen(name);

	return put_name(name, units, is_wide ? sizeof(WCHAR) : 1, to);
}

/*
 * The path that the host is to write to, absolute, because its working directory is another. A Windows
 * path is shown as it was given; a relative one becomes absolute there too, as on Windows.
 */
static ULONG resolve_log_file(struct wire_session_config *config)
{
	CLEANUP(freep) char *path = NULL;
	CLEANUP(freep) char *folder = NULL;
	int length;

	TRY_WIN32(etw_path_resolve(config->log_file_shown, &path));
	if (path[0] == '/') {
		length = snprintf(config->log_file, sizeof(config->log_file), "%s", path);
	} else {
		folder = getcwd(NULL, 0);
		if (!folder)
			return ERROR_PATH_NOT_FOUND;
		length = snprintf(config->log_file, sizeof(config->log_file), "%s/%s",
				  strcmp(folder, "/") ? folder : "", path);
	}
	if (length < 0 || (size_t)length >= sizeof(config->log_file))
		return ERROR_FILENAME_EXCED_RANGE;
	if (!strcmp(path, config->log_file_shown))
		memcpy(config->log_file_shown, config->log_file, sizeof(config->log_file));
	return ERROR_SUCCESS;
}

/* Whether the session's name is to be written into the middle of the file's. */
static bool is_within(ULONG offset, ULONG start, size_t bytes)
{
	return offset > start && offset - start < bytes;
}

static ULONG read_log_file(const struct etw_properties *properties, struct wire_session_config *ret)
{
	const EVENT_TRACE_PROPERTIES *block = properties->block;
	const uint8_t *at = (const uint8_t *)block + block->LogFileNameOffset;
	size_t units;
	ULONG error;

	if (!block->LogFileNameOffset)
		return ERROR_SUCCESS;
	units = name_units(at,
			   (properties->bytes - block->LogFileNameOffset) / properties->unit_bytes,
			   properties->unit_bytes);
	if (units == SIZE_MAX)
		return ERROR_INVALID_PARAMETER;
	if (!units)
		return ERROR_SUCCESS;
	if (is_within(block->LoggerNameOffset, block->LogFileNameOffset,
		      (units + 1) * properties->unit_bytes))
		return ERROR_INVALID_PARAMETER;
	error = put_name(at, units, properties->unit_bytes, ret->log_file_shown);
	return error ? error : resolve_log_file(ret);
}

/* What the structure can ask for and no host knows yet; ignoring it would be a false promise. */
static bool asks_too_much(const struct etw_properties *properties)
{
	const EVENT_TRACE_PROPERTIES_V2 *second =
		(const EVENT_TRACE_PROPERTIES_V2 *)properties->block;

	return properties->struct_bytes == sizeof(*second) &&
	       (second->FilterDescCount || second->V2Options);
}

ULONG etw_properties_read(const struct etw_properties *properties, struct wire_session_config *ret)
{
	const EVENT_TRACE_PROPERTIES *block = properties->block;

	if (asks_too_much(properties))
		return ERROR_NOT_SUPPORTED;
	ret->guid = block->Wnode.Guid;
	ret->clock_type = block->Wnode.ClientContext;
	ret->buffer_kib = block->BufferSize;
	ret->minimum_buffers = block->MinimumBuffers;
	ret->maximum_buffers = block->MaximumBuffers;
	ret->maximum_file_size = block->MaximumFileSize;
	ret->log_file_mode = block->LogFileMode;
	ret->flush_timer = block->FlushTimer;
	if (block->EnableFlags & EVENT_TRACE_FLAG_EXTENSION) {
		const struct etw_bytes all = {(const uint8_t *)block, properties->bytes};
		ULONG error = etw_flag_extension_read(all, properties->struct_bytes,
						      block->EnableFlags, &ret->kernel);

		if (error)
			return error;
	} else {
		ret->enable_flags = block->EnableFlags;
	}
	ret->age_limit = (uint32_t)block->AgeLimit;
	return read_log_file(properties, ret);
}

/* Characters that fit at @offset: up to the block's end, or to the other name behind it. */
static size_t name_room(const struct etw_properties *properties, ULONG offset, ULONG other)
{
	size_t end = other > offset ? other : properties->bytes;

	return (end - offset) / properties->unit_bytes;
}

bool etw_properties_has_room(const struct etw_properties *properties, size_t units)
{
	const EVENT_TRACE_PROPERTIES *block = properties->block;

	return !block->LoggerNameOffset ||
	       name_room(properties, block->LoggerNameOffset, block->LogFileNameOffset) > units;
}

static ULONG write_name(const struct etw_properties *properties, ULONG offset, ULONG other,
			const char *name)
{
	CLEANUP(freep) uint8_t *wide = NULL;
	const uint8_t *from = (const uint8_t *)name;
	size_t units = strlen(name);
	uint8_t *to = (uint8_t *)properties->block + offset;

	if (!offset)
		return ERROR_SUCCESS;
	if (properties->unit_bytes != 1) {
		wide = etw_utf8_to_utf16(name, &units);
		if (!wide)
			return ERROR_NOT_ENOUGH_MEMORY;
		from = wide;
	}
	if (name_room(properties, offset, other) <= units)
		return ERROR_MORE_DATA;
	memcpy(to, from, (units + 1) * properties->unit_bytes);
	return ERROR_SUCCESS;
}

ULONG etw_properties_fill(const struct etw_properties *properties,
			  const struct wire_session_info *info)
{
	EVENT_TRACE_PROPERTIES *block = properties->block;
	ULONG name_error, file_error;

	block->Wnode.HistoricalContext = info->handle;
	block->Wnode.TimeStamp.QuadPart = etw_filetime_now();
	block->Wnode.Guid = info->config.guid;
	block->Wnode.ClientContext = info->config.clock_type;
	block->BufferSize = info->config.buffer_kib;
	block->MinimumBuffers = info->config.minimum_buffers;
	block->MaximumBuffers = info->config.maximum_buffers;
	block->MaximumFileSize = info->config.maximum_file_size;
	block->LogFileMode = info->config.log_file_mode;
	block->FlushTimer = info->config.flush_timer;
	block->EnableFlags = info->config.enable_flags;
	block->AgeLimit = (LONG)info->config.age_limit;
	block->NumberOfBuffers = info->number_of_buffers;
	block->FreeBuffers = info->free_buffers;
	block->EventsLost = info->events_lost;
	block->BuffersWritten = info->buffers_written;
	block->LogBuffersLost = info->log_buffers_lost;
	block->RealTimeBuffersLost = info->real_time_buffers_lost;
	block->LoggerThreadId = (HANDLE)(ULONG_PTR)info->logger_thread_id;
	name_error = write_name(properties, block->LoggerNameOffset, block->LogFileNameOffset,
				info->config.name);
	file_error = write_name(properties, block->LogFileNameOffset, block->LoggerNameOffset,
				info->config.log_file_shown);
	return name_error ? name_error : file_error;
}
