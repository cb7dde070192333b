/* SPDX-License-Identifier: MIT */
/*
 * evntrace.h: EnumerateTraceGuids and EnumerateTraceGuidsEx. Every process registers with the system's host and with its
 * user's: what both know is told once. What this process has registered is told also where there is no host.
 */
#include <evntrace.h>
#include <winerror.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/control/hosts.h"
#include "api/provider/meet.h"
#include "api/win32_error.h"
#include "base/guid.h"
#include "base/macros.h"

#define OWN_MAX 2048 /* registrations of a process */

/* Bytes that grow. */
struct list {
	uint8_t *at; /* owned */
	size_t bytes, room;
	uint32_t count; /* as the hosts count */
};

static void list_done(struct list *list)
{
	free(list->at);
}

static int append(struct list *list, const void *at, size_t bytes)
{
	if (bytes > list->room - list->bytes) {
		size_t room = (list->bytes + bytes) * 2;
		uint8_t *grown = realloc(list->at, room);

		if (!grown)
			return -ENOMEM;
		list->at = grown;
		list->room = room;
	}
	if (bytes)
		memcpy(list->at + list->bytes, at, bytes);
	list->bytes += bytes;
	return 0;
}

static int append_part(void *context, const struct etw_control_answer *part)
{
	struct list *list = context;

	list->count += part->count;
	return append(list, part->bytes, part->byte_count);
}

static int own_guids(struct list *ret)
{
	CLEANUP(freep) GUID *guids = calloc(OWN_MAX, sizeof(GUID));
	size_t count;

	if (!guids)
		return -ENOMEM;
	count = etw_provider_list(guids, OWN_MAX);
	return append(ret, guids, (count < OWN_MAX ? count : OWN_MAX) * sizeof(GUID));
}

static int compare_guids(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(GUID));
}

/* Descending, so that of one GUID the entry that is enabled comes before the blank one. */
static int compare_records(const void *left, const void *right)
{
	return -memcmp(left, right, sizeof(struct wire_provider_entry));
}

/* Sorts records, which begin with their GUID, and keeps the first of each GUID. */
static void make_unique(struct list *list, size_t record_bytes)
{
	size_t count = list->bytes / record_bytes, kept = 0;

	if (!count)
		return;
	qsort(list->at, count, record_bytes,
	      record_bytes == sizeof(GUID) ? compare_guids : compare_records);
	for (size_t i = 0; i < count; i++) {
		if (kept && compare_guids(list->at + (kept - 1) * record_bytes,
					  list->at + i * record_bytes) == 0)
			continue;
		memmove(list->at + kept++ * record_bytes, list->at + i * record_bytes,
			record_bytes);
	}
	list->bytes = kept * record_bytes;
}

/* The entries of all hosts, and of this process. */
static int list_providers(struct list *ret)
{
	static const GUID none;
	CLEANUP(list_done) struct list own = {0};

	etw_provider_meet_hosts();
	TRY(etw_hosts_enumerate(WIRE_ENUMERATE_PROVIDERS, &none, append_part, ret));
	TRY(own_guids(&own));
	for (size_t at = 0; at < own.bytes; at += sizeof(GUID)) {
		struct wire_provider_entry entry = {0};

		memcpy(&entry.guid, own.at + at, sizeof(entry.guid));
		TRY(append(ret, &entry, sizeof(entry)));
	}
	make_unique(ret, sizeof(struct wire_provider_entry));
	return 0;
}

static int list_guids(struct list *ret)
{
	CLEANUP(list_done) struct list entries = {0};

	TRY(list_providers(&entries));
	for (size_t at = 0; at < entries.bytes; at += sizeof(struct wire_provider_entry))
		TRY(append(ret, entries.at + at, sizeof(GUID)));
	return 0;
}

static int list_own(struct list *ret)
{
	TRY(own_guids(ret));
	make_unique(ret, sizeof(GUID));
	return 0;
}

static int list_groups(struct list *ret)
{
	static const GUID none;

	etw_provider_meet_hosts();
	TRY(etw_hosts_enumerate(WIRE_ENUMERATE_GROUPS, &none, append_part, ret));
	make_unique(ret, sizeof(GUID));
	return 0;
}

static int append_counted(struct list *to, const struct list *from, size_t record_bytes)
{
	const ULONG count = (ULONG)(from->bytes / record_bytes);

	TRY(append(to, &count, sizeof(count)));
	return append(to, from->at, from->bytes);
}

