/* SPDX-License-Identifier: MIT */
/*
 * A session as people record them: a build (cmd, make, cc, ld) watched by the kernel, an EventSource that
 * carries its own manifest, and a TraceLogging provider.
 */
#include <string.h>

#include "base/macros.h"
#include "synthetic/kernel_event.h"
#include "synthetic/presets.h"

#define T0        1000000
#define MS        (1000 * PRESET_TICKS_PER_US)
#define KERNEL_IP UINT64_C(0xFFFFF80000201000)
#define USER_IP   UINT64_C(0x00007FF600001234)

enum {
	CMD_PID = 900,
	MAKE_PID = 1000,
	CC_PID = 1012,
	LD_PID = 1024
};

static const struct kernel_process processes[] = {
	{4, 0, 0, "System", ""},
	{CMD_PID, 4, 1, "cmd.exe", "cmd.exe"},
	{MAKE_PID, CMD_PID, 1, "make.exe", "make -j2 all"},
	{CC_PID, MAKE_PID, 1, "cc.exe", "cc -O2 -c hello.c"},
	{LD_PID, MAKE_PID, 1, "ld.exe", "ld -o hello.exe hello.o"},
};

static const char *const images[ARRAY_SIZE(processes)] = {
	"\\SystemRoot\\system32\\ntoskrnl.exe",
	"\\Device\\HarddiskVolume2\\Windows\\System32\\cmd.exe",
	"\\Device\\HarddiskVolume2\\tools\\make.exe",
	"\\Device\\HarddiskVolume2\\tools\\cc.exe",
	"\\Device\\HarddiskVolume2\\tools\\ld.exe",
};

static const char manifest[] =
	"<instrumentationManifest xmlns=\"http://schemas.microsoft.com/win/2004/08/events\">\r\n"
	" <instrumentation xmlns:xs=\"http://www.w3.org/2001/XMLSchema\""
	" xmlns:win=\"http://manifests.microsoft.com/win/2004/08/windows/events\">\r\n"
	"  <events xmlns=\"http://schemas.microsoft.com/win/2004/08/events\">\r\n"
	"<provider name=\"Synthetic-Build\" guid=\"{9e2f0c11-5a47-4c5e-9b01-020304050607}\""
	" resourceFileName=\"Synthetic-Build\" messageFileName=\"Synthetic-Build\""
	" symbol=\"SyntheticBuild\">\r\n"
	" <tasks>\r\n"
	"  <task name=\"Compile\" message=\"$(string.task_Compile)\" value=\"1\"/>\r\n"
	" </tasks>\r\n"
	" <keywords>\r\n"
	"  <keyword name=\"Build\" message=\"$(string.keyword_Build)\" mask=\"0x1\"/>\r\n"
	" </keywords>\r\n"
	" <events>\r\n"
	"  <event value=\"1\" version=\"0\" level=\"win:Informational\" symbol=\"FileStarted\""
	" message=\"$(string.event_FileStarted)\" keywords=\"Build\" opcode=\"win:Start\""
	" task=\"Compile\" template=\"FileStartedArgs\"/>\r\n"
	"  <event value=\"2\" version=\"0\" level=\"win:Warning\" symbol=\"Slow\""
	" keywords=\"Build\" template=\"SlowArgs\"/>\r\n"
	" </events>\r\n"
	" <templates>\r\n"
	"  <template tid=\"FileStartedArgs\">\r\n"
	"   <data name=\"file\" inType=\"win:UnicodeString\"/>\r\n"
	"   <data name=\"number\" inType=\"win:UInt32\"/>\r\n"
	"  </template>\r\n"
	"  <template tid=\"SlowArgs\">\r\n"
	"   <data name=\"seconds\" inType=\"win:Double\"/>\r\n"
	"  </template>\r\n"
	" </templates>\r\n"
	"</provider>\r\n"
	"  </events>\r\n"
	" </instrumentation>\r\n"
	" <localization>\r\n"
	"  <resources culture=\"en-US\">\r\n"
	"   <stringTable>\r\n"
	"    <string id=\"event_FileStarted\" value=\"Compiling %1, number %2\"/>\r\n"
	"    <string id=\"keyword_Build\" value=\"Build\"/>\r\n"
	"    <string id=\"task_Compile\" value=\"Compile\"/>\r\n"
	"   </stringTable>\r\n"
	"  </resources>\r\n"
	" </localization>\r\n"
	"</instrumentationManifest>\r\n";

