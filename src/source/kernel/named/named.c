/* SPDX-License-Identifier: MIT */
#include "source/kernel/named/named.h"

#include <string.h>

#include "base/bytes.h"
#include "base/time.h"
#include "base/utf.h"
#include "wire/etl_event.h"

const struct etw_kernel_named_provider *const *etw_kernel_named_providers(void)
{
	static const struct etw_kernel_named_provider *const all[ETW_KERNEL_NAMED_PROVIDERS] = {
		&etw_kernel_named_process, &etw_kernel_named_file, &etw_kernel_named_network,
		&etw_kernel_named_disk, &etw_kernel_named_memory};

	return all;
}

bool etw_kernel_named_read(const uint8_t *event, uint32_t byte_count,
			   struct etw_kernel_named_classic *ret)
{
	struct wire_system_header system;
	struct wire_perfinfo_header info;

	*ret = (struct etw_kernel_named_classic){0};
	if (byte_count >= sizeof(info) && event[2] == WIRE_HEADER_PERFINFO64) {
		memcpy(&info, event, sizeof(info));
		ret->group = info.group;
		ret->type = info.type;
		ret->version = le16_get(info.version);
		ret->payload = event + sizeof(info);
		ret->byte_count = byte_count - (uint32_t)sizeof(info);
		return true;
	}
	if (byte_count < sizeof(system) || event[2] != WIRE_HEADER_SYSTEM64)
		return false;
	memcpy(&system, event, sizeof(system));
	ret->group = system.group;
	ret->type = system.type;
	ret->version = le16_get(system.version);
	ret->has_actor = true;
	ret->tid = le32_get(system.thread_id);
	ret->pid = le32_get(system.process_id);
	ret->kernel_ticks = le32_get(system.kernel_ticks);
	ret->user_ticks = le32_get(system.user_ticks);
	ret->payload = event + sizeof(system);
	ret->byte_count = byte_count - (uint32_t)sizeof(system);
	return true;
}

EVENT_DESCRIPTOR etw_kernel_named_describe(uint16_t id, uint8_t version, uint8_t opcode,
					   uint16_t task, uint64_t keyword)
{
	return (EVENT_DESCRIPTOR){
		.Id = id,
		.Version = version,
		.Channel = ETW_KERNEL_NAMED_CHANNEL,
		.Level = ETW_KERNEL_NAMED_LEVEL,
		.Opcode = opcode,
		.Task = task,
		.Keyword = keyword | ETW_KERNEL_NAMED_CHANNEL_KEYWORD,
	};
}

uint64_t etw_kernel_named_filetime(const struct etw_kernel_named_maker *maker,
				   uint64_t monotonic_ns)
{
	return (uint64_t)(ETW_FILETIME_UNIX_EPOCH +
			  ((int64_t)monotonic_ns + maker->realtime_ns) / ETW_NS_PER_FT);
}

uint32_t etw_kernel_named_process_of(const struct etw_kernel_named_maker *maker, uint32_t tid)
{
	return maker->tasks ? etw_kernel_tasks_process_of(maker->tasks, tid) : 0;
}

void etw_kernel_named_put(struct etw_kernel_named_writer *writer, const void *bytes, uint32_t count)
{
	if (writer->is_full || count > writer->room - writer->used) {
		writer->is_full = true;
		return;
	}
	if (count)
		memcpy(writer->at + writer->used, bytes, count);
	writer->used += count;
}

void etw_kernel_named_put32(struct etw_kernel_named_writer *writer, uint32_t value)
{
	const le32 stored = le32_of(value);

	etw_kernel_named_put(writer, &stored, sizeof(stored));
}

void etw_kernel_named_put64(struct etw_kernel_named_writer *writer, uint64_t value)
{
	const le64 stored = le64_of(value);

	etw_kernel_named_put(writer, &stored, sizeof(stored));
}

void etw_kernel_named_put_wide(struct etw_kernel_named_writer *writer, const char *text,
			       size_t bytes)
{
	size_t units = etw_utf8_put_utf16(text, bytes, NULL);

	if (writer->is_full || (units + 1) * 2 > writer->room - writer->used) {
		writer->is_full = true;
		return;
	}
	(void)etw_utf8_put_utf16(text, bytes, writer->at + writer->used);
	writer->used += (uint32_t)units * 2;
	etw_kernel_named_put(writer, "\0", 2);
}

struct etw_kernel_named_writer etw_kernel_named_begin(struct etw_kernel_named_event *event)
{
	return (struct etw_kernel_named_writer){.at = event->payload,
						.room = sizeof(event->payload)};
}

bool etw_kernel_named_end(const struct etw_kernel_named_writer *writer,
			  struct etw_kernel_named_event *event)
{
	event->byte_count = writer->used;
	return !writer->is_full;
}
