/* SPDX-License-Identifier: MIT */
/* The bytes of what is done with files. See cpu_events.h. */
#include "source/kernel/events/cpu_events_internal.h"
#include "source/kernel/events/file_events.h"

static uint32_t make_name(const struct etw_kernel_cpu_maker *maker,
			  const struct etw_kernel_cpu_record *record, int64_t time_raw, uint8_t *to)
{
	const struct etw_kernel_file_name *name = (const void *)(record + 1);
	const char *path = (const char *)(name + 1);
	char text[ETW_KERNEL_NAME_TEXT_MAX];
	size_t bytes;

	if (name->path_bytes > record->payload_bytes - sizeof(*name) || !maker->file_names)
		return 0;
	bytes = etw_kernel_file_name_text(maker->file_names, name, path, name->path_bytes, text);
	if (name->type == ETW_KERNEL_NAME_DELETED)
		etw_kernel_file_names_remove(maker->file_names, name->key);
	else
		etw_kernel_file_names_put(maker->file_names, name->key, text, bytes);
	return etw_kernel_file_name_event((uint8_t)name->type, name->key, text, bytes, time_raw,
					  to);
}

uint32_t etw_kernel_cpu_file_event(const struct etw_kernel_cpu_maker *maker,
				   const struct etw_kernel_cpu_record *record, int64_t time_raw,
				   uint8_t *to)
{
	switch (record->kind) {
	case ETW_KERNEL_FILE_NAME:
		return record->payload_bytes >= sizeof(struct etw_kernel_file_name)
			       ? make_name(maker, record, time_raw, to)
			       : 0;
	default:
		return 0;
	}
}
