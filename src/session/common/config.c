/* SPDX-License-Identifier: MIT */
/* Checking and rounding a session's configuration; see session/common/config.h. */
#include "session/common/config.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/macros.h"
#include "base/time.h"
#include "etl/file_writer.h"
#include "session/common/file_pattern.h"
#include "session/common/kernel_request.h"
#include "wire/etl_buffer.h"
#include "wire/ring_layout.h"
#include "wire/system_logger.h"

#define MIB            (UINT64_C(1024) * 1024)
#define PER_CPU_BYTES  (4 * MIB)
#define ALL_CPUS_BYTES (64 * MIB)

#define SEQUENTIAL   EVENT_TRACE_FILE_MODE_SEQUENTIAL
#define CIRCULAR     EVENT_TRACE_FILE_MODE_CIRCULAR
#define APPEND       EVENT_TRACE_FILE_MODE_APPEND
#define NEWFILE      EVENT_TRACE_FILE_MODE_NEWFILE
#define PREALLOCATE  EVENT_TRACE_FILE_MODE_PREALLOCATE
#define BUFFERING    EVENT_TRACE_BUFFERING_MODE
#define USE_MS_TIMER 0x00000010u /* EVENT_TRACE_USE_MS_FLUSH_TIMER */

/*
 * What asks for nothing that is not so anyway. Files are opened with the session, on Windows too since version 7, and
 * have their header from the start. Memory is paged. A machine that hibernates keeps its sessions, and shutting down
 * ends all of them: there is nothing between the two, as a hybrid shutdown is.
 */
#define MODES_OF_NO_EFFECT                                                    \
	(EVENT_TRACE_DELAY_OPEN_FILE_MODE | EVENT_TRACE_ADD_HEADER_MODE |     \
	 EVENT_TRACE_USE_PAGED_MEMORY | EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN | \
	 EVENT_TRACE_PERSIST_ON_HYBRID_SHUTDOWN)

#define FILE_MODES_BUILT (SEQUENTIAL | CIRCULAR | APPEND | NEWFILE | PREALLOCATE)

#define MODES_BUILT                                                                                \
	(FILE_MODES_BUILT | EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_INDEPENDENT_SESSION_MODE |    \
	 EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING | USE_MS_TIMER | EVENT_TRACE_USE_KBYTES_FOR_SIZE | \
	 EVENT_TRACE_SYSTEM_LOGGER_MODE | EVENT_TRACE_NONSTOPPABLE_MODE | MODES_OF_NO_EFFECT |     \
	 BUFFERING | EVENT_TRACE_COMPRESSED_MODE | EVENT_TRACE_SECURE_MODE |                       \
	 EVENT_TRACE_USE_GLOBAL_SEQUENCE | EVENT_TRACE_USE_LOCAL_SEQUENCE |                        \
	 EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC)

/* A mode and those it cannot stand with. */
struct conflict {
	uint32_t mode;
	uint32_t with;
	const char *name;
	const char *sentence;
};

