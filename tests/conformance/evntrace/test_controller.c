/* SPDX-License-Identifier: MIT */
/*
 * StartTrace, ControlTrace, EnableTraceEx2 and QueryAllTraces: what is refused before anybody is asked, so
 * without a host. Sources: [MSD] Microsoft's pages of the function, [CONTRACT] docs/format/contract-evntrace.md, [HERE] a
 * decision of this project where Windows is silent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <evntcons.h>
#include <evntrace.h>
#include <tdh.h>
#include <winerror.h>

#include "wire/payload_filter.h"

#define NAME_BYTES 1024

/* A block with room for both names, in the A form; the W rows use it too. */
struct block {
	EVENT_TRACE_PROPERTIES properties;
	char logger[NAME_BYTES];
	char file[NAME_BYTES];
};

static char runtime_folder[64];

/* What passed all checks and met no host: the folder is empty, and no etwd is to be found. */
#define NO_HOST ERROR_WMI_SERVER_UNAVAILABLE

static void init_block(struct block *block)
{
	memset(block, 0, sizeof(*block));
	block->properties.Wnode.BufferSize = sizeof(*block);
	block->properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	block->properties.LoggerNameOffset = offsetof(struct block, logger);
	block->properties.LogFileNameOffset = offsetof(struct block, file);
	block->properties.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
}

static int make_folder(void **state)
{
	(void)state;
	(void)snprintf(runtime_folder, sizeof(runtime_folder), "/tmp/etw-controller-XXXXXX");
	if (!mkdtemp(runtime_folder) || setenv("ETW_RUNTIME_DIR", runtime_folder, 1) ||
	    setenv("ETW_ETWD", "/nowhere/etwd", 1))
		return -1;
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(runtime_folder);
}

