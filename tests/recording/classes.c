/* SPDX-License-Identifier: MIT */
/*
 * classes ANNOUNCE FOLDER - records every class of the kernel's events, with stacks, into files of several modes, while
 * processes of several kinds work: some that end, some that take a program, one that writes events of its own, and ANNOUNCE,
 * which announces images. For each file one line says what the session said when it stopped, as files.c has it:
 *
 *	NAME EVENTS_LOST BUFFERS_WRITTEN BUFFERS_LOST TRIED BEFORE AFTER
 *
 * check_classes.py holds the files, NAME.etl in the folder, against the lines and against two decoders.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <evntprov.h>

#include "base/macros.h"
#include "base/time.h"
#include "recording/support.h"

#define EVENTS     200 /* of the provider, in each piece of work */
#define PROCESSES  12
#define THREADS    12
#define BUFFER_KIB 64
#define LAPS       2 /* of what is circular */
#define ALL_FLAGS                                                                                 \
	(EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD |       \
	 EVENT_TRACE_FLAG_PROCESS_COUNTERS | EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_DPC |    \
	 EVENT_TRACE_FLAG_INTERRUPT | EVENT_TRACE_FLAG_SYSTEMCALL | EVENT_TRACE_FLAG_DISPATCHER | \
	 EVENT_TRACE_FLAG_PROFILE)
#define IO_FLAGS                                                                         \
	(EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_DISK_IO | \
	 EVENT_TRACE_FLAG_DISK_IO_INIT | EVENT_TRACE_FLAG_SPLIT_IO |                     \
	 EVENT_TRACE_FLAG_DISK_FILE_IO | EVENT_TRACE_FLAG_FILE_IO |                      \
	 EVENT_TRACE_FLAG_FILE_IO_INIT | EVENT_TRACE_FLAG_NETWORK_TCPIP |                \
	 EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS | EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS |     \
	 EVENT_TRACE_FLAG_VIRTUAL_ALLOC | EVENT_TRACE_FLAG_VAMAP)

static const GUID provider_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x05}};
static const GUID thread_class = {
	0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
static const GUID perf_info_class = {
	0xce1dbfb4, 0x137e, 0x4da6, {0x87, 0xb0, 0x3f, 0x59, 0xaa, 0x10, 0x2c, 0xbc}};

struct kind {
	const char *name;
	ULONG mode, maximum_mib; /* 0: it holds all of one piece of work */
	bool is_io; /* disks, files, memory and the network, instead of the processors; without stacks */
};

static const struct kind kinds[] = {
	{.name = "sequential", .mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL},
	{.name = "one_stream",
	 .mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING},
	/* In memory, whose last events are flushed into a file: the only one of the kernel's that is compressed. */
	{.name = "compressed",
	 .mode = EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_COMPRESSED_MODE,
	 .maximum_mib = 4},
	{.name = "circular", .mode = EVENT_TRACE_FILE_MODE_CIRCULAR, .maximum_mib = 4},
	{.name = "io", .mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL, .is_io = true},
};

static int64_t now_ft(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return ETW_FILETIME_UNIX_EPOCH + now.tv_sec * ETW_FILETIME_PER_SECOND + now.tv_nsec / 100;
}

static void ask_for_stacks(const struct recording *recording)
{
	CLASSIC_EVENT_ID events[] = {
		{thread_class, 36, {0}},    {thread_class, 50, {0}},    {perf_info_class, 46, {0}},
		{perf_info_class, 51, {0}}, {perf_info_class, 52, {0}},
	};
	ULONG error = TraceSetInformation(recording->handle, TraceStackTracingInfo, events,
					  sizeof(events));

	if (error)
		fail("TraceSetInformation: error %u", (unsigned)error);
}

/* What has no bit among the flags. */
static void ask_for_priorities(const struct recording *recording)
{
	ULONG masks[8] = {0}, error;

	error = TraceQueryInformation(recording->handle, TraceSystemTraceEnableFlagsInfo, masks,
				      sizeof(masks), NULL);
	if (error)
		fail("TraceQueryInformation of the masks: error %u", (unsigned)error);
	masks[1] |= 0x2000;
	error = TraceSetInformation(recording->handle, TraceSystemTraceEnableFlagsInfo, masks,
				    sizeof(masks));
	if (error)
		fail("TraceSetInformation of the masks: error %u", (unsigned)error);
}

static void write_events(void)
{
	EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	REGHANDLE handle = recording_register(&provider_guid, NULL, NULL);

	for (ULONG i = 0; i < EVENTS; i++) {
		EVENT_DATA_DESCRIPTOR data;

		EventDataDescCreate(&data, &i, sizeof(i));
		(void)EventWrite(handle, &descriptor, 1, &data);
	}
	EventUnregister(handle);
}

static void *name_itself(void *context)
{
	(void)prctl(PR_SET_NAME, "named");
	usleep(1000);
	return context;
}

static void make_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, name_itself, NULL))
			fail("cannot make a thread");
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
}

