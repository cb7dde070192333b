/* SPDX-License-Identifier: MIT */
/* What is wanted is compared with what is open; records become events. See recorder.h. */
#include "source/tracepoints/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/time.h"
#include "source/tracepoints/kernel_filter.h"
#include "source/tracepoints/point_event.h"
#include "source/tracepoints/systems.h"

#define CPU_LIST       "/sys/devices/system/cpu/online"
#define STRUCTURE      "tracepoints"
#define SLACK_NS       UINT64_C(2000000) /* perf reads the clock before it has room in the ring */
#define HELD_BYTES_MAX (UINT64_C(128) << 20)
/* So many readings take all that a ring can hold: 16 MB in records of 48 bytes at least, 32768 a reading (rings.c). */
#define DRAIN_PASSES 16

int etw_tracepoint_recorder_init(struct etw_tracepoint_recorder *recorder,
				 const struct etw_source_host *host)
{
	*recorder = (struct etw_tracepoint_recorder){.host = host, .events_fd = -1};
	etw_kernel_cpus_open(&recorder->cpus, CPU_LIST);
	recorder->by_type = calloc(ETW_TRACEPOINT_TYPES, sizeof(struct etw_tracepoint_point *));
	recorder->of_cpus = calloc(host->cpu_count, sizeof(*recorder->of_cpus));
	recorder->buffer = aligned_alloc(8, ETW_KERNEL_PERF_RECORD_MAX);
	recorder->payload = malloc(ETW_KERNEL_PERF_RECORD_MAX);
	for (uint32_t i = 0; recorder->of_cpus && i < host->cpu_count; i++)
		etw_tracepoint_rings_init(&recorder->of_cpus[i].rings, i);
	return recorder->by_type && recorder->of_cpus && recorder->buffer && recorder->payload
		       ? 0
		       : -ENOMEM;
}

static void free_wishes(struct etw_tracepoint_wish **wishes, uint32_t count)
{
	for (uint32_t i = 0; wishes && i < count; i++)
		free(wishes[i]);
	free(wishes);
}

void etw_tracepoint_recorder_done(struct etw_tracepoint_recorder *recorder)
{
	while (recorder->points) {
		struct etw_tracepoint_point *point = recorder->points;

		recorder->points = point->next;
		etw_tracepoint_point_free(point);
	}
	for (uint32_t i = 0; recorder->of_cpus && i < recorder->host->cpu_count; i++) {
		etw_tracepoint_rings_close(&recorder->of_cpus[i].rings);
		etw_tracepoint_queue_done(&recorder->of_cpus[i].queue);
	}
	etw_kernel_cpus_close(&recorder->cpus);
	if (recorder->events_fd >= 0)
		close(recorder->events_fd);
	free_wishes(recorder->wishes, recorder->wish_count);
	free(recorder->by_type);
	free(recorder->of_cpus);
	free(recorder->buffer);
	free(recorder->payload);
}

/* --- From records to events */

static void add_item(struct etw_tracepoint_recorder *recorder, uint32_t cpu,
		     struct etw_tracepoint_item *item)
{
	recorder->held_bytes += item->byte_count;
	etw_tracepoint_queue_add(&recorder->of_cpus[cpu].queue, item);
}

/* What was chosen of all events of the tracepoint: by process, and by what is in it. */
static bool passes(const struct etw_tracepoint_point *point,
		   const struct etw_tracepoint_sample *sample, struct etw_bytes payload)
{
	const EVENT_DATA_DESCRIPTOR data = {.Ptr = (ULONGLONG)(uintptr_t)payload.at,
					    .Size = (ULONG)payload.left};
	const struct wire_event_subject subject = {
		.provider = &point->provider,
		.descriptor = &point->event.layout->schema.descriptor,
		.data = &data,
		.data_count = 1,
		.process_id = sample->pid,
	};

	return !point->filter || !point->filter->kinds ||
	       wire_event_filter_passes(point->filter, &subject);
}

