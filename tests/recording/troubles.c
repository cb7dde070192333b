/* SPDX-License-Identifier: MIT */
/*
 * troubles TROUBLE FOLDER - what may happen to the file of a session while it is written, in each mode that has one, and what
 * the session tells of it:
 *
 *	full       the disk is full, and after a while has room again
 *	removed    the file is removed, or its folder
 *	read_only  the folder may not be written any more, by another user than root
 *
 * Whatever is tried, each event is in the file, or counted in EventsLost, and a consumer gets all. Each file that is left is
 * read back here, and a line says what the walker is to find in it:
 *
 *	PATH EVENTS
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <evntprov.h>
#include <winerror.h>

#include "base/guid.h"
#include "base/macros.h"
#include "recording/consuming.h"
#include "recording/support.h"
#include "wire/session_note.h"

#define EVENTS     300 /* written at a time; a few buffers of them */
#define BUFFER_KIB 16
#define OTHER_UID  60001
#define SMALL_DISK "size=256k"
#define LARGE_DISK "size=16m"
#define PATH_ROOM  400

#define APPEND     EVENT_TRACE_FILE_MODE_APPEND
#define REAL_TIME  EVENT_TRACE_REAL_TIME_MODE
#define CIRCULAR   EVENT_TRACE_FILE_MODE_CIRCULAR
#define COMPRESSED EVENT_TRACE_COMPRESSED_MODE
#define BUFFERING  EVENT_TRACE_BUFFERING_MODE
#define SERIES     EVENT_TRACE_FILE_MODE_NEWFILE

static const GUID provider_guid = {
	0x1d2c6f0e, 0x8a54, 0x4f0b, {0x9c, 0x22, 0x51, 0x07, 0xe3, 0x6d, 0x90, 0x4c}};

struct kind {
	const char *name;
	ULONG mode;
	ULONG maximum_mib;
	bool is_updated; /* into the file, from another one */
};

static const struct kind kinds[] = {
	{.name = "sequential"},
	{.name = "append", .mode = APPEND},
	{.name = "append_compressed", .mode = APPEND | COMPRESSED},
	{.name = "compressed", .mode = COMPRESSED},
	/* So large that it does not wrap: then all that is not there is lost. */
	{.name = "circular", .mode = CIRCULAR, .maximum_mib = 8},
	{.name = "real_time", .mode = REAL_TIME},
	{.name = "real_time_compressed", .mode = REAL_TIME | COMPRESSED},
	{.name = "updated", .is_updated = true},
	{.name = "updated_real_time", .mode = REAL_TIME, .is_updated = true},
};

/* A session, and what was written since it started. */
struct run {
	const struct kind *kind;
	struct recording recording;
	struct consuming live;
	uint32_t first; /* of `written` and `refused`, as it started */
	uint32_t refused_first;
	char path[PATH_ROOM];
};

static const char *folder; /* for the walker */
static char disk[PATH_ROOM];
static REGHANDLE provider;
static uint32_t written, refused; /* by EventWrite, ever */

static void write_events(uint32_t count)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	EVENT_DATA_DESCRIPTOR data;
	uint32_t payload[32] = {0};

	for (uint32_t i = 0; i < count; i++) {
		/* So that it cannot be packed to nothing. */
		for (size_t j = 1; j < ARRAY_SIZE(payload); j++)
			payload[j] = (payload[j - 1] + i) * 2654435761u;
		payload[0] = written;
		EventDataDescCreate(&data, payload, sizeof(payload));
		if (EventWrite(provider, &descriptor, 1, &data))
			refused++;
		else
			written++;
	}
}

static void prepare(struct recording *recording)
{
	EVENT_TRACE_PROPERTIES *properties = &recording->block.properties;

	memset(&recording->block, 0, sizeof(recording->block));
	properties->Wnode.BufferSize = sizeof(recording->block);
	properties->Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	properties->LoggerNameOffset = offsetof(__typeof__(recording->block), name);
	properties->LogFileNameOffset = offsetof(__typeof__(recording->block), file);
}

/* With a file's name, where the call takes one. Returns its error. */
static ULONG ask(struct recording *recording, ULONG code, const char *path)
{
	const struct wait wait = wait_for("no answer comes");
	ULONG error;

	do {
		prepare(recording);
		if (path)
			(void)snprintf(recording->block.file, sizeof(recording->block.file), "%s",
				       path);
		error = ControlTraceA(recording->handle, NULL, &recording->block.properties, code);
		if (error == ERROR_TIMEOUT)
			wait_on(&wait);
	} while (error == ERROR_TIMEOUT);
	return error;
}