static void use_file(void)
{
	char name[] = "/tmp/etw-classes-XXXXXX", other[64], byte = 1;
	int file = mkstemp(name);
	void *view;

	(void)snprintf(other, sizeof(other), "%s.other", name);
	if (file < 0 || write(file, &byte, 1) != 1 || fsync(file) || pread(file, &byte, 1, 0) != 1)
		_exit(20);
	view = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	if (view == MAP_FAILED || munmap(view, 4096) || ftruncate(file, 10) || close(file) ||
	    rename(name, other) || unlink(other))
		_exit(21);
	view = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (view == MAP_FAILED)
		_exit(22);
	memset(view, 1, 65536);
	(void)munmap(view, 65536);
}

/* Both ends are this thread's: what is sent waits in the receiver's socket. */
static void use_network(int type)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	int server = socket(AF_INET, type, 0), client = socket(AF_INET, type, 0), end = server;
	char byte = 1;

	if (server < 0 || client < 0 || bind(server, (void *)&address, sizeof(address)) ||
	    getsockname(server, (void *)&address, &bytes) ||
	    (type == SOCK_STREAM && listen(server, 1)) ||
	    connect(client, (void *)&address, sizeof(address)))
		_exit(23);
	if (type == SOCK_STREAM)
		end = accept(server, NULL, NULL);
	if (end < 0 || send(client, &byte, 1, 0) != 1 || recv(end, &byte, 1, 0) != 1)
		_exit(24);
	close(client);
	close(end);
}

/* Something of each class of input, output and memory. */
static void use_all(void)
{
	use_file();
	use_network(SOCK_STREAM);
	use_network(SOCK_DGRAM);
	_exit(0);
}

static void run_child(int number, const char *announce)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (number == 0 && freopen("/dev/null", "w", stdout))
			execl(announce, announce, (char *)NULL);
		if (number == 1) {
			make_threads();
			(void)setpriority(PRIO_PROCESS, 0, 5);
			exit(0);
		}
		if (number == 2) {
			write_events();
			exit(0);
		}
		if (number == 4)
			use_all();
		if (number % 2)
			execl("/bin/true", "true", "a \"quoted\" argument", "\xc3\xa9",
			      (char *)NULL);
		_exit(number == 0 ? 127 : number);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		fail("cannot run a child: %s", strerror(errno));
	if ((number <= 2 || number == 4) && status)
		fail("child %d ended with status %d", number, status);
}

static void flush(struct recording *recording, const char *file)
{
	EVENT_TRACE_PROPERTIES *properties = &recording->block.properties;
	ULONG error;

	properties->LogFileNameOffset = offsetof(__typeof__(recording->block), file);
	snprintf(recording->block.file, sizeof(recording->block.file), "%s", file);
	error = FlushTraceA(recording->handle, NULL, properties);
	if (error)
		fail("FlushTrace %s: error %u", file, (unsigned)error);
}

static void record(const struct kind *kind, const char *announce, const char *folder)
{
	char file[512];
	struct recording_options options = {
		.name = kind->name,
		.file = file,
		.mode = kind->mode | EVENT_TRACE_SYSTEM_LOGGER_MODE,
		.buffer_kib = BUFFER_KIB,
		.buffers = 64,
		.kernel_flags = kind->is_io ? IO_FLAGS : ALL_FLAGS,
	};
	const EVENT_TRACE_PROPERTIES *said;
	bool is_flushed = kind->mode & EVENT_TRACE_BUFFERING_MODE;
	struct recording recording;
	uint32_t tried = 0;
	int64_t before_ft;

	snprintf(file, sizeof(file), "%s/%s.etl", folder, kind->name);
	if (is_flushed)
		options.file = NULL;
	else
		options.maximum_mib = kind->maximum_mib;
	recording_start(&recording, &options);
	said = &recording.block.properties;
	if (!kind->is_io) {
		ask_for_priorities(&recording);
		ask_for_stacks(&recording);
	}
	recording_enable(&recording, &provider_guid);
	do { /* once, but for the circular file */
		for (int i = 0; i < PROCESSES; i++)
			run_child(i, announce);
		tried += EVENTS;
		recording_control(&recording, EVENT_TRACE_CONTROL_QUERY);
	} while (said->BuffersWritten < (LAPS + 1) * kind->maximum_mib * 1024 / BUFFER_KIB);
	before_ft = now_ft();
	if (is_flushed)
		flush(&recording, file);
	else
		recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	printf("%s %u %u %u %u %lld %lld\n", kind->name, (unsigned)said->EventsLost,
	       (unsigned)said->BuffersWritten, (unsigned)said->LogBuffersLost, (unsigned)tried,
	       (long long)before_ft, (long long)now_ft());
	if (is_flushed)
		recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 3)
		return 2;
	if (is_kernel_shut())
		return TEST_SKIPPED;
	(void)test_home();
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		record(&kinds[i], argv[1], argv[2]);
	return 0;
}
