/* SPDX-License-Identifier: MIT */
#include "source/kernel/perf/faults.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"

#define CPU_LIST   "/sys/devices/system/cpu/online"
#define NAME_BYTES 40

struct etw_kernel_faults_cpu {
	int fds[ETW_KERNEL_FAULT_EVENTS]; /* owned; -1: none */
	bool is_gone;                     /* its events do not come back with it */
};

static void close_cpu(struct etw_kernel_faults_cpu *cpu)
{
	for (size_t i = 0; i < ETW_KERNEL_FAULT_EVENTS; i++) {
		if (cpu->fds[i] >= 0)
			close(cpu->fds[i]);
		cpu->fds[i] = -1;
	}
	cpu->is_gone = false;
}

/* Of a descriptor that is kept. */
static void name_event(size_t which, uint32_t number, char *ret)
{
	(void)snprintf(ret, NAME_BYTES, "cpu-faults-%zu-%u", which, number);
}

static int open_event(const struct etw_kernel_faults *faults, size_t which, uint32_t number)
{
	static const uint64_t configs[ETW_KERNEL_FAULT_EVENTS] = {
		[ETW_KERNEL_MINOR_FAULTS] = PERF_COUNT_SW_PAGE_FAULTS_MIN,
		[ETW_KERNEL_MAJOR_FAULTS] = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	};
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = configs[which],
		.sample_period = 1,
		.disabled = 1,
	};
	int fd = faults->calls->open(&attributes, -1, (int)number);
	int r;

	if (fd < 0)
		return fd;
	r = faults->calls->attach(fd, faults->program_fds[which]);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

/* @takes_over: a former host's event will do. */
static int open_one(struct etw_kernel_faults *faults, size_t which, uint32_t number,
		    bool takes_over)
{
	const struct etw_source_host *host = faults->host;
	int *fd = &faults->cpus[number].fds[which];
	char name[NAME_BYTES];

	name_event(which, number, name);
	if (takes_over && host->kept_fd)
		*fd = host->kept_fd(host->context, name);
	if (*fd < 0) {
		int r = open_event(faults, which, number);

		if (r < 0) {
			*fd = -1;
			return r;
		}
		*fd = r;
		if (host->keep_fd)
			(void)host->keep_fd(host->context, name, *fd);
	}
	return 0;
}

/* Those that are wanted, and no others, are open and run. */
static int start_cpu(struct etw_kernel_faults *faults, uint32_t number, bool takes_over)
{
	for (size_t i = 0; i < ETW_KERNEL_FAULT_EVENTS; i++) {
		int *fd = &faults->cpus[number].fds[i];
		bool is_wanted = faults->program_fds[i] >= 0;

		if (*fd < 0 && is_wanted)
			TRY(open_one(faults, i, number, takes_over));
		if (*fd >= 0)
			TRY(faults->calls->control(
				*fd, is_wanted ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
				NULL));
	}
	return 0;
}

static int make_cpus(struct etw_kernel_faults *faults)
{
	uint32_t count = faults->host->cpu_count;

	if (faults->cpus)
		return 0;
	faults->cpus = calloc(count ? count : 1, sizeof(*faults->cpus));
	if (!faults->cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		for (size_t j = 0; j < ETW_KERNEL_FAULT_EVENTS; j++)
			faults->cpus[i].fds[j] = -1;
	/* Before the events are opened: who goes meanwhile is seen to have changed. */
	etw_kernel_cpus_open(&faults->list, CPU_LIST);
	(void)etw_kernel_cpus_look(&faults->list, etw_monotonic_ns());
	return 0;
}

int etw_kernel_faults_start(struct etw_kernel_faults *faults, const struct etw_source_host *host,
			    const int program_fds[ETW_KERNEL_FAULT_EVENTS],
			    struct etw_fault *reterr)
{
	int r;

	if (!faults->calls)
		faults->calls = &etw_kernel_perf_calls;
	faults->host = host;
	for (size_t i = 0; i < ETW_KERNEL_FAULT_EVENTS; i++)
		faults->program_fds[i] = program_fds[i];
	r = make_cpus(faults);
	etw_kernel_faults_follow_cpus(faults);
	for (uint32_t i = 0; !r && i < host->cpu_count; i++) {
		r = start_cpu(faults, i, /* takes_over= */ true);
		if (r == -ENODEV)
			r = 0; /* the processor is not there */
	}
	if (!r)
		return 0;
	etw_kernel_faults_stop(faults);
	if (r == -EACCES || r == -EPERM)
		return etw_fault_set(reterr, -EACCES, 0, "kernel source", "page faults",
				     "perf's events were refused (perf_event_open): CAP_PERFMON is "
				     "missing; an etwd that root started has it");
	return etw_fault_set(reterr, r, 0, "kernel source", "page faults",
			     "perf gives no events of page faults (perf_event_open): too many "
			     "files are open, memory is short, or the kernel lacks "
			     "CONFIG_PERF_EVENTS");
}

void etw_kernel_faults_follow_cpus(struct etw_kernel_faults *faults)
{
	if (!faults->cpus || !etw_kernel_cpus_look(&faults->list, etw_monotonic_ns()))
		return;
	for (uint32_t i = 0; i < faults->host->cpu_count; i++) {
		struct etw_kernel_faults_cpu *cpu = &faults->cpus[i];

		if (!etw_kernel_cpus_is_online(&faults->list, i)) {
			cpu->is_gone = true;
			continue;
		}
		if (cpu->is_gone)
			close_cpu(cpu);
		/* One that is gone again meanwhile is seen by the next look. */
		(void)start_cpu(faults, i, /* takes_over= */ false);
	}
}

void etw_kernel_faults_stop(struct etw_kernel_faults *faults)
{
	if (!faults->cpus)
		return;
	for (size_t i = 0; i < ETW_KERNEL_FAULT_EVENTS; i++)
		faults->program_fds[i] = -1;
	for (uint32_t i = 0; i < faults->host->cpu_count; i++)
		(void)start_cpu(faults, i, /* takes_over= */ false);
}

void etw_kernel_faults_done(struct etw_kernel_faults *faults)
{
	/* Kept copies would go on running the programs. */
	etw_kernel_faults_stop(faults);
	for (uint32_t i = 0; faults->cpus && i < faults->host->cpu_count; i++)
		close_cpu(&faults->cpus[i]);
	if (faults->cpus)
		etw_kernel_cpus_close(&faults->list);
	free(faults->cpus);
	*faults = (struct etw_kernel_faults){0};
}