static const struct conflict conflicts[] = {
	{CIRCULAR, SEQUENTIAL | APPEND | NEWFILE | BUFFERING | EVENT_TRACE_RELOG_MODE,
	 "EVENT_TRACE_FILE_MODE_CIRCULAR",
	 "circular files exclude sequential, append, new-file, buffering and relog modes"},
	{APPEND,
	 EVENT_TRACE_REAL_TIME_MODE | PREALLOCATE | NEWFILE | EVENT_TRACE_RELOG_MODE | BUFFERING,
	 "EVENT_TRACE_FILE_MODE_APPEND",
	 "appending excludes real-time, preallocate, new-file, relog and buffering modes"},
	{NEWFILE, PREALLOCATE | EVENT_TRACE_RELOG_MODE | BUFFERING | EVENT_TRACE_SYSTEM_LOGGER_MODE,
	 "EVENT_TRACE_FILE_MODE_NEWFILE",
	 "new-file mode excludes preallocate, relog, buffering and system logger modes"},
	{BUFFERING, SEQUENTIAL | PREALLOCATE, "EVENT_TRACE_BUFFERING_MODE",
	 "a buffering session has no file modes"},
	{EVENT_TRACE_PRIVATE_LOGGER_MODE,
	 EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_INDEPENDENT_SESSION_MODE | PREALLOCATE |
		 EVENT_TRACE_SYSTEM_LOGGER_MODE | EVENT_TRACE_RELOG_MODE,
	 "EVENT_TRACE_PRIVATE_LOGGER_MODE",
	 "a private session excludes real-time, independent, preallocate, system logger and relog "
	 "modes"},
	{EVENT_TRACE_ADD_HEADER_MODE, EVENT_TRACE_REAL_TIME_MODE, "EVENT_TRACE_ADD_HEADER_MODE",
	 "adding a header excludes real-time mode"},
	{EVENT_TRACE_USE_GLOBAL_SEQUENCE, EVENT_TRACE_USE_LOCAL_SEQUENCE,
	 "EVENT_TRACE_USE_GLOBAL_SEQUENCE", "sequence numbers are either global or local"},
	{EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN, EVENT_TRACE_PERSIST_ON_HYBRID_SHUTDOWN,
	 "EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN", "a session either stops or persists at shutdown"},
	{EVENT_TRACE_USE_PAGED_MEMORY, EVENT_TRACE_SYSTEM_LOGGER_MODE,
	 "EVENT_TRACE_USE_PAGED_MEMORY", "a system logger cannot use paged memory"},
};

/* What is not built yet, by bit. */
static const struct {
	uint32_t mode;
	const char *name;
} unbuilt[] = {
	{EVENT_TRACE_MODE_RESERVED, "EVENT_TRACE_MODE_RESERVED"},
	{EVENT_TRACE_ADDTO_TRIAGE_DUMP, "EVENT_TRACE_ADDTO_TRIAGE_DUMP"},
};

static int refuse(struct etw_fault *reterr, int error, const char *field, const char *sentence)
{
	return etw_fault_set(reterr, error, 0, "session configuration", field, sentence);
}

static int check_contradictions(const struct wire_session_config *config, struct etw_fault *reterr)
{
	uint32_t mode = config->log_file_mode |
			(etw_system_logger_is(config) ? EVENT_TRACE_SYSTEM_LOGGER_MODE : 0);
	uint32_t needs_size = CIRCULAR | NEWFILE | PREALLOCATE | EVENT_TRACE_USE_KBYTES_FOR_SIZE;
	bool has_file = config->log_file[0] != '\0';

	for (size_t i = 0; i < ARRAY_SIZE(conflicts); i++) {
		if (mode & conflicts[i].mode && mode & conflicts[i].with)
			return refuse(reterr, -EINVAL, conflicts[i].name, conflicts[i].sentence);
	}
	if (mode & (EVENT_TRACE_RELOG_MODE | EVENT_TRACE_PRIVATE_IN_PROC) &&
	    !(mode & EVENT_TRACE_PRIVATE_LOGGER_MODE))
		return refuse(reterr, -EINVAL, "EVENT_TRACE_PRIVATE_LOGGER_MODE",
			      "relog and in-process modes are of private sessions");
	/* As Windows has it, whose kernel packs nothing but what it dumps. */
	if (mode & EVENT_TRACE_COMPRESSED_MODE && mode & EVENT_TRACE_SYSTEM_LOGGER_MODE &&
	    !(mode & BUFFERING))
		return refuse(reterr, -EINVAL, "EVENT_TRACE_COMPRESSED_MODE",
			      "a system logger compresses in buffering mode alone");
	if (mode & EVENT_TRACE_COMPRESSED_MODE && mode & (CIRCULAR | PREALLOCATE))
		return refuse(reterr, -EOPNOTSUPP, "EVENT_TRACE_COMPRESSED_MODE",
			      "compressed buffers have no fixed places");
	if (mode & BUFFERING && has_file)
		return refuse(reterr, -EINVAL, "EVENT_TRACE_BUFFERING_MODE",
			      "a buffering session has no file");
	if (mode & EVENT_TRACE_NONSTOPPABLE_MODE && !(mode & (CIRCULAR | BUFFERING)) &&
	    (has_file || !(mode & EVENT_TRACE_REAL_TIME_MODE)))
		return refuse(reterr, -EINVAL, "EVENT_TRACE_NONSTOPPABLE_MODE",
			      "a session that cannot be stopped is circular, buffering or "
			      "real-time alone");
	if (mode & needs_size && (config->maximum_file_size == 0 || !has_file))
		return refuse(reterr, -EINVAL, "MaximumFileSize",
			      "the file mode needs a file name and a maximum file size");
	if (!has_file && !(mode & (EVENT_TRACE_REAL_TIME_MODE | BUFFERING)))
		return refuse(reterr, -EINVAL, "LogFileName",
			      "a session that is not real-time needs a file name");
	if (mode & NEWFILE && !etw_file_pattern_is_one(config->log_file))
		return refuse(reterr, -EINVAL, "LogFileName",
			      "the name of a series of files has exactly one %d");
	if (has_file && config->log_file[0] != '/')
		return refuse(reterr, -EINVAL, "LogFileName", "the file's path is not absolute");
	return 0;
}