/* A thread that is about to be gone has no number any more but in the record. */
static void name_thread(struct etw_tracepoint_sample *sample)
{
	if (sample->tid == UINT32_MAX && sample->record.left >= 8)
		sample->tid = etw_load32(sample->record.at + 4);
}

static int take_sample(void *context, uint32_t cpu, const struct etw_tracepoint_sample *sample)
{
	struct etw_tracepoint_recorder *recorder = context;
	struct etw_tracepoint_cpu *of_cpu = &recorder->of_cpus[cpu];
	const struct etw_tracepoint_point *point;
	struct etw_tracepoint_item *item;
	struct etw_bytes payload = {recorder->payload, 0};
	int r;

	point = sample->record.left >= 2 ? recorder->by_type[etw_load16(sample->record.at)] : NULL;
	r = point ? etw_tracepoint_payload(point->event.layout, sample->record, recorder->payload,
					   ETW_KERNEL_PERF_RECORD_MAX)
		  : -EBADMSG;
	if (r < 0) {
		of_cpu->rings.unreadable++;
		return 0;
	}
	payload.left = (size_t)r;
	name_thread(&recorder->sample);
	if (!passes(point, sample, payload))
		return 0;
	r = etw_tracepoint_event(point, sample, payload, &item);
	if (r == -ENOMEM)
		of_cpu->no_memory++;
	else if (r < 0)
		of_cpu->rings.unreadable++;
	else
		add_item(recorder, cpu, item);
	return 0;
}

/* Returns as etw_tracepoint_rings_read(). */
static int read_cpu(struct etw_tracepoint_recorder *recorder, uint32_t cpu, uint64_t *ret_last_ns)
{
	*ret_last_ns = UINT64_MAX;
	return etw_tracepoint_rings_read(&recorder->of_cpus[cpu].rings, recorder->buffer,
					 &recorder->sample, take_sample, recorder, ret_last_ns);
}

/* --- What the events are */

struct describing {
	struct etw_tracepoint_recorder *recorder;
	uint64_t time_ns;
};

static int queue_item(void *context, struct etw_tracepoint_item *item)
{
	struct describing *describing = context;

	item->time_ns = describing->time_ns;
	add_item(describing->recorder, 0, item);
	return 0;
}

static int describe_now(struct etw_tracepoint_recorder *recorder,
			const struct etw_tracepoint_point *point)
{
	struct describing describing = {recorder, etw_time_read_ns(CLOCK_MONOTONIC)};

	return etw_tracepoint_describe(point, queue_item, &describing);
}

/* --- What is open */

static void close_on(struct etw_tracepoint_recorder *recorder, struct etw_tracepoint_point *point,
		     uint32_t cpu)
{
	recorder->of_cpus[cpu].rings.closed_lost += etw_tracepoint_point_lost(point, cpu);
	etw_tracepoint_point_close(point, cpu);
}

static void close_point(struct etw_tracepoint_recorder *recorder,
			struct etw_tracepoint_point *point)
{
	etw_tracepoint_point_pause(point);
	for (uint32_t i = 0; i < recorder->host->cpu_count; i++)
		close_on(recorder, point, i);
}

static int refuse(struct etw_tracepoint_recorder *recorder, int result, const char *system,
		  const char *name, struct etw_fault *reterr)
{
	const char *sentence = "the kernel does not let it be recorded (perf_event_open)";

	snprintf(recorder->name, sizeof(recorder->name), "%s%s%s", system, name ? ":" : "",
		 name ? name : "");
	if (reterr && reterr->sentence && result == -EBADMSG)
		sentence = reterr->sentence;
	else if (result == -EACCES || result == -EPERM)
		sentence = "tracepoints were refused: CAP_PERFMON is missing; an etwd that root "
			   "started has it";
	else if (result == -EMFILE || result == -ENFILE)
		sentence = "the host has no descriptor left for it, as each tracepoint takes one "
			   "for each processor; choose fewer, or raise its limit (LimitNOFILE)";
	else if (result == -ESRCH)
		sentence = "the process whose tree alone was to be recorded is gone";
	else if (result == -EBUSY)
		sentence = "the process whose tree alone was to be recorded has threads or "
			   "children already, which cannot be followed any more";
	else if (result == -ENOENT)
		sentence = "this machine has no such tracepoint any more";
	else if (result == -ENOMEM)
		sentence = "there is no memory for it";
	else if (result == -ENOSPC)
		sentence = "the session has recorded too many others in its place";
	return etw_fault_set(reterr, result, 0, STRUCTURE, recorder->name, sentence);
}