static struct made_event event;

static void log_manifest(struct maker *maker, int64_t time_raw)
{
	struct made_descriptor descriptor = {
		.provider = &preset_provider, .id = 0xFFFE, .opcode = 0xFE, .task = 0xFFFE};
	struct made_ids ids = {MAKE_PID, MAKE_PID + 4, 1, 1};

	made_modern(&event, WIRE_HEADER_EVENT64, &descriptor, time_raw, &ids);
	made_u8(&event, 1); /* XML */
	made_u8(&event, 1);
	made_u8(&event, 0);
	made_u8(&event, 0x5B);
	made_u16(&event, 1);
	made_u16(&event, 0);
	made_put(&event, manifest, sizeof(manifest) - 1);
	maker_add(maker, 0, &event);
}

static void log_file_started(struct maker *maker, unsigned cpu, int64_t time_raw, const char *file,
			     uint32_t number)
{
	struct made_descriptor descriptor = {.provider = &preset_provider,
					     .id = 1,
					     .level = 4,
					     .opcode = 1,
					     .task = 1,
					     .keyword = 1};
	struct made_ids ids = {CC_PID, CC_PID + 4, 2, 1};
	static const GUID related = {0x01020304, 5, 6, {7, 8, 9, 10, 11, 12, 13, 14}};

	made_modern(&event, WIRE_HEADER_EVENT64, &descriptor, time_raw, &ids);
	if (number % 2)
		made_item(&event, 0x01, &related, sizeof(related));
	made_utf16(&event, file);
	made_u32(&event, number);
	maker_add(maker, cpu, &event);
}

static void log_slow(struct maker *maker, unsigned cpu, int64_t time_raw, double seconds)
{
	struct made_descriptor descriptor = {
		.provider = &preset_provider, .id = 2, .level = 3, .keyword = 1};
	struct made_ids ids = {MAKE_PID, MAKE_PID + 4, 2, 1};
	uint64_t bits;

	memcpy(&bits, &seconds, sizeof(bits));
	made_modern(&event, WIRE_HEADER_EVENT64, &descriptor, time_raw, &ids);
	made_u64(&event, bits);
	maker_add(maker, cpu, &event);
}

/* Event "Linked": "symbols" u32, "output" UTF-16, "ok" bool32. */
static void log_tracelogging(struct maker *maker, unsigned cpu, int64_t time_raw, uint32_t symbols)
{
	static const char schema[] = "\x2A\0\0Linked\0symbols\0\x08output\0\x01ok\0\x0D";
	static const char traits[] = "\x19\0Synthetic.TraceLogging";
	struct made_descriptor descriptor = {
		.provider = &preset_tracelogging, .channel = 11, .level = 5, .keyword = 2};
	struct made_ids ids = {LD_PID, LD_PID + 4, 0, 1};
	char blob[64];
	size_t bytes = sizeof(schema) - 1;

	memcpy(blob, schema, bytes);
	blob[0] = (char)bytes;
	made_modern(&event, WIRE_HEADER_EVENT64, &descriptor, time_raw, &ids);
	made_item(&event, 0x0C, traits, sizeof(traits));
	made_item(&event, 0x0B, blob, bytes);
	made_u32(&event, symbols);
	made_utf16(&event, "hello.exe");
	made_u32(&event, 1);
	maker_add(maker, cpu, &event);
}