static void expect_error(const char *what, ULONG got, ULONG wanted)
{
	if (got != wanted)
		fail("%s: error %u, not %u", what, (unsigned)got, (unsigned)wanted);
}

/* UPDATE takes the mode that the session has, and a name. */
static ULONG update(struct recording *recording, ULONG mode, const char *path)
{
	EVENT_TRACE_PROPERTIES *properties = &recording->block.properties;

	prepare(recording);
	properties->LogFileMode = mode;
	(void)snprintf(recording->block.file, sizeof(recording->block.file), "%s", path);
	return ControlTraceA(recording->handle, NULL, properties, EVENT_TRACE_CONTROL_UPDATE);
}

static void start(const struct kind *kind, const char *path, struct run *run)
{
	const struct recording_options options = {
		.name = kind->name,
		.file = path,
		.mode = kind->mode,
		.buffer_kib = BUFFER_KIB,
		.buffers = 64,
		.clock = kind->mode & APPEND ? 2 : 0,
		.maximum_mib = kind->maximum_mib,
	};

	run->kind = kind;
	run->first = written;
	run->refused_first = refused;
	recording_start(&run->recording, &options);
	recording_enable(&run->recording, &provider_guid);
	if (!(kind->mode & REAL_TIME))
		return;
	consuming_begin(&run->live, &provider_guid, kind->name);
	/* Whoever comes late does not get what went by. */
	write_events(1);
	(void)ask(&run->recording, EVENT_TRACE_CONTROL_FLUSH, NULL);
	consuming_await(&run->live, written - run->first);
}

static uint32_t written_in(const struct run *run)
{
	return written - run->first;
}

/* EventsLost without what EventWrite has refused. */
static uint32_t lost_in(const struct run *run)
{
	uint32_t lost = (uint32_t)run->recording.block.properties.EventsLost;

	if (lost < refused - run->refused_first)
		fail("%s: EventsLost %u is less than what was refused", run->kind->name, lost);
	return lost - (refused - run->refused_first);
}

struct found {
	uint32_t events, notes;
	uint32_t last; /* number of the event before, and 1 */
};

static void WINAPI on_event(PEVENT_RECORD record)
{
	static const GUID notes = WIRE_SESSION_NOTE_PROVIDER;
	struct found *found = record->UserContext;
	uint32_t number;

	found->notes += etw_guid_equal(&record->EventHeader.ProviderId, &notes);
	if (!etw_guid_equal(&record->EventHeader.ProviderId, &provider_guid))
		return;
	memcpy(&number, record->UserData, sizeof(number));
	if (number < found->last || number >= written)
		fail("event %u of %u is there twice, or never was", number, written);
	found->last = number + 1;
	found->events++;
}

/* The file is left to the walker. */
static void leave(const char *path, uint32_t events)
{
	static unsigned count;
	char copy[PATH_ROOM];
	uint8_t room[65536];
	ssize_t bytes;
	int from = open(path, O_RDONLY | O_CLOEXEC), to;

	(void)snprintf(copy, sizeof(copy), "%s/%u-%s", folder, count++, strrchr(path, '/') + 1);
	to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	while ((bytes = read(from, room, sizeof(room))) > 0) {
		if (write(to, room, (size_t)bytes) != bytes)
			fail("%s: %s", copy, strerror(errno));
	}
	if (from < 0 || to < 0 || bytes < 0)
		fail("%s: %s", path, strerror(errno));
	(void)close(from);
	(void)close(to);
	printf("%s %u\n", copy, events);
}

/* The file has @events of the writer's. Returns its EventsLost. */
static ULONG check_file(const char *path, uint32_t events)
{
	struct found found = {0};
	ULONG lost = recording_read(path, on_event, &found);

	if (found.events != events)
		fail("%s: %u events, not %u", path, found.events, events);
	(void)recording_check_order(path);
	leave(path, found.events + found.notes);
	return lost;
}

/* What the session had to say when it stopped, or was flushed, and what its file has, add up. */
static void check_sums(const struct run *run, uint32_t before)
{
	ULONG lost = check_file(run->path, before + written_in(run) - lost_in(run));

	if (lost != run->recording.block.properties.EventsLost)
		fail("%s: the session says %u lost, its file %u", run->kind->name,
		     (unsigned)run->recording.block.properties.EventsLost, (unsigned)lost);
}

static void stop(struct run *run, ULONG wanted)
{
	expect_error(run->kind->name, ask(&run->recording, EVENT_TRACE_CONTROL_STOP, NULL), wanted);
	if (run->kind->mode & REAL_TIME)
		consuming_finish(&run->live, written_in(run));
	if (run->kind->mode & REAL_TIME && run->recording.block.properties.RealTimeBuffersLost)
		fail("%s: real-time buffers are lost", run->kind->name);
}