static int open_on(struct etw_tracepoint_recorder *recorder, struct etw_tracepoint_point *point,
		   uint32_t cpu)
{
	int ring_fd = etw_tracepoint_rings_open(&recorder->of_cpus[cpu].rings,
						recorder->host->cpu_count, point->has_stack);

	if (ring_fd == -ENODEV)
		return 0;
	TRY(ring_fd);
	return etw_tracepoint_point_open(point, cpu, recorder->only_pid, ring_fd);
}

static bool is_online(const struct etw_tracepoint_recorder *recorder, uint32_t cpu)
{
	return recorder->cpus.fd < 0 || etw_kernel_cpus_is_online(&recorder->cpus, cpu);
}

/*
 * perf follows a thread, and whoever descends from it once it is followed.
 *
 * Returns 0; -ESRCH: the process is gone; -EBUSY: it has further threads or children, which would be missed.
 */
static int check_tree(uint32_t pid)
{
	CLEANUP(etw_file_closep) int fd = -1;
	char path[64], first;
	struct stat tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", (unsigned)pid);
	if (stat(path, &tasks))
		return -ESRCH;
	if (tasks.st_nlink > 3) /* the folder, the one above, and one for each thread */
		return -EBUSY;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/children", (unsigned)pid, (unsigned)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, &first, 1) == 1 ? -EBUSY : 0;
}

static int open_point(struct etw_tracepoint_recorder *recorder, struct etw_tracepoint_point *point)
{
	if (recorder->only_pid && !etw_tracepoint_point_is_open(point))
		TRY(check_tree(recorder->only_pid));
	for (uint32_t i = 0; i < recorder->host->cpu_count; i++) {
		int r = is_online(recorder, i) ? open_on(recorder, point, i) : 0;

		if (r == -EINVAL && point->kernel_filter) {
			/* The kernel has other operators for this type: the host's filter is enough. */
			free(TAKE(point->kernel_filter));
			r = open_on(recorder, point, i);
		}
		if (r < 0) {
			close_point(recorder, point);
			return r;
		}
	}
	return 0;
}

static struct etw_tracepoint_point *find_point(const struct etw_tracepoint_recorder *recorder,
					       const char *system, const char *name)
{
	for (struct etw_tracepoint_point *point = recorder->points; point; point = point->next)
		if (!point->is_stale && strcmp(point->name, name) == 0 &&
		    strcmp(point->system, system) == 0)
			return point;
	return NULL;
}

/* --- What is wanted */

static int read_wishes(const struct etw_source_provider *providers, uint32_t count,
		       struct etw_tracepoint_wish ***ret)
{
	struct etw_tracepoint_wish **wishes = calloc(count + (size_t)1,
						     sizeof(struct etw_tracepoint_wish *));

	for (uint32_t i = 0; wishes && i < count; i++) {
		wishes[i] = malloc(sizeof(**wishes));
		if (!wishes[i]) {
			free_wishes(wishes, count);
			return -ENOMEM;
		}
		wishes[i]->provider = providers[i];
		if (etw_tracepoint_wish_read(wishes[i]) < 0)
			wishes[i]->filter = wishes[i]->rest = (struct wire_event_filter){0};
	}
	*ret = wishes;
	return wishes ? 0 : -ENOMEM;
}

