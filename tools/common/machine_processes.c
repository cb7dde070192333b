/* SPDX-License-Identifier: MIT */
#include "tools/common/machine_processes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/time.h"

/* The clock may have been set a little between two traces. */
#define BOOT_SLACK_S 2

static bool is_same_machine(const struct etw_etl_header *left, const struct etw_etl_header *right)
{
	int64_t apart = left->boot_ft / ETW_FILETIME_PER_SECOND -
			right->boot_ft / ETW_FILETIME_PER_SECOND;

	return left->os_build == right->os_build && left->processors == right->processors &&
	       left->cpu_mhz == right->cpu_mhz && apart >= -BOOT_SLACK_S && apart <= BOOT_SLACK_S;
}

static int add_machine(struct etw_machine_processes *processes)
{
	TRY(etw_processes_create(&processes->machines[processes->count]));
	TRY(etw_process_collector_create(&processes->collectors[processes->count]));
	processes->count++;
	return 0;
}

int etw_machine_processes_init(struct etw_machine_processes *processes,
			       struct etw_trace *const *traces, size_t count)
{
	*processes = (struct etw_machine_processes){
		.of_trace = calloc(count, sizeof(struct etw_processes *)),
		.machines = calloc(count, sizeof(struct etw_processes *)),
		.collectors = calloc(count, sizeof(struct etw_process_collector *)),
		.traces = count,
	};
	if (!processes->of_trace || !processes->machines || !processes->collectors)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i && !processes->of_trace[i]; j++) {
			if (is_same_machine(etw_trace_header(traces[j]),
					    etw_trace_header(traces[i])))
				processes->of_trace[i] = processes->of_trace[j];
		}
		if (processes->of_trace[i])
			continue;
		TRY(add_machine(processes));
		processes->of_trace[i] = processes->machines[processes->count - 1];
	}
	return 0;
}

void etw_machine_processes_done(struct etw_machine_processes *processes)
{
	for (size_t i = 0; i < processes->traces; i++) {
		if (processes->machines)
			etw_processes_free(processes->machines[i]);
		if (processes->collectors)
			etw_process_collector_free(processes->collectors[i]);
	}
	free(processes->of_trace);
	free(processes->machines);
	free(processes->collectors);
	*processes = (struct etw_machine_processes){0};
}

int etw_machine_processes_keep(struct etw_machine_processes *processes, size_t trace,
			       const struct etw_clock *clock, const EVENT_RECORD *record)
{
	size_t machine = 0;

	if (LIKELY(!etw_processes_is_lifecycle(record)))
		return 0;
	while (processes->machines[machine] != processes->of_trace[trace])
		machine++;
	return etw_process_collector_keep(
		processes->collectors[machine], record, (uint32_t)trace,
		etw_clock_to_filetime(clock, record->EventHeader.TimeStamp.QuadPart));
}

int etw_machine_processes_teach(struct etw_machine_processes *processes,
				struct etw_decoder *decoder)
{
	for (size_t i = 0; i < processes->count; i++)
		TRY(etw_process_collector_teach(processes->collectors[i], decoder,
						processes->machines[i]));
	return 0;
}

bool etw_machine_processes_is_empty(const struct etw_machine_processes *processes)
{
	for (size_t i = 0; i < processes->count; i++) {
		if (etw_processes_count(processes->machines[i]))
			return false;
	}
	return true;
}
