/* SPDX-License-Identifier: MIT */
/* Who tells a session's numbers tells the same; see statistics.c. */
#include "recording/statistics.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "recording/children.h"
#include "recording/numbered.h"
#include "recording/support.h"
#include "wire/session_note.h"

const GUID statistics_provider = {
	0x1c6d9f3e, 0x85a2, 0x4f0b, {0xb1, 0x7e, 0x42, 0xd8, 0x0a, 0x93, 0x6c, 0x5f}};
static const GUID note_guid = WIRE_SESSION_NOTE_PROVIDER;

struct told statistics_told;
struct live statistics_live;
static struct seen in_file;

bool statistics_is_series(const struct scenario *scenario)
{
	return (scenario->mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0;
}

void statistics_expect(const char *what, uint64_t found, uint64_t expected)
{
	if (found != expected)
		fail("%s: %llu, not %llu", what, (unsigned long long)found,
		     (unsigned long long)expected);
}

void statistics_expect_whether(const char *what, bool found, bool expected)
{
	if (found != expected)
		fail("%s: %s", what, found ? "it is so" : "it is not so");
}

void WINAPI statistics_see(PEVENT_RECORD record)
{
	struct seen *seen = record->UserContext;
	uint16_t cpu = record->BufferContext.ProcessorIndex % CPUS_MAX;

	if (IsEqualGUID(&record->EventHeader.ProviderId, &statistics_provider)) {
		seen->events++;
		seen->of[cpu]++;
	} else if (IsEqualGUID(&record->EventHeader.ProviderId, &note_guid)) {
		seen->notes++;
	} else if (is_lost_event(record)) {
		bool is_buffer = record->EventHeader.EventDescriptor.Opcode == 33;

		seen->lost_buffers += is_buffer;
		seen->lost_events += !is_buffer;
		seen->lost_events_of[cpu] += !is_buffer;
	} else {
		seen->others++;
	}
	if (!seen->gate || seen->events == 0)
		return;
	store_release(seen->is_at_gate, 1u);
	await_flag(seen->gate, 1, "the gate does not open");
}

static uint64_t sum_of_causes(void)
{
	const struct wire_session_loss *loss = &statistics_told.sums.loss;

	return loss->no_buffer + loss->too_large + loss->gaps + loss->rejected + loss->source +
	       loss->file + loss->replaced + loss->others_counted;
}

/* The writers' records, and the numbers by cause and by processor. */
static void check_causes(const struct shared *shared)
{
	const struct wire_session_loss *loss = &statistics_told.sums.loss;
	uint64_t succeeded = 0, refused = 0;

	for (uint32_t i = 0; i < WRITERS; i++) {
		succeeded += shared->writers[i].succeeded;
		refused += shared->writers[i].refused;
	}
	printf("%llu events, %llu refused: %llu without a buffer, %llu too large; %llu in gaps, "
	       "%llu not in the file\n",
	       (unsigned long long)succeeded, (unsigned long long)refused,
	       (unsigned long long)statistics_told.all.no_buffer,
	       (unsigned long long)statistics_told.all.too_large,
	       (unsigned long long)statistics_told.all.gaps,
	       (unsigned long long)statistics_told.all.file);
	statistics_expect("events that were taken or lost behind EventWrite",
			  statistics_told.all.events - statistics_told.all.notes +
				  statistics_told.all.gaps + statistics_told.all.rejected,
			  succeeded);
	statistics_expect("events that were refused, by processor",
			  statistics_told.all.no_buffer + statistics_told.all.too_large +
				  loss->replaced,
			  refused);
	statistics_expect("events that were refused, by user",
			  loss->no_buffer + loss->too_large + loss->replaced + loss->others,
			  refused);
	statistics_expect("claims that are disregarded", loss->disregarded, 0);
	statistics_expect("gaps", statistics_told.all.gaps, loss->gaps);
	statistics_expect("refused by the host", statistics_told.all.rejected, loss->rejected);
	statistics_expect("lost to the file", statistics_told.all.file, loss->file);
	statistics_expect("EventsLost of QueryTrace", statistics_told.query.EventsLost,
			  sum_of_causes());
	statistics_expect("EventsLost of StopTrace", statistics_told.stop.EventsLost,
			  sum_of_causes());
}

static void check_buffers(const struct scenario *scenario)
{
	uint64_t header = scenario->has_file;

	statistics_expect("NumberOfBuffers by processor", statistics_told.all.buffers,
			  statistics_told.query.NumberOfBuffers);
	statistics_expect("NumberOfBuffers", statistics_told.sums.number_of_buffers,
			  statistics_told.query.NumberOfBuffers);
	statistics_expect("FreeBuffers by processor", statistics_told.all.free_buffers,
			  statistics_told.sums.free_buffers);
	if (!statistics_is_series(scenario)) /* there it is the last file's */
		statistics_expect("BuffersWritten of QueryTrace",
				  statistics_told.query.BuffersWritten,
				  statistics_told.all.buffers_written + header);
	statistics_expect("LogBuffersLost of QueryTrace", statistics_told.query.LogBuffersLost,
			  statistics_told.all.log_buffers_lost);
	statistics_expect(
		"RealTimeBuffersLost of QueryTrace", statistics_told.query.RealTimeBuffersLost,
		statistics_told.all.slow_buffers + statistics_told.all.unheard_buffers +
			statistics_told.sums.missed_buffers + statistics_told.sums.unread_buffers);
}

/* What is in a processor's buffers says that events were lost on it, when some were. */
static void check_flags(const struct seen *seen)
{
	for (uint32_t i = 0; i < statistics_told.sums.cpu_count; i++) {
		const struct wire_cpu_statistics *cpu = &statistics_told.cpus[i];
		bool is_lossy = cpu->no_buffer || cpu->too_large || cpu->gaps || cpu->rejected;

		statistics_expect_whether("RT_LostEvent on a processor",
					  seen->lost_events_of[i] > 0, is_lossy);
	}
}

static void WINAPI ignore(PEVENT_RECORD record)
{
	(void)record;
}

static TRACE_LOGFILE_HEADER header_of(const char *file)
{
	EVENT_TRACE_LOGFILEA logfile = {
		.LogFileName = (char *)(uintptr_t)file,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = ignore,
	};
	TRACEHANDLE trace = OpenTraceA(&logfile);

	if (trace == INVALID_PROCESSTRACE_HANDLE)
		fail("OpenTrace %s failed", file);
	CloseTrace(trace);
	return logfile.LogfileHeader;
}

/* One of the session's files. Returns its data buffers. */
static uint64_t check_one_file(const struct scenario *scenario, const char *file, bool is_last)
{
	TRACE_LOGFILE_HEADER header = header_of(file);
	struct stat status;

	statistics_expect("EventsLost as ProcessTrace has it",
			  recording_read(file, statistics_see, &in_file), header.EventsLost);
	if (stat(file, &status))
		fail("stat %s: %s", file, strerror(errno));
	if (!(scenario->mode & EVENT_TRACE_COMPRESSED_MODE)) /* else they have no common size */
		statistics_expect("buffers in the file",
				  (uint64_t)status.st_size / header.BufferSize,
				  header.BuffersWritten);
	if (is_last) {
		statistics_expect("EventsLost of the header", header.EventsLost,
				  statistics_told.stop.EventsLost);
		statistics_expect("BuffersLost of the header", header.BuffersLost,
				  statistics_told.stop.LogBuffersLost);
		statistics_expect("BuffersWritten of the header", header.BuffersWritten,
				  statistics_told.stop.BuffersWritten);
	}
	return header.BuffersWritten - 1;
}

/* Returns the data buffers of all files of a series. */
static uint64_t check_series(const struct scenario *scenario, const char *name)
{
	uint64_t buffers = 0;
	bool is_last = false;

	for (int i = 1; !is_last; i++) {
		char file[320], next[320];

		(void)snprintf(file, sizeof(file), "%s.%d", name, i);
		(void)snprintf(next, sizeof(next), "%s.%d", name, i + 1);
		is_last = access(next, F_OK) != 0;
		statistics_expect_whether("it is a series", i > 1 || !is_last, true);
		buffers += check_one_file(scenario, file, is_last);
	}
	return buffers;
}

static void check_file(const struct scenario *scenario, const char *file)
{
	bool is_full = scenario->maximum_mib > 0 && !statistics_is_series(scenario);
	uint64_t buffers = statistics_is_series(scenario) ? check_series(scenario, file)
							  : check_one_file(scenario, file, true);

	/* Notes of the end have a buffer of their own, because what was before is flushed. */
	statistics_expect("buffers that were written", buffers,
			  statistics_told.all.buffers_written +
				  (in_file.notes > statistics_told.all.notes));
	statistics_expect("events in the file", in_file.events,
			  statistics_told.all.events - statistics_told.all.notes -
				  statistics_told.all.file);
	for (uint32_t i = 1; i < statistics_told.sums.cpu_count; i++)
		statistics_expect("events of a processor in the file", in_file.of[i],
				  statistics_told.cpus[i].events - statistics_told.cpus[i].file);
	if (!is_full)
		check_flags(&in_file);
	statistics_expect_whether("the file lost events", statistics_told.all.file > 0, is_full);
	statistics_expect("buffers lost in the file", in_file.lost_buffers, 0);
}

static void check_consumer(void)
{
	uint64_t on_the_way = sum_of_causes() - statistics_told.sums.loss.file;
	uint64_t missed_events = statistics_told.all.slow_events +
				 statistics_told.all.unheard_events;

	printf("the consumer has %llu events, lost %u and %u buffers\n",
	       (unsigned long long)statistics_live.seen.events,
	       (unsigned)statistics_live.header.EventsLost,
	       (unsigned)statistics_live.header.BuffersLost);
	statistics_expect("events that the consumer got", statistics_live.seen.events,
			  statistics_told.all.delivered_events - missed_events);
	statistics_expect("events that went by", statistics_told.all.delivered_events,
			  statistics_told.all.events - statistics_told.all.notes);
	for (uint32_t i = 1; i < statistics_told.sums.cpu_count; i++)
		statistics_expect("events of a processor that the consumer got",
				  statistics_live.seen.of[i],
				  statistics_told.cpus[i].delivered_events -
					  statistics_told.cpus[i].slow_events -
					  statistics_told.cpus[i].unheard_events);
	statistics_expect("the consumer's EventsLost", statistics_live.header.EventsLost,
			  on_the_way + missed_events);
	statistics_expect("the consumer's BuffersLost", statistics_live.header.BuffersLost,
			  statistics_told.stop.RealTimeBuffersLost);
	statistics_expect("RealTimeBuffersLost at the end",
			  statistics_told.stop.RealTimeBuffersLost,
			  statistics_told.query.RealTimeBuffersLost);
	statistics_expect_whether("RT_LostEvent of events", statistics_live.seen.lost_events > 0,
				  on_the_way > 0);
	statistics_expect_whether("RT_LostEvent of buffers", statistics_live.seen.lost_buffers > 0,
				  statistics_live.header.BuffersLost > 0);
	if (missed_events == 0)
		check_flags(&statistics_live.seen);
}

static void check_real_time(const struct scenario *scenario)
{
	bool is_slow = scenario->consumer == SLOW || scenario->consumer == DEAD;

	if (!scenario->is_overrun)
		statistics_expect_whether("buffers were lost in real time",
					  statistics_told.query.RealTimeBuffersLost > 0,
					  scenario->loses_buffers);
	/* One that comes too late has no room for what comes with it. */
	if (scenario->consumer != LATE && !scenario->is_overrun)
		statistics_expect_whether("a consumer was slow",
					  statistics_told.all.slow_buffers > 0,
					  scenario->loses_buffers && is_slow);
	statistics_expect_whether("more was written than is kept",
				  statistics_told.all.unheard_buffers > 0,
				  scenario->loses_buffers && !is_slow);
	if (scenario->consumer == DEAD)
		statistics_expect("RealTimeBuffersLost at the end",
				  statistics_told.stop.RealTimeBuffersLost,
				  statistics_told.query.RealTimeBuffersLost);
	else if (scenario->consumer != NOBODY)
		check_consumer();
	else if (scenario->is_realtime) /* nobody ever came */
		statistics_expect("RealTimeBuffersLost without a consumer",
				  statistics_told.stop.RealTimeBuffersLost,
				  statistics_told.stop.BuffersWritten - scenario->has_file);
}

void statistics_check(const struct scenario *scenario, const struct shared *shared,
		      const char *file)
{
	check_causes(shared);
	check_buffers(scenario);
	if (scenario->has_file)
		check_file(scenario, file);
	check_real_time(scenario);
}