static bool is_same_text(const char *left, const char *right)
{
	return left && right ? strcmp(left, right) == 0 : left == right;
}

/*
 * A point whose stack or filter is another one now is closed: the kernel takes neither of an open event. It is opened anew.
 *
 * @descriptor: as filters name it now; the point's own is of the list at its time
 */
static void set_wish(struct etw_tracepoint_recorder *recorder, struct etw_tracepoint_point *point,
		     const struct etw_tracepoint_wish *wish, const EVENT_DESCRIPTOR *descriptor)
{
	const bool has_stack = etw_tracepoint_wish_takes_stack(wish, point->name, descriptor);
	char *filter = wish->rest.kinds & WIRE_EVENT_FILTER_PAYLOAD
			       ? etw_tracepoint_kernel_filter(point->event.format,
							      point->event.layout,
							      wish->rest.payload)
			       : NULL;

	if (has_stack != point->has_stack || !is_same_text(filter, point->kernel_filter))
		close_point(recorder, point);
	point->has_stack = has_stack;
	free(point->kernel_filter);
	point->kernel_filter = filter;
	point->filter = &wish->rest;
	point->is_chosen = true;
}

/*
 * A trace tells events apart by provider, id and version. Ids are places in a list that others may have joined since, and a
 * tracepoint may come back with another format: who gets an id that was given already has another version.
 *
 * Returns -ENOSPC when there is none left.
 */
static int free_version(const struct etw_tracepoint_recorder *recorder, const char *system,
			uint16_t id)
{
	int version = 0;

	for (const struct etw_tracepoint_point *point = recorder->points; point;
	     point = point->next)
		if (point->id == id && strcmp(point->system, system) == 0)
			version = MAX(version, point->version + 1);
	return version <= UINT8_MAX ? version : -ENOSPC;
}

/* Reads what the rings hold now; of what a busy processor adds meanwhile at most a ring's size. */
static void drain(struct etw_tracepoint_recorder *recorder)
{
	for (uint32_t i = 0; i < recorder->host->cpu_count; i++) {
		uint64_t last_ns;

		for (unsigned j = 0; j < DRAIN_PASSES && read_cpu(recorder, i, &last_ns) > 0; j++)
			;
	}
}

/* The kernel gives the number of a removed tracepoint to another one: the records in the rings are still of the former. */
static void set_type(struct etw_tracepoint_recorder *recorder, struct etw_tracepoint_point *point)
{
	if (recorder->by_type[point->type] == point)
		return;
	if (recorder->by_type[point->type])
		drain(recorder);
	recorder->by_type[point->type] = point;
}

/* The point of a tracepoint. One that is new is described at once, so before its first event. */
static int get_point(struct etw_tracepoint_recorder *recorder, const char *system, const char *name,
		     uint16_t id, struct etw_tracepoint_point **ret, struct etw_fault *reterr)
{
	struct etw_tracepoint_point *point = find_point(recorder, system, name);
	bool is_new = false;
	int version;

	if (point && !etw_tracepoint_point_is_open(point) &&
	    !etw_tracepoint_point_is_same(recorder->events_fd, point)) {
		point->is_stale = true;
		point = NULL;
	}
	if (!point) {
		version = free_version(recorder, system, id);
		TRY(version);
		TRY(etw_tracepoint_point_new(recorder->events_fd, system, name, id,
					     (uint8_t)version, recorder->host->cpu_count, &point,
					     reterr));
		point->next = recorder->points;
		recorder->points = point;
		is_new = true;
	}
	set_type(recorder, point);
	if (is_new)
		TRY(describe_now(recorder, point));
	*ret = point;
	return 0;
}

