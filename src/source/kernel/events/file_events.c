/* SPDX-License-Identifier: MIT */
#include "source/kernel/events/file_events.h"

#include "base/utf.h"
#include "source/kernel/events/event_bytes.h"

uint32_t etw_kernel_file_name_event(uint8_t type, uint64_t key, const char *text, size_t bytes,
				    int64_t time_raw, uint8_t *to)
{
	uint32_t units = (uint32_t)etw_utf8_put_utf16(text, bytes, NULL);
	uint8_t *at = etw_kernel_event_begin(to, GROUP_FILE, type, 8 + (units + 1) * 2, time_raw);

	at = put64(at, key);
	(void)etw_utf8_put_utf16(text, bytes, at);
	at = put16(at + units * 2, 0);
	return (uint32_t)(at - to);
}

void etw_kernel_write_file_names(struct etw_kernel_out *out,
				 const struct etw_kernel_file_names *names)
{
	uint8_t event[ETW_KERNEL_NAME_EVENT_MAX];

	for (const struct etw_kernel_told_name *name = names->oldest; name; name = name->previous) {
		/* Not those that were replaced. */
		if (etw_kernel_file_names_find(names, name->key, UINT64_MAX) != name)
			continue;
		uint32_t bytes = etw_kernel_file_name_event(ETW_KERNEL_NAME_RUNDOWN, name->key,
							    name->text, name->text_bytes, 0, event);
		uint8_t *room = etw_kernel_out_add(out, bytes,
						   offsetof(struct wire_perfinfo_header, time_raw));

		if (room)
			memcpy(room, event, bytes);
	}
}
