/* SPDX-License-Identifier: MIT */
#include "schema/origin.h"

#include <stddef.h>

#include "base/macros.h"

const char *etw_schema_origin_name(enum etw_schema_origin origin)
{
	static const char *const names[] = {
		[ETW_SCHEMA_ORIGIN_KNOWN] = "known",
		[ETW_SCHEMA_ORIGIN_INSTALLED] = "installed",
		[ETW_SCHEMA_ORIGIN_LOADED] = "loaded",
		[ETW_SCHEMA_ORIGIN_USER] = "file",
		[ETW_SCHEMA_ORIGIN_EMBEDDED] = "embedded",
		[ETW_SCHEMA_ORIGIN_TRACE] = "trace",
		[ETW_SCHEMA_ORIGIN_EVENT] = "event",
		[ETW_SCHEMA_ORIGIN_BUILT_IN] = "built-in",
	};

	return (size_t)origin < ARRAY_SIZE(names) ? names[origin] : NULL;
}

const char *etw_schema_mark_name(unsigned index)
{
	static const char *const names[ETW_SCHEMA_MARKS] = {
		"incomplete",
		"inferred",
		"doubtful",
		"mended",
	};

	return index < ETW_SCHEMA_MARKS ? names[index] : NULL;
}

const char *etw_schema_marks_text(unsigned marks)
{
	static const char *const texts[1 << ETW_SCHEMA_MARKS] = {
		NULL,
		"incomplete",
		"inferred",
		"incomplete, inferred",
		"doubtful",
		"incomplete, doubtful",
		"inferred, doubtful",
		"incomplete, inferred, doubtful",
		"mended",
		"incomplete, mended",
		"inferred, mended",
		"incomplete, inferred, mended",
		"doubtful, mended",
		"incomplete, doubtful, mended",
		"inferred, doubtful, mended",
		"incomplete, inferred, doubtful, mended",
	};

	return marks < ARRAY_SIZE(texts) ? texts[marks] : NULL;
}

void etw_schema_origin_write(const struct etw_schema *schema, struct etw_text *text)
{
	const char *origin = schema ? etw_schema_origin_name((enum etw_schema_origin)schema->origin)
				    : NULL;

	if (!origin)
		return;
	etw_text_puts(text, origin);
	if (!schema->marks)
		return;
	etw_text_puts(text, ", ");
	etw_text_puts(text, etw_schema_marks_text(schema->marks));
}