/* Chooses the points of one wish. Returns as etw_tracepoint_recorder_want(). */
static int choose(struct etw_tracepoint_recorder *recorder, const struct etw_tracepoint_wish *wish,
		  struct etw_fault *reterr)
{
	CLEANUP(etw_tracefs_names_done) struct etw_tracefs_names names = {0};
	char system[ETW_TRACEPOINT_NAME_BYTES_MAX + 1];
	int result = 0;

	if (!etw_tracepoint_system_find(&wish->provider.guid, system))
		return refuse(recorder, -ENOENT, "provider", NULL, reterr);
	result = etw_tracefs_events(recorder->events_fd, system, &names);
	if (result < 0)
		return refuse(recorder, result, system, NULL, reterr);
	for (uint32_t i = 0; i < names.count; i++) {
		const EVENT_DESCRIPTOR descriptor = {
			.Id = (USHORT)(i + 1), .Level = 4, .Keyword = etw_tracefs_keyword(i + 1)};
		struct etw_tracepoint_point *point;
		struct etw_fault fault = {0};
		int r;

		if (!etw_tracepoint_wish_takes(wish, names.at[i], &descriptor))
			continue;
		r = get_point(recorder, system, names.at[i], descriptor.Id, &point, &fault);
		if (r == 0)
			set_wish(recorder, point, wish, &descriptor);
		else if (result == 0)
			result = refuse(recorder, r, system, names.at[i],
					reterr ? (*reterr = fault, reterr) : NULL);
	}
	return result;
}

static int open_wanted(struct etw_tracepoint_recorder *recorder, struct etw_fault *reterr)
{
	int result = 0;

	for (struct etw_tracepoint_point *point = recorder->points; point; point = point->next) {
		int r = point->filter ? open_point(recorder, point) : 0;

		if (r < 0 && result == 0)
			result = refuse(recorder, r, point->system, point->name, reterr);
	}
	return result;
}

/* The process of open events is fixed: for another one all are opened anew. */
static void set_tree(struct etw_tracepoint_recorder *recorder, uint32_t only_pid)
{
	if (recorder->only_pid == only_pid)
		return;
	for (struct etw_tracepoint_point *point = recorder->points; point; point = point->next)
		close_point(recorder, point);
	recorder->only_pid = only_pid;
}

static void close_unwanted(struct etw_tracepoint_recorder *recorder)
{
	for (struct etw_tracepoint_point *point = recorder->points; point; point = point->next)
		if (!point->filter && etw_tracepoint_point_is_open(point))
			close_point(recorder, point);
}

int etw_tracepoint_recorder_want(struct etw_tracepoint_recorder *recorder,
				 const struct etw_source_provider *providers, uint32_t count,
				 uint32_t only_pid, struct etw_fault *reterr)
{
	struct etw_tracepoint_wish **wishes;
	int result = 0, r;

	if (recorder->events_fd < 0)
		TRY(etw_tracefs_open(NULL, &recorder->events_fd, reterr));
	TRY(read_wishes(providers, count, &wishes));
	set_tree(recorder, only_pid);
	(void)etw_kernel_cpus_look(&recorder->cpus, etw_time_read_ns(CLOCK_MONOTONIC));
	for (struct etw_tracepoint_point *point = recorder->points; point; point = point->next)
		point->is_chosen = false;
	for (uint32_t i = 0; i < count; i++) {
		r = choose(recorder, wishes[i], result == 0 ? reterr : NULL);
		result = result == 0 ? r : result;
	}
	/* Up to here the former wishes hold: get_point() may read records that were made under them. */
	for (struct etw_tracepoint_point *point = recorder->points; point; point = point->next)
		if (!point->is_chosen)
			point->filter = NULL;
	close_unwanted(recorder);
	r = open_wanted(recorder, result == 0 ? reterr : NULL);
	free_wishes(recorder->wishes, recorder->wish_count);
	recorder->wishes = wishes;
	recorder->wish_count = count;
	return result == 0 ? r : result;
}

