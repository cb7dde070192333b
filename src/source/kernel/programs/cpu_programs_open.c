/* SPDX-License-Identifier: MIT */
/* The BPF programs of frequent events are loaded and attached. See cpu_programs.h. */
#include "source/kernel/programs/cpu_programs_internal.h"

#include <errno.h>

#ifdef ETW_KERNEL_BPF

#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/macros.h"
#include "source/kernel/probe/probe_class.h"
#include "source/kernel/programs/file_calls.h"
#include "source/kernel/programs/load.h"

/* All or none, so that a later try begins anew. */
static int make_rings(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_source_host *host,
		      uint32_t ring_bytes)
{
	int cpu_count = libbpf_num_possible_cpus();
	char name[ETW_KERNEL_KEPT_NAME];

	if (cpu_count <= 0)
		return -ENOSYS;
	cpu_bpf->ring_fds = malloc((size_t)cpu_count * sizeof(*cpu_bpf->ring_fds));
	if (!cpu_bpf->ring_fds)
		return -ENOMEM;
	for (uint32_t i = 0; i < (uint32_t)cpu_count; i++) {
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "etw_cpu_ring", 0, 0, ring_bytes,
					NULL);

		if (fd < 0) {
			etw_kernel_cpu_bpf_close_rings(cpu_bpf);
			return fd;
		}
		cpu_bpf->ring_fds[i] = fd;
		cpu_bpf->ring_count = i + 1;
		etw_kernel_ring_name(i, name);
		etw_kernel_keep(host, name, fd);
	}
	cpu_bpf->ring_bytes = ring_bytes;
	return 0;
}

/* The maps that the first object with them made are those of all. */
static int take_maps(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_source_host *host,
		     struct bpf_object *object)
{
	for (size_t i = 0; i < ETW_KERNEL_SHARED_MAPS; i++)
		if (cpu_bpf->map_fds[i] < 0 &&
		    etw_kernel_take_map(object, etw_kernel_shared_maps[i].map,
					&cpu_bpf->map_fds[i]) == 0)
			etw_kernel_keep(host, etw_kernel_shared_maps[i].kept, cpu_bpf->map_fds[i]);
	if (cpu_bpf->rings_fd >= 0)
		return 0;
	TRY(etw_kernel_take_map(object, "etw_cpu_rings", &cpu_bpf->rings_fd));
	TRY(etw_kernel_take_map(object, "etw_threads", &cpu_bpf->threads_fd));
	for (uint32_t i = 0; i < cpu_bpf->ring_count; i++)
		TRY(bpf_map_update_elem(cpu_bpf->rings_fd, &i, &cpu_bpf->ring_fds[i], BPF_ANY));
	etw_kernel_keep(host, "cpu-rings", cpu_bpf->rings_fd);
	etw_kernel_keep(host, "threads", cpu_bpf->threads_fd);
	return 0;
}

/* @bytes: of the object, which says what its constant means */
static uint32_t constant_of(const uint8_t *bytes)
{
	const bool *has = etw_kernel_probe_features()->has;

	if (bytes == etw_kernel_network_object)
		return has[ETW_KERNEL_HAS_SOCKET_LENGTHS];
	if (bytes == etw_kernel_memory_object)
		return has[ETW_KERNEL_HAS_LAST_EXIT];
	return has[ETW_KERNEL_HAS_SWITCH_STATE];
}

static int prepare(const struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_kernel_bpf *bpf,
		   struct bpf_object *object, const uint8_t *bytes)
{
	struct etw_kernel_map_fd maps[5 + ETW_KERNEL_SHARED_MAPS] = {
		{"etw_ring", bpf->ring_fd},           {"etw_drops", bpf->drops_fd},
		{"etw_control", bpf->control_fd},     {"etw_cpu_rings", cpu_bpf->rings_fd},
		{"etw_threads", cpu_bpf->threads_fd},
	};
	struct bpf_map *rings = bpf_object__find_map_by_name(object, "etw_cpu_rings");

	for (size_t i = 0; i < ETW_KERNEL_SHARED_MAPS; i++)
		maps[5 + i] = (struct etw_kernel_map_fd){etw_kernel_shared_maps[i].map,
							 cpu_bpf->map_fds[i]};
	if (rings && cpu_bpf->rings_fd < 0)
		TRY(bpf_map__set_max_entries(rings, cpu_bpf->ring_count));
	TRY(etw_kernel_reuse_maps(object, maps, ARRAY_SIZE(maps)));
	return etw_kernel_set_constant(object, constant_of(bytes));
}

static int attach(struct bpf_object *object, size_t place, int *ret)
{
	if (!etw_kernel_programs[place].tracepoint)
		return etw_kernel_take_program(object, etw_kernel_programs[place].program, ret);
	return etw_kernel_attach(object, etw_kernel_programs[place].program, ret);
}

/* Some of the programs. */
struct program_set {
	bool has[ETW_KERNEL_CPU_PROGRAMS];
};

static struct program_set only(size_t place)
{
	struct program_set set = {{false}};

	set.has[place] = true;
	return set;
}

/* Which programs of one object are wanted and not there yet. */
static struct program_set missing_beside(const struct etw_kernel_cpu_bpf *cpu_bpf, size_t place,
					 uint32_t kinds)
{
	struct program_set set = {{false}};

	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++)
		set.has[i] = etw_kernel_programs[i].object == etw_kernel_programs[place].object &&
			     etw_kernel_program_is_wanted(i, kinds) && cpu_bpf->link_fds[i] < 0;
	return set;
}

