/* SPDX-License-Identifier: MIT */
#include "source/kernel/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"

#define CPU_LIST      "/sys/devices/system/cpu/online"
#define RATE_MAX_FILE "/proc/sys/kernel/perf_event_max_sample_rate"
#define NS_PER_SECOND UINT64_C(1000000000)
#define NS_PER_FT     UINT64_C(100)
#define INTERVAL_FT   10000           /* Windows' when none is set: 1 ms */
#define PERIOD_MIN_NS UINT64_C(10000) /* the kernel's own least */
#define NAME_BYTES    32

struct etw_kernel_sampler_cpu {
	int fd;       /* owned; -1: the processor is not there */
	bool is_gone; /* it was; its event does not come back with it */
	/* Owned, a page of positions, then a page of what perf says beside samples; NULL: it cannot be had. */
	struct perf_event_mmap_page *ring;
	uint64_t throttled; /* times that the kernel stopped the event up to its next tick */
};

/* What a throttled event says, with the end of it. */
struct throttle_record {
	struct perf_event_header header;
	uint64_t time, id, stream_id;
};

uint64_t etw_kernel_sampler_period(uint32_t interval_ft, uint32_t rate_max)
{
	uint64_t least_ns = PERIOD_MIN_NS;

	if (rate_max)
		least_ns = MAX(least_ns, (NS_PER_SECOND + rate_max - 1) / rate_max);
	least_ns = (least_ns + NS_PER_FT - 1) / NS_PER_FT * NS_PER_FT;
	return MAX((interval_ft ? interval_ft : INTERVAL_FT) * NS_PER_FT, least_ns);
}

static uint32_t read_rate_max(void)
{
	FILE *file = fopen(RATE_MAX_FILE, "re");
	char line[32] = "";

	if (!file)
		return 0;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	(void)fclose(file);
	return (uint32_t)strtoul(line, NULL, 10);
}

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void close_cpu(struct etw_kernel_sampler_cpu *cpu)
{
	if (cpu->ring)
		munmap(cpu->ring, 2 * page_bytes());
	if (cpu->fd >= 0)
		close(cpu->fd);
	*cpu = (struct etw_kernel_sampler_cpu){.fd = -1, .throttled = cpu->throttled};
}

static int open_event(uint32_t cpu, uint64_t period_ns, int program_fd)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attributes, -1, (int)cpu, -1,
			      PERF_FLAG_FD_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) == 0)
		return fd;
	r = -errno;
	close(fd);
	return r;
}

/* @takes_over: a former host's event will do. */
static int open_cpu(struct etw_kernel_sampler *sampler, uint32_t number, bool takes_over)
{
	const struct etw_source_host *host = sampler->host;
	struct etw_kernel_sampler_cpu *cpu = &sampler->cpus[number];
	char name[NAME_BYTES];

	(void)snprintf(name, sizeof(name), "cpu-sample-%u", number);
	if (takes_over && host->kept_fd)
		cpu->fd = host->kept_fd(host->context, name);
	if (cpu->fd < 0) {
		cpu->fd = open_event(number, sampler->period_ns, sampler->program_fd);
		if (cpu->fd < 0)
			return cpu->fd;
		if (host->keep_fd)
			(void)host->keep_fd(host->context, name, cpu->fd);
	}
	cpu->ring = mmap(NULL, 2 * page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, cpu->fd, 0);
	if (cpu->ring == MAP_FAILED)
		cpu->ring = NULL;
	return 0;
}

static int open_all(struct etw_kernel_sampler *sampler)
{
	uint32_t count = sampler->host->cpu_count;
	int r;

	if (!sampler->cpus) {
		sampler->cpus = calloc(count, sizeof(*sampler->cpus));
		if (!sampler->cpus)
			return -ENOMEM;
		for (uint32_t i = 0; i < count; i++)
			sampler->cpus[i].fd = -1;
		/* Before the events are opened: who goes meanwhile is seen to have changed. */
		etw_kernel_cpus_open(&sampler->list, CPU_LIST);
		(void)etw_kernel_cpus_look(&sampler->list, etw_monotonic_ns());
	}
	for (uint32_t i = 0; i < count; i++) {
		if (sampler->cpus[i].fd >= 0)
			continue;
		r = open_cpu(sampler, i, /* takes_over= */ true);
		if (r && r != -ENODEV)
			return r;
	}
	return 0;
}

