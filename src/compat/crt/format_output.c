/* SPDX-License-Identifier: MIT */
/* Where the printf engine's text goes: memory by one of Microsoft's rules, or a stream. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "compat/crt/format.h"
#include "compat/crt/invalid.h"
#include "compat/crt/stream.h"

static void put_memory(struct etw_format_sink *sink, const void *units, size_t count)
{
	struct etw_format_buffer *buffer = (struct etw_format_buffer *)sink;
	size_t unit_bytes = sink->is_wide ? 2 : 1;

	if (count > buffer->limit)
		count = buffer->limit;
	if (!count)
		return;
	memcpy(buffer->at, units, count * unit_bytes);
	buffer->at = (char *)buffer->at + count * unit_bytes;
	buffer->limit -= count;
}

struct etw_format_buffer etw_format_buffer(void *at, size_t limit, bool is_wide)
{
	return (struct etw_format_buffer){
		.sink = {.put = put_memory, .is_wide = is_wide}, .at = at, .limit = limit};
}

/* Formats into @limit units at @at; a format that fails leaves what came before it. */
static int format_into(void *at, size_t limit, bool is_wide, const void *format, va_list list,
		       unsigned options)
{
	struct etw_format_buffer buffer = etw_format_buffer(at, limit, is_wide);
	struct etw_format_arguments arguments = {.slots = NULL};
	int result;

	va_copy(arguments.list, list);
	result = etw_format(&buffer.sink, format, &arguments, options);
	va_end(arguments.list);
	return result;
}

static void end_at(void *buffer, bool is_wide, size_t at)
{
	if (is_wide)
		((uint16_t *)buffer)[at] = 0;
	else
		((char *)buffer)[at] = '\0';
}

static int refuse(int error, const char *function)
{
	(void)etw_invalid_parameter(error, function);
	return -1;
}

int etw_print_buffer(enum etw_format_rule rule, bool is_wide, void *buffer, size_t limit,
		     const void *format, va_list list)
{
	bool reserves_end = rule != ETW_RULE_OLD;
	size_t needed;
	int result;

	if (!format ||
	    (!buffer && (rule == ETW_RULE_STANDARD || rule == ETW_RULE_UNLIMITED || limit)))
		return refuse(EINVAL, is_wide ? "swprintf" : "snprintf");
	result = format_into(buffer, limit - (limit && reserves_end), is_wide, format, list, 0);
	if (rule == ETW_RULE_COUNT || !buffer)
		return result;
	needed = result < 0 ? 0 : (size_t)result;
	if (needed < limit) {
		end_at(buffer, is_wide, needed);
		return result;
	}
	if (reserves_end && limit)
		end_at(buffer, is_wide, limit - 1);
	if (rule == ETW_RULE_C99 || (rule == ETW_RULE_OLD && needed == limit))
		return result;
	return -1;
}

int etw_print_secure(bool is_wide, void *buffer, size_t size, size_t count, bool has_count,
		     const void *format, va_list list)
{
	const char *name = is_wide ? "swprintf_s" : "sprintf_s";
	bool truncates = has_count && count == (size_t)-1;
	size_t needed, most;
	int result;

	if (has_count && format && !buffer && !size && !count)
		return 0;
	if (!buffer || !format || !size)
		return refuse(EINVAL, name);
	result = format_into(buffer, size - 1, is_wide, format, list, ETW_FORMAT_STRICT);
	if (result < 0) {
		end_at(buffer, is_wide, 0);
		return -1;
	}
	needed = (size_t)result;
	most = has_count && count < size ? count : size - 1;
	if (needed <= most) {
		end_at(buffer, is_wide, needed);
		return result;
	}
	if (truncates || (has_count && count < size)) {
		end_at(buffer, is_wide, most);
		return -1;
	}
	end_at(buffer, is_wide, 0);
	return refuse(ERANGE, name);
}

struct file_sink {
	struct etw_format_sink sink;
	FILE *file;
};

static void put_file(struct etw_format_sink *sink, const void *units, size_t count)
{
	FILE *file = ((struct file_sink *)sink)->file;

	if (sink->error)
		return;
	if (sink->is_wide ? etw_stream_put(file, units, count) != 0
			  : fwrite_unlocked(units, 1, count, file) != count)
		sink->error = errno ? errno : EIO;
}

int etw_print_file(FILE *file, bool is_wide, const void *format, va_list list, unsigned options)
{
	struct file_sink out = {.sink = {.put = put_file, .is_wide = is_wide}, .file = file};
	struct etw_format_arguments arguments = {.slots = NULL};
	int result;

	if (!file || !format)
		return refuse(EINVAL, is_wide ? "fwprintf" : "fprintf");
	va_copy(arguments.list, list);
	flockfile(file);
	result = etw_format(&out.sink, format, &arguments, options);
	funlockfile(file);
	va_end(arguments.list);
	return result;
}
