/* SPDX-License-Identifier: MIT */
#include "process/subject.h"

#include <stddef.h>

#include "base/guid.h"
#include "base/macros.h"
#include "process/kernel_class.h"

const GUID etw_class_process = {
	0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
const GUID etw_class_thread = {
	0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
const GUID etw_class_perfinfo = {
	0xce1dbfb4, 0x137e, 0x4da6, {0x87, 0xb0, 0x3f, 0x59, 0xaa, 0x10, 0x2c, 0xbc}};
const GUID etw_provider_kernel_process = {
	0x22fb2cd6, 0x0e7b, 0x422b, {0xa0, 0xc7, 0x2f, 0xad, 0x1f, 0xd0, 0xe7, 0x16}};

/* In which fields the events of a provider say what they are about; the first that an event has counts. */
struct rule {
	GUID provider;
	const char *pids[2], *tids[3]; /* NULL: no more */
};

/* The classes that most events are of come first. */
static const struct rule rules[] = {
	/* PerfInfo */
	{.provider = {0xce1dbfb4, 0x137e, 0x4da6, {0x87, 0xb0, 0x3f, 0x59, 0xaa, 0x10, 0x2c, 0xbc}},
	 .tids = {"ThreadId"}},
	/* StackWalk */
	{.provider = {0xdef2fe46, 0x7bd6, 0x4b80, {0xbd, 0x94, 0xf5, 0x7f, 0xe2, 0x0d, 0x0c, 0xe3}},
	 .pids = {"StackProcess"},
	 .tids = {"StackThread"}},
	/* Process */
	{.provider = {0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}},
	 .pids = {"ProcessId"},
	 .tids = {"ThreadId"}},
	/* Thread: of a switch, the thread that runs from now on. */
	{.provider = {0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}},
	 .pids = {"ProcessId"},
	 .tids = {"NewThreadId", "TThreadId", "ThreadId"}},
	/* PageFault */
	{.provider = {0x3d6fa8d3, 0xfe05, 0x11d0, {0x9d, 0xda, 0, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}},
	 .pids = {"ProcessId", "HRPid"},
	 .tids = {"TThreadId"}},
	/* DiskIo: the header is that of whoever ran when the disk was done. */
	{.provider = {0x3d6fa8d4, 0xfe05, 0x11d0, {0x9d, 0xda, 0, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}},
	 .tids = {"IssuingThreadId"}},
	/* FileIo */
	{.provider = {0x90cbdc39, 0x4a3e, 0x11d1, {0x84, 0xf4, 0, 0, 0xf8, 0x04, 0x64, 0xe3}},
	 .pids = {"ProcessId"},
	 .tids = {"TTID"}},
	/* Image */
	{.provider = {0x2cb15d1d, 0x5fc1, 0x11d2, {0xab, 0xe1, 0, 0xa0, 0xc9, 0x11, 0xf5, 0x18}},
	 .pids = {"ProcessId"}},
	/* ImageID, which whoever merges the trace adds */
	{.provider = {0xb3e675d7, 0x2554, 0x4f18, {0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde}},
	 .pids = {"ProcessId"}},
	/* TcpIp */
	{.provider = {0x9a280ac0, 0xc8e0, 0x11d1, {0x84, 0xe2, 0, 0xc0, 0x4f, 0xb9, 0x98, 0xa2}},
	 .pids = {"PID"}},
	/* UdpIp */
	{.provider = {0xbf3a50c5, 0xa9c9, 0x4988, {0xa0, 0x05, 0x2d, 0xf0, 0xb7, 0xc8, 0x0f, 0x80}},
	 .pids = {"PID"}},
	/* Object: a handle that a rundown lists, or one of another process */
	{.provider = {0x89497f50, 0xeffe, 0x4440, {0x8c, 0xf2, 0xce, 0x6b, 0x1c, 0xdc, 0xac, 0xa7}},
	 .pids = {"ProcessId"}},
	/* SystemConfig: services */
	{.provider = {0x01853a65, 0x418f, 0x4f36, {0xae, 0xfc, 0xdc, 0x0f, 0x1d, 0x2f, 0xd2, 0x35}},
	 .pids = {"ProcessId"}},
	/* Microsoft-Windows-Kernel-Process */
	{.provider = {0x22fb2cd6, 0x0e7b, 0x422b, {0xa0, 0xc7, 0x2f, 0xad, 0x1f, 0xd0, 0xe7, 0x16}},
	 .pids = {"ProcessID"},
	 .tids = {"ThreadID"}},
	/* Microsoft-Windows-Kernel-Network */
	{.provider = {0x7dd42a49, 0x5329, 0x4832, {0x8d, 0xfd, 0x43, 0xd9, 0x79, 0x15, 0x3a, 0x88}},
	 .pids = {"PID"}},
	/* Microsoft-Windows-Kernel-Disk */
	{.provider = {0xc7bde69a, 0xe1e0, 0x4177, {0xb6, 0xef, 0x28, 0x3a, 0xd1, 0x52, 0x52, 0x71}},
	 .tids = {"IssuingThreadId"}},
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