static void controller__start_refuses_pointers_and_sizes(void **state)
{
	static const WCHAR wide_name[] = {'x', 0};
	struct block block;
	TRACEHANDLE handle;

	(void)state;
	init_block(&block);
	/* [CONTRACT] StartTrace */
	assert_int_equal(StartTraceA(NULL, "x", &block.properties), ERROR_INVALID_PARAMETER);
	assert_int_equal(StartTraceA(&handle, "x", NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(StartTraceA(&handle, NULL, &block.properties), ERROR_INVALID_NAME);
	assert_int_equal(StartTraceA(&handle, "", &block.properties), ERROR_INVALID_NAME);
	assert_int_equal(StartTraceW(NULL, wide_name, &block.properties), ERROR_INVALID_PARAMETER);
	assert_int_equal(StartTraceW(&handle, wide_name, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(StartTraceW(&handle, NULL, &block.properties), ERROR_INVALID_NAME);
	block.properties.Wnode.BufferSize = sizeof(block.properties) - 1;
	assert_int_equal(StartTraceA(&handle, "x", &block.properties), ERROR_BAD_LENGTH);
	assert_int_equal(StartTraceW(&handle, wide_name, &block.properties), ERROR_BAD_LENGTH);
}

static void controller__start_checks_the_block(void **state)
{
	static const struct {
		const char *what;
		const char *name;
		ULONG logger_offset, file_offset, bytes, flags, clock;
		ULONG error;
	} rows[] = {
		{"[MSD] all in order", "x", 0x78, 0x478, 0x878, WNODE_FLAG_TRACED_GUID, 1, NO_HOST},
		{"[MSD] no names wanted", "x", 0, 0, 0x78, WNODE_FLAG_TRACED_GUID, 0, NO_HOST},
		{"[CONTRACT] name within the structure", "x", 0x77, 0x478, 0x878,
		 WNODE_FLAG_TRACED_GUID, 0, ERROR_INVALID_PARAMETER},
		{"[CONTRACT] file within the structure", "x", 0x78, 8, 0x878,
		 WNODE_FLAG_TRACED_GUID, 0, ERROR_INVALID_PARAMETER},
		{"[CONTRACT] name behind the block", "x", 0x878, 0x478, 0x878,
		 WNODE_FLAG_TRACED_GUID, 0, ERROR_INVALID_PARAMETER},
		{"[CONTRACT] file far behind the block", "x", 0x78, 0xFFFFFFFF, 0x878,
		 WNODE_FLAG_TRACED_GUID, 0, ERROR_INVALID_PARAMETER},
		{"[MSD] no room for the name", "longer", 0x78, 0, 0x7C, WNODE_FLAG_TRACED_GUID, 0,
		 ERROR_BAD_LENGTH},
		{"[MSD] no room before the file", "longer", 0x78, 0x7C, 0x878,
		 WNODE_FLAG_TRACED_GUID, 0, ERROR_BAD_LENGTH},
		{"[MSD] just enough room", "long", 0x78, 0, 0x7D, WNODE_FLAG_TRACED_GUID, 0,
		 NO_HOST},
		{"[MSD] flag missing", "x", 0x78, 0x478, 0x878, 0, 0, ERROR_INVALID_PARAMETER},
		{"[MSD] cycle counter", "x", 0x78, 0x478, 0x878, WNODE_FLAG_TRACED_GUID, 3,
		 NO_HOST},
		{"[HERE] no such clock", "x", 0x78, 0x478, 0x878, WNODE_FLAG_TRACED_GUID, 4,
		 ERROR_INVALID_PARAMETER},
		{"[HERE] name is no UTF-8", "\xFF", 0x78, 0x478, 0x878, WNODE_FLAG_TRACED_GUID, 0,
		 ERROR_INVALID_PARAMETER},
		{"[CONTRACT] second version, too short", "x", 0x78, 0, 0x80,
		 WNODE_FLAG_TRACED_GUID | WNODE_FLAG_VERSIONED_PROPERTIES, 0, ERROR_BAD_LENGTH},
		{"[CONTRACT] second version without its number", "x", 0x478, 0, 0x878,
		 WNODE_FLAG_TRACED_GUID | WNODE_FLAG_VERSIONED_PROPERTIES, 0,
		 ERROR_INVALID_PARAMETER},
	};

	(void)state;
	assert_int_equal(sizeof(EVENT_TRACE_PROPERTIES), 0x78);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		TRACEHANDLE handle = 0;
		struct block block;
		ULONG error;

		init_block(&block);
		block.properties.LoggerNameOffset = rows[i].logger_offset;
		block.properties.LogFileNameOffset = rows[i].file_offset;
		block.properties.Wnode.BufferSize = rows[i].bytes;
		block.properties.Wnode.Flags = rows[i].flags;
		block.properties.Wnode.ClientContext = rows[i].clock;
		error = StartTraceA(&handle, rows[i].name, &block.properties);
		if (error != rows[i].error)
			fail_msg("%s: %u, not %u", rows[i].what, error, rows[i].error);
	}
}

static void controller__start_wants_a_name_that_ends(void **state)
{
	TRACEHANDLE handle;
	struct block block;

	(void)state;
	init_block(&block);
	memset(block.file, 'f', sizeof(block.file));
	/* [HERE] Windows reads on behind the block, or refuses. */
	assert_int_equal(StartTraceA(&handle, "x", &block.properties), ERROR_INVALID_PARAMETER);
	assert_int_equal(StartTraceW(&handle, (LPCWSTR)u"x", &block.properties),
			 ERROR_INVALID_PARAMETER);
}

static void controller__start_names_are_bounded(void **state)
{
	static struct {
		EVENT_TRACE_PROPERTIES properties;
		char logger[4096];
	} block;
	static char name[2000];
	TRACEHANDLE handle;

	(void)state;
	block.properties.Wnode.BufferSize = sizeof(block);
	block.properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	block.properties.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
	block.properties.LoggerNameOffset = sizeof(block.properties);
	memset(name, 'n', 1024);
	assert_int_equal(StartTraceA(&handle, name, &block.properties), NO_HOST);
	name[1024] = 'n';
	/* [MSD] at most 1024 characters; [HERE] the code. */
	assert_int_equal(StartTraceA(&handle, name, &block.properties), ERROR_INVALID_PARAMETER);
}

static const GUID context_logger = {
	0x54dea73a, 0xed1f, 0x42a4, {0xaf, 0x71, 0x3e, 0x63, 0xd0, 0x56, 0xf1, 0x74}};

static void controller__start_binds_fixed_names_and_guids(void **state)
{
	static const GUID other = {1, 2, 3, {4}};
	const struct {
		const char *what;
		const char *name;
		const GUID *guid;
		ULONG error;
	} rows[] = {
		{"[MSD] kernel's name", KERNEL_LOGGER_NAMEA, NULL, NO_HOST},
		{"[CONTRACT] in any case", "nt kernel logger", NULL, NO_HOST},
		{"[MSD] kernel's name and GUID", KERNEL_LOGGER_NAMEA, &SystemTraceControlGuid,
		 NO_HOST},
		{"[MSD] kernel's GUID, another name", "x", &SystemTraceControlGuid,
		 ERROR_INVALID_PARAMETER},
		{"[MSD] kernel's name, another GUID: overridden", KERNEL_LOGGER_NAMEA, &other,
		 NO_HOST},
		{"[CONTRACT] context logger's GUID, another name", "x", &context_logger,
		 ERROR_INVALID_PARAMETER},
		{"[MSD] any name and GUID", "x", &other, NO_HOST},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		TRACEHANDLE handle = 0;
		struct block block;
		ULONG error;

		init_block(&block);
		if (rows[i].guid)
			block.properties.Wnode.Guid = *rows[i].guid;
		error = StartTraceA(&handle, rows[i].name, &block.properties);
		if (error != rows[i].error)
			fail_msg("%s: %u, not %u", rows[i].what, error, rows[i].error);
	}
}

#define SEQUENTIAL EVENT_TRACE_FILE_MODE_SEQUENTIAL
#define CIRCULAR   EVENT_TRACE_FILE_MODE_CIRCULAR
#define APPEND     EVENT_TRACE_FILE_MODE_APPEND
#define NEWFILE    EVENT_TRACE_FILE_MODE_NEWFILE
#define PREALLOC   EVENT_TRACE_FILE_MODE_PREALLOCATE
#define REAL_TIME  EVENT_TRACE_REAL_TIME_MODE
#define BUFFERING  EVENT_TRACE_BUFFERING_MODE
#define PRIVATE    EVENT_TRACE_PRIVATE_LOGGER_MODE
#define SYSTEM     EVENT_TRACE_SYSTEM_LOGGER_MODE
#define KBYTES     EVENT_TRACE_USE_KBYTES_FOR_SIZE

static void controller__start_checks_modes(void **state)
{
	/* All but the noted are [CONTRACT] "LogFileMode"; a file and a size where F and S say so. */
	static const struct {
		ULONG mode;
		const char *file;
		ULONG size;
		ULONG error;
	} rows[] = {
		{0, NULL, 0, ERROR_BAD_PATHNAME},
		{SEQUENTIAL, NULL, 0, ERROR_BAD_PATHNAME},
		{0, "f", 0, NO_HOST},
		{SEQUENTIAL, "f", 0, NO_HOST},
		{SEQUENTIAL, "f", 5, NO_HOST},
		{REAL_TIME, NULL, 0, NO_HOST},
		{REAL_TIME, "f", 0, NO_HOST},
		{BUFFERING, NULL, 0, NO_HOST},
		{BUFFERING | REAL_TIME, NULL, 0, NO_HOST},
		{BUFFERING, "f", 0, ERROR_INVALID_PARAMETER},
		{BUFFERING | SEQUENTIAL, NULL, 0, ERROR_INVALID_PARAMETER},
		{BUFFERING | CIRCULAR, NULL, 5, ERROR_INVALID_PARAMETER},
		{SEQUENTIAL | CIRCULAR, "f", 5, ERROR_INVALID_PARAMETER},
		{CIRCULAR, "f", 0, ERROR_INVALID_PARAMETER},
		{CIRCULAR, "f", 5, NO_HOST},
		{CIRCULAR | APPEND, "f", 5, ERROR_INVALID_PARAMETER},
		{CIRCULAR | NEWFILE, "f%d", 5, ERROR_INVALID_PARAMETER},
		{APPEND, "f", 0, NO_HOST},
		{APPEND | REAL_TIME, "f", 0, ERROR_INVALID_PARAMETER},
		{APPEND | PREALLOC, "f", 5, ERROR_INVALID_PARAMETER},
		{APPEND | NEWFILE, "f%d", 5, ERROR_INVALID_PARAMETER},
		{NEWFILE, "f%d", 5, NO_HOST},
		{NEWFILE | SEQUENTIAL, "f%d", 5, NO_HOST},
		{NEWFILE, "f%d", 0, ERROR_INVALID_PARAMETER},
		{NEWFILE, NULL, 5, ERROR_INVALID_PARAMETER},
		{NEWFILE, "f", 5, ERROR_INVALID_NAME},
		{NEWFILE, "f%s", 5, ERROR_INVALID_NAME},
		{NEWFILE, "f%d%d", 5, ERROR_INVALID_NAME},
		{NEWFILE | PREALLOC, "f%d", 5, ERROR_INVALID_PARAMETER},
		{NEWFILE | SYSTEM, "f%d", 5, ERROR_INVALID_PARAMETER},
		{PREALLOC, "f", 5, NO_HOST},
		{PREALLOC, "f", 0, ERROR_INVALID_PARAMETER},
		{PREALLOC | REAL_TIME, NULL, 5, ERROR_INVALID_PARAMETER},
		{KBYTES, "f", 5, NO_HOST},
		{KBYTES, "f", 0, ERROR_INVALID_PARAMETER},
		{REAL_TIME | PRIVATE, NULL, 0, ERROR_INVALID_PARAMETER},
		{REAL_TIME | EVENT_TRACE_ADD_HEADER_MODE, NULL, 0, ERROR_INVALID_PARAMETER},
		{REAL_TIME | EVENT_TRACE_NONSTOPPABLE_MODE, NULL, 0, ERROR_INVALID_PARAMETER},
		{REAL_TIME | EVENT_TRACE_USE_GLOBAL_SEQUENCE | EVENT_TRACE_USE_LOCAL_SEQUENCE, NULL,
		 0, ERROR_INVALID_PARAMETER},
		{REAL_TIME | EVENT_TRACE_USE_GLOBAL_SEQUENCE, NULL, 0, NO_HOST},
		{EVENT_TRACE_RELOG_MODE, "f", 0, ERROR_INVALID_PARAMETER},
		{EVENT_TRACE_PRIVATE_IN_PROC, "f", 0, ERROR_INVALID_PARAMETER},
		{REAL_TIME | EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN |
			 EVENT_TRACE_PERSIST_ON_HYBRID_SHUTDOWN,
		 NULL, 0, ERROR_INVALID_PARAMETER},
		{REAL_TIME | SYSTEM | EVENT_TRACE_USE_PAGED_MEMORY, NULL, 0,
		 ERROR_INVALID_PARAMETER},
		{REAL_TIME | EVENT_TRACE_USE_PAGED_MEMORY, NULL, 0, NO_HOST},
		{PRIVATE | EVENT_TRACE_INDEPENDENT_SESSION_MODE, "f", 0, ERROR_INVALID_PARAMETER},
		{PRIVATE | EVENT_TRACE_RELOG_MODE, "f", 0, ERROR_INVALID_PARAMETER},
		{PRIVATE | PREALLOC, "f", 5, ERROR_INVALID_PARAMETER},
		{PRIVATE | SYSTEM, "f", 0, ERROR_INVALID_PARAMETER},
		/* [MSD] the GUID of a private session is its provider's */
		{PRIVATE, "f", 0, ERROR_INVALID_PARAMETER},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		TRACEHANDLE handle = 0;
		struct block block;
		ULONG error;

		init_block(&block);
		block.properties.LogFileMode = rows[i].mode;
		block.properties.MaximumFileSize = rows[i].size;
		if (rows[i].file)
			(void)snprintf(block.file, sizeof(block.file), "%s", rows[i].file);
		error = StartTraceA(&handle, "x", &block.properties);
		if (error != rows[i].error)
			fail_msg("mode %x, file %s, size %u: %u, not %u", rows[i].mode,
				 rows[i].file ? rows[i].file : "none", rows[i].size, error,
				 rows[i].error);
	}
}

static void controller__start_says_what_it_cannot_do(void **state)
{
	struct {
		EVENT_TRACE_PROPERTIES_V2 properties;
		char logger[64];
	} block = {0};
	TRACEHANDLE handle;
	PEVENT_TRACE_PROPERTIES first = (PEVENT_TRACE_PROPERTIES)&block;

	(void)state;
	block.properties.Wnode.BufferSize = sizeof(block);
	block.properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_VERSIONED_PROPERTIES;
	block.properties.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
	block.properties.LoggerNameOffset = offsetof(__typeof__(block), logger);
	block.properties.VersionNumber = 2;
	assert_int_equal(StartTraceA(&handle, "x", first), NO_HOST);
	/* KNOWN_GAP: filters of a whole session, and options. */
	block.properties.FilterDescCount = 1;
	assert_int_equal(StartTraceA(&handle, "x", first), ERROR_NOT_SUPPORTED);
	block.properties.FilterDescCount = 0;
	block.properties.QpcDeltaTracking = 1;
	assert_int_equal(StartTraceA(&handle, "x", first), ERROR_NOT_SUPPORTED);
	block.properties.V2Options = 0;
	/* [CH] flags that are to be found within the structure itself */
	block.properties.EnableFlags = EVENT_TRACE_FLAG_EXTENSION;
	assert_int_equal(StartTraceA(&handle, "x", first), ERROR_INVALID_PARAMETER);
}

static void controller__control_checks_arguments(void **state)
{
	static const struct {
		const char *what;
		TRACEHANDLE handle;
		const char *name;
		ULONG bytes, logger_offset, code;
		ULONG error;
	} rows[] = {
		{"[CONTRACT] neither handle nor name", 0, NULL, 0x878, 0x78, 0,
		 ERROR_INVALID_PARAMETER},
		{"[CONTRACT] block too small", 1, NULL, 0x77, 0x78, 0, ERROR_BAD_LENGTH},
		{"[CONTRACT] bad offset", 1, NULL, 0x878, 4, 0, ERROR_INVALID_PARAMETER},
		{"[CONTRACT] no such code", 1, NULL, 0x878, 0x78, 6, ERROR_INVALID_PARAMETER},
		{"[CONTRACT] no such handle", 9, NULL, 0x878, 0x78, 0,
		 ERROR_WMI_INSTANCE_NOT_FOUND},
		{"[CONTRACT] no such name", 0, "x", 0x878, 0x78, 1, ERROR_WMI_INSTANCE_NOT_FOUND},
		{"[CONTRACT] update of none", 0, "x", 0x878, 0x78, 2, ERROR_WMI_INSTANCE_NOT_FOUND},
		{"[CONTRACT] flush of none", 0, "x", 0x878, 0x78, 3, ERROR_WMI_INSTANCE_NOT_FOUND},
		{"[CONTRACT] increment file of none", 1, NULL, 0x878, 0x78, 4,
		 ERROR_WMI_INSTANCE_NOT_FOUND},
		{"[HERE] convert to real time", 1, NULL, 0x878, 0x78, 5,
		 ERROR_WMI_INSTANCE_NOT_FOUND},
	};
	struct block block;

	(void)state;
	assert_int_equal(ControlTraceA(1, NULL, NULL, 0), ERROR_INVALID_PARAMETER);
	assert_int_equal(ControlTraceW(1, NULL, NULL, 0), ERROR_INVALID_PARAMETER);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ULONG error;

		init_block(&block);
		block.properties.Wnode.BufferSize = rows[i].bytes;
		block.properties.LoggerNameOffset = rows[i].logger_offset;
		error = ControlTraceA(rows[i].handle, rows[i].name, &block.properties,
				      rows[i].code);
		if (error != rows[i].error)
			fail_msg("%s: %u, not %u", rows[i].what, error, rows[i].error);
	}
	init_block(&block);
	assert_int_equal(StopTraceW(0, (LPCWSTR)u"x", &block.properties),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(QueryTraceW(0, (LPCWSTR)u"x", &block.properties),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(FlushTraceW(0, (LPCWSTR)u"x", &block.properties),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(UpdateTraceW(0, (LPCWSTR)u"x", &block.properties),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(StopTraceA(0, "x", &block.properties), ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(QueryTraceA(0, "x", &block.properties), ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(FlushTraceA(0, "x", &block.properties), ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(UpdateTraceA(0, "x", &block.properties), ERROR_WMI_INSTANCE_NOT_FOUND);
}

/* The same rule as at the start; who asks by handle names no session that a GUID could contradict. */
static void controller__control_binds_fixed_names_and_guids(void **state)
{
	static const struct {
		const char *what;
		TRACEHANDLE handle;
		const char *name;
		const GUID *guid;
		ULONG error;
	} rows[] = {
		{"[MSD] kernel's GUID, another name", 0, "x", &SystemTraceControlGuid,
		 ERROR_INVALID_PARAMETER},
		{"[CONTRACT] context logger's GUID, another name", 0, "x", &context_logger,
		 ERROR_INVALID_PARAMETER},
		{"[CONTRACT] context logger's GUID, its name", 0, "circular kernel context logger",
		 &context_logger, ERROR_WMI_INSTANCE_NOT_FOUND},
		{"[CONTRACT] kernel's name, another GUID: overridden", 0, KERNEL_LOGGER_NAMEA,
		 &context_logger, ERROR_WMI_INSTANCE_NOT_FOUND},
		{"[HERE] a handle", 9, NULL, &context_logger, ERROR_WMI_INSTANCE_NOT_FOUND},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct block block;
		ULONG error;

		init_block(&block);
		block.properties.Wnode.Guid = *rows[i].guid;
		error = QueryTraceA(rows[i].handle, rows[i].name, &block.properties);
		if (error != rows[i].error)
			fail_msg("%s: %u, not %u", rows[i].what, error, rows[i].error);
	}
}

static void controller__enable_checks_arguments(void **state)
{
	static const GUID provider = {1, 2, 3, {4}};
	static uint8_t data[MAX_EVENT_FILTER_DATA_SIZE + 1];
	EVENT_FILTER_DESCRIPTOR filters[2] = {
		{(ULONGLONG)(ULONG_PTR)data, 8, EVENT_FILTER_TYPE_SCHEMATIZED},
		{(ULONGLONG)(ULONG_PTR)data, 4, EVENT_FILTER_TYPE_PID},
	};
	ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2};

	(void)state;
	/* [MSD] ERROR_INVALID_PARAMETER */
	assert_int_equal(EnableTraceEx2(0, &provider, 1, 0, 0, 0, 0, NULL),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EnableTraceEx2(1, NULL, 1, 0, 0, 0, 0, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(EnableTraceEx2(1, &provider, 3, 0, 0, 0, 0, NULL),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EnableTraceEx(&provider, NULL, 0, 1, 0, 0, 0, 0, NULL),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EnableTraceEx(NULL, NULL, 1, 1, 0, 0, 0, 0, NULL),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EnableTrace(1, 0, 0, NULL, 1), ERROR_INVALID_PARAMETER);
	assert_int_equal(EnableTrace(1, 0, 0, &provider, 0), ERROR_INVALID_PARAMETER);
	assert_int_equal(EnableTrace(1, 0, 256, &provider, 1), ERROR_INVALID_PARAMETER);
	/* [HERE] as for ControlTrace */
	assert_int_equal(EnableTraceEx2(1, &provider, 1, 0, 0, 0, 0, NULL),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(EnableTrace(0, 0, 0, &provider, 1), ERROR_WMI_INSTANCE_NOT_FOUND);

	parameters.Version = 3;
	assert_int_equal(EnableTraceEx2(1, &provider, 1, 0, 0, 0, 0, &parameters),
			 ERROR_INVALID_PARAMETER);
	parameters.Version = ENABLE_TRACE_PARAMETERS_VERSION_2;
	parameters.FilterDescCount = 1; /* and no descriptor */
	assert_int_equal(EnableTraceEx2(1, &provider, 1, 0, 0, 0, 0, &parameters),
			 ERROR_INVALID_PARAMETER);
	parameters.EnableFilterDesc = filters;
	assert_int_equal(EnableTraceEx2(1, &provider, 1, 0, 0, 0, 0, &parameters),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	filters[0].Size = sizeof(data);
	assert_int_equal(EnableTraceEx2(1, &provider, 1, 0, 0, 0, 0, &parameters),
			 ERROR_INVALID_PARAMETER);
	filters[0].Ptr = 0;
	assert_int_equal(EnableTraceEx2(1, &provider, 1, 0, 0, 0, 0, &parameters),
			 ERROR_INVALID_PARAMETER);
	/* [MSD] ENABLE_TRACE_PARAMETERS: several, each of a type of its own. */
	filters[0] = (EVENT_FILTER_DESCRIPTOR){(ULONGLONG)(ULONG_PTR)data, 8,
					       EVENT_FILTER_TYPE_SCHEMATIZED};
	parameters.FilterDescCount = 2;
	assert_int_equal(EnableTraceEx2(1, &provider, 1, 0, 0, 0, 0, &parameters),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	filters[0] = filters[1];
	assert_int_equal(EnableTraceEx2(1, &provider, 1, 0, 0, 0, 0, &parameters),
			 ERROR_INVALID_PARAMETER);
	parameters.FilterDescCount = MAX_EVENT_FILTERS_COUNT + 1;
	assert_int_equal(EnableTraceEx2(1, &provider, 1, 0, 0, 0, 0, &parameters),
			 ERROR_INVALID_PARAMETER);
}

/* Everything that EnableTraceEx2 can be asked for: what passes all checks meets no session. */
static void controller__enable_refuses_what_is_not_built(void **state)
{
	static const struct {
		ULONG property;
		ULONG error;
	} rows[] = {
		{0, ERROR_WMI_INSTANCE_NOT_FOUND},
		{EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0, ERROR_WMI_INSTANCE_NOT_FOUND},
		{EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0, ERROR_WMI_INSTANCE_NOT_FOUND},
		{EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE, ERROR_WMI_INSTANCE_NOT_FOUND},
		{EVENT_ENABLE_PROPERTY_PROVIDER_GROUP, ERROR_WMI_INSTANCE_NOT_FOUND},
		/* [HERE] */
		{EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 | EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0,
		 ERROR_INVALID_PARAMETER},
		{EVENT_ENABLE_PROPERTY_SID, ERROR_WMI_INSTANCE_NOT_FOUND},
		{EVENT_ENABLE_PROPERTY_TS_ID, ERROR_WMI_INSTANCE_NOT_FOUND},
		{EVENT_ENABLE_PROPERTY_PSM_KEY, ERROR_WMI_INSTANCE_NOT_FOUND},
		{EVENT_ENABLE_PROPERTY_PROCESS_START_KEY, ERROR_WMI_INSTANCE_NOT_FOUND},
		{EVENT_ENABLE_PROPERTY_EVENT_KEY, ERROR_WMI_INSTANCE_NOT_FOUND},
		{EVENT_ENABLE_PROPERTY_ENABLE_SILOS, ERROR_WMI_INSTANCE_NOT_FOUND},
		{EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING, ERROR_WMI_INSTANCE_NOT_FOUND},
		{EVENT_ENABLE_PROPERTY_STACK_TRACE, ERROR_WMI_INSTANCE_NOT_FOUND},
		{EVENT_ENABLE_PROPERTY_STACK_TRACE | EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0,
		 ERROR_WMI_INSTANCE_NOT_FOUND},
		{0x80000000, ERROR_NOT_SUPPORTED},
	};
	static const GUID provider = {1, 2, 3, {4}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
						      .EnableProperty = rows[i].property};
		ULONG error = EnableTraceEx2(1, &provider, 1, 0, 0, 0, 0, &parameters);

		if (error != rows[i].error)
			fail_msg("property %x: %u, not %u", rows[i].property, error, rows[i].error);
		error = EnableTraceEx(&provider, NULL, 1, 1, 0, 0, 0, rows[i].property, NULL);
		if (error != rows[i].error)
			fail_msg("EnableTraceEx, property %x: %u, not %u", rows[i].property, error,
				 rows[i].error);
		/* [HERE] who could not enable may disable. */
		error = EnableTraceEx2(1, &provider, 0, 0, 0, 0, 0, &parameters);
		assert_int_equal(error, ERROR_WMI_INSTANCE_NOT_FOUND);
	}
	/* KNOWN_GAP: the processor's branches. */
	assert_int_equal(EnableTraceEx2(1, &SystemProcessProviderGuid, 1, 0, 0, 0, 0, NULL),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(EnableTraceEx2(1, &LastBranchRecordProviderGuid, 1, 0, 0, 0, 0, NULL),
			 ERROR_NOT_SUPPORTED);
	assert_int_equal(EnableTrace(1, 0, 0, &SystemSchedulerProviderGuid, 1),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
}

#define NAMES(text)    (text), sizeof(text) - sizeof((text)[0])
#define EXACTLY(array) (array), sizeof(array)

/* A payload filter that passes everything: it is about an event that nobody writes. */
static const void *some_payload_filter(ULONG *ret_bytes)
{
	static struct {
		struct wire_payload_filter head;
		struct wire_payload_event event;
		struct wire_payload_step step;
		struct wire_payload_predicate predicate;
		uint8_t operand[8];
	} blob = {
		.event = {.step_count = 1, .predicate_count = 1},
		.step = {.extent = WIRE_PAYLOAD_FIXED},
		.predicate = {.operation = PAYLOADFIELD_EQ, .kind = WIRE_PAYLOAD_UNSIGNED},
	};

	memcpy(blob.head.magic, WIRE_PAYLOAD_FILTER_MAGIC, sizeof(blob.head.magic));
	blob.head.version = le16_of(WIRE_PAYLOAD_FILTER_VERSION);
	blob.head.filter_count = le16_of(1);
	blob.head.bytes = le32_of(sizeof(blob));
	blob.event.bytes = le32_of(sizeof(blob) - sizeof(blob.head));
	blob.step.unit = le16_of(4);
	blob.step.count = le16_of(1);
	blob.predicate.bytes = le16_of(sizeof(blob.predicate) + sizeof(blob.operand));
	blob.predicate.operand_bytes = le16_of(sizeof(blob.operand));
	*ret_bytes = sizeof(blob);
	return &blob;
}

/* Every kind of filter, as large as it may be and larger: [MSD] EVENT_FILTER_DESCRIPTOR, and evntprov.h. */
static void controller__enable_checks_filters(void **state)
{
	static uint8_t zeros[MAX_EVENT_FILTER_PAYLOAD_SIZE + 1];
	static const ULONG pids[MAX_EVENT_FILTER_PID_COUNT + 1] = {1};
	static const USHORT ids[] = {TRUE, 2, 7, 8};     /* FilterIn, Count, Events */
	static const USHORT too_few[] = {TRUE, 3, 7, 8}; /* one is missing */
	static const USHORT many[2 + MAX_EVENT_FILTER_EVENT_ID_COUNT + 1] = {
		TRUE, MAX_EVENT_FILTER_EVENT_ID_COUNT + 1};
	/* EVENT_FILTER_EVENT_NAME: keywords, level, FilterIn, NameCount, Names */
	static const char names[] = "any56789all56789\0\1\2\0One\0Two";
	static const char no_end[] = {'a', 'n', 'y', '5', '6', '7', '8', '9', 'a', 'l', 'l',
				      '5', '6', '7', '8', '9', 0,   1,   1,   0,   'N'};
	static uint8_t name_room[MAX_EVENT_FILTER_EVENT_NAME_SIZE + 1];
	ULONG payload_bytes;
	const void *payload = some_payload_filter(&payload_bytes);
	const ULONG passes = ERROR_WMI_INSTANCE_NOT_FOUND, wrong = ERROR_INVALID_PARAMETER;
	const struct {
		ULONG type;
		const void *data;
		size_t bytes;
		ULONG error;
	} rows[] = {
		{EVENT_FILTER_TYPE_NONE, zeros, 0, passes},
		{EVENT_FILTER_TYPE_NONE, zeros, 8, passes},
		{77, zeros, MAX_EVENT_FILTER_DATA_SIZE, passes},
		{77, zeros, MAX_EVENT_FILTER_DATA_SIZE + 1, wrong},
		{EVENT_FILTER_TYPE_SCHEMATIZED, zeros, MAX_EVENT_FILTER_DATA_SIZE, passes},
		{EVENT_FILTER_TYPE_SCHEMATIZED, zeros, MAX_EVENT_FILTER_DATA_SIZE + 1, wrong},
		{EVENT_FILTER_TYPE_PID, pids, sizeof(ULONG), passes},
		{EVENT_FILTER_TYPE_PID, pids, sizeof(ULONG) * MAX_EVENT_FILTER_PID_COUNT, passes},
		{EVENT_FILTER_TYPE_PID, EXACTLY(pids), wrong},
		{EVENT_FILTER_TYPE_PID, pids, 3, wrong},
		{EVENT_FILTER_TYPE_PID, pids, 0, wrong},
		{EVENT_FILTER_TYPE_EXECUTABLE_NAME, NAMES(u"a.exe;b"), passes},
		{EVENT_FILTER_TYPE_EXECUTABLE_NAME, EXACTLY(u"a.exe"), passes}, /* with its NUL */
		{EVENT_FILTER_TYPE_EXECUTABLE_NAME, NAMES(u";;"), wrong},
		{EVENT_FILTER_TYPE_EXECUTABLE_NAME, u"a", 1, wrong},
		{EVENT_FILTER_TYPE_EXECUTABLE_NAME, zeros, 0, wrong},
		{EVENT_FILTER_TYPE_EXECUTABLE_NAME, name_room, MAX_EVENT_FILTER_DATA_SIZE, passes},
		{EVENT_FILTER_TYPE_EXECUTABLE_NAME, name_room, MAX_EVENT_FILTER_DATA_SIZE + 2,
		 wrong},
		{EVENT_FILTER_TYPE_PACKAGE_ID, NAMES(u"Package"), passes},
		{EVENT_FILTER_TYPE_PACKAGE_ID, zeros, 2, wrong},
		{EVENT_FILTER_TYPE_PACKAGE_APP_ID, NAMES(u"App"), passes},
		{EVENT_FILTER_TYPE_PAYLOAD, payload, payload_bytes, passes},
		{EVENT_FILTER_TYPE_PAYLOAD, payload, payload_bytes - 1, wrong},
		{EVENT_FILTER_TYPE_PAYLOAD, zeros, sizeof(zeros), wrong},
		{EVENT_FILTER_TYPE_EVENT_ID, EXACTLY(ids), passes},
		{EVENT_FILTER_TYPE_EVENT_ID, EXACTLY(too_few), wrong},
		{EVENT_FILTER_TYPE_EVENT_ID, EXACTLY(many), wrong},
		{EVENT_FILTER_TYPE_EVENT_ID, ids, 3, wrong},
		{EVENT_FILTER_TYPE_STACKWALK, EXACTLY(ids), passes},
		{EVENT_FILTER_TYPE_STACKWALK, EXACTLY(too_few), wrong},
		{EVENT_FILTER_TYPE_EVENT_NAME, EXACTLY(names), passes},
		{EVENT_FILTER_TYPE_EVENT_NAME, EXACTLY(no_end), wrong},
		{EVENT_FILTER_TYPE_EVENT_NAME, zeros, MAX_EVENT_FILTER_EVENT_NAME_SIZE, passes},
		{EVENT_FILTER_TYPE_EVENT_NAME, zeros, MAX_EVENT_FILTER_EVENT_NAME_SIZE + 1, wrong},
		{EVENT_FILTER_TYPE_EVENT_NAME, zeros, 19, wrong},
		{EVENT_FILTER_TYPE_STACKWALK_NAME, EXACTLY(names), passes},
		{EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, zeros, sizeof(EVENT_FILTER_LEVEL_KW),
		 passes},
		{EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, zeros, 17, wrong},
		/* KNOWN_GAP: see docs/refused.md */
		{EVENT_FILTER_TYPE_SYSTEM_FLAGS, zeros, 8, ERROR_NOT_SUPPORTED},
		{EVENT_FILTER_TYPE_TRACEHANDLE, zeros, 8, ERROR_NOT_SUPPORTED},
		{EVENT_FILTER_TYPE_CONTAINER, zeros, 8, ERROR_NOT_SUPPORTED},
		{0xFFFFFFFF, zeros, 8, ERROR_NOT_SUPPORTED},
	};
	static const GUID provider = {1, 2, 3, {4}};

	(void)state;
	memset(name_room, 'n', sizeof(name_room));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		EVENT_FILTER_DESCRIPTOR filter = {(ULONGLONG)(ULONG_PTR)rows[i].data,
						  (ULONG)rows[i].bytes, rows[i].type};
		ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
						      .EnableFilterDesc = &filter,
						      .FilterDescCount = 1};
		ULONG error = EnableTraceEx2(1, &provider, 1, 0, 0, 0, 0, &parameters);

		if (error != rows[i].error)
			fail_msg("row %zu, filter %x of %zu bytes: %u, not %u", i, rows[i].type,
				 rows[i].bytes, error, rows[i].error);
	}
}

static void controller__query_all_checks_arguments(void **state)
{
	struct block block;
	PEVENT_TRACE_PROPERTIES blocks[2] = {&block.properties, NULL};
	ULONG count = 77;

	(void)state;
	init_block(&block);
	assert_int_equal(QueryAllTracesA(NULL, 1, &count), ERROR_INVALID_PARAMETER);     /* [MSD] */
	assert_int_equal(QueryAllTracesA(blocks, 0, &count), ERROR_INVALID_PARAMETER);   /* [MSD] */
	assert_int_equal(QueryAllTracesA(blocks, 1, NULL), ERROR_INVALID_PARAMETER);     /* [MSD] */
	assert_int_equal(QueryAllTracesW(blocks, 257, &count), ERROR_INVALID_PARAMETER); /* [MSD] */
	assert_int_equal(QueryAllTracesW(blocks, 2, &count), ERROR_INVALID_PARAMETER); /* [HERE] */
	assert_int_equal(count, 77);
	assert_int_equal(QueryAllTracesW(blocks, 1, &count), ERROR_SUCCESS);
	assert_int_equal(count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(controller__start_refuses_pointers_and_sizes),
		cmocka_unit_test(controller__start_checks_the_block),
		cmocka_unit_test(controller__start_wants_a_name_that_ends),
		cmocka_unit_test(controller__start_names_are_bounded),
		cmocka_unit_test(controller__start_binds_fixed_names_and_guids),
		cmocka_unit_test(controller__start_checks_modes),
		cmocka_unit_test(controller__start_says_what_it_cannot_do),
		cmocka_unit_test(controller__control_checks_arguments),
		cmocka_unit_test(controller__control_binds_fixed_names_and_guids),
		cmocka_unit_test(controller__enable_checks_arguments),
		cmocka_unit_test(controller__enable_refuses_what_is_not_built),
		cmocka_unit_test(controller__enable_checks_filters),
		cmocka_unit_test(controller__query_all_checks_arguments),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
