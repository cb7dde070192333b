/* SPDX-License-Identifier: MIT */
#include "process/subject.h"

#include <stddef.h>

#include "base/guid.h"
#include "base/macros.h"
#include "wire/class_guids.h"

/* In which fields the events of a provider say what they are about; the first that an event has counts. */
struct rule {
	GUID provider;
	const char *pids[2], *tids[3]; /* NULL: no more */
};

/* The classes that most events are of come first. */
static const struct rule rules[] = {
	{.provider = WIRE_CLASS_PERF_INFO, .tids = {"ThreadId"}},
	{.provider = WIRE_CLASS_STACK_WALK, .pids = {"StackProcess"}, .tids = {"StackThread"}},
	{.provider = WIRE_CLASS_PROCESS, .pids = {"ProcessId"}, .tids = {"ThreadId"}},
	/* Thread: of a switch, the thread that runs from now on. */
	{.provider = WIRE_CLASS_THREAD,
	 .pids = {"ProcessId"},
	 .tids = {"NewThreadId", "TThreadId", "ThreadId"}},
	{.provider = WIRE_CLASS_PAGE_FAULT, .pids = {"ProcessId", "HRPid"}, .tids = {"TThreadId"}},
	/* DiskIo: the header is that of whoever ran when the disk was done. */
	{.provider = WIRE_CLASS_DISK_IO, .tids = {"IssuingThreadId"}},
	{.provider = WIRE_CLASS_FILE_IO, .pids = {"ProcessId"}, .tids = {"TTID"}},
	{.provider = WIRE_CLASS_IMAGE, .pids = {"ProcessId"}},
	/* ImageID, which whoever merges the trace adds */
	{.provider = WIRE_CLASS_IMAGE_ID, .pids = {"ProcessId"}},
	{.provider = WIRE_CLASS_TCP_IP, .pids = {"PID"}},
	{.provider = WIRE_CLASS_UDP_IP, .pids = {"PID"}},
	/* Object: a handle that a rundown lists, or one of another process */
	{.provider = WIRE_CLASS_OBJECT, .pids = {"ProcessId"}},
	/* SystemConfig: services */
	{.provider = WIRE_CLASS_SYSTEM_CONFIG, .pids = {"ProcessId"}},
	{.provider = WIRE_PROVIDER_KERNEL_PROCESS, .pids = {"ProcessID"}, .tids = {"ThreadID"}},
	{.provider = WIRE_PROVIDER_KERNEL_NETWORK, .pids = {"PID"}},
	{.provider = WIRE_PROVIDER_KERNEL_DISK, .tids = {"IssuingThreadId"}},
};

static const struct rule *find_rule(const GUID *provider)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (UNLIKELY(rules[i].provider.Data1 == provider->Data1) &&
		    etw_guid_equal(&rules[i].provider, provider))
			return &rules[i];
	}
	return NULL;
}

bool etw_process_in_payload(const EVENT_RECORD *record)
{
	return find_rule(&record->EventHeader.ProviderId);
}

bool etw_process_number(const struct etw_decoding *decoding, const char *name, uint64_t *ret)
{
	const struct etw_item *item = etw_decoding_find(decoding, name);

	return item && etw_decoding_u64(decoding, item, ret);
}

/* The id in the first of the fields that the event has; ETW_PROCESS_NONE where it has none of them. */
static uint32_t find_id(const struct etw_decoding *decoding, const char *const *names, size_t count)
{
	uint64_t value;

	for (size_t i = 0; i < count && names[i]; i++) {
		if (etw_process_number(decoding, names[i], &value))
			return value < ETW_PROCESS_NONE ? (uint32_t)value : ETW_PROCESS_NONE;
	}
	return ETW_PROCESS_NONE;
}

struct etw_process_ids etw_process_ids_of(const struct etw_decoding *decoding)
{
	const struct etw_process_ids header = etw_process_ids_of_header(decoding->record);
	const struct rule *rule = find_rule(&decoding->record->EventHeader.ProviderId);
	struct etw_process_ids ids;

	if (LIKELY(!rule) || !decoding->schema)
		return header;
	ids.pid = find_id(decoding, rule->pids, ARRAY_SIZE(rule->pids));
	ids.tid = find_id(decoding, rule->tids, ARRAY_SIZE(rule->tids));
	if (ids.pid == ETW_PROCESS_NONE && ids.tid == ETW_PROCESS_NONE)
		return header;
	/* Half of what the header says is right only where the payload agrees with the other half. */
	if (ids.pid == ETW_PROCESS_NONE && ids.tid == header.tid)
		ids.pid = header.pid;
	else if (ids.tid == ETW_PROCESS_NONE && ids.pid == header.pid)
		ids.tid = header.tid;
	return ids;
}
