/* SPDX-License-Identifier: MIT */
#include "source/kernel/perf/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"

#define CPU_LIST      "/sys/devices/system/cpu/online"
#define RATE_MAX_FILE "/proc/sys/kernel/perf_event_max_sample_rate"
#define NS_PER_SECOND UINT64_C(1000000000)
#define NS_PER_FT     UINT64_C(100)
#define PERIOD_MIN_NS UINT64_C(10000) /* the kernel's own least */
#define NAME_BYTES    40

struct etw_kernel_sampler_cpu {
	int fd;       /* owned; -1: the processor is not there */
	int link_fd;  /* owned: attaches the program to a counter; -1: none */
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
	return MAX(interval_ft * NS_PER_FT, least_ns);
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
	if (cpu->link_fd >= 0)
		close(cpu->link_fd);
	if (cpu->fd >= 0)
		close(cpu->fd);
	*cpu = (struct etw_kernel_sampler_cpu){
		.fd = -1, .link_fd = -1, .throttled = cpu->throttled};
}

static const struct etw_profile_source *source_of(const struct etw_kernel_sampler *sampler)
{
	return etw_profile_source(sampler->source);
}

static bool is_timer(const struct etw_kernel_sampler *sampler)
{
	return sampler->source == ETW_PROFILE_SOURCE_TIMER;
}

/* Names of descriptors that are kept. */
static void name_event(const struct etw_kernel_sampler *sampler, uint32_t number, char *ret)
{
	if (is_timer(sampler))
		(void)snprintf(ret, NAME_BYTES, "cpu-sample-%u", number);
	else
		(void)snprintf(ret, NAME_BYTES, "cpu-count-%x-%u", source_of(sampler)->id, number);
}

static void name_link(const struct etw_kernel_sampler *sampler, uint32_t number, char *ret)
{
	(void)snprintf(ret, NAME_BYTES, "cpu-count-link-%x-%u", source_of(sampler)->id, number);
}

static int take_kept(const struct etw_kernel_sampler *sampler, uint32_t number,
		     struct etw_kernel_sampler_cpu *cpu)
{
	const struct etw_source_host *host = sampler->host;
	char name[NAME_BYTES];

	if (!host->kept_fd)
		return -ENOENT;
	name_event(sampler, number, name);
	cpu->fd = host->kept_fd(host->context, name);
	if (cpu->fd < 0 || is_timer(sampler))
		return cpu->fd < 0 ? -ENOENT : 0;
	name_link(sampler, number, name);
	cpu->link_fd = host->kept_fd(host->context, name);
	if (cpu->link_fd >= 0)
		return 0;
	close_cpu(cpu); /* it would run nothing */
	return -ENOENT;
}

static void keep(const struct etw_kernel_sampler *sampler, uint32_t number,
		 const struct etw_kernel_sampler_cpu *cpu)
{
	const struct etw_source_host *host = sampler->host;
	char name[NAME_BYTES];

	if (!host->keep_fd)
		return;
	name_event(sampler, number, name);
	(void)host->keep_fd(host->context, name, cpu->fd);
	if (is_timer(sampler))
		return;
	name_link(sampler, number, name);
	(void)host->keep_fd(host->context, name, cpu->link_fd);
}

static int open_event(const struct etw_kernel_sampler *sampler, uint32_t number,
		      struct etw_kernel_sampler_cpu *cpu)
{
	const struct etw_kernel_perf_calls *calls = sampler->calls;
	struct perf_event_attr attributes;
	int r;

	etw_profile_source_attributes(sampler->source, sampler->period, &attributes);
	r = calls->open(&attributes, -1, (int)number);
	if (r < 0)
		return r;
	cpu->fd = r;
	if (is_timer(sampler)) {
		r = calls->attach(cpu->fd, sampler->program_fd);
	} else {
		r = calls->attach_with(cpu->fd, sampler->program_fd, source_of(sampler)->id);
		cpu->link_fd = r < 0 ? -1 : r;
	}
	if (r >= 0)
		return 0;
	close_cpu(cpu);
	return r;
}

