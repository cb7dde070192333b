/* SPDX-License-Identifier: MIT */
#include "schema/event_name.h"

#include <string.h>

#include "base/number.h"
#include "base/pattern.h"

#define PATH_BYTES_MAX 512 /* of "Task/Opcode" */

static const char *name_or_null(const char *name)
{
	return name && *name ? name : NULL;
}

const char *etw_schema_event_task(const struct etw_schema *schema)
{
	const char *name;

	if (!schema)
		return NULL;
	name = name_or_null(schema->task_name);
	return name ? name : name_or_null(schema->event_name);
}

const char *etw_schema_event_opcode(const struct etw_schema *schema, uint8_t opcode)
{
	const char *name = schema ? name_or_null(schema->opcode_name) : NULL;

	if (schema && schema->source == DecodingSourceWbem)
		return name;
	if (!opcode)
		return NULL;
	if (name && !strncmp(name, "win:", 4))
		name += 4;
	if (!name && schema && schema->source == DecodingSourceTlg)
		return opcode == 1 ? "Start" : opcode == 2 ? "Stop" : NULL;
	return name;
}

static size_t trimmed(const char *name)
{
	size_t bytes = name ? strlen(name) : 0;

	while (bytes && name[bytes - 1] == ' ')
		bytes--;
	return bytes;
}

bool etw_schema_name_fits(const char *pattern, const char *name)
{
	size_t bytes = trimmed(name);

	return bytes && etw_pattern_matches(pattern, name, bytes);
}

bool etw_schema_word_is_number(const char *word)
{
	uint64_t number;

	return etw_number_parse(word, UINT16_MAX, &number);
}

/* "Task/Opcode", as the text shows it. */
static bool take_path(const char *task, const char *opcode, etw_schema_name_taker *take,
		      void *context)
{
	char path[PATH_BYTES_MAX];
	size_t task_bytes = trimmed(task), opcode_bytes = trimmed(opcode);

	if (!task_bytes || !opcode_bytes || task_bytes + opcode_bytes + 1 > sizeof(path))
		return false;
	memcpy(path, task, task_bytes);
	path[task_bytes] = '/';
	memcpy(path + task_bytes + 1, opcode, opcode_bytes);
	return take(context, path, task_bytes + 1 + opcode_bytes);
}

static bool take_name(const char *name, etw_schema_name_taker *take, void *context)
{
	const size_t bytes = trimmed(name);

	return bytes && take(context, name, bytes);
}

bool etw_schema_each_event_name(const EVENT_HEADER *header, const struct etw_schema *schema,
				etw_schema_name_taker *take, void *context)
{
	const char *task = etw_schema_event_task(schema);
	const char *opcode = etw_schema_event_opcode(schema, header->EventDescriptor.Opcode);
	const char *full = schema->opcode_name; /* "win:Start", as JSON shows it */

	return take_name(task, take, context) || take_name(opcode, take, context) ||
	       take_name(full, take, context) || take_name(schema->event_name, take, context) ||
	       take_path(task, opcode, take, context) || take_path(task, full, take, context);
}

static bool fits(void *context, const char *name, size_t bytes)
{
	return etw_pattern_matches(context, name, bytes);
}

bool etw_schema_event_is(const char *word, const EVENT_HEADER *header,
			 const struct etw_schema *schema)
{
	const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;
	uint64_t number;

	if (etw_number_parse(word, UINT16_MAX, &number))
		return number == (header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER
					  ? descriptor->Opcode
					  : descriptor->Id);
	return schema && etw_schema_each_event_name(header, schema, fits, (void *)(uintptr_t)word);
}