/* Of an object's programs those of the set are loaded. Returns 0; -ENOENT: this machine's has none of that name. */
static int choose(struct bpf_object *object, const uint8_t *bytes, const struct program_set *set)
{
	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++) {
		struct bpf_program *program;

		if (etw_kernel_programs[i].object != bytes)
			continue;
		program = bpf_object__find_program_by_name(object, etw_kernel_programs[i].program);
		if (!program && set->has[i])
			return -ENOENT;
		if (program)
			(void)bpf_program__set_autoload(program, set->has[i]);
	}
	return etw_kernel_choose_walk(object);
}

static int take_programs(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_source_host *host,
			 struct bpf_object *object, const struct program_set *set)
{
	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++) {
		char name[ETW_KERNEL_KEPT_NAME];

		if (!set->has[i])
			continue;
		TRY(attach(object, i, &cpu_bpf->link_fds[i]));
		TRY(etw_kernel_take_program(object, etw_kernel_programs[i].program,
					    &cpu_bpf->program_fds[i]));
		etw_kernel_link_name(i, name);
		etw_kernel_keep(host, name, cpu_bpf->link_fds[i]);
	}
	return 0;
}

/* To the object that asks for them. */
static int tell_file_calls(struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, "etw_file_calls");
	struct etw_kernel_file_calls calls;
	uint32_t key = 0;

	if (!map)
		return 0;
	etw_kernel_file_calls_fill(&calls);
	return bpf_map__update_elem(map, &key, sizeof(key), &calls, sizeof(calls), BPF_ANY);
}

/* @set: programs of one object, none of which is there yet */
static int load(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_kernel_bpf *bpf,
		const struct etw_source_host *host, size_t place, const struct program_set *set)
{
	struct bpf_object *object = NULL;
	int r;

	r = etw_kernel_open_object(etw_kernel_programs[place].object,
				   *etw_kernel_programs[place].object_bytes, "etw_cpu", &object);
	if (!r)
		r = prepare(cpu_bpf, bpf, object, etw_kernel_programs[place].object);
	if (!r)
		r = choose(object, etw_kernel_programs[place].object, set);
	if (!r)
		r = bpf_object__load(object);
	if (!r)
		r = tell_file_calls(object);
	if (!r)
		r = take_maps(cpu_bpf, host, object);
	if (!r)
		r = take_programs(cpu_bpf, host, object, set);
	if (!r)
		r = etw_kernel_take_walks(cpu_bpf, host, object);
	if (object)
		bpf_object__close(object);
	return r;
}

/* All that is wanted of its object, because most of what loading costs is for the object; where one fails, each alone. */
static int load_with_others(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_kernel_bpf *bpf,
			    const struct etw_source_host *host, size_t place, uint32_t kinds)
{
	const struct program_set set = missing_beside(cpu_bpf, place, kinds), alone = only(place);
	int r = load(cpu_bpf, bpf, host, place, &set);

	if (!r || memcmp(&set, &alone, sizeof(set)) == 0)
		return r;
	/* Another one of them failed, if this one is attached. */
	return cpu_bpf->link_fds[place] >= 0 ? 0 : load(cpu_bpf, bpf, host, place, &alone);
}

/* Without one of these it is not sure who asks for work: then nobody does. */
static bool knows_owners(void)
{
	const bool *has = etw_kernel_probe_features()->has;

	return has[ETW_KERNEL_HAS_SOFTIRQ] && has[ETW_KERNEL_HAS_IRQ] &&
	       has[ETW_KERNEL_HAS_HRTIMER] && has[ETW_KERNEL_HAS_RAISE] &&
	       has[ETW_KERNEL_HAS_WORKQUEUE];
}

int etw_kernel_cpu_bpf_open(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_kernel_bpf *bpf,
			    const struct etw_source_host *host, uint32_t ring_bytes,
			    uint32_t *kinds, struct etw_fault *reterr)
{
	int result = 0;

	if (!cpu_bpf->ring_count) {
		int r = make_rings(cpu_bpf, host, ring_bytes);

		if (r) {
			*kinds = 0;
			return etw_kernel_refuse(r, NULL, reterr);
		}
	}
	if (!knows_owners())
		*kinds &= ~ETW_KERNEL_OWNED_ALONE;
	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++) {
		int r;

		if (cpu_bpf->link_fds[i] >= 0 || !etw_kernel_program_is_wanted(i, *kinds))
			continue;
		r = load_with_others(cpu_bpf, bpf, host, i, *kinds);
		if (!r)
			continue;
		r = etw_kernel_refuse(r, etw_kernel_programs[i].tracepoint, result ? NULL : reterr);
		result = result ? result : r;
		*kinds &= ~(etw_kernel_programs[i].kinds | etw_kernel_programs[i].helps);
	}
	return result;
}

#else

int etw_kernel_cpu_bpf_open(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_kernel_bpf *bpf,
			    const struct etw_source_host *host, uint32_t ring_bytes,
			    uint32_t *kinds, struct etw_fault *reterr)
{
	(void)cpu_bpf;
	(void)bpf;
	(void)host;
	(void)ring_bytes;
	*kinds = 0;
	return etw_fault_set(reterr, -ENOSYS, 0, "kernel source", "BPF",
			     "libetw was built without them, because " ETW_KERNEL_LEFT_OUT);
}

#endif