/* @takes_over: a former host's event will do. */
static int open_cpu(struct etw_kernel_sampler *sampler, uint32_t number, bool takes_over)
{
	struct etw_kernel_sampler_cpu *cpu = &sampler->cpus[number];

	if (!takes_over || take_kept(sampler, number, cpu)) {
		TRY(open_event(sampler, number, cpu));
		keep(sampler, number, cpu);
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
			sampler->cpus[i].fd = sampler->cpus[i].link_fd = -1;
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

static int start_cpu(struct etw_kernel_sampler *sampler, uint32_t number)
{
	const struct etw_kernel_perf_calls *calls = sampler->calls;
	int fd = sampler->cpus[number].fd;

	if (fd < 0)
		return 0;
	TRY(calls->control(fd, PERF_EVENT_IOC_PERIOD, &sampler->period));
	TRY(calls->control(fd, PERF_EVENT_IOC_ENABLE, NULL));
	return etw_profile_source_is_counter(sampler->source) && !calls->is_counting(fd) ? -EBUSY
											 : 0;
}

static int refuse(const struct etw_kernel_sampler *sampler, int error, struct etw_fault *reterr)
{
	const char *sentence = "this machine has no such source of samples (perf_event_open); "
			       "`etw doctor` lists what it has";

	if (error == -EACCES || error == -EPERM)
		return etw_fault_set(reterr, -EACCES, 0, "kernel source", source_of(sampler)->name,
				     "perf's events were refused (perf_event_open): CAP_PERFMON is "
				     "missing; an etwd that root started has it");
	if (is_timer(sampler))
		sentence = "perf gives no samples by the CPU clock (perf_event_open)";
	else if (error == -EBUSY || error == -ENOSPC)
		sentence = "the processors have no counter left for it: others use them, as the "
			   "kernel's watchdog (sysctl kernel.nmi_watchdog), perf, or more sources "
			   "than there are counters";
	else if (error == -EMFILE || error == -ENFILE || error == -ENOMEM)
		sentence = "the host has no room for more of perf's events: too many files are "
			   "open, or memory is short";
	return etw_fault_set(reterr, error, 0, "kernel source", source_of(sampler)->name, sentence);
}

static uint64_t period_of(uint32_t source, uint32_t interval)
{
	if (!interval)
		interval = etw_profile_source(source)->interval;
	return source == ETW_PROFILE_SOURCE_TIMER
		       ? etw_kernel_sampler_period(interval, read_rate_max())
		       : interval;
}

int etw_kernel_sampler_start(struct etw_kernel_sampler *sampler, const struct etw_source_host *host,
			     int program_fd, uint32_t interval, struct etw_fault *reterr)
{
	int r;

	if (!sampler->calls)
		sampler->calls = &etw_kernel_perf_calls;
	sampler->host = host;
	sampler->program_fd = program_fd;
	etw_kernel_sampler_follow_cpus(sampler);
	sampler->period = period_of(sampler->source, interval);
	r = open_all(sampler);
	for (uint32_t i = 0; !r && i < host->cpu_count; i++)
		r = start_cpu(sampler, i);
	if (!r)
		return 0;
	etw_kernel_sampler_stop(sampler);
	return refuse(sampler, r, reterr);
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
		if (sampler->period && open_cpu(sampler, i, /* takes_over= */ false) == 0)
			(void)start_cpu(sampler, i);
	}
}

void etw_kernel_sampler_stop(struct etw_kernel_sampler *sampler)
{
	for (uint32_t i = 0; sampler->cpus && i < sampler->host->cpu_count; i++)
		if (sampler->cpus[i].fd >= 0)
			(void)sampler->calls->control(sampler->cpus[i].fd, PERF_EVENT_IOC_DISABLE,
						      NULL);
	sampler->period = 0;
}

/* Samples go to the program, so what lies in the ring tells of throttling: pairs of its beginning and its end. */
void etw_kernel_sampler_look(struct etw_kernel_sampler *sampler)
{
	for (uint32_t i = 0; sampler->cpus && i < sampler->host->cpu_count; i++) {
		struct perf_event_mmap_page *ring = sampler->cpus[i].ring;
		uint64_t head, tail;

		if (!ring)
			continue;
		/* Pairs with the kernel's barrier before it moves the head, and its look at the tail. */
		head = load_acquire(&ring->data_head);
		tail = load_relaxed(&ring->data_tail); /* written by this thread alone */
		sampler->cpus[i].throttled += (head - tail + sizeof(struct throttle_record)) /
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
