/* SPDX-License-Identifier: MIT */
#include "source/kernel/collector/memory_info.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/macros.h"
#include "source/kernel/events/memory_rundown.h"
#include "source/kernel/procfs/memory_use.h"

static void tell_machine(struct etw_kernel_collector *collector, int root_fd)
{
	struct etw_kernel_memory_use use;

	if (etw_kernel_memory_use_read(root_fd, &use) == 0)
		etw_kernel_write_memory_use(&collector->out, &use);
}

/* As many whole buckets as fit into one event; the next time goes on behind them. */
static void tell_processes(struct etw_kernel_memory_info *info,
			   struct etw_kernel_collector *collector, int root_fd)
{
	const struct etw_kernel_tasks *tasks = &collector->tracker->tasks;
	CLEANUP(freep)
	struct etw_kernel_working_set *sets = calloc(ETW_KERNEL_WORKING_SETS_MAX, sizeof(*sets));
	uint32_t count = 0;

	if (!sets)
		return; /* the next time */

	for (size_t i = 0; i < ETW_KERNEL_BUCKETS && count < ETW_KERNEL_WORKING_SETS_MAX; i++) {
		size_t bucket = info->first_bucket % ETW_KERNEL_BUCKETS;

		for (const struct etw_kernel_process *process = tasks->processes[bucket];
		     process && count < ETW_KERNEL_WORKING_SETS_MAX;
		     process = process->next_in_bucket) {
			sets[count].pid = process->pid;
			if (!process->is_ended &&
			    etw_kernel_working_set_read(root_fd, &sets[count]) == 0)
				count++;
		}
		info->first_bucket = bucket + 1;
	}
	if (count)
		etw_kernel_write_working_sets(&collector->out, sets, count);
}

void etw_kernel_memory_info_tell(struct etw_kernel_memory_info *info,
				 struct etw_kernel_collector *collector,
				 const uint32_t masks[WIRE_GROUP_MASKS_WORDS], uint64_t now_ns)
{
	uint32_t wanted = masks[ETW_KERNEL_MEMORY_INFO_WORD] &
			  (ETW_KERNEL_MEMORY_INFO_BIT | ETW_KERNEL_WORKING_SETS_BIT);
	int root_fd;

	if (!wanted || now_ns < info->next_ns)
		return;
	info->next_ns = now_ns + ETW_KERNEL_MEMORY_INFO_NS;
	root_fd = open(info->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return;
	etw_kernel_collector_begin(collector, NULL);
	etw_kernel_out_slot(&collector->out, ETW_KERNEL_SLOT_RUNDOWN);
	if (wanted & ETW_KERNEL_MEMORY_INFO_BIT)
		tell_machine(collector, root_fd);
	if (wanted & ETW_KERNEL_WORKING_SETS_BIT)
		tell_processes(info, collector, root_fd);
	etw_file_closep(&root_fd);
}