static int check_modes(const struct wire_session_config *config, struct etw_fault *reterr)
{
	TRY(check_contradictions(config, reterr));
	for (size_t i = 0; i < ARRAY_SIZE(unbuilt); i++) {
		if (config->log_file_mode & unbuilt[i].mode)
			return refuse(reterr, -EOPNOTSUPP, unbuilt[i].name,
				      "the mode is not built yet");
	}
	if (config->log_file_mode & ~MODES_BUILT)
		return refuse(reterr, -EOPNOTSUPP, "LogFileMode",
			      "a bit of it is none that sessions know");
	return 0;
}

/* What is kept in memory goes to nobody. */
static bool is_realtime(const struct wire_session_config *config)
{
	return config->log_file_mode & EVENT_TRACE_REAL_TIME_MODE &&
	       !(config->log_file_mode & BUFFERING);
}

/* How many buffers of @buffer_bytes one ring may have at most. */
static uint32_t limit_of_ring(uint32_t outputs, uint32_t buffer_bytes)
{
	uint64_t memory = UINT64_MAX;
	struct sysinfo info;
	uint64_t most;

	if (sysinfo(&info) == 0)
		memory = (uint64_t)info.totalram * info.mem_unit;
	most = memory / 4 / outputs / buffer_bytes;
	if (most > WIRE_RING_BUFFERS_MAX)
		most = WIRE_RING_BUFFERS_MAX;
	return most < ETW_SESSION_MINIMUM_PER_CPU ? ETW_SESSION_MINIMUM_PER_CPU : (uint32_t)most;
}

static uint32_t default_maximum(uint32_t outputs, uint32_t minimum, uint32_t buffer_bytes)
{
	uint64_t bytes = ALL_CPUS_BYTES / outputs;
	uint64_t buffers;

	if (bytes > PER_CPU_BYTES)
		bytes = PER_CPU_BYTES;
	buffers = outputs * (bytes / buffer_bytes);
	if (buffers < minimum + ETW_SESSION_MAXIMUM_ABOVE)
		buffers = minimum + ETW_SESSION_MAXIMUM_ABOVE;
	return (uint32_t)buffers;
}

/* What the session keeps is not in its rings: those are as large as writers need them, whatever it keeps. */
static void settle_history(const struct wire_session_config *config, struct etw_session_plan *plan)
{
	uint32_t most = default_maximum(plan->output_count, 0, plan->buffer_bytes) /
			plan->output_count;

	plan->history_buffers = config->minimum_buffers;
	if (plan->ring_buffers > most)
		plan->ring_buffers = most;
}