static void log_rundown(struct maker *maker, enum kernel_moment moment, int64_t time_raw,
			size_t count)
{
	struct made_ids ids = {MAKE_PID, MAKE_PID + 4, 1, 1};

	for (size_t i = 0; i < count; i++) {
		uint32_t pid = processes[i].pid;

		kernel_process(&event, moment, time_raw, &ids, &processes[i]);
		maker_add(maker, 0, &event);
		kernel_thread(&event, moment, time_raw, &ids, pid, pid + 4, NULL);
		maker_add(maker, 0, &event);
		kernel_image(&event, moment, time_raw, &ids, pid,
			     pid == 4 ? KERNEL_IP & ~UINT64_C(0xFFFFF)
				      : USER_IP & ~UINT64_C(0xFFFF),
			     0x100000, images[i]);
		maker_add(maker, 0, &event);
	}
}

/* A process from start to end on one processor: its thread, image, work and exit. */
static void log_process(struct maker *maker, unsigned cpu, int64_t from_raw, int64_t to_raw,
			size_t index)
{
	const struct kernel_process *process = &processes[index];
	struct made_ids parent = {process->parent, process->parent + 4, 1, 2};
	struct made_ids own = {process->pid, process->pid + 4, 3, 5};
	int64_t now = from_raw;

	kernel_process(&event, KERNEL_START, now, &parent, process);
	maker_add(maker, cpu, &event);
	kernel_thread(&event, KERNEL_START, now += 100, &parent, own.process_id, own.thread_id,
		      "main");
	maker_add(maker, cpu, &event);
	kernel_image(&event, KERNEL_START, now += 100, &own, own.process_id,
		     USER_IP & ~UINT64_C(0xFFFF), 0x20000, images[index]);
	maker_add(maker, cpu, &event);
	for (unsigned i = 0; now + 2 * MS < to_raw; i++) {
		uint64_t frames[3] = {KERNEL_IP + i, USER_IP + i, USER_IP + 0x100};

		kernel_switch(&event, now += 100, own.thread_id, 0, 2, 0);
		maker_add(maker, cpu, &event);
		kernel_sample(&event, now += MS, USER_IP + 16 * (i % 5), own.thread_id);
		maker_add(maker, cpu, &event);
		kernel_stack(&event, now, now, own.process_id, own.thread_id, frames,
			     ARRAY_SIZE(frames));
		maker_add(maker, cpu, &event);
		if (i % 4 == 0) {
			kernel_disk_read(&event, now += 10, 4096 * (uint64_t)i, 4096,
					 own.thread_id);
			maker_add(maker, cpu, &event);
		}
		kernel_switch(&event, now += MS / 2, 0, own.thread_id, 5, 6);
		maker_add(maker, cpu, &event);
	}
	kernel_image(&event, KERNEL_END, to_raw - 20, &own, own.process_id,
		     USER_IP & ~UINT64_C(0xFFFF), 0x20000, images[index]);
	maker_add(maker, cpu, &event);
	kernel_thread(&event, KERNEL_END, to_raw - 10, &own, own.process_id, own.thread_id, "main");
	maker_add(maker, cpu, &event);
	kernel_process(&event, KERNEL_END, to_raw, &own, process);
	maker_add(maker, cpu, &event);
}

static void adjust_session(struct maker_options *options)
{
	options->companions = MAKER_GROUP_MASKS | MAKER_PARTITION;
	options->logger_name = "Build";
	options->log_file_name = "C:\\Users\\dev\\build.etl";
	options->buffer_bytes = 8192;
}

static void fill_session(struct maker *maker)
{
	log_rundown(maker, KERNEL_RUNDOWN_START, T0 + 100, 2);
	log_manifest(maker, T0 + 1000);
	log_process(maker, 0, T0 + 2000, T0 + 90 * MS, 2);
	log_slow(maker, 1, T0 + 3 * MS, 0.125);
	for (uint32_t i = 1; i <= 6; i++)
		log_file_started(maker, 1, T0 + (4 + i) * MS, i % 2 ? "hello.c" : "world.c", i);
	log_process(maker, 1, T0 + 12 * MS, T0 + 60 * MS, 3);
	log_process(maker, 1, T0 + 61 * MS, T0 + 80 * MS, 4);
	log_tracelogging(maker, 1, T0 + 81 * MS, 42);
	log_tracelogging(maker, 1, T0 + 82 * MS, 43);
	log_rundown(maker, KERNEL_RUNDOWN_END, T0 + 95 * MS, 2);
}

