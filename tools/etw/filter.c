/* SPDX-License-Identifier: MIT */
#include "tools/etw/filter.h"

#include <string.h>

#include "base/guid.h"
#include "export/export.h"
#include "tools/common/number.h"
#include "tools/common/pattern.h"
#include "tools/common/program.h"

#define NAME_BYTES_MAX 512

void filter_done(struct filter *filter)
{
	etw_words_done(&filter->providers);
	etw_words_done(&filter->events);
	etw_words_done(&filter->pids);
}

bool filter_check(const struct filter *filter)
{
	uint64_t value;

	for (size_t i = 0; i < filter->pids.count; i++) {
		if (!etw_number_parse(filter->pids.at[i], UINT32_MAX, &value)) {
			etw_program_error("--pid wants a process id, not \"%s\"",
					  filter->pids.at[i]);
			return false;
		}
	}
	return true;
}

bool filter_wants_process(const struct filter *filter, const EVENT_RECORD *record)
{
	uint64_t pid;

	for (size_t i = 0; i < filter->pids.count; i++) {
		if (etw_number_parse(filter->pids.at[i], UINT32_MAX, &pid) &&
		    pid == record->EventHeader.ProcessId)
			return true;
	}
	return !filter->pids.count;
}

static bool matches_name(const char *pattern, const char *name)
{
	size_t bytes = name ? strlen(name) : 0;

	while (bytes && name[bytes - 1] == ' ')
		bytes--;
	return bytes && etw_pattern_matches(pattern, name, bytes);
}

static bool is_provider(const char *word, const EVENT_RECORD *record,
			const struct etw_schema *schema, const char *provider_name)
{
	GUID guid;

	if (!etw_guid_parse(word, &guid))
		return etw_guid_equal(&guid, &record->EventHeader.ProviderId) ||
		       (schema && etw_guid_equal(&guid, &schema->provider));
	return matches_name(word, provider_name) ||
	       (schema && matches_name(word, schema->provider_name)) ||
	       (schema && schema->source == DecodingSourceWbem &&
		matches_name(word, schema->task_name));
}

/* "Task/Opcode", as the text shows it. */
static bool matches_path(const char *pattern, const char *task, const char *opcode)
{
	char path[NAME_BYTES_MAX];
	size_t task_bytes = strlen(task), opcode_bytes = strlen(opcode);

	if (task_bytes + opcode_bytes + 1 > sizeof(path))
		return false;
	memcpy(path, task, task_bytes);
	path[task_bytes] = '/';
	memcpy(path + task_bytes + 1, opcode, opcode_bytes);
	return etw_pattern_matches(pattern, path, task_bytes + 1 + opcode_bytes);
}

static bool is_event(const char *word, const EVENT_RECORD *record, const struct etw_schema *schema)
{
	const EVENT_HEADER *header = &record->EventHeader;
	const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;
	const char *task, *opcode;
	uint64_t number;

	if (etw_number_parse(word, UINT16_MAX, &number))
		return number == (header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER
					  ? descriptor->Opcode
					  : descriptor->Id);
	if (!schema)
		return false;
	task = etw_export_task_name(schema);
	opcode = etw_export_opcode_name(schema, descriptor->Opcode);
	return matches_name(word, task) || matches_name(word, opcode) ||
	       matches_name(word, schema->event_name) ||
	       (task && opcode && matches_path(word, task, opcode));
}

bool filter_wants_kind(const struct filter *filter, const EVENT_RECORD *record,
		       const struct etw_schema *schema, const char *provider_name)
{
	bool is_wanted = !filter->providers.count;

	for (size_t i = 0; i < filter->providers.count && !is_wanted; i++)
		is_wanted = is_provider(filter->providers.at[i], record, schema, provider_name);
	if (!is_wanted || !filter->events.count)
		return is_wanted;
	for (size_t i = 0; i < filter->events.count; i++) {
		if (is_event(filter->events.at[i], record, schema))
			return true;
	}
	return false;
}