static void settle_buffers(struct wire_session_config *config, struct etw_session_plan *plan)
{
	uint32_t outputs = plan->output_count;
	uint32_t least = outputs * ETW_SESSION_MINIMUM_PER_CPU;
	uint32_t limit;

	if (config->buffer_kib == 0)
		config->buffer_kib = ETW_SESSION_BUFFER_KIB_DEFAULT;
	if (config->buffer_kib < ETW_SESSION_BUFFER_KIB_MIN)
		config->buffer_kib = ETW_SESSION_BUFFER_KIB_MIN;
	if (config->buffer_kib > ETW_SESSION_BUFFER_KIB_MAX)
		config->buffer_kib = ETW_SESSION_BUFFER_KIB_MAX;
	plan->buffer_bytes = config->buffer_kib * 1024;
	limit = limit_of_ring(outputs, plan->buffer_bytes) * outputs;

	if (config->minimum_buffers < least)
		config->minimum_buffers = least;
	if (config->minimum_buffers > limit)
		config->minimum_buffers = limit;
	if (config->maximum_buffers == 0)
		config->maximum_buffers = default_maximum(outputs, config->minimum_buffers,
							  plan->buffer_bytes);
	if (config->maximum_buffers < config->minimum_buffers)
		config->maximum_buffers = config->minimum_buffers + ETW_SESSION_MAXIMUM_ABOVE;
	if (config->maximum_buffers > limit)
		config->maximum_buffers = limit;
	plan->ring_buffers = (config->maximum_buffers + outputs - 1) / outputs;
	if (config->log_file_mode & BUFFERING)
		settle_history(config, plan);
}

/*
 * The state reserves addresses for all places of a circular file, though memory for those alone that are written. All
 * sessions' states are mapped at once: with the largest files that can be asked for, a few would use up the host's.
 */
static int settle_file(struct wire_session_config *config, struct etw_session_plan *plan,
		       struct etw_fault *reterr)
{
	uint64_t limit = etw_etl_file_limit(config->maximum_file_size, config->log_file_mode);
	uint64_t buffers = limit / plan->buffer_bytes;

	/* Files say both, as Windows' do. */
	if (config->log_file_mode & (NEWFILE | APPEND))
		config->log_file_mode |= SEQUENTIAL;
	if (!plan->has_file || !(config->log_file_mode & CIRCULAR) || buffers <= 1)
		return 0;
	if (buffers > ETW_SESSION_FILE_PLACES_MAX)
		return refuse(reterr, -EINVAL, "MaximumFileSize",
			      "a circular file has 2^26 buffers at most: make them larger");
	plan->file_places = buffers - 1;
	return 0;
}

static void settle_timers(struct wire_session_config *config, struct etw_session_plan *plan)
{
	bool is_ms = config->log_file_mode & USE_MS_TIMER;
	uint64_t unit = is_ms ? ETW_NS_PER_MS : ETW_NS_PER_S;

	plan->file_flush_ns = plan->has_file ? config->flush_timer * unit : 0;
	if (!plan->is_realtime)
		return;
	if (config->flush_timer == 0)
		config->flush_timer = is_ms ? 1000 : 1;
	plan->batch_flush_ns = config->flush_timer * unit;
}

/* The timer of a file is as it was given; that of consumers has a default, which the file does not go by. */
static void update_timers(struct wire_session_config *config, struct etw_session_plan *plan,
			  uint32_t wanted)
{
	uint64_t file_flush_ns = plan->file_flush_ns;

	if (wanted != 0)
		config->flush_timer = wanted;
	settle_timers(config, plan);
	if (wanted == 0)
		plan->file_flush_ns = file_flush_ns;
}

/*
 * EnableFlags mean something to system loggers alone. When any other session starts with some Windows takes them and does
 * nothing; here too, and they are not kept, so that a query does not show what has no effect. An UPDATE may not have them
 * (check_flags()).
 */
static void settle_kernel(struct wire_session_config *config, struct etw_session_plan *plan)
{
	(void)etw_fixed_session_bind(config->name, &config->guid);
	plan->is_kernel = etw_system_logger_is(config);
	if (!plan->is_kernel) {
		config->enable_flags = 0;
		config->kernel = (struct wire_kernel_request){0};
		return;
	}
	etw_kernel_request_settle(config);
}

int etw_session_config_settle(struct wire_session_config *config, uint32_t cpu_count,
			      struct etw_session_plan *ret, struct etw_fault *reterr)
{
	struct etw_session_plan plan = {.cpu_count = cpu_count};

