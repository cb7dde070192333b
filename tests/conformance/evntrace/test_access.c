/* SPDX-License-Identifier: MIT */
/*
 * Who may do what, through the API: EventAccessControl, EventAccessQuery, EventAccessRemove, and the calls that what
 * they say decides about. Sources: [MSD] Microsoft's pages of the function, [SDK] the headers, [DERIVED] follows from
 * how Windows keeps descriptors, though no page says it, [HERE] docs/format/security.md.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <errhandlingapi.h>
#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>
#include <wmistr.h>

#include "host.h"

#define LIMIT_S 1500

static const GUID session_guid = {0x5ec00001, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID provider_guid = {0x5ec00002, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID system_control = {
	0x9e814aad, 0x3204, 0x11d2, {0x9a, 0x82, 0x00, 0x60, 0x08, 0xa8, 0x69, 0x39}};
static const GUID process_class = {
	0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

/* S-1-22-1-<uid>, and S-1-1-0. */
struct sid {
	UCHAR revision, count, authority[6];
	ULONG subs[2];
};

static struct sid uid_sid(ULONG uid)
{
	return (struct sid){1, 2, {0, 0, 0, 0, 0, 22}, {1, uid}};
}

static struct sid stranger(void)
{
	return uid_sid(HOST_STRANGER);
}

static ULONG allow(const GUID *guid, ULONG operation, ULONG rights)
{
	struct sid sid = stranger();
	GUID copy = *guid;

	return EventAccessControl(&copy, operation, &sid, rights, TRUE);
}

static ULONG forget(const GUID *guid)
{
	GUID copy = *guid;

	return EventAccessRemove(&copy);
}