/* The sessions that have enabled a group, and the group's members. */
static int describe_group(const GUID *group, struct list *ret)
{
	CLEANUP(list_done) struct list sessions = {0};
	CLEANUP(list_done) struct list members = {0};

	etw_provider_meet_hosts();
	TRY(etw_hosts_enumerate(WIRE_ENUMERATE_GROUP_SESSIONS, group, append_part, &sessions));
	TRY(etw_hosts_enumerate(WIRE_ENUMERATE_MEMBERS, group, append_part, &members));
	make_unique(&members, sizeof(GUID));
	if (!members.bytes && !sessions.bytes)
		return -ENOENT;
	TRY(append_counted(ret, &sessions, sizeof(TRACE_ENABLE_INFO)));
	return append_counted(ret, &members, sizeof(GUID));
}

/* Registrations of this process that no host knows. */
static int append_own_instances(const GUID *guid, struct list *ret)
{
	const TRACE_PROVIDER_INSTANCE_INFO info = {.NextOffset = sizeof(info),
						   .Pid = (ULONG)getpid()};
	CLEANUP(list_done) struct list own = {0};

	TRY(own_guids(&own));
	for (size_t at = 0; at < own.bytes; at += sizeof(GUID)) {
		if (compare_guids(own.at + at, guid) != 0)
			continue;
		TRY(append(ret, &info, sizeof(info)));
		ret->count++;
	}
	return 0;
}

/*
 * The instances of a provider, as one host after the other tells them. What a process has with a second host is put behind
 * what it has with the first: the same registration, with that host's sessions.
 */
struct instances {
	struct list list;
	struct list later; /* of the host that is being asked */
	bool is_first_done;
};

static TRACE_PROVIDER_INSTANCE_INFO instance_at(const struct list *list, size_t at)
{
	TRACE_PROVIDER_INSTANCE_INFO info;

	memcpy(&info, list->at + at, sizeof(info));
	return info;
}

/* Where the @nth instance of a process is in a list; its end: there is none. */
static size_t find_instance(const struct list *list, ULONG pid, unsigned nth)
{
	size_t at = 0;

	while (at < list->bytes) {
		const TRACE_PROVIDER_INSTANCE_INFO info = instance_at(list, at);

		if (info.Pid == pid && nth-- == 0)
			break;
		at += info.NextOffset;
	}
	return at;
}

static int put_enables(struct list *to, const struct list *from, size_t at,
		       TRACE_PROVIDER_INSTANCE_INFO *info)
{
	const TRACE_PROVIDER_INSTANCE_INFO more = instance_at(from, at);

	info->EnableCount += more.EnableCount;
	info->NextOffset += (ULONG)(more.NextOffset - sizeof(more));
	return append(to, from->at + at + sizeof(more), more.NextOffset - sizeof(more));
}

/* How many instances of the same process stand before this one. */
static unsigned count_before(const struct list *list, size_t end, ULONG pid)
{
	unsigned count = 0;

	for (size_t at = 0; at < end; at += instance_at(list, at).NextOffset)
		count += instance_at(list, at).Pid == pid;
	return count;
}

/* Both hosts' instances in one list: those of the first with what the second adds, then those of the second alone. */
static int merge(const struct list *first, const struct list *second, struct list *ret)
{
	for (size_t at = 0; at < first->bytes; at += instance_at(first, at).NextOffset) {
		TRACE_PROVIDER_INSTANCE_INFO info = instance_at(first, at);
		const size_t start = ret->bytes;
		const size_t other = find_instance(second, info.Pid,
						   count_before(first, at, info.Pid));

		TRY(append(ret, first->at + at, info.NextOffset));
		if (other < second->bytes)
			TRY(put_enables(ret, second, other, &info));
		memcpy(ret->at + start, &info, sizeof(info));
		ret->count++;
	}
	for (size_t at = 0; at < second->bytes; at += instance_at(second, at).NextOffset) {
		const TRACE_PROVIDER_INSTANCE_INFO info = instance_at(second, at);

		if (find_instance(first, info.Pid, count_before(second, at, info.Pid)) <
		    first->bytes)
			continue;
		TRY(append(ret, second->at + at, info.NextOffset));
		ret->count++;
	}
	return 0;
}

/* A new host begins with the part that has the cursor 0; parts of one host follow each other. */
static int take_instances(void *context, const struct etw_control_answer *part)
{
	struct instances *instances = context;
	struct list *to = instances->is_first_done ? &instances->later : &instances->list;

	TRY(append_part(to, part));
	instances->is_first_done |= part->next == 0;
	return 0;
}

static void end_chain(struct list *list)
{
	size_t at = 0, last = 0;

	for (; at < list->bytes; at += instance_at(list, at).NextOffset)
		last = at;
	memset(list->at + last, 0, sizeof(ULONG)); /* NextOffset of the last one */
}

