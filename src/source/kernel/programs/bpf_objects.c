/* SPDX-License-Identifier: MIT */
/* The BPF programs. See bpf_objects.h. */
#include "source/kernel/programs/bpf_objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "base/macros.h"

static void reset(struct etw_kernel_bpf *bpf)
{
	*bpf = (struct etw_kernel_bpf){.ring_fd = -1, .drops_fd = -1, .control_fd = -1};
	for (size_t i = 0; i < ETW_KERNEL_LINKS; i++)
		bpf->link_fds[i] = -1;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void etw_kernel_bpf_close(struct etw_kernel_bpf *bpf)
{
	for (size_t i = 0; i < ETW_KERNEL_LINKS; i++)
		close_fd(&bpf->link_fds[i]);
	close_fd(&bpf->ring_fd);
	close_fd(&bpf->drops_fd);
	close_fd(&bpf->control_fd);
}

#ifdef ETW_KERNEL_BPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "source/kernel/probe/probe_class.h"
#include "source/kernel/programs/load.h"

static const char *const link_names[ETW_KERNEL_LINKS] = {
	"kernel-new-task", "kernel-exec",        "kernel-exit",        "kernel-rename",
	"kernel-unmap",    "kernel-module-load", "kernel-module-free", "kernel-map"};
#define LINK_RENAME      3 /* there are kernels without its tracepoint */
#define LINK_UNMAP       4 /* those before are of one object */
#define LINK_MODULE_LOAD 5
#define LINK_MODULE_FREE 6
#define LINK_MAP         7

static const char *const program_names[ETW_KERNEL_LINKS] = {
	"etw_new_task", "etw_exec",        "etw_exit",        "etw_rename",
	"etw_unmap",    "etw_module_load", "etw_module_free", "etw_map"};

/* A host of another version may have had other fields. */
static bool has_values_of(int map_fd, uint32_t bytes)
{
	struct bpf_map_info info = {0};
	uint32_t info_bytes = sizeof(info);

	return !bpf_obj_get_info_by_fd(map_fd, &info, &info_bytes) && info.value_size == bytes;
}

static bool adopt(struct etw_kernel_bpf *bpf, const struct etw_source_host *host)
{
	struct bpf_map_info info = {0};
	uint32_t info_bytes = sizeof(info);

	if (!host->kept_fd)
		return false;
	bpf->ring_fd = host->kept_fd(host->context, "kernel-ring");
	bpf->drops_fd = host->kept_fd(host->context, "kernel-drops");
	bpf->control_fd = host->kept_fd(host->context, "kernel-control");
	for (size_t i = 0; i < ETW_KERNEL_LINKS; i++)
		bpf->link_fds[i] = host->kept_fd(host->context, link_names[i]);
	if (bpf->ring_fd < 0 || bpf->drops_fd < 0 || bpf->control_fd < 0)
		return false;
	if (!has_values_of(bpf->drops_fd, sizeof(struct etw_kernel_drops)) ||
	    !has_values_of(bpf->control_fd, sizeof(struct etw_kernel_control)))
		return false;
	for (size_t i = 0; i < LINK_RENAME; i++)
		if (bpf->link_fds[i] < 0)
			return false;
	if (bpf_obj_get_info_by_fd(bpf->ring_fd, &info, &info_bytes))
		return false;
	bpf->ring_bytes = info.max_entries;
	bpf->is_adopted = true;
	return true;
}

static int load_tasks(struct etw_kernel_bpf *bpf, struct bpf_object *object, uint32_t ring_bytes)
{
	struct bpf_map *ring = bpf_object__find_map_by_name(object, "etw_ring");
	/*
	 * Whether the tracepoint itself says that a thread group ends (Linux 6.16); before, the program looks at the
	 * count of live threads.
	 */
	uint32_t tells_last = etw_kernel_probe_features()->has[ETW_KERNEL_HAS_LAST_EXIT];
	bool has_rename = etw_kernel_probe_features()->has[ETW_KERNEL_HAS_RENAME];
	struct bpf_program *rename = bpf_object__find_program_by_name(object,
								      program_names[LINK_RENAME]);

	if (!ring || !rename)
		return -ENOENT;
	TRY(bpf_program__set_autoload(rename, has_rename));
	TRY(bpf_map__set_max_entries(ring, ring_bytes));
	TRY(etw_kernel_set_constant(object, tells_last));
	TRY(bpf_object__load(object));
	TRY(etw_kernel_take_map(object, "etw_ring", &bpf->ring_fd));
	TRY(etw_kernel_take_map(object, "etw_drops", &bpf->drops_fd));
	TRY(etw_kernel_take_map(object, "etw_control", &bpf->control_fd));
	bpf->ring_bytes = ring_bytes;
	for (size_t i = 0; i < LINK_UNMAP; i++)
		if (i != LINK_RENAME || has_rename)
			TRY(etw_kernel_attach(object, program_names[i], &bpf->link_fds[i]));
	return 0;
}

int etw_kernel_bpf_open(struct etw_kernel_bpf *bpf, const struct etw_source_host *host,
			uint32_t ring_bytes, struct etw_fault *reterr)
{
	struct bpf_object *object = NULL;
	int r;

	reset(bpf);
	if (adopt(bpf, host))
		return 0;
	etw_kernel_bpf_close(bpf);
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		return etw_fault_set(
			reterr, -ENOSYS, 0, "kernel source", "BTF",
			"the kernel says nothing about its types: it was built without "
			"CONFIG_DEBUG_INFO_BTF, so /sys/kernel/btf/vmlinux is missing");
	r = etw_kernel_open_object(etw_kernel_tasks_object, etw_kernel_tasks_object_bytes,
				   "etw_tasks", &object);
	if (!r)
		r = load_tasks(bpf, object, ring_bytes);
	if (object)
		bpf_object__close(object);
	if (r) {
		etw_kernel_bpf_close(bpf);
		return etw_kernel_refuse(
			r, "task_newtask, sched_process_exec or sched_process_exit", reterr);
	}
	etw_kernel_keep(host, "kernel-ring", bpf->ring_fd);
	etw_kernel_keep(host, "kernel-drops", bpf->drops_fd);
	etw_kernel_keep(host, "kernel-control", bpf->control_fd);
	for (size_t i = 0; i < LINK_UNMAP; i++)
		if (bpf->link_fds[i] >= 0)
			etw_kernel_keep(host, link_names[i], bpf->link_fds[i]);
	return 0;
}

/* Loads an object of further programs, and attaches those of these links. */
static int load_more(struct etw_kernel_bpf *bpf, struct bpf_object *object, size_t first_link,
		     size_t last_link)
{
	const struct etw_kernel_map_fd maps[] = {
		{"etw_ring", bpf->ring_fd},
		{"etw_drops", bpf->drops_fd},
		{"etw_control", bpf->control_fd},
	};

	TRY(etw_kernel_reuse_maps(object, maps, ARRAY_SIZE(maps)));
	TRY(bpf_object__load(object));
	for (size_t i = first_link; i <= last_link; i++)
		TRY(etw_kernel_attach(object, program_names[i], &bpf->link_fds[i]));
	return 0;
}

/* The one program of an object, at sys_enter. */
static int attach_one(struct etw_kernel_bpf *bpf, const struct etw_source_host *host, size_t link,
		      const uint8_t *bytes, size_t byte_count, struct etw_fault *reterr)
{
	struct bpf_object *object = NULL;
	int r;

	if (bpf->link_fds[link] >= 0)
		return 0;
	r = etw_kernel_open_object(bytes, byte_count, "etw_calls", &object);
	if (!r)
		r = load_more(bpf, object, link, link);
	if (object)
		bpf_object__close(object);
	if (r)
		return etw_kernel_refuse(r, "sys_enter", reterr);
	etw_kernel_keep(host, link_names[link], bpf->link_fds[link]);
	return 0;
}

int etw_kernel_bpf_attach_unmaps(struct etw_kernel_bpf *bpf, const struct etw_source_host *host,
				 struct etw_fault *reterr)
{
	return attach_one(bpf, host, LINK_UNMAP, etw_kernel_unmaps_object,
			  etw_kernel_unmaps_object_bytes, reterr);
}

int etw_kernel_bpf_attach_maps(struct etw_kernel_bpf *bpf, const struct etw_source_host *host,
			       struct etw_fault *reterr)
{
	return attach_one(bpf, host, LINK_MAP, etw_kernel_maps_object, etw_kernel_maps_object_bytes,
			  reterr);
}

int etw_kernel_bpf_attach_modules(struct etw_kernel_bpf *bpf, const struct etw_source_host *host,
				  struct etw_fault *reterr)
{
	struct bpf_object *object = NULL;
	int r;

	if (bpf->link_fds[LINK_MODULE_LOAD] >= 0 && bpf->link_fds[LINK_MODULE_FREE] >= 0)
		return 0;
	if (!etw_kernel_probe_features()->has[ETW_KERNEL_HAS_MODULES])
		return -ENOENT;
	r = etw_kernel_open_object(etw_kernel_modules_object, etw_kernel_modules_object_bytes,
				   "etw_modules", &object);
	if (!r)
		r = load_more(bpf, object, LINK_MODULE_LOAD, LINK_MODULE_FREE);
	if (object)
		bpf_object__close(object);
	if (r)
		return etw_kernel_refuse(r, "module_load", reterr);
	etw_kernel_keep(host, link_names[LINK_MODULE_LOAD], bpf->link_fds[LINK_MODULE_LOAD]);
	etw_kernel_keep(host, link_names[LINK_MODULE_FREE], bpf->link_fds[LINK_MODULE_FREE]);
	return 0;
}

int etw_kernel_bpf_set_control(const struct etw_kernel_bpf *bpf,
			       const struct etw_kernel_control *control)
{
	uint32_t key = 0;

	return bpf_map_update_elem(bpf->control_fd, &key, control, BPF_ANY);
}

int etw_kernel_bpf_control(const struct etw_kernel_bpf *bpf, struct etw_kernel_control *ret)
{
	uint32_t key = 0;

	return bpf_map_lookup_elem(bpf->control_fd, &key, ret);
}

void etw_kernel_bpf_drops(const struct etw_kernel_bpf *bpf, uint32_t cpu_count,
			  struct etw_kernel_drops *ret)
{
	int possible = libbpf_num_possible_cpus();
	CLEANUP(freep)
	struct etw_kernel_drops *drops = possible > 0 ? calloc((size_t)possible, sizeof(*drops))
						      : NULL;
	uint32_t key = 0;

	memset(ret, 0, cpu_count * sizeof(*ret));
	if (drops && !bpf_map_lookup_elem(bpf->drops_fd, &key, drops))
		memcpy(ret, drops, MIN(cpu_count, (uint32_t)possible) * sizeof(*ret));
}

#else

#define BUILT_WITHOUT "libetw was built without them, because " ETW_KERNEL_LEFT_OUT

int etw_kernel_bpf_open(struct etw_kernel_bpf *bpf, const struct etw_source_host *host,
			uint32_t ring_bytes, struct etw_fault *reterr)
{
	(void)host;
	(void)ring_bytes;
	reset(bpf);
	return etw_fault_set(reterr, -ENOSYS, 0, "kernel source", "BPF", BUILT_WITHOUT);
}

int etw_kernel_bpf_attach_unmaps(struct etw_kernel_bpf *bpf, const struct etw_source_host *host,
				 struct etw_fault *reterr)
{
	(void)bpf;
	(void)host;
	return etw_fault_set(reterr, -ENOSYS, 0, "kernel source", "BPF", BUILT_WITHOUT);
}

int etw_kernel_bpf_attach_modules(struct etw_kernel_bpf *bpf, const struct etw_source_host *host,
				  struct etw_fault *reterr)
{
	return etw_kernel_bpf_attach_unmaps(bpf, host, reterr);
}

int etw_kernel_bpf_attach_maps(struct etw_kernel_bpf *bpf, const struct etw_source_host *host,
			       struct etw_fault *reterr)
{
	return etw_kernel_bpf_attach_unmaps(bpf, host, reterr);
}

int etw_kernel_bpf_set_control(const struct etw_kernel_bpf *bpf,
			       const struct etw_kernel_control *control)
{
	(void)bpf;
	(void)control;
	return -ENOSYS;
}

int etw_kernel_bpf_control(const struct etw_kernel_bpf *bpf, struct etw_kernel_control *ret)
{
	(void)bpf;
	(void)ret;
	return -ENOSYS;
}

void etw_kernel_bpf_drops(const struct etw_kernel_bpf *bpf, uint32_t cpu_count,
			  struct etw_kernel_drops *ret)
{
	(void)bpf;
	memset(ret, 0, cpu_count * sizeof(*ret));
}

#endif