int etw_tracepoint_recorder_retell(struct etw_tracepoint_recorder *recorder)
{
	for (struct etw_tracepoint_point *point = recorder->points; point; point = point->next)
		if (point->filter)
			TRY(describe_now(recorder, point));
	return 0;
}

int etw_tracepoint_recorder_end(struct etw_tracepoint_recorder *recorder)
{
	for (struct etw_tracepoint_point *point = recorder->points; point; point = point->next)
		etw_tracepoint_point_pause(point);
	for (struct etw_tracepoint_point *point = recorder->points; point; point = point->next)
		TRY(describe_now(recorder, point));
	recorder->has_ended = true;
	return 0;
}

/* --- Processors and time */

static uint64_t lost_on(const struct etw_tracepoint_recorder *recorder, uint32_t cpu)
{
	uint64_t lost = 0;

	for (struct etw_tracepoint_point *point = recorder->points; point; point = point->next)
		lost += etw_tracepoint_point_lost(point, cpu);
	return lost;
}

/* One that went counts no more, and one that came gets what the others have. */
static void follow_cpus(struct etw_tracepoint_recorder *recorder)
{
	if (recorder->has_ended ||
	    !etw_kernel_cpus_look(&recorder->cpus, etw_time_read_ns(CLOCK_MONOTONIC)))
		return;
	for (uint32_t i = 0; i < recorder->host->cpu_count; i++) {
		struct etw_tracepoint_rings *rings = &recorder->of_cpus[i].rings;
		uint64_t last_ns;

		if (!is_online(recorder, i)) {
			while (read_cpu(recorder, i, &last_ns) > 0)
				;
			for (struct etw_tracepoint_point *point = recorder->points; point;
			     point = point->next)
				close_on(recorder, point, i);
			etw_tracepoint_rings_settle(rings, 0);
			etw_tracepoint_rings_close(rings);
			continue;
		}
		for (struct etw_tracepoint_point *point = recorder->points; point;
		     point = point->next)
			if (point->filter)
				(void)open_on(recorder, point, i);
	}
}

int etw_tracepoint_recorder_collect(struct etw_tracepoint_recorder *recorder,
				    int64_t *ret_watermark_raw)
{
	uint64_t moment_ns;
	int more = 0;

	follow_cpus(recorder);
	moment_ns = etw_time_read_ns(CLOCK_MONOTONIC) - SLACK_NS;
	for (uint32_t i = 0; i < recorder->host->cpu_count; i++) {
		uint64_t last_ns;
		int r;

		/* What the engine does not take waits in the kernel's rings, which count what they lose. */
		if (recorder->held_bytes > HELD_BYTES_MAX)
			break;
		r = read_cpu(recorder, i, &last_ns);
		TRY(r);
		more |= r;
		moment_ns = MIN(moment_ns, last_ns);
	}
	if (recorder->held_bytes <= HELD_BYTES_MAX)
		*ret_watermark_raw = etw_kernel_watermark_move(&recorder->watermark, recorder->host,
							       moment_ns);
	else
		*ret_watermark_raw = recorder->watermark.raw;
	return more;
}

void etw_tracepoint_recorder_loss(struct etw_tracepoint_recorder *recorder,
				  struct etw_source_loss *ret)
{
	for (uint32_t i = 0; i < recorder->host->cpu_count; i++) {
		struct etw_tracepoint_cpu *of_cpu = &recorder->of_cpus[i];

		if (recorder->has_ended)
			etw_tracepoint_rings_settle(&of_cpu->rings, lost_on(recorder, i));
		ret[i].events[ETW_LOSS_RING_FULL][ETW_LOSS_OF_TRACEPOINTS] = of_cpu->rings.lost;
		ret[i].events[ETW_LOSS_UNREADABLE][ETW_LOSS_OF_TRACEPOINTS] =
			of_cpu->rings.unreadable;
		ret[i].events[ETW_LOSS_NO_MEMORY][ETW_LOSS_OF_TRACEPOINTS] = of_cpu->no_memory;
	}
}