static int describe_provider(const GUID *guid, struct list *ret)
{
	CLEANUP(list_done) struct list merged = {0};
	struct instances instances = {0};
	TRACE_GUID_INFO info = {0};
	int r;

	etw_provider_meet_hosts();
	r = etw_hosts_enumerate(WIRE_ENUMERATE_INSTANCES, guid, take_instances, &instances);
	if (r == 0)
		r = merge(&instances.list, &instances.later, &merged);
	if (r == 0 && !merged.count)
		r = append_own_instances(guid, &merged);
	list_done(&instances.list);
	list_done(&instances.later);
	TRY(r);
	if (!merged.count)
		return -ENOENT;
	end_chain(&merged);
	info.InstanceCount = merged.count;
	TRY(append(ret, &info, sizeof(info)));
	return append(ret, merged.at, merged.bytes);
}

static ULONG enumerate_error(int result)
{
	return result == -ENOENT ? ERROR_WMI_GUID_NOT_FOUND : etw_win32_from_result(result);
}

static ULONG give(const struct list *list, void *to, ULONG room, ULONG *ret_bytes)
{
	if (list->bytes > UINT32_MAX)
		return ERROR_NOT_ENOUGH_MEMORY;
	*ret_bytes = (ULONG)list->bytes;
	if (room < list->bytes)
		return ERROR_INSUFFICIENT_BUFFER;
	if (list->bytes)
		memcpy(to, list->at, list->bytes);
	return ERROR_SUCCESS;
}

/* Whether the class is about one GUID, which the caller gives. */
static bool takes_guid(TRACE_QUERY_INFO_CLASS class_)
{
	return class_ == TraceGuidQueryInfo || class_ == TraceGroupQueryInfo;
}

static int enumerate(TRACE_QUERY_INFO_CLASS class_, const GUID *guid, struct list *ret)
{
	switch (class_) {
	case TraceGuidQueryList:
		return list_guids(ret);
	case TraceGuidQueryInfo:
		return describe_provider(guid, ret);
	case TraceGuidQueryProcess:
		return list_own(ret);
	case TraceGroupQueryList:
		return list_groups(ret);
	case TraceGroupQueryInfo:
		return describe_group(guid, ret);
	default:
		return -EINVAL;
	}
}

ULONG EnumerateTraceGuidsEx(TRACE_QUERY_INFO_CLASS TraceQueryInfoClass, PVOID InBuffer,
			    ULONG InBufferSize, PVOID OutBuffer, ULONG OutBufferSize,
			    PULONG ReturnLength)
{
	CLEANUP(list_done) struct list list = {0};
	GUID guid = {0};
	int result;

	if (!ReturnLength || (OutBufferSize && !OutBuffer))
		return ERROR_INVALID_PARAMETER;
	if (TraceQueryInfoClass ==
	    TraceMaxLoggersQuery) /* Microsoft's page names this function for it */
		return TraceQueryInformation(0, TraceQueryInfoClass, OutBuffer, OutBufferSize,
					     ReturnLength) == ERROR_SUCCESS
			       ? ERROR_SUCCESS
			       : ERROR_INSUFFICIENT_BUFFER;
	if (takes_guid(TraceQueryInfoClass)) {
		if (!InBuffer || InBufferSize < sizeof(guid))
			return ERROR_INVALID_PARAMETER;
		memcpy(&guid, InBuffer, sizeof(guid));
	}
	result = enumerate(TraceQueryInfoClass, &guid, &list);
	return result ? enumerate_error(result)
		      : give(&list, OutBuffer, OutBufferSize, ReturnLength);
}

ULONG EnumerateTraceGuids(PTRACE_GUID_PROPERTIES *GuidPropertiesArray, ULONG PropertyArrayCount,
			  PULONG GuidCount)
{
	CLEANUP(list_done) struct list entries = {0};
	size_t count;
	int result;

	if (!GuidPropertiesArray || !PropertyArrayCount || !GuidCount)
		return ERROR_INVALID_PARAMETER;
	result = list_providers(&entries);
	if (result)
		return enumerate_error(result);
	count = entries.bytes / sizeof(struct wire_provider_entry);
	*GuidCount = (ULONG)count;
	for (size_t i = 0; i < count && i < PropertyArrayCount; i++) {
		if (!GuidPropertiesArray[i])
			return ERROR_INVALID_PARAMETER;
		memcpy(GuidPropertiesArray[i], entries.at + i * sizeof(struct wire_provider_entry),
		       sizeof(struct wire_provider_entry));
	}
	return count > PropertyArrayCount ? ERROR_MORE_DATA : ERROR_SUCCESS;
}
