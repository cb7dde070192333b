/* SPDX-License-Identifier: MIT */
#include "source/tracepoints/point.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "source/tracepoints/closer.h"
#include "source/tracepoints/sample.h"

#define FORMAT_LOST (1U << 4) /* PERF_FORMAT_LOST, which headers before Linux 6.0 lack */

static int read_point(int events_fd, struct etw_tracepoint_point *point, const char *system,
		      const char *name, struct etw_fault *reterr)
{
	struct etw_tracepoint_identity identity = {.id = point->id,
						   .version = point->version,
						   .keyword = etw_tracefs_keyword(point->id)};
	char text[sizeof(ETW_TRACEFS_PROVIDER_PREFIX) + ETW_TRACEPOINT_NAME_BYTES_MAX];

	TRY(etw_tracefs_guid(system, &point->provider));
	point->system = etw_arena_strdup(&point->arena, system);
	point->name = etw_arena_strdup(&point->arena, name);
	strcpy(text, ETW_TRACEFS_PROVIDER_PREFIX);
	strncat(text, system, ETW_TRACEPOINT_NAME_BYTES_MAX);
	identity.provider = point->provider;
	identity.provider_name = etw_arena_strdup(&point->arena, text);
	if (!point->system || !point->name || !identity.provider_name)
		return -ENOMEM;
	TRY(etw_tracefs_read_event(events_fd, system, name, &identity, &point->arena, &point->event,
				   reterr));
	point->type = (uint16_t)point->event.format->type;
	return 0;
}

int etw_tracepoint_point_new(int events_fd, const char *system, const char *name, uint16_t id,
			     uint8_t version, uint32_t cpu_count, struct etw_tracepoint_point **ret,
			     struct etw_fault *reterr)
{
	struct etw_tracepoint_point *point = calloc(1, sizeof(*point));
	int r = -ENOMEM;

	if (!point)
		return r;
	etw_arena_init(&point->arena);
	point->id = id;
	point->version = version;
	point->cpu_count = cpu_count;
	point->fds = malloc(cpu_count * sizeof(*point->fds));
	for (uint32_t i = 0; point->fds && i < cpu_count; i++)
		point->fds[i] = -1;
	if (point->fds)
		r = read_point(events_fd, point, system, name, reterr);
	if (r < 0) {
		etw_tracepoint_point_free(point);
		return r;
	}
	*ret = point;
	return 0;
}

bool etw_tracepoint_point_is_same(int events_fd, const struct etw_tracepoint_point *point)
{
	CLEANUP(etw_arena_done) struct etw_arena arena;
	struct etw_tracefs_event now = {0};

	etw_arena_init(&arena);
	return etw_tracefs_read_text(events_fd, point->system, point->name, &arena, &now) == 0 &&
	       now.text_bytes == point->event.text_bytes &&
	       memcmp(now.text, point->event.text, now.text_bytes) == 0;
}

void etw_tracepoint_point_free(struct etw_tracepoint_point *point)
{
	if (!point)
		return;
	for (uint32_t i = 0; point->fds && i < point->cpu_count; i++)
		etw_tracepoint_point_close(point, i);
	free(point->fds);
	free(point->kernel_filter);
	etw_arena_done(&point->arena);
	free(point);
}

/* Into the ring, and then on. */
static int set_up(const struct etw_tracepoint_point *point, int fd, int ring_fd)
{
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd))
		return -errno;
	if (point->kernel_filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, point->kernel_filter))
		return -errno;
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

static int open_event(struct perf_event_attr *attributes, uint32_t cpu, uint32_t only_pid)
{
	return (int)syscall(SYS_perf_event_open, attributes, only_pid ? (int)only_pid : -1,
			    (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int etw_tracepoint_point_open(struct etw_tracepoint_point *point, uint32_t cpu, uint32_t only_pid,
			      int ring_fd)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attributes),
		.config = point->type,
		.sample_period = 1,
		.sample_type = ETW_TRACEPOINT_SAMPLE_TYPE |
			       (point->has_stack ? PERF_SAMPLE_CALLCHAIN : 0),
		.read_format = FORMAT_LOST,
		.disabled = 1,
		.inherit = only_pid != 0,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX, /* nobody waits for it */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int fd, r;

	if (point->fds[cpu] >= 0)
		return 0;
	fd = open_event(&attributes, cpu, only_pid);
	if (fd < 0 && errno == EINVAL) { /* before Linux 6.0 */
		attributes.read_format = 0;
		fd = open_event(&attributes, cpu, only_pid);
	}
	if (fd < 0)
		return -errno;
	r = set_up(point, fd, ring_fd);
	if (r < 0) {
		close(fd);
		return r;
	}
	point->fds[cpu] = fd;
	return 0;
}

bool etw_tracepoint_point_is_open(const struct etw_tracepoint_point *point)
{
	for (uint32_t i = 0; i < point->cpu_count; i++)
		if (point->fds[i] >= 0)
			return true;
	return false;
}

void etw_tracepoint_point_pause(struct etw_tracepoint_point *point)
{
	for (uint32_t i = 0; i < point->cpu_count; i++)
		if (point->fds[i] >= 0)
			(void)ioctl(point->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t etw_tracepoint_point_lost(const struct etw_tracepoint_point *point, uint32_t cpu)
{
	struct {
		uint64_t value, lost;
	} counts;

	if (point->fds[cpu] < 0 || read(point->fds[cpu], &counts, sizeof(counts)) != sizeof(counts))
		return 0;
	return counts.lost;
}

void etw_tracepoint_point_close(struct etw_tracepoint_point *point, uint32_t cpu)
{
	if (point->fds[cpu] >= 0) {
		(void)ioctl(point->fds[cpu], PERF_EVENT_IOC_DISABLE, 0);
		etw_tracepoint_close_later(point->fds[cpu]);
	}
	point->fds[cpu] = -1;
}