static int start_cpu(const struct etw_kernel_sampler *sampler, uint32_t number)
{
	int fd = sampler->cpus[number].fd;

	if (fd < 0)
		return 0;
	if (ioctl(fd, PERF_EVENT_IOC_PERIOD, &sampler->period_ns) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	return 0;
}

static int refuse(int error, struct etw_fault *reterr)
{
	if (error == -EACCES || error == -EPERM)
		return etw_fault_set(reterr, -EACCES, 0, "kernel source", "samples",
				     "perf's events were refused (perf_event_open): CAP_PERFMON is "
				     "missing; `sudo etwd --system` has it");
	return etw_fault_set(reterr, error, 0, "kernel source", "samples",
			     "perf gives no samples by the CPU clock (perf_event_open)");
}

int etw_kernel_sampler_start(struct etw_kernel_sampler *sampler, const struct etw_source_host *host,
			     int program_fd, uint32_t interval_ft, struct etw_fault *reterr)
{
	int r;

	sampler->host = host;
	sampler->program_fd = program_fd;
	etw_kernel_sampler_follow_cpus(sampler);
	sampler->period_ns = etw_kernel_sampler_period(interval_ft, read_rate_max());
	r = open_all(sampler);
	for (uint32_t i = 0; !r && i < host->cpu_count; i++)
		r = start_cpu(sampler, i);
	if (!r)
		return 0;
	etw_kernel_sampler_stop(sampler);
	return refuse(r, reterr);
}

void etw_kernel_sampler_follow_cpus(struct etw_kernel_sampler *sampler)
{
	if (!sampler->cpus || !etw_kernel_cpus_look(&sampler->list, etw_monotonic_ns()))
		return;
	for (uint32_t i = 0; i < sampler->host->cpu_count; i++) {
		struct etw_kernel_sampler_cpu *cpu = &sampler->cpus[i];

		if (!etw_kernel_cpus_is_online(&sampler->list, i)) {
			cpu->is_gone = cpu->fd >= 0;
			continue;
		}
		if (cpu->fd >= 0 && !cpu->is_gone)
			continue;
		close_cpu(cpu);
		/* One that is gone again meanwhile is seen by the next look. */
		if (sampler->period_ns && open_cpu(sampler, i, /* takes_over= */ false) == 0)
			(void)start_cpu(sampler, i);
	}
}

void etw_kernel_sampler_stop(struct etw_kernel_sampler *sampler)
{
	for (uint32_t i = 0; sampler->cpus && i < sampler->host->cpu_count; i++)
		if (sampler->cpus[i].fd >= 0)
			(void)ioctl(sampler->cpus[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	sampler->period_ns = 0;
}

/* Samples go to the program, so what lies in the ring tells of throttling: pairs of its beginning and its end. */
void etw_kernel_sampler_look(struct etw_kernel_sampler *sampler)
{
	for (uint32_t i = 0; sampler->cpus && i < sampler->host->cpu_count; i++) {
		struct perf_event_mmap_page *ring = sampler->cpus[i].ring;
		uint64_t head;

		if (!ring)
			continue;
		/* Pairs with the kernel's barrier before it moves the head, and its look at the tail. */
		head = load_acquire(&ring->data_head);
		sampler->cpus[i].throttled +=
			(head - ring->data_tail + sizeof(struct throttle_record)) /
			(2 * sizeof(struct throttle_record));
		store_release(&ring->data_tail, head);
	}
}

uint64_t etw_kernel_sampler_throttled(const struct etw_kernel_sampler *sampler, uint32_t cpu)
{
	return sampler->cpus ? sampler->cpus[cpu].throttled : 0;
}

void etw_kernel_sampler_done(struct etw_kernel_sampler *sampler)
{
	/* Kept copies would go on sampling. */
	etw_kernel_sampler_stop(sampler);
	for (uint32_t i = 0; sampler->cpus && i < sampler->host->cpu_count; i++)
		close_cpu(&sampler->cpus[i]);
	if (sampler->cpus)
		etw_kernel_cpus_close(&sampler->list);
	free(sampler->cpus);
	*sampler = (struct etw_kernel_sampler){0};
}
