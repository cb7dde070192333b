/* SPDX-License-Identifier: MIT */
#include "tools/common/names.h"

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

static int add_machine(struct etw_names *names)
{
	TRY(etw_processes_create(&names->machines[names->count]));
	TRY(etw_process_collector_create(&names->collectors[names->count]));
	names->count++;
	return 0;
}

int etw_names_init(struct etw_names *names, struct etw_trace *const *traces, size_t count)
{
	*names = (struct etw_names){
		.of_trace = calloc(count, sizeof(struct etw_processes *)),
		.machines = calloc(count, sizeof(struct etw_processes *)),
		.collectors = calloc(count, sizeof(struct etw_process_collector *)),
		.traces = count,
	};
	if (!names->of_trace || !names->machines || !names->collectors)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i && !names->of_trace[i]; j++) {
			if (is_same_machine(etw_trace_header(traces[j]),
					    etw_trace_header(traces[i])))
				names->of_trace[i] = names->of_trace[j];
		}
		if (names->of_trace[i])
			continue;
		TRY(add_machine(names));
		names->of_trace[i] = names->machines[names->count - 1];
	}
	return 0;
}

void etw_names_done(struct etw_names *names)
{
	for (size_t i = 0; i < names->traces; i++) {
		if (names->machines)
			etw_processes_free(names->machines[i]);
		if (names->collectors)
			etw_process_collector_free(names->collectors[i]);
	}
	free(names->of_trace);
	free(names->machines);
	free(names->collectors);
	*names = (struct etw_names){0};
}

int etw_names_keep(struct etw_names *names, size_t trace, const struct etw_clock *clock,
		   const EVENT_RECORD *record)
{
	size_t machine = 0;

	if (LIKELY(!etw_processes_is_lifecycle(record)))
		return 0;
	while (names->machines[machine] != names->of_trace[trace])
		machine++;
	return etw_process_collector_keep(
		names->collectors[machine], record, (uint32_t)trace,
		etw_clock_to_filetime(clock, record->EventHeader.TimeStamp.QuadPart));
}

int etw_names_teach(struct etw_names *names, struct etw_decoder *decoder)
{
	for (size_t i = 0; i < names->count; i++)
		TRY(etw_process_collector_teach(names->collectors[i], decoder, names->machines[i]));
	return 0;
}

bool etw_names_is_empty(const struct etw_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		if (etw_processes_count(names->machines[i]))
			return false;
	}
	return true;
}