static void adjust_compressed(struct maker_options *options)
{
	adjust_session(options);
	options->packing = MAKER_GREEDY;
	options->logger_name = "Relogger";
	options->log_file_name = "[multiple files]";
}

/* The user-mode half alone: everything in it can be decoded from the file itself. */
static void fill_user(struct maker *maker)
{
	log_manifest(maker, T0 + 1000);
	for (uint32_t i = 1; i <= 6; i++)
		log_file_started(maker, i % 2, T0 + i * MS, i % 2 ? "hello.c" : "world.c", i);
	log_slow(maker, 0, T0 + 7 * MS, 1.5);
	log_tracelogging(maker, 1, T0 + 8 * MS, 42);
}

/* What traces may say of processes: ids used again, a rundown at the end, circles, names that would be harmful. */
static void fill_processes(struct maker *maker)
{
	static const struct kernel_process first = {500, 4, 1, "first.exe", "first.exe /a"};
	static const struct kernel_process second = {500, 4, 1, "second.exe", "second.exe /b"};
	static const struct kernel_process late[] = {
		{4, 0, 0, "System", ""},
		{600, 604, 1, "circle.exe", "circle 1"},
		{604, 608, 1, "circle.exe", "circle 2"},
		{608, 600, 1, "circle.exe", "circle 3"},
		{612, 612, 1, "own.exe", "its own parent"},
		{616, 500, 1, "harm\033[2J.exe", "harm\n\033]0;x\007 done"},
	};
	const struct made_ids ids = {4, 8, 1, 1};
	const struct made_ids of_600 = {600, 601, 1, 1};

	kernel_process(&event, KERNEL_START, T0 + MS, &ids, &first);
	maker_add(maker, 0, &event);
	kernel_thread(&event, KERNEL_START, T0 + MS, &ids, 500, 501, "main");
	maker_add(maker, 0, &event);
	kernel_sample(&event, T0 + 2 * MS, USER_IP, 501);
	maker_add(maker, 0, &event);
	kernel_disk_read(&event, T0 + 2 * MS, 0, 4096, 601);
	maker_add(maker, 1, &event);
	kernel_process(&event, KERNEL_END, T0 + 3 * MS, &ids, &first);
	maker_add(maker, 0, &event);
	kernel_process(&event, KERNEL_START, T0 + 4 * MS, &ids, &second);
	maker_add(maker, 0, &event);
	kernel_thread(&event, KERNEL_START, T0 + 4 * MS, &ids, 500, 505, NULL);
	maker_add(maker, 0, &event);
	kernel_sample(&event, T0 + 5 * MS, USER_IP, 505);
	maker_add(maker, 0, &event);
	preset_event(&event, T0 + 6 * MS, 1, 7);
	maker_add(maker, 1, &event);
	for (unsigned i = 0; i < ARRAY_SIZE(late); i++) {
		kernel_process(&event, KERNEL_RUNDOWN_END, T0 + 7 * MS, &ids, &late[i]);
		maker_add(maker, 0, &event);
	}
	kernel_thread(&event, KERNEL_RUNDOWN_END, T0 + 7 * MS, &of_600, 600, 601, NULL);
	maker_add(maker, 0, &event);
}

const struct preset presets_session[] = {
	{"session", "a build: kernel, EventSource with its manifest, TraceLogging", adjust_session,
	 fill_session, true},
	{"session-compressed", "the same, compressed by the relogger", adjust_compressed,
	 fill_session, true},
	{"user", "only the events that the file itself can decode", NULL, fill_user, true},
	{"processes", "ids used again, rundown at the end, circles of parents, harmful names", NULL,
	 fill_processes, true},
};
const unsigned presets_session_count = ARRAY_SIZE(presets_session);