/* What append has to find; and where an updated session comes from. Returns how many events the file has. */
static uint32_t start_in(const struct kind *kind, const char *place, struct run *run)
{
	char other[PATH_ROOM + 32];
	uint32_t before = 0;

	(void)snprintf(run->path, sizeof(run->path), "%s/%s.etl", place, kind->name);
	(void)snprintf(other, sizeof(other), "%s/%s-other.etl", test_home(), kind->name);
	if (kind->mode & APPEND) {
		start(kind, run->path, run);
		write_events(EVENTS / 10);
		stop(run, ERROR_SUCCESS);
		check_sums(run, 0);
		before = written_in(run);
	}
	start(kind, kind->is_updated ? other : run->path, run);
	if (!kind->is_updated)
		return before;
	write_events(EVENTS);
	expect_error(kind->name, update(&run->recording, kind->mode, run->path), ERROR_SUCCESS);
	(void)check_file(other, written_in(run));
	/* The rest of the account is the new file's alone. */
	if (!(kind->mode & REAL_TIME))
		run->first = written;
	return kind->mode & REAL_TIME ? 0 - written_in(run) : before;
}

static void flush(struct run *run)
{
	expect_error("FLUSH", ask(&run->recording, EVENT_TRACE_CONTROL_FLUSH, NULL), ERROR_SUCCESS);
	expect_error("QUERY", ask(&run->recording, EVENT_TRACE_CONTROL_QUERY, NULL), ERROR_SUCCESS);
}

static void mount_disk(unsigned long flags, const char *size)
{
	if (mount("disk", disk, "tmpfs", flags, size))
		fail("mount: %s", strerror(errno));
}

/* Writes until buffers are lost to the file. */
static void fill_disk(struct run *run)
{
	const struct wait wait = wait_for("the disk is not full");

	mount_disk(MS_REMOUNT, SMALL_DISK);
	do {
		wait_on(&wait);
		write_events(EVENTS);
		flush(run);
	} while (run->recording.block.properties.LogBuffersLost == 0);
}

/* Writes until none are lost any more. */
static void await_room(struct run *run)
{
	const struct wait wait = wait_for("the file does not go on");
	ULONG before;

	do {
		wait_on(&wait);
		before = run->recording.block.properties.LogBuffersLost;
		write_events(10);
		flush(run);
	} while (run->recording.block.properties.LogBuffersLost != before);
}

static void fill(const struct kind *kind)
{
	struct run run;
	uint32_t before;
	ULONG buffers;

	mount_disk(0, LARGE_DISK);
	before = start_in(kind, disk, &run);
	fill_disk(&run);
	buffers = run.recording.block.properties.BuffersWritten;
	/* It ended as a whole file. What was lost behind its end its header cannot know. */
	(void)check_file(run.path, before + written_in(&run) - lost_in(&run));
	write_events(EVENTS);
	flush(&run);
	if (run.recording.block.properties.BuffersWritten != buffers)
		fail("%s: buffers are written to a full disk", kind->name);
	mount_disk(MS_REMOUNT, LARGE_DISK);
	await_room(&run);
	write_events(EVENTS);
	stop(&run, ERROR_SUCCESS);
	if (run.recording.block.properties.BuffersWritten <= buffers)
		fail("%s: the file did not go on", kind->name);
	check_sums(&run, before);
	if (umount2(disk, MNT_DETACH))
		fail("umount: %s", strerror(errno));
}

/* The session was told to stop while its disk was full. */
static void stay_full(const struct kind *kind)
{
	struct run run;
	uint32_t before;

	mount_disk(0, LARGE_DISK);
	before = start_in(kind, disk, &run);
	fill_disk(&run);
	stop(&run, ERROR_SUCCESS);
	check_sums(&run, before);
	if (umount2(disk, MNT_DETACH))
		fail("umount: %s", strerror(errno));
}

/* All that the session has written is gone; what appending has found there is another session's. */
static void remove_file(const struct kind *kind)
{
	struct run run;

	(void)start_in(kind, folder, &run);
	write_events(EVENTS);
	flush(&run);
	if (unlink(run.path))
		fail("%s: %s", run.path, strerror(errno));
	flush(&run);
	write_events(EVENTS);
	flush(&run);
	if (lost_in(&run) != written_in(&run) && !kind->is_updated)
		fail("%s: %u events are lost of %u", kind->name, lost_in(&run), written_in(&run));
	stop(&run, ERROR_FILE_NOT_FOUND);
	if (access(run.path, F_OK) == 0)
		fail("%s: the file is there again", kind->name);
	if (!run.recording.block.properties.LogBuffersLost)
		fail("%s: no buffers are lost", kind->name);
	/* Nothing of it is in the way of the next one. */
	start(kind, run.path, &run);
	write_events(EVENTS);
	stop(&run, ERROR_SUCCESS);
	check_sums(&run, 0);
}

