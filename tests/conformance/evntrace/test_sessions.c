/* SPDX-License-Identifier: MIT */
/*
 * Sessions of a host, through the API: start, query, update, flush, stop, listing, and what a consumer of a
 * real-time session sees. The host is $ETW_ETWD, in a folder of its own. Sources: [MSD] Microsoft's pages of
 * the function, [CONTRACT] docs/format/contract-evntrace.md, [HERE] a decision of this project.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <errhandlingapi.h>
#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>

#define NAME_UNITS 512
#define LIMIT_S    1500 /* of the whole program */

struct block {
	EVENT_TRACE_PROPERTIES properties;
	char logger[NAME_UNITS];
	char file[NAME_UNITS];
};

struct wide_block {
	EVENT_TRACE_PROPERTIES properties;
	WCHAR logger[NAME_UNITS];
	WCHAR file[NAME_UNITS];
};

static char folder[64];

static const GUID provider = {0x7c0f6a1e, 0x1f2b, 0x4c3d, {0x8e, 0x9f, 1, 2, 3, 4, 5, 6}};

static const char *path_of(const char *name)
{
	static char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void init_block(struct block *block, const char *file)
{
	memset(block, 0, sizeof(*block));
	block->properties.Wnode.BufferSize = sizeof(*block);
	block->properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	block->properties.LoggerNameOffset = offsetof(struct block, logger);
	block->properties.LogFileNameOffset = offsetof(struct block, file);
	block->properties.LogFileMode = file ? EVENT_TRACE_FILE_MODE_SEQUENTIAL
					     : EVENT_TRACE_REAL_TIME_MODE;
	if (file)
		(void)snprintf(block->file, sizeof(block->file), "%s", file);
}

static TRACEHANDLE start(const char *name, const char *file)
{
	TRACEHANDLE handle = 0;
	struct block block;

	init_block(&block, file);
	assert_int_equal(StartTraceA(&handle, name, &block.properties), ERROR_SUCCESS);
	assert_true(handle != 0);
	return handle;
}

static ULONG stop(TRACEHANDLE handle, const char *name, struct block *block)
{
	init_block(block, NULL);
	return StopTraceA(handle, name, &block->properties);
}

static mode_t mode_with_mask(mode_t mask)
{
	struct block block;
	struct stat file;
	TRACEHANDLE handle;
	mode_t before = umask(mask);

	handle = start("masked", path_of("masked.etl"));
	umask(before);
	assert_int_equal(stop(handle, NULL, &block), ERROR_SUCCESS);
	assert_int_equal(stat(path_of("masked.etl"), &file), 0);
	assert_int_equal(unlink(path_of("masked.etl")), 0);
	return file.st_mode & 07777;
}

/* The file is the caller's, as if the caller had made it. */
static void sessions__files_have_the_callers_permissions(void **state)
{
	(void)state;
	assert_int_equal(mode_with_mask(077), 0600);
	assert_int_equal(mode_with_mask(027), 0640);
	assert_int_equal(mode_with_mask(022), 0644);
	assert_int_equal(mode_with_mask(0), 0666);
}

/* Windows does not let the file be deleted; here the session ends, and there is nothing to show for it. */
static void sessions__stop_of_one_whose_file_was_deleted(void **state)
{
	TRACEHANDLE handle = start("deleted", path_of("deleted.etl"));
	struct block block;

	(void)state;
	assert_int_equal(unlink(path_of("deleted.etl")), 0);
	assert_int_equal(stop(handle, NULL, &block), ERROR_FILE_NOT_FOUND);
	assert_string_equal(block.logger, "deleted");
	assert_int_equal(block.properties.BuffersWritten, 0);
	assert_int_equal(stop(handle, NULL, &block), ERROR_WMI_INSTANCE_NOT_FOUND);
}

static void sessions__start_fills_the_block(void **state)
{
	TRACEHANDLE handle = 0;
	struct block block;

	(void)state;
	init_block(&block, path_of("filled.etl"));
	assert_int_equal(StartTraceA(&handle, "filled", &block.properties), ERROR_SUCCESS);
	/* [MSD] the name is copied; [CONTRACT] HistoricalContext is the handle, the GUID is made. */
	assert_string_equal(block.logger, "filled");
	assert_true(block.properties.Wnode.HistoricalContext == handle);
	assert_true(block.properties.Wnode.Guid.Data1 != 0);
	assert_true(block.properties.BufferSize >= 4);
	assert_true(block.properties.MinimumBuffers >= 2);
	assert_true(block.properties.MaximumBuffers >= block.properties.MinimumBuffers);
	assert_int_equal(stop(handle, NULL, &block), ERROR_SUCCESS);
	assert_string_equal(block.logger, "filled");
	assert_string_equal(block.file, path_of("filled.etl"));
	/* [CONTRACT] the header buffer at least */
	assert_true(block.properties.BuffersWritten >= 1);
	assert_int_equal(block.properties.EventsLost, 0);
	assert_int_equal(access(path_of("filled.etl"), R_OK), 0);
}

static void sessions__names_and_guids_are_unique(void **state)
{
	TRACEHANDLE first = start("unique", NULL), second = 0;
	struct block block;
	GUID guid;

	(void)state;
	init_block(&block, NULL);
	assert_int_equal(QueryTraceA(first, NULL, &block.properties), ERROR_SUCCESS);
	guid = block.properties.Wnode.Guid;
	init_block(&block, NULL);
	/* [CONTRACT] the same name, in any case */
	assert_int_equal(StartTraceA(&second, "unique", &block.properties), ERROR_ALREADY_EXISTS);
	assert_int_equal(StartTraceA(&second, "UNIQUE", &block.properties), ERROR_ALREADY_EXISTS);
	/* [CONTRACT] the same GUID */
	block.properties.Wnode.Guid = guid;
	assert_int_equal(StartTraceA(&second, "other", &block.properties), ERROR_ALREADY_EXISTS);
	assert_int_equal(stop(0, "Unique", &block), ERROR_SUCCESS);
	assert_int_equal(stop(first, NULL, &block), ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(stop(0, "unique", &block), ERROR_WMI_INSTANCE_NOT_FOUND);
}

static void sessions__files_that_cannot_be(void **state)
{
	TRACEHANDLE handle = 0, second = 0;
	struct block block;

	(void)state;
	init_block(&block, path_of("missing/x.etl"));
	assert_int_equal(StartTraceA(&handle, "x", &block.properties), ERROR_PATH_NOT_FOUND);
	init_block(&block, folder);
	assert_int_equal(StartTraceA(&handle, "x", &block.properties), ERROR_ACCESS_DENIED);
	/* [HERE] a device is no file */
	init_block(&block, "/dev/null");
	assert_int_equal(StartTraceA(&handle, "x", &block.properties), ERROR_INVALID_PARAMETER);
	/* [MSD] another session writes to it; it can be had when that one has ended */
	handle = start("first", path_of("shared.etl"));
	init_block(&block, path_of("shared.etl"));
	assert_int_equal(StartTraceA(&second, "x", &block.properties), ERROR_BAD_PATHNAME);
	assert_int_equal(stop(handle, NULL, &block), ERROR_SUCCESS);
	second = start("second", path_of("shared.etl"));
	assert_int_equal(stop(second, NULL, &block), ERROR_SUCCESS);
}

#define NO_DISK 255

/* In a process of its own, with a host of its own: StartTrace on a disk without room for a buffer. */
static int start_on_full_disk(void)
{
	TRACEHANDLE handle = 0;
	struct block block;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("etw-test", path_of("disk"), "tmpfs", 0, "size=8k") ||
	    mkdir(path_of("disk/run"), 0700) || setenv("ETW_RUNTIME_DIR", path_of("disk/run"), 1))
		return NO_DISK;
	init_block(&block, path_of("disk/full.etl"));
	return (int)StartTraceA(&handle, "full", &block.properties);
}

static void sessions__a_full_disk(void **state)
{
	int status = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(mkdir(path_of("disk"), 0700), 0);
	pid = fork();
	if (pid == 0)
		_exit(start_on_full_disk());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(rmdir(path_of("disk")), 0);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_DISK) {
		print_message("skipped: no file system can be mounted here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), ERROR_DISK_FULL); /* [MSD] */
}

static void sessions__relative_and_windows_paths(void **state)
{
	TRACEHANDLE handle = 0;
	struct block block;

	(void)state;
	assert_int_equal(chdir(folder), 0);
	init_block(&block, "relative.etl");
	assert_int_equal(StartTraceA(&handle, "relative", &block.properties), ERROR_SUCCESS);
	assert_int_equal(stop(handle, NULL, &block), ERROR_SUCCESS);
	/* [HERE] the file's whole path, as Windows makes it */
	assert_string_equal(block.file, path_of("relative.etl"));
	assert_int_equal(access(path_of("relative.etl"), R_OK), 0);
	assert_int_equal(setenv("ETW_DRIVE_Q", folder, 1), 0);
	init_block(&block, "Q:\\drive.etl");
	assert_int_equal(StartTraceA(&handle, "drive", &block.properties), ERROR_SUCCESS);
	assert_int_equal(stop(handle, NULL, &block), ERROR_SUCCESS);
	assert_string_equal(block.file, "Q:\\drive.etl");
	assert_int_equal(access(path_of("drive.etl"), R_OK), 0);
	assert_int_equal(chdir("/"), 0);
}

/*
 * Every bit of LogFileMode and of EnableFlags: it does what it says, or StartTrace says that it does not. The
 * rows that need more than the bit (a size, a name) have it.
 */
static void sessions__start_refuses_what_is_not_built(void **state)
{
	static const struct {
		ULONG mode, flags, size;
		ULONG error;
	} rows[] = {
		{EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, 0, ERROR_SUCCESS},
		{EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, 5, ERROR_SUCCESS},
		{EVENT_TRACE_USE_MS_FLUSH_TIMER, 0, 0, ERROR_SUCCESS},
		{EVENT_TRACE_REAL_TIME_MODE, 0, 0, ERROR_SUCCESS},
		{EVENT_TRACE_USE_KBYTES_FOR_SIZE, 0, 500, ERROR_SUCCESS},
		{EVENT_TRACE_INDEPENDENT_SESSION_MODE, 0, 0, ERROR_SUCCESS},
		{EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, 0, 0, ERROR_SUCCESS},
		{EVENT_TRACE_SECURE_MODE, 0, 0, ERROR_SUCCESS},
		{EVENT_TRACE_SYSTEM_LOGGER_MODE, 0, 0, ERROR_SUCCESS},
		{EVENT_TRACE_SYSTEM_LOGGER_MODE, EVENT_TRACE_FLAG_PROCESS, 0, ERROR_SUCCESS},
		{EVENT_TRACE_SYSTEM_LOGGER_MODE, EVENT_TRACE_FLAG_NO_SYSCONFIG, 0, ERROR_SUCCESS},
		{EVENT_TRACE_SYSTEM_LOGGER_MODE,
		 EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_CSWITCH, 0, ERROR_SUCCESS},
		{EVENT_TRACE_DELAY_OPEN_FILE_MODE, 0, 0, ERROR_SUCCESS},
		{EVENT_TRACE_ADD_HEADER_MODE, 0, 0, ERROR_SUCCESS},
		{EVENT_TRACE_USE_GLOBAL_SEQUENCE, 0, 0, ERROR_SUCCESS},
		{EVENT_TRACE_USE_LOCAL_SEQUENCE, 0, 0, ERROR_SUCCESS},
		{EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN, 0, 0, ERROR_SUCCESS},
		{EVENT_TRACE_PERSIST_ON_HYBRID_SHUTDOWN, 0, 0, ERROR_SUCCESS},
		{EVENT_TRACE_USE_PAGED_MEMORY, 0, 0, ERROR_SUCCESS},
		{EVENT_TRACE_FILE_MODE_NEWFILE, 0, 5, ERROR_SUCCESS},
		{EVENT_TRACE_COMPRESSED_MODE, 0, 0, ERROR_SUCCESS},
		/* [MSD] appending is for sessions with the system's time */
		{EVENT_TRACE_FILE_MODE_APPEND, 0, 0, ERROR_INVALID_PARAMETER},
		{EVENT_TRACE_COMPRESSED_MODE | EVENT_TRACE_SYSTEM_LOGGER_MODE, 0, 0,
		 ERROR_INVALID_PARAMETER},
		{EVENT_TRACE_FILE_MODE_CIRCULAR, 0, 5, ERROR_SUCCESS},
		{EVENT_TRACE_FILE_MODE_PREALLOCATE, 0, 5, ERROR_SUCCESS},
		{EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_PREALLOCATE, 0, 5,
		 ERROR_SUCCESS},
		/* KNOWN_GAP: modes */
		{EVENT_TRACE_MODE_RESERVED, 0, 0, ERROR_NOT_SUPPORTED},
		{EVENT_TRACE_ADDTO_TRIAGE_DUMP, 0, 0, ERROR_NOT_SUPPORTED},
		{0x20000000, 0, 0, ERROR_NOT_SUPPORTED},
		{0x40000000, 0, 0, ERROR_NOT_SUPPORTED},
		/* Flags of which none is collected are taken, as on Windows; the trace says so. */
		{EVENT_TRACE_SYSTEM_LOGGER_MODE, EVENT_TRACE_FLAG_REGISTRY, 0, ERROR_SUCCESS},
		{EVENT_TRACE_SYSTEM_LOGGER_MODE,
		 EVENT_TRACE_FLAG_ALPC | EVENT_TRACE_FLAG_NO_SYSCONFIG, 0, ERROR_SUCCESS},
		{EVENT_TRACE_SYSTEM_LOGGER_MODE, EVENT_TRACE_FLAG_EXTENSION, 0,
		 ERROR_INVALID_PARAMETER},
	};
	TRACEHANDLE handle;
	struct block block;
	ULONG error;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		init_block(&block, path_of("mode%d.etl"));
		block.properties.LogFileMode = rows[i].mode;
		block.properties.EnableFlags = rows[i].flags;
		block.properties.MaximumFileSize = rows[i].size;
		error = StartTraceA(&handle, "mode", &block.properties);
		if (error != rows[i].error)
			fail_msg("mode %x, flags %x: %u, not %u", rows[i].mode, rows[i].flags,
				 error, rows[i].error);
		if (!error)
			assert_int_equal(stop(handle, NULL, &block), ERROR_SUCCESS);
	}
	init_block(&block, NULL);
	block.properties.LogFileMode = EVENT_TRACE_BUFFERING_MODE;
	assert_int_equal(StartTraceA(&handle, "mode", &block.properties), ERROR_SUCCESS);
	/* [MSD] it has no file until a flush names one */
	init_block(&block, NULL);
	assert_int_equal(FlushTraceA(handle, NULL, &block.properties), ERROR_INVALID_PARAMETER);
	init_block(&block, path_of("none/x.etl"));
	assert_int_equal(FlushTraceA(handle, NULL, &block.properties), ERROR_PATH_NOT_FOUND);
	init_block(&block, path_of("flushed.etl"));
	assert_int_equal(FlushTraceA(handle, NULL, &block.properties), ERROR_SUCCESS);
	assert_int_equal(access(path_of("flushed.etl"), R_OK), 0);
	assert_int_equal(stop(handle, NULL, &block), ERROR_SUCCESS);
}

static void sessions__query_by_name_in_the_wide_form(void **state)
{
	TRACEHANDLE handle = start("wide", NULL);
	struct wide_block block = {0};
	struct block narrow;

	(void)state;
	block.properties.Wnode.BufferSize = sizeof(block);
	block.properties.LoggerNameOffset = offsetof(struct wide_block, logger);
	assert_int_equal(QueryTraceW(0, (LPCWSTR)u"wide", &block.properties), ERROR_SUCCESS);
	assert_memory_equal(block.logger, u"wide", 10);
	assert_true(block.properties.Wnode.HistoricalContext == handle);
	assert_int_equal(block.properties.LogFileMode & EVENT_TRACE_REAL_TIME_MODE,
			 EVENT_TRACE_REAL_TIME_MODE);
	assert_true(block.properties.NumberOfBuffers >= 2);
	assert_int_equal(stop(handle, NULL, &narrow), ERROR_SUCCESS);
}

static void sessions__names_that_do_not_fit(void **state)
{
	TRACEHANDLE handle = start("a name of some length", NULL);
	struct block block;

	(void)state;
	init_block(&block, NULL);
	block.properties.LoggerNameOffset = sizeof(block) - 4;
	/* [CONTRACT] everything but the name is there, and a stop has taken effect */
	assert_int_equal(QueryTraceA(handle, NULL, &block.properties), ERROR_MORE_DATA);
	assert_true(block.properties.Wnode.HistoricalContext == handle);
	assert_int_equal(StopTraceA(handle, NULL, &block.properties), ERROR_MORE_DATA);
	assert_int_equal(stop(handle, NULL, &block), ERROR_WMI_INSTANCE_NOT_FOUND);
}

static void sessions__flush_and_update(void **state)
{
	TRACEHANDLE handle = start("flushed", path_of("flushed.etl"));
	struct block block;

	(void)state;
	init_block(&block, NULL);
	assert_int_equal(FlushTraceA(handle, NULL, &block.properties), ERROR_SUCCESS);
	init_block(&block, NULL);
	block.properties.LogFileNameOffset = 0;
	block.properties.LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	block.properties.FlushTimer = 7;
	/* [MSD] FlushTimer is changed when it is not 0, and the block tells of the session. */
	assert_int_equal(UpdateTraceA(handle, NULL, &block.properties), ERROR_SUCCESS);
	assert_int_equal(block.properties.FlushTimer, 7);
	block.properties.FlushTimer = 0;
	block.properties.LogFileNameOffset = 0;
	assert_int_equal(UpdateTraceA(handle, NULL, &block.properties), ERROR_SUCCESS);
	assert_int_equal(block.properties.FlushTimer, 7);
	init_block(&block, NULL);
	assert_int_equal(stop(handle, NULL, &block), ERROR_SUCCESS);
}

static void sessions__query_all(void **state)
{
	TRACEHANDLE handles[3];
	struct block blocks[4];
	PEVENT_TRACE_PROPERTIES pointers[4];
	ULONG count = 0, found = 0;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		init_block(&blocks[i], NULL);
		pointers[i] = &blocks[i].properties;
	}
	handles[0] = start("all-0", NULL);
	handles[1] = start("all-1", NULL);
	handles[2] = start("all-2", NULL);
	assert_int_equal(QueryAllTracesA(pointers, 4, &count), ERROR_SUCCESS);
	assert_int_equal(count, 3);
	for (unsigned i = 0; i < 3; i++)
		found += !strncmp(blocks[i].logger, "all-", 4);
	assert_int_equal(found, 3);
	/* [MSD] the array is filled, and the count is that of the sessions. */
	assert_int_equal(QueryAllTracesA(pointers, 2, &count), ERROR_MORE_DATA);
	assert_int_equal(count, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(stop(handles[i], NULL, &blocks[0]), ERROR_SUCCESS);
}

static void sessions__enable_nobody(void **state)
{
	TRACEHANDLE handle = start("enabling", NULL);
	struct block block;

	(void)state;
	/* [MSD] a provider that is not registered yet gets it when it registers. */
	assert_int_equal(EnableTraceEx2(handle, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 1,
					0, 100, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(EnableTraceEx2(handle, &provider, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0,
					0, 0, 0, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(EnableTrace(1, 0xFF, 4, &provider, handle), ERROR_SUCCESS);
	assert_int_equal(stop(handle, NULL, &block), ERROR_SUCCESS);
	assert_int_equal(EnableTrace(1, 0xFF, 4, &provider, handle), ERROR_WMI_INSTANCE_NOT_FOUND);
}

/* What a consumer of a real-time session saw. */
static struct {
	unsigned headers, events, buffers;
	ULONG result;
	PROCESSTRACE_HANDLE handle;
	unsigned wanted; /* events; then the session is stopped */
	TRACEHANDLE session;
} seen;

static VOID WINAPI on_record(PEVENT_RECORD record)
{
	struct block block;

	if (!memcmp(&record->EventHeader.ProviderId, &EventTraceGuid, sizeof(GUID)))
		seen.headers += !record->EventHeader.EventDescriptor.Opcode;
	else if (!memcmp(&record->EventHeader.ProviderId, &provider, sizeof(GUID)))
		seen.events++;
	if (seen.wanted && seen.events == seen.wanted) {
		seen.wanted = 0;
		assert_int_equal(stop(seen.session, NULL, &block), ERROR_SUCCESS);
	}
}

static ULONG WINAPI on_buffer(PEVENT_TRACE_LOGFILEA logfile)
{
	seen.buffers++;
	return logfile->BuffersRead == seen.buffers;
}

static void open_live(char *name)
{
	EVENT_TRACE_LOGFILEA logfile = {0};

	logfile.LoggerName = name;
	logfile.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD;
	logfile.EventRecordCallback = on_record;
	logfile.BufferCallback = on_buffer;
	seen.handle = OpenTraceA(&logfile);
	assert_true(seen.handle != INVALID_PROCESSTRACE_HANDLE);
	/* [CONTRACT] the header is filled in from the session */
	assert_true(logfile.LogfileHeader.NumberOfProcessors >= 1);
	assert_true(logfile.LogfileHeader.PerfFreq.QuadPart > 0);
	assert_true(logfile.LogfileHeader.StartTime.QuadPart > 0);
	assert_int_equal(logfile.LogfileHeader.EndTime.QuadPart, 0);
	assert_int_equal(logfile.IsKernelTrace, 0);
}

static void write_events(unsigned count)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4, .Keyword = 1};
	REGHANDLE registration = 0;

	assert_int_equal(EventRegister(&provider, NULL, NULL, &registration), ERROR_SUCCESS);
	for (unsigned waited = 0; !EventProviderEnabled(registration, 4, 1) && waited < 5000;
	     waited++)
		(void)usleep(1000);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(EventWrite(registration, &descriptor, 0, NULL), ERROR_SUCCESS);
	assert_int_equal(EventUnregister(registration), ERROR_SUCCESS);
}

static void *process(void *context)
{
	(void)context;
	seen.result = ProcessTrace(&seen.handle, 1, NULL, NULL);
	return NULL;
}

/* @buffer_kib: with large ones the host sends only the beginning of the header buffer */
static void consume(ULONG buffer_kib)
{
	char name[] = "live";
	struct block block;
	pthread_t thread;

	memset(&seen, 0, sizeof(seen));
	init_block(&block, NULL);
	block.properties.BufferSize = buffer_kib;
	assert_int_equal(StartTraceA(&seen.session, name, &block.properties), ERROR_SUCCESS);
	seen.wanted = 100;
	assert_int_equal(EnableTraceEx2(seen.session, &provider, 1, 5, 0, 0, 0, NULL),
			 ERROR_SUCCESS);
	open_live(name);
	assert_int_equal(pthread_create(&thread, NULL, process, NULL), 0);
	write_events(100);
	(void)pthread_join(thread, NULL);
	/* [CONTRACT] returns when the session ends */
	assert_int_equal(seen.result, ERROR_SUCCESS);
	/* [MSD] (the sample "Using TdhFormatProperty") the header event is in files, and not in sessions */
	assert_int_equal(seen.headers, 0);
	assert_int_equal(seen.events, 100);
	assert_true(seen.buffers >= 1);
	assert_int_equal(CloseTrace(seen.handle), ERROR_SUCCESS);
}

static void sessions__a_consumer_gets_every_event(void **state)
{
	(void)state;
	consume(0);
	consume(1024);
}

static void sessions__closing_ends_a_live_pass(void **state)
{
	char name[] = "closed";
	TRACEHANDLE session;
	struct block block;
	pthread_t thread;

	(void)state;
	memset(&seen, 0, sizeof(seen));
	session = start(name, NULL);
	open_live(name);
	assert_int_equal(pthread_create(&thread, NULL, process, NULL), 0);
	(void)usleep(100000);
	/* [MSD] it ends later; [CONTRACT] and ProcessTrace says so. */
	assert_int_equal(CloseTrace(seen.handle), ERROR_CTX_CLOSE_PENDING);
	(void)pthread_join(thread, NULL);
	assert_int_equal(seen.result, ERROR_CANCELLED);
	assert_int_equal(CloseTrace(seen.handle), ERROR_INVALID_HANDLE);
	assert_int_equal(stop(session, NULL, &block), ERROR_SUCCESS);
}

static int make_folder(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/etw-sessions-XXXXXX");
	return mkdtemp(folder) && !setenv("ETW_RUNTIME_DIR", folder, 1) &&
			       !setenv("ETWD_IDLE_MS", "200", 1)
		       ? 0
		       : -1;
}

/* Sessions outlive their controller, and the host stays with them: none may be left behind. */
static void stop_all(void)
{
	static struct block blocks[64];
	PEVENT_TRACE_PROPERTIES pointers[64];
	struct block block;
	ULONG count = 0;

	for (unsigned i = 0; i < 64; i++) {
		init_block(&blocks[i], NULL);
		pointers[i] = &blocks[i].properties;
	}
	(void)QueryAllTracesA(pointers, 64, &count);
	for (unsigned i = 0; i < count && i < 64; i++)
		(void)stop(blocks[i].properties.Wnode.HistoricalContext, NULL, &block);
}

static void remove_folder(void)
{
	DIR *files = opendir(folder);
	struct dirent *entry;

	while (files && (entry = readdir(files))) {
		if (entry->d_name[0] != '.')
			(void)unlink(path_of(entry->d_name));
	}
	if (files)
		(void)closedir(files);
	(void)rmdir(folder);
}

static ULONG start_private(const char *name, const char *file, TRACEHANDLE *ret)
{
	struct block block;

	init_block(&block, path_of(file));
	block.properties.LogFileMode = EVENT_TRACE_PRIVATE_LOGGER_MODE;
	block.properties.Wnode.Guid = provider;
	return StartTraceA(ret, name, &block.properties);
}

static ULONG control_private(TRACEHANDLE handle, ULONG code, struct block *block)
{
	init_block(block, NULL);
	return ControlTraceA(handle, NULL, &block->properties, code);
}

/*
 * [MSD] "Configuring and Starting a Private Logger Session": without PRIVATE_IN_PROC the GUID is the provider's, which need not
 * be registered yet; "Logging Mode Constants": the number of the process is put behind the file's name.
 */
static void sessions__private_of_a_provider(void **state)
{
	ENABLE_TRACE_PARAMETERS of_group = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
		.EnableProperty = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP,
	};
	TRACEHANDLE handle = 0, twice = 0;
	REGHANDLE registration = 0;
	char file[64];
	struct block block;

	(void)state;
	assert_int_equal(start_private("mine", "mine.etl", &handle), ERROR_SUCCESS);
	assert_int_equal(start_private("MINE", "twice.etl", &twice), ERROR_ALREADY_EXISTS);
	assert_int_equal(EnableTraceEx2(handle, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0,
					0, 1000, NULL),
			 ERROR_SUCCESS);
	/* [MSD] Provider Traits: private sessions cannot control groups. */
	assert_int_equal(EnableTraceEx2(handle, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0,
					0, 0, &of_group),
			 ERROR_NOT_SUPPORTED);
	assert_int_equal(EventRegister(&provider, NULL, NULL, &registration), ERROR_SUCCESS);
	while (!EventProviderEnabled(registration, 4, 0))
		(void)usleep(1000);
	assert_int_equal(control_private(handle, EVENT_TRACE_CONTROL_QUERY, &block), ERROR_SUCCESS);
	assert_string_equal(block.logger, "mine");
	assert_string_equal(block.file, path_of("mine.etl"));
	assert_true(block.properties.NumberOfBuffers != 0);
	assert_int_equal(control_private(handle, EVENT_TRACE_CONTROL_FLUSH, &block), ERROR_SUCCESS);
	assert_int_equal(control_private(handle, EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME, &block),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(control_private(handle, EVENT_TRACE_CONTROL_STOP, &block), ERROR_SUCCESS);
	assert_int_equal(control_private(handle, EVENT_TRACE_CONTROL_STOP, &block),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_false(EventProviderEnabled(registration, 4, 0));
	(void)snprintf(file, sizeof(file), "mine.etl_%d", (int)getpid());
	assert_int_equal(access(path_of(file), R_OK), 0);
	/* [HERE] where no process can make its file the session does not begin. */
	assert_int_equal(start_private("mine", "none/mine.etl", &handle), ERROR_PATH_NOT_FOUND);
	assert_int_equal(EventUnregister(registration), ERROR_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sessions__start_fills_the_block),
		cmocka_unit_test(sessions__stop_of_one_whose_file_was_deleted),
		cmocka_unit_test(sessions__files_have_the_callers_permissions),
		cmocka_unit_test(sessions__names_and_guids_are_unique),
		cmocka_unit_test(sessions__files_that_cannot_be),
		cmocka_unit_test(sessions__a_full_disk),
		cmocka_unit_test(sessions__relative_and_windows_paths),
		cmocka_unit_test(sessions__start_refuses_what_is_not_built),
		cmocka_unit_test(sessions__query_by_name_in_the_wide_form),
		cmocka_unit_test(sessions__names_that_do_not_fit),
		cmocka_unit_test(sessions__flush_and_update),
		cmocka_unit_test(sessions__query_all),
		cmocka_unit_test(sessions__private_of_a_provider),
		cmocka_unit_test(sessions__enable_nobody),
		cmocka_unit_test(sessions__a_consumer_gets_every_event),
		cmocka_unit_test(sessions__closing_ends_a_live_pass),
	};

	int status = 1;
	pid_t child;

	if (make_folder())
		return 1;
	/* In a child, so that one that crashes or hangs leaves nothing behind either. */
	child = fork();
	if (!child) {
		(void)alarm(LIMIT_S);
		exit(cmocka_run_group_tests_name("evntrace.h sessions", tests, NULL, NULL));
	}
	if (child > 0)
		(void)waitpid(child, &status, 0);
	stop_all();
	remove_folder();
	return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