	TRY(check_modes(config, reterr));
	TRY(etw_kernel_request_check(&config->kernel, reterr));
	if (config->clock_type == 0)
		config->clock_type = ETW_CLOCK_QPC;
	if (config->clock_type > ETW_CLOCK_CYCLE)
		return refuse(reterr, -EINVAL, "ClientContext", "there is no such clock");
	/* Times of other clocks mean nothing beside those of another session, which began at another moment. */
	if (config->log_file_mode & APPEND && config->clock_type != ETW_CLOCK_SYSTEM)
		return refuse(reterr, -EINVAL, "ClientContext",
			      "appending needs the system's time");
	plan.clock_type = config->clock_type;
	plan.output_count = cpu_count;
	if (config->log_file_mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) {
		plan.output_count = 1;
		plan.ring_flags |= WIRE_RING_ONE_STREAM;
	}
	if (config->log_file_mode & EVENT_TRACE_INDEPENDENT_SESSION_MODE)
		plan.ring_flags |= WIRE_RING_INDEPENDENT;
	plan.is_realtime = is_realtime(config);
	plan.has_file = config->log_file[0] != '\0';
	settle_buffers(config, &plan);
	TRY(settle_file(config, &plan, reterr));
	settle_timers(config, &plan);
	settle_kernel(config, &plan);
	*ret = plan;
	return 0;
}

/* Source: Microsoft's page "ControlTrace", EVENT_TRACE_CONTROL_UPDATE: not zero for system loggers only. */
static int check_flags(const struct etw_session_plan *plan,
		       const struct wire_session_config *wanted, struct etw_fault *reterr)
{
	if (plan->is_kernel)
		return etw_kernel_request_check(&wanted->kernel, reterr);
	if (!wanted->enable_flags && !wanted->kernel.parts)
		return 0;
	return refuse(reterr, -EINVAL, "EnableFlags", "the session is no system logger");
}

int etw_session_config_update(struct wire_session_config *config, struct etw_session_plan *plan,
			      const struct wire_session_config *wanted, struct etw_fault *reterr)
{
	const uint32_t realtime = EVENT_TRACE_REAL_TIME_MODE;

	config->log_file_mode &= ~realtime;
	config->log_file_mode |= wanted->log_file_mode & realtime;
	TRY(check_contradictions(config, reterr));
	TRY(check_flags(plan, wanted, reterr));
	if (plan->is_kernel)
		etw_kernel_request_update(config, wanted);
	plan->is_realtime = is_realtime(config);
	if (wanted->maximum_buffers != 0)
		config->maximum_buffers = wanted->maximum_buffers;
	settle_buffers(config, plan);
	update_timers(config, plan, wanted->flush_timer);
	return 0;
}

int etw_session_config_convert(struct wire_session_config *config, struct etw_session_plan *plan,
			       struct etw_fault *reterr)
{
	config->log_file_mode &= ~(uint32_t)(SEQUENTIAL | CIRCULAR | APPEND | NEWFILE |
					     PREALLOCATE | EVENT_TRACE_USE_KBYTES_FOR_SIZE);
	config->log_file_mode |= EVENT_TRACE_REAL_TIME_MODE;
	config->log_file[0] = '\0';
	TRY(check_contradictions(config, reterr));
	plan->has_file = 0;
	plan->is_realtime = 1;
	settle_timers(config, plan);
	return 0;
}

/* The last number of a list such as "0-3,8-11"; the file is the kernel's. */
static long last_processor(void)
{
	long last = -1, number = 0;
	int c;
	FILE *file = fopen("/sys/devices/system/cpu/present", "re");

	if (!file)
		return -1;
	while ((c = fgetc(file)) != EOF) {
		if (c >= '0' && c <= '9') {
			number = number * 10 + (c - '0');
			last = number < WIRE_RING_CPUS_MAX ? number : WIRE_RING_CPUS_MAX - 1;
		} else {
			number = 0;
		}
	}
	(void)fclose(file);
	return last;
}

uint32_t etw_session_cpu_count(void)
{
	long count = last_processor() + 1;

	if (count <= 0)
		count = sysconf(_SC_NPROCESSORS_CONF);
	if (count <= 0)
		count = 1;
	return count > WIRE_RING_CPUS_MAX ? WIRE_RING_CPUS_MAX : (uint32_t)count;
}