/* An open file does not depend on its folder; only another one cannot be made there. */
static void shut_folder(const struct kind *kind)
{
	struct run run;
	char other[PATH_ROOM], twin[PATH_ROOM + 16];
	uint32_t before;

	(void)snprintf(twin, sizeof(twin), "%s/shut", test_home());
	(void)snprintf(other, sizeof(other), "%.300s/%s-2.etl", twin, kind->name);
	if (mkdir(twin, 0700) && errno != EEXIST)
		fail("%s: %s", twin, strerror(errno));
	before = start_in(kind, twin, &run);
	write_events(EVENTS);
	if (chmod(twin, 0500))
		fail("%s: %s", twin, strerror(errno));
	write_events(EVENTS);
	flush(&run);
	if (!(kind->mode & (APPEND | CIRCULAR)))
		expect_error("UPDATE", update(&run.recording, kind->mode, other),
			     ERROR_ACCESS_DENIED);
	write_events(EVENTS);
	stop(&run, ERROR_SUCCESS);
	if (lost_in(&run) || run.recording.block.properties.LogBuffersLost)
		fail("%s: events are lost", kind->name);
	check_sums(&run, before);
	if (chmod(twin, 0700))
		fail("%s: %s", twin, strerror(errno));
}

static ULONG try_start(const char *name, const char *path, ULONG mode)
{
	struct recording recording = {0};

	prepare(&recording);
	recording.block.properties.Wnode.ClientContext = 2;
	recording.block.properties.LogFileMode = mode;
	(void)snprintf(recording.block.file, sizeof(recording.block.file), "%s", path);
	return StartTraceA(&recording.handle, name, &recording.block.properties);
}

/* Where nothing may be made, nothing starts; and nothing is appended to what may not be written. */
static void start_in_shut_folder(void)
{
	char place[PATH_ROOM], path[PATH_ROOM + 16];

	(void)snprintf(place, sizeof(place), "%s/shut", test_home());
	(void)snprintf(path, sizeof(path), "%s/append.etl", place);
	if (chmod(place, 0500) || chmod(path, 0400))
		fail("%s: %s", path, strerror(errno));
	expect_error("append to what may not be written", try_start("shut", path, APPEND),
		     ERROR_ACCESS_DENIED);
	(void)snprintf(path, sizeof(path), "%s/none.etl", place);
	expect_error("start where nothing may be made", try_start("shut", path, 0),
		     ERROR_ACCESS_DENIED);
	if (chmod(place, 0700))
		fail("%s: %s", place, strerror(errno));
}

/* The buffers are in memory, and a flush that fails changes nothing: the next one has them. */
static void flush_in_trouble(const struct kind *kind, const char *path, ULONG wanted,
			     void (*begin)(const char *path), void (*end)(const char *path))
{
	struct run run;
	uint32_t kept;

	start(kind, NULL, &run);
	(void)snprintf(run.path, sizeof(run.path), "%.399s", path);
	write_events(EVENTS);
	begin(path);
	expect_error("a flush in trouble", ask(&run.recording, EVENT_TRACE_CONTROL_FLUSH, path),
		     wanted);
	if (access(path, F_OK) == 0)
		fail("%s: a part of a file is left", path);
	write_events(EVENTS);
	end(path);
	expect_error("a flush", ask(&run.recording, EVENT_TRACE_CONTROL_FLUSH, path),
		     ERROR_SUCCESS);
	kept = written_in(&run);
	expect_error("QUERY", ask(&run.recording, EVENT_TRACE_CONTROL_QUERY, NULL), ERROR_SUCCESS);
	check_sums(&run, 0);
	(void)unlink(path);
	write_events(EVENTS);
	if (lost_in(&run) || written_in(&run) != kept + EVENTS)
		fail("%s: a flushed file is the session's no more", kind->name);
	stop(&run, ERROR_SUCCESS);
}

static void make_disk_small(const char *path)
{
	(void)path;
	mount_disk(0, "size=20k"); /* the header, and a part of a buffer */
}

static void make_disk_large(const char *path)
{
	(void)path;
	mount_disk(MS_REMOUNT, LARGE_DISK);
}

