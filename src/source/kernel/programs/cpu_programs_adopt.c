/* SPDX-License-Identifier: MIT */
/* What is open of the BPF programs of frequent events: taken over from a host that died, and closed. See cpu_programs.h. */
#include "source/kernel/programs/cpu_programs_internal.h"

#include <stdlib.h>
#include <unistd.h>

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void etw_kernel_cpu_bpf_reset(struct etw_kernel_cpu_bpf *cpu_bpf)
{
	*cpu_bpf = (struct etw_kernel_cpu_bpf){.rings_fd = -1,
					       .threads_fd = -1,
					       .walk_fd = -1,
					       .sockets_walk_fd = -1,
					       .memory_walk_fd = -1};
	for (size_t i = 0; i < ETW_KERNEL_SHARED_MAPS; i++)
		cpu_bpf->map_fds[i] = -1;
	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++)
		cpu_bpf->link_fds[i] = cpu_bpf->program_fds[i] = -1;
}

void etw_kernel_cpu_bpf_close_rings(struct etw_kernel_cpu_bpf *cpu_bpf)
{
	for (uint32_t i = 0; i < cpu_bpf->ring_count; i++)
		close_fd(&cpu_bpf->ring_fds[i]);
	free(cpu_bpf->ring_fds);
	cpu_bpf->ring_fds = NULL;
	cpu_bpf->ring_count = 0;
}

void etw_kernel_cpu_bpf_close(struct etw_kernel_cpu_bpf *cpu_bpf)
{
	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++) {
		close_fd(&cpu_bpf->link_fds[i]);
		close_fd(&cpu_bpf->program_fds[i]);
	}
	close_fd(&cpu_bpf->walk_fd);
	close_fd(&cpu_bpf->sockets_walk_fd);
	close_fd(&cpu_bpf->memory_walk_fd);
	etw_kernel_cpu_bpf_close_rings(cpu_bpf);
	close_fd(&cpu_bpf->rings_fd);
	close_fd(&cpu_bpf->threads_fd);
	for (size_t i = 0; i < ETW_KERNEL_SHARED_MAPS; i++)
		close_fd(&cpu_bpf->map_fds[i]);
	etw_kernel_cpu_bpf_reset(cpu_bpf);
}

#ifdef ETW_KERNEL_BPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* The program behind a link that a former host made; only root may ask. */
static int program_of(int link_fd)
{
	struct bpf_link_info info = {0};
	uint32_t info_bytes = sizeof(info);

	if (link_fd < 0 || bpf_obj_get_info_by_fd(link_fd, &info, &info_bytes))
		return -1;
	return bpf_prog_get_fd_by_id(info.prog_id);
}

void etw_kernel_cpu_bpf_adopt(struct etw_kernel_cpu_bpf *cpu_bpf,
			      const struct etw_source_host *host)
{
	int cpu_count = libbpf_num_possible_cpus();
	struct bpf_map_info info = {0};
	uint32_t info_bytes = sizeof(info);
	char name[ETW_KERNEL_KEPT_NAME];

	etw_kernel_cpu_bpf_reset(cpu_bpf);
	if (!host->kept_fd || cpu_count <= 0)
		return;
	cpu_bpf->rings_fd = host->kept_fd(host->context, "cpu-rings");
	cpu_bpf->threads_fd = host->kept_fd(host->context, "threads");
	for (size_t i = 0; i < ETW_KERNEL_SHARED_MAPS; i++)
		cpu_bpf->map_fds[i] = host->kept_fd(host->context, etw_kernel_shared_maps[i].kept);
	cpu_bpf->ring_fds = malloc((size_t)cpu_count * sizeof(*cpu_bpf->ring_fds));
	if (cpu_bpf->rings_fd < 0 || cpu_bpf->threads_fd < 0 || !cpu_bpf->ring_fds) {
		etw_kernel_cpu_bpf_close(cpu_bpf);
		return;
	}
	for (uint32_t i = 0; i < (uint32_t)cpu_count; i++) {
		etw_kernel_ring_name(i, name);
		cpu_bpf->ring_fds[i] = host->kept_fd(host->context, name);
		cpu_bpf->ring_count = i + 1;
		if (cpu_bpf->ring_fds[i] < 0) {
			etw_kernel_cpu_bpf_close(cpu_bpf);
			return;
		}
	}
	if (bpf_obj_get_info_by_fd(cpu_bpf->ring_fds[0], &info, &info_bytes) == 0)
		cpu_bpf->ring_bytes = info.max_entries;
	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++) {
		etw_kernel_link_name(i, name);
		cpu_bpf->link_fds[i] = host->kept_fd(host->context, name);
		/* What perf's events run is kept as a program, and has no link. */
		if (etw_kernel_programs[i].tracepoint)
			cpu_bpf->program_fds[i] = program_of(cpu_bpf->link_fds[i]);
	}
	cpu_bpf->walk_fd = host->kept_fd(host->context, "walk-threads");
	cpu_bpf->sockets_walk_fd = host->kept_fd(host->context, "walk-sockets");
	cpu_bpf->memory_walk_fd = host->kept_fd(host->context, "walk-memory");
}

#else

void etw_kernel_cpu_bpf_adopt(struct etw_kernel_cpu_bpf *cpu_bpf,
			      const struct etw_source_host *host)
{
	(void)host;
	etw_kernel_cpu_bpf_reset(cpu_bpf);
}

#endif