/* What is said of wrong arguments. */
static void access__arguments(void **state)
{
	struct sid sid = stranger(), wrong = stranger(), many = stranger();
	GUID guid = session_guid;
	UCHAR buffer[4];
	ULONG bytes = sizeof(buffer);

	(void)state;
	wrong.revision = 2;
	many.count = 16;
	/* [DERIVED] of parameters that are marked [in] and not optional */
	assert_int_equal(EventAccessControl(NULL, 0, &sid, 1, TRUE), ERROR_INVALID_PARAMETER);
	assert_int_equal(EventAccessControl(&guid, 0, NULL, 1, TRUE), ERROR_INVALID_PARAMETER);
	assert_int_equal(EventAccessQuery(NULL, buffer, &bytes), ERROR_INVALID_PARAMETER);
	assert_int_equal(EventAccessQuery(&guid, buffer, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(EventAccessQuery(&guid, NULL, &bytes), ERROR_INVALID_PARAMETER);
	assert_int_equal(EventAccessRemove(NULL), ERROR_INVALID_PARAMETER);
	/* [MSD] EventSecurityMax is reserved */
	assert_int_equal(EventAccessControl(&guid, EventSecurityMax, &sid, 1, TRUE),
			 ERROR_INVALID_PARAMETER);
	/* [DERIVED] AddAccessAllowedAce says this of what is no SID */
	assert_int_equal(EventAccessControl(&guid, 0, &wrong, 1, TRUE), ERROR_INVALID_SID);
	assert_int_equal(EventAccessControl(&guid, 0, &many, 1, TRUE), ERROR_INVALID_SID);
	/* [HERE] rights that mean nothing */
	assert_int_equal(EventAccessControl(&guid, 0, &sid, 0x80000000, TRUE),
			 ERROR_INVALID_PARAMETER);
}

/* Whether the descriptor has this entry. */
static BOOL has_entry(const UCHAR *descriptor, ULONG list_at, UCHAR type, ULONG rights,
		      const struct sid *sid)
{
	const ULONG sid_bytes = 8 + sid->count * 4U;
	ULONG at;
	USHORT count, bytes;

	memcpy(&at, descriptor + list_at, sizeof(at));
	if (!at)
		return FALSE;
	memcpy(&count, descriptor + at + 4, sizeof(count));
	at += 8;
	for (; count; count--, at += bytes) {
		memcpy(&bytes, descriptor + at + 2, sizeof(bytes));
		if (descriptor[at] == type && bytes == 8 + sid_bytes &&
		    memcmp(descriptor + at + 4, &rights, 4) == 0 &&
		    memcmp(descriptor + at + 8, sid, sid_bytes) == 0)
			return TRUE;
	}
	return FALSE;
}

#define DACL_AT 16
#define SACL_AT 12

static ULONG query(const GUID *guid, UCHAR *buffer, ULONG *bytes)
{
	GUID copy = *guid;

	return EventAccessQuery(&copy, buffer, bytes);
}

static void access__query(void **state)
{
	const struct sid everyone = {1, 1, {0, 0, 0, 0, 0, 1}, {0, 0}};
	UCHAR buffer[4096];
	ULONG bytes = 0, needed;

	(void)state;
	/* [MSD] size 0: the size that it takes */
	assert_int_equal(query(&session_guid, buffer, &bytes), ERROR_MORE_DATA);
	assert_in_range(bytes, 20, sizeof(buffer));
	needed = bytes--;
	/* [MSD] too small: ERROR_MORE_DATA and the size */
	assert_int_equal(query(&session_guid, buffer, &bytes), ERROR_MORE_DATA);
	assert_int_equal(bytes, needed);
	/* [MSD] of a GUID of which nobody has said anything the default is returned */
	bytes = sizeof(buffer);
	assert_int_equal(query(&session_guid, buffer, &bytes), ERROR_SUCCESS);
	assert_int_equal(bytes, needed);
	/* [SDK] a self-relative descriptor with a DACL; [MSD] everybody may register */
	assert_int_equal(buffer[0], 1);
	assert_int_equal(buffer[2] | buffer[3] << 8, 0x8004);
	assert_true(has_entry(buffer, DACL_AT, 0, TRACELOG_REGISTER_GUIDS | TRACELOG_JOIN_GROUP,
			      &everyone));
}

/* [SDK] winnt.h has the types by which a program reads the answer; they come with the header */
static void access__read_the_answer(void **state)
{
	__attribute__((aligned(8))) UCHAR buffer[4096];
	const SECURITY_DESCRIPTOR_RELATIVE *descriptor = (void *)buffer;
	const SID_IDENTIFIER_AUTHORITY world = {{0, 0, 0, 0, 0, 1}};
	ULONG bytes = sizeof(buffer);
	const ACCESS_ALLOWED_ACE *entry;
	const ACL *list;
	const SID *sid;

	(void)state;
	assert_int_equal(query(&session_guid, buffer, &bytes), ERROR_SUCCESS);
	assert_int_equal(descriptor->Revision, SECURITY_DESCRIPTOR_REVISION);
	assert_int_equal(descriptor->Control, SE_DACL_PRESENT | SE_SELF_RELATIVE);
	list = (const void *)(buffer + descriptor->Dacl);
	assert_int_equal(list->AclRevision, ACL_REVISION);
	assert_true(list->AceCount > 0);
	entry = (const void *)(list + 1);
	assert_int_equal(entry->Header.AceType, ACCESS_ALLOWED_ACE_TYPE);
	assert_int_equal(entry->Mask, TRACELOG_REGISTER_GUIDS | TRACELOG_JOIN_GROUP);
	sid = (const void *)&entry->SidStart;
	assert_int_equal(sid->Revision, SID_REVISION);
	assert_int_equal(sid->SubAuthorityCount, 1);
	assert_memory_equal(&sid->IdentifierAuthority, &world, sizeof(world));
	assert_int_equal(sid->SubAuthority[0], 0);
}

static void access__operations(void **state)
{
	struct sid sid = stranger(), other = uid_sid(5);
	GUID guid = session_guid;
	UCHAR buffer[4096];
	ULONG bytes;

	(void)state;
	/* [MSD] AddDACL: an entry more; AllowOrDeny FALSE: it denies */
	assert_int_equal(EventAccessControl(&guid, EventSecurityAddDACL, &sid, WMIGUID_QUERY, TRUE),
			 ERROR_SUCCESS);
	assert_int_equal(
		EventAccessControl(&guid, EventSecurityAddDACL, &other, WMIGUID_SET, FALSE),
		ERROR_SUCCESS);
	bytes = sizeof(buffer);
	assert_int_equal(query(&guid, buffer, &bytes), ERROR_SUCCESS);
	assert_true(has_entry(buffer, DACL_AT, 0, WMIGUID_QUERY, &sid));
	assert_true(has_entry(buffer, DACL_AT, 1, WMIGUID_SET, &other));
	/* [MSD] SetDACL: clears the list first */
	assert_int_equal(EventAccessControl(&guid, EventSecuritySetDACL, &other, WMIGUID_SET, TRUE),
			 ERROR_SUCCESS);
	bytes = sizeof(buffer);
	assert_int_equal(query(&guid, buffer, &bytes), ERROR_SUCCESS);
	assert_true(has_entry(buffer, DACL_AT, 0, WMIGUID_SET, &other));
	assert_false(has_entry(buffer, DACL_AT, 0, WMIGUID_QUERY, &sid));
	assert_false(has_entry(buffer, DACL_AT, 1, WMIGUID_SET, &other));
	/* [MSD] the SACL: AllowOrDeny is ignored */
	assert_int_equal(
		EventAccessControl(&guid, EventSecurityAddSACL, &sid, WMIGUID_QUERY, FALSE),
		ERROR_SUCCESS);
	assert_int_equal(
		EventAccessControl(&guid, EventSecurityAddSACL, &other, WMIGUID_QUERY, TRUE),
		ERROR_SUCCESS);
	bytes = sizeof(buffer);
	assert_int_equal(query(&guid, buffer, &bytes), ERROR_SUCCESS);
	assert_true(has_entry(buffer, SACL_AT, 2, WMIGUID_QUERY, &sid));
	assert_true(has_entry(buffer, SACL_AT, 2, WMIGUID_QUERY, &other));
	assert_int_equal(EventAccessControl(&guid, EventSecuritySetSACL, &sid, WMIGUID_SET, FALSE),
			 ERROR_SUCCESS);
	bytes = sizeof(buffer);
	assert_int_equal(query(&guid, buffer, &bytes), ERROR_SUCCESS);
	assert_false(has_entry(buffer, SACL_AT, 2, WMIGUID_QUERY, &sid));
	assert_true(has_entry(buffer, SACL_AT, 2, WMIGUID_SET, &sid));
	/* [DERIVED] a value that is not in the registry cannot be removed from it */
	assert_int_equal(EventAccessRemove(&guid), ERROR_SUCCESS);
	assert_int_equal(EventAccessRemove(&guid), ERROR_FILE_NOT_FOUND);
}

/* What another user's process tries. */
struct attempt {
	TRACEHANDLE handle;
	const char *name;
	const GUID *guid;
	ULONG mode, code;
};

static ULONG try_start(void *context)
{
	const struct attempt *attempt = context;
	TRACEHANDLE handle;
	ULONG error = host_start(attempt->name, attempt->guid, attempt->mode, &handle);

	return error ? error : host_stop(handle);
}

static ULONG try_start_file(void *context)
{
	struct host_block block;
	TRACEHANDLE handle;
	ULONG error;

	(void)context;
	host_block_init(&block, "/tmp/no-such-folder/x.etl");
	block.properties.Wnode.Guid = session_guid;
	error = StartTraceA(&handle, "to a file", &block.properties);
	return error;
}

static ULONG try_control(void *context)
{
	const struct attempt *attempt = context;

	return host_control(attempt->handle, attempt->code);
}

static ULONG try_enable(void *context)
{
	const struct attempt *attempt = context;

	return EnableTraceEx2(attempt->handle, &provider_guid, attempt->code, 5, 0, 0, 0, NULL);
}

static ULONG try_enable_tracepoints(void *context)
{
	/* linux:sched, by the rule of EventSource: docs/tracepoints.md */
	static const GUID sched = {
		0xca75ee22, 0xa2ca, 0x54a6, {0x11, 0x50, 0xab, 0x9a, 0xf7, 0x18, 0x7a, 0x73}};
	const struct attempt *attempt = context;

	return EnableTraceEx2(attempt->handle, &sched, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0,
			      0, NULL);
}

static ULONG try_register(void *context)
{
	REGHANDLE handle;

	return EventRegister(context, NULL, NULL, &handle);
}

static ULONG try_change(void *context)
{
	(void)context;
	return allow(&session_guid, EventSecurityAddDACL, WMIGUID_QUERY);
}

static ULONG try_query_access(void *context)
{
	UCHAR buffer[4096];
	ULONG bytes = sizeof(buffer);

	(void)context;
	return query(&session_guid, buffer, &bytes);
}

static void WINAPI take_nothing(PEVENT_RECORD record)
{
	(void)record;
}

/* Of a session that this user may not consume: it would not return from one that it may. */
static ULONG try_consume(void *context)
{
	EVENT_TRACE_LOGFILEA logfile = {
		.LoggerName = context,
		.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = take_nothing,
	};
	PROCESSTRACE_HANDLE handle = OpenTraceA(&logfile);
	ULONG error;

	if (handle == INVALID_PROCESSTRACE_HANDLE)
		return GetLastError();
	error = ProcessTrace(&handle, 1, NULL, NULL);
	(void)CloseTrace(handle);
	return error;
}

#define STRANGER_GETS(call, context, error) assert_int_equal(host_as_stranger(call, context), error)
#define GRANT(guid, rights) \
	assert_int_equal(allow(guid, EventSecurityAddDACL, rights), ERROR_SUCCESS)

/* [MSD] CREATE_REALTIME and CREATE_ONDISK: to start or update; of the session's GUID */
static void access__start(void **state)
{
	struct attempt attempt = {.name = "stranger's", .guid = &session_guid};

	(void)state;
	if (!host_is_root())
		return;
	STRANGER_GETS(try_start, &attempt, ERROR_ACCESS_DENIED);
	GRANT(&session_guid, TRACELOG_CREATE_REALTIME);
	STRANGER_GETS(try_start, &attempt, ERROR_SUCCESS);
	STRANGER_GETS(try_start_file, NULL, ERROR_ACCESS_DENIED);
	/* [HERE] what is kept in memory can be flushed into a file, real-time bit or not */
	attempt.mode = EVENT_TRACE_BUFFERING_MODE;
	STRANGER_GETS(try_start, &attempt, ERROR_ACCESS_DENIED);
	attempt.mode = 0;
	GRANT(&session_guid, TRACELOG_CREATE_ONDISK);
	STRANGER_GETS(try_start_file, NULL, ERROR_PATH_NOT_FOUND);
	attempt.guid = &provider_guid; /* of which nobody said anything */
	STRANGER_GETS(try_start, &attempt, ERROR_ACCESS_DENIED);
	assert_int_equal(forget(&session_guid), ERROR_SUCCESS);
}

/* [MSD] only administrators may start and control an NT Kernel Logger session */
static void access__start_the_kernel_logger(void **state)
{
	struct attempt logger = {.name = KERNEL_LOGGER_NAMEA};
	struct attempt system = {
		.name = "system", .guid = &session_guid, .mode = EVENT_TRACE_SYSTEM_LOGGER_MODE};

	(void)state;
	if (!host_is_root())
		return;
	STRANGER_GETS(try_start, &logger, ERROR_ACCESS_DENIED);
	GRANT(&session_guid, TRACELOG_CREATE_REALTIME);
	STRANGER_GETS(try_start, &system, ERROR_ACCESS_DENIED);
	/* [HERE] "not used" on Windows; here the right to record the kernel, of SystemTraceControlGuid */
	GRANT(&system_control, TRACELOG_ACCESS_KERNEL_LOGGER);
	STRANGER_GETS(try_start, &system, ERROR_SUCCESS);
	STRANGER_GETS(try_start, &logger, ERROR_ACCESS_DENIED);
	assert_int_equal(forget(&session_guid), ERROR_SUCCESS);
	assert_int_equal(forget(&system_control), ERROR_SUCCESS);
}

static void access__control(void **state)
{
	struct attempt attempt = {0};

	(void)state;
	if (!host_is_root())
		return;
	assert_int_equal(host_start("root's", &session_guid, 0, &attempt.handle), ERROR_SUCCESS);
	/* [HERE] who may do nothing with it does not learn that it is there */
	attempt.code = EVENT_TRACE_CONTROL_QUERY;
	STRANGER_GETS(try_control, &attempt, ERROR_WMI_INSTANCE_NOT_FOUND);
	STRANGER_GETS(try_consume, (void *)"root's", ERROR_WMI_INSTANCE_NOT_FOUND);
	/* [MSD] WMIGUID_QUERY: to query it */
	GRANT(&session_guid, WMIGUID_QUERY);
	STRANGER_GETS(try_control, &attempt, ERROR_SUCCESS);
	STRANGER_GETS(try_consume, (void *)"root's", ERROR_ACCESS_DENIED);
	attempt.code = EVENT_TRACE_CONTROL_FLUSH;
	STRANGER_GETS(try_control, &attempt, ERROR_ACCESS_DENIED);
	attempt.code = EVENT_TRACE_CONTROL_STOP;
	STRANGER_GETS(try_control, &attempt, ERROR_ACCESS_DENIED);
	/* [MSD] CREATE_REALTIME: to start or update it; GUID_ENABLE, of the provider: to enable that */
	GRANT(&session_guid, TRACELOG_CREATE_REALTIME);
	attempt.code = EVENT_CONTROL_CODE_ENABLE_PROVIDER;
	STRANGER_GETS(try_enable, &attempt, ERROR_ACCESS_DENIED);
	GRANT(&provider_guid, TRACELOG_GUID_ENABLE);
	STRANGER_GETS(try_enable, &attempt, ERROR_SUCCESS);
	/* [HERE] tracepoints are the kernel's: who may control the session may not have them in it */
	STRANGER_GETS(try_enable_tracepoints, &attempt, ERROR_ACCESS_DENIED);
	attempt.code = EVENT_TRACE_CONTROL_STOP;
	STRANGER_GETS(try_control, &attempt, ERROR_SUCCESS);
	assert_int_equal(forget(&session_guid), ERROR_SUCCESS);
	assert_int_equal(forget(&provider_guid), ERROR_SUCCESS);
}

static ULONG try_name_file(void *context)
{
	const struct attempt *attempt = context;
	struct host_block block;

	host_block_init(&block, attempt->name);
	block.properties.LogFileMode = attempt->mode;
	return ControlTraceA(attempt->handle, NULL, &block.properties, attempt->code);
}

/* In a folder of the stranger's. */
static void make_strangers_file_name(char ret[HOST_NAME_UNITS])
{
	char folder[HOST_NAME_UNITS];

	(void)snprintf(folder, sizeof(folder), "%s", host_path("strangers"));
	assert_true(mkdir(folder, 0755) == 0 || errno == EEXIST);
	assert_int_equal(chown(folder, HOST_STRANGER, HOST_STRANGER), 0);
	(void)snprintf(ret, HOST_NAME_UNITS, "%.200s/own.etl", folder);
}

static void assert_stranger_made(const char *path)
{
	struct stat info;

	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_uid, HOST_STRANGER);
	assert_int_equal(unlink(path), 0);
}

/* [HERE] a file is made with the rights of who names it, whosesoever the session is */
static void access__name_a_file(void **state)
{
	char first[HOST_NAME_UNITS], roots[HOST_NAME_UNITS], own[HOST_NAME_UNITS];
	struct attempt attempt = {.name = roots, .code = EVENT_TRACE_CONTROL_UPDATE};
	struct host_block block;

	(void)state;
	if (!host_is_root())
		return;
	(void)snprintf(first, sizeof(first), "%s", host_path("roots.etl"));
	(void)snprintf(roots, sizeof(roots), "%s", host_path("strangers.etl"));
	make_strangers_file_name(own);
	GRANT(&session_guid, TRACELOG_CREATE_ONDISK);
	host_block_init(&block, first);
	block.properties.Wnode.Guid = session_guid;
	assert_int_equal(StartTraceA(&attempt.handle, "root's file", &block.properties),
			 ERROR_SUCCESS);
	/* Where the stranger may write nothing, and by a link from where it may to root's own file. */
	STRANGER_GETS(try_name_file, &attempt, ERROR_ACCESS_DENIED);
	assert_int_not_equal(access(roots, F_OK), 0);
	attempt.name = own;
	assert_int_equal(symlink(first, own), 0);
	STRANGER_GETS(try_name_file, &attempt, ERROR_ACCESS_DENIED);
	assert_int_equal(unlink(own), 0);
	STRANGER_GETS(try_name_file, &attempt, ERROR_SUCCESS);
	assert_stranger_made(own);
	assert_int_equal(access(first, F_OK), 0);
	assert_int_equal(host_stop(attempt.handle), ERROR_FILE_NOT_FOUND);
	assert_int_equal(forget(&session_guid), ERROR_SUCCESS);
}

/* The same of a session in memory, whose flush makes the file. */
static void access__flush_into_a_file(void **state)
{
	char roots[HOST_NAME_UNITS], own[HOST_NAME_UNITS];
	struct attempt attempt = {.mode = EVENT_TRACE_BUFFERING_MODE};
	struct host_block block;

	(void)state;
	if (!host_is_root())
		return;
	(void)snprintf(roots, sizeof(roots), "%s", host_path("flushed.etl"));
	make_strangers_file_name(own);
	host_block_init(&block, NULL);
	block.properties.Wnode.Guid = session_guid;
	block.properties.LogFileMode = EVENT_TRACE_BUFFERING_MODE;
	assert_int_equal(StartTraceA(&attempt.handle, "root's memory", &block.properties),
			 ERROR_SUCCESS);
	for (unsigned i = 0; i < 2; i++) {
		attempt.code = i ? EVENT_TRACE_CONTROL_UPDATE : EVENT_TRACE_CONTROL_FLUSH;
		attempt.name = own;
		STRANGER_GETS(try_name_file, &attempt, ERROR_WMI_INSTANCE_NOT_FOUND);
		GRANT(&session_guid, TRACELOG_CREATE_ONDISK);
		STRANGER_GETS(try_name_file, &attempt, ERROR_SUCCESS);
		assert_stranger_made(own);
		attempt.name = roots;
		STRANGER_GETS(try_name_file, &attempt, ERROR_ACCESS_DENIED);
		assert_int_not_equal(access(roots, F_OK), 0);
		assert_int_equal(forget(&session_guid), ERROR_SUCCESS);
	}
	assert_int_equal(try_name_file(&attempt), ERROR_SUCCESS); /* root's own */
	assert_int_equal(access(roots, F_OK), 0);
	assert_int_equal(host_stop(attempt.handle), ERROR_SUCCESS);
}

/* [MSD] CREATE_REALTIME: to update a session to a real-time one, for another user than its owner */
static void access__update_to_real_time(void **state)
{
	struct attempt attempt = {.code = EVENT_TRACE_CONTROL_UPDATE};
	char first[HOST_NAME_UNITS];
	struct host_block block;

	(void)state;
	if (!host_is_root())
		return;
	(void)snprintf(first, sizeof(first), "%s", host_path("real-time.etl"));
	GRANT(&session_guid, TRACELOG_CREATE_ONDISK);
	host_block_init(&block, first);
	block.properties.Wnode.Guid = session_guid;
	assert_int_equal(StartTraceA(&attempt.handle, "root's file", &block.properties),
			 ERROR_SUCCESS);
	/* What names no file, and makes no real-time session, it may change. */
	STRANGER_GETS(try_name_file, &attempt, ERROR_SUCCESS);
	attempt.mode = EVENT_TRACE_REAL_TIME_MODE;
	STRANGER_GETS(try_name_file, &attempt, ERROR_ACCESS_DENIED);
	attempt.code = EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME;
	STRANGER_GETS(try_name_file, &attempt, ERROR_ACCESS_DENIED);
	GRANT(&session_guid, TRACELOG_CREATE_REALTIME);
	attempt.code = EVENT_TRACE_CONTROL_UPDATE;
	STRANGER_GETS(try_name_file, &attempt, ERROR_SUCCESS);
	/* A flush of this session makes no file. */
	attempt.name = "/no/such/folder/file.etl";
	attempt.code = EVENT_TRACE_CONTROL_FLUSH;
	STRANGER_GETS(try_name_file, &attempt, ERROR_SUCCESS);
	assert_int_equal(host_stop(attempt.handle), ERROR_SUCCESS);
	assert_int_equal(forget(&session_guid), ERROR_SUCCESS);
}

/* [MSD] REGISTER_GUIDS, of the provider's GUID; everybody has it by default */
static void access__register(void **state)
{
	struct sid sid = uid_sid(5);
	GUID guid = provider_guid;

	(void)state;
	if (!host_is_root())
		return;
	STRANGER_GETS(try_register, &guid, ERROR_SUCCESS);
	assert_int_equal(EventAccessControl(&guid, EventSecuritySetDACL, &sid,
					    TRACELOG_REGISTER_GUIDS, TRUE),
			 ERROR_SUCCESS);
	STRANGER_GETS(try_register, &guid, ERROR_ACCESS_DENIED);
	assert_int_equal(try_register(&guid), ERROR_SUCCESS); /* root may do everything */
	GRANT(&guid, TRACELOG_REGISTER_GUIDS);
	STRANGER_GETS(try_register, &guid, ERROR_SUCCESS);
	assert_int_equal(EventAccessRemove(&guid), ERROR_SUCCESS);
}

/* [SDK] nobody registers SystemTraceControlGuid or a class of the kernel's, not even root */
static void access__register_the_kernels(void **state)
{
	REGHANDLE handle = 1;

	(void)state;
	assert_int_equal(EventRegister(&system_control, NULL, NULL, &handle), ERROR_ACCESS_DENIED);
	assert_true(handle == 0);
	assert_int_equal(EventRegister(&process_class, NULL, NULL, &handle), ERROR_ACCESS_DENIED);
	assert_int_equal(EventRegister(&EventTraceGuid, NULL, NULL, &handle), ERROR_ACCESS_DENIED);
}

/* [HERE] who may change and see descriptors; on Windows the rights of the registry's key decide */
static void access__descriptors_themselves(void **state)
{
	(void)state;
	if (!host_is_root())
		return;
	STRANGER_GETS(try_change, NULL, ERROR_ACCESS_DENIED);
	STRANGER_GETS(try_query_access, NULL, ERROR_ACCESS_DENIED);
	GRANT(&session_guid, WMIGUID_READ_DESCRIPTION);
	STRANGER_GETS(try_query_access, NULL, ERROR_SUCCESS);
	STRANGER_GETS(try_change, NULL, ERROR_ACCESS_DENIED);
	assert_int_equal(forget(&session_guid), ERROR_SUCCESS);
}

/* A provider of another user's, which a session enables while it waits. */
struct writing {
	ULONG enabled; /* how often the callback heard of an enable */
};

static void NTAPI count_enables(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any,
				ULONGLONG all, PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct writing *writing = context;

	(void)source;
	(void)level;
	(void)any;
	(void)all;
	(void)filter;
	writing->enabled += code == EVENT_CONTROL_CODE_ENABLE_PROVIDER;
}

/* ERROR_SUCCESS: a session wants its events; ERROR_NOT_FOUND: none does. */
static ULONG try_write(void *context)
{
	struct writing writing = {0};
	REGHANDLE handle;
	ULONG error = EventRegister(&provider_guid, count_enables, &writing, &handle);

	(void)context;
	if (error)
		return error;
	return EventProviderEnabled(handle, 1, 1) ? ERROR_SUCCESS : ERROR_NOT_FOUND;
}

/* [MSD] LOG_EVENT: to log to a session in SECURE mode */
static void access__secure_mode(void **state)
{
	TRACEHANDLE open_handle, secure_handle;

	(void)state;
	if (!host_is_root())
		return;
	assert_int_equal(host_start("open", NULL, 0, &open_handle), ERROR_SUCCESS);
	assert_int_equal(EnableTraceEx2(open_handle, &provider_guid, 1, 5, 0, 0, 0, NULL),
			 ERROR_SUCCESS);
	STRANGER_GETS(try_write, NULL, ERROR_SUCCESS);
	assert_int_equal(host_stop(open_handle), ERROR_SUCCESS);
	assert_int_equal(
		host_start("secure", &session_guid, EVENT_TRACE_SECURE_MODE, &secure_handle),
		ERROR_SUCCESS);
	assert_int_equal(EnableTraceEx2(secure_handle, &provider_guid, 1, 5, 0, 0, 0, NULL),
			 ERROR_SUCCESS);
	STRANGER_GETS(try_write, NULL, ERROR_NOT_FOUND);
	GRANT(&session_guid, TRACELOG_LOG_EVENT);
	STRANGER_GETS(try_write, NULL, ERROR_SUCCESS);
	assert_int_equal(host_stop(secure_handle), ERROR_SUCCESS);
	assert_int_equal(forget(&session_guid), ERROR_SUCCESS);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(access__arguments),
		cmocka_unit_test(access__query),
		cmocka_unit_test(access__read_the_answer),
		cmocka_unit_test(access__operations),
		cmocka_unit_test(access__start),
		cmocka_unit_test(access__start_the_kernel_logger),
		cmocka_unit_test(access__control),
		cmocka_unit_test(access__name_a_file),
		cmocka_unit_test(access__flush_into_a_file),
		cmocka_unit_test(access__update_to_real_time),
		cmocka_unit_test(access__register),
		cmocka_unit_test(access__register_the_kernels),
		cmocka_unit_test(access__descriptors_themselves),
		cmocka_unit_test(access__secure_mode),
	};

	return cmocka_run_group_tests_name("evntrace.h access", tests, NULL, NULL);
}

int main(void)
{
	return host_run(run, LIMIT_S);
}