static void remove_folder(const char *path)
{
	(void)path;
	if (rmdir(disk))
		fail("%s: %s", disk, strerror(errno));
}

static void make_folder(const char *path)
{
	(void)path;
	if (mkdir(disk, 0700))
		fail("%s: %s", disk, strerror(errno));
}

static void shut(const char *path)
{
	(void)path;
	if (chmod(disk, 0500))
		fail("%s: %s", disk, strerror(errno));
}

static void open_again(const char *path)
{
	(void)path;
	if (chmod(disk, 0700))
		fail("%s: %s", disk, strerror(errno));
}

static void flush_buffering(ULONG wanted, void (*begin)(const char *path),
			    void (*end)(const char *path))
{
	static const struct kind buffering[] = {
		{.name = "buffering", .mode = BUFFERING},
		{.name = "buffering_compressed", .mode = BUFFERING | COMPRESSED},
	};
	char path[PATH_ROOM + 40];

	for (size_t i = 0; i < ARRAY_SIZE(buffering); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s.etl", disk, buffering[i].name);
		flush_in_trouble(&buffering[i], path, wanted, begin, end);
		(void)umount2(disk, MNT_DETACH);
	}
}

/* A file that a session has left is no business of its any more. */
static void leave_file(void (*trouble)(struct run *run))
{
	static const struct kind converted = {.name = "converted"};
	struct run run;
	uint32_t left;

	(void)start_in(&converted, disk, &run);
	write_events(EVENTS);
	expect_error("CONVERT", ask(&run.recording, EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME, NULL),
		     ERROR_SUCCESS);
	check_sums(&run, 0);
	left = written_in(&run);
	consuming_begin(&run.live, &provider_guid, converted.name);
	write_events(1);
	flush(&run);
	consuming_await(&run.live, 1);
	trouble(&run);
	write_events(EVENTS);
	expect_error("STOP", ask(&run.recording, EVENT_TRACE_CONTROL_STOP, NULL), ERROR_SUCCESS);
	consuming_finish(&run.live, written_in(&run) - left);
	if (lost_in(&run) || run.recording.block.properties.RealTimeBuffersLost)
		fail("a session without a file has lost events");
}

static void remove_left_file(struct run *run)
{
	if (unlink(run->path))
		fail("%s: %s", run->path, strerror(errno));
}

static void use_up_disk(struct run *run)
{
	static const uint8_t zeros[65536];
	int fd = open(run->path, O_WRONLY | O_APPEND | O_CLOEXEC);

	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	(void)close(fd);
}

static void shut_left_folder(struct run *run)
{
	(void)run;
	shut(NULL);
}

static void run_full(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		fill(&kinds[i]);
		stay_full(&kinds[i]);
	}
	flush_buffering(ERROR_DISK_FULL, make_disk_small, make_disk_large);
	mount_disk(0, LARGE_DISK);
	leave_file(use_up_disk);
	if (umount2(disk, MNT_DETACH))
		fail("umount: %s", strerror(errno));
}

static void run_removed(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		remove_file(&kinds[i]);
	flush_buffering(ERROR_PATH_NOT_FOUND, remove_folder, make_folder);
	leave_file(remove_left_file);
}

static void run_read_only(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		shut_folder(&kinds[i]);
	start_in_shut_folder();
	flush_buffering(ERROR_ACCESS_DENIED, shut, open_again);
	leave_file(shut_left_folder);
	open_again(NULL);
}

/* Mounts of this process and the hosts that it starts. */
static bool may_mount(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		printf("skipped: no right to mount a small disk\n");
		return false;
	}
	return true;
}

static bool become_other(void)
{
	if (geteuid() != 0)
		return true;
	if (chown(folder, OTHER_UID, OTHER_UID) || setgroups(0, NULL) || setgid(OTHER_UID) ||
	    setuid(OTHER_UID)) {
		printf("skipped: another user needs root\n");
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
		bool (*can_run)(void);
	} troubles[] = {
		{"full", run_full, may_mount},
		{"removed", run_removed, NULL},
		{"read_only", run_read_only, become_other},
	};

	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	folder = argv[2];
	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++) {
		if (strcmp(troubles[i].name, argv[1]) != 0)
			continue;
		if (troubles[i].can_run && !troubles[i].can_run())
			return TEST_SKIPPED;
		(void)snprintf(disk, sizeof(disk), "%s/disk", test_home());
		make_folder(NULL);
		if (EventRegister(&provider_guid, NULL, NULL, &provider))
			fail("EventRegister failed");
		troubles[i].run();
		EventUnregister(provider);
		return 0;
	}
	return 2;
}
