/* SPDX-License-Identifier: MIT */
#include "source/kernel/programs/load.h"

#ifdef ETW_KERNEL_BPF

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/macros.h"
#include "source/kernel/programs/prepare.h"

/* What libbpf has to say goes nowhere: faults say it in one sentence. */
static int say_nothing(enum libbpf_print_level level, const char *format, va_list list)
{
	(void)level;
	(void)format;
	(void)list;
	return 0;
}

int etw_kernel_open_object(const uint8_t *bytes, size_t byte_count, const char *name,
			   struct bpf_object **ret)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = name);
	struct bpf_object *object;
	long error;

	libbpf_set_print(say_nothing);
	TRY(etw_kernel_prepare_open(&options));
	object = bpf_object__open_mem(bytes, byte_count, &options);
	error = libbpf_get_error(object);
	if (error)
		return (int)error;
	*ret = object;
	return 0;
}

int etw_kernel_reuse_maps(struct bpf_object *object, const struct etw_kernel_map_fd *maps,
			  size_t count)
{
	struct bpf_map *map;

	for (size_t i = 0; i < count; i++) {
		map = bpf_object__find_map_by_name(object, maps[i].name);
		if (map && maps[i].fd >= 0)
			TRY(bpf_map__reuse_fd(map, maps[i].fd));
	}
	return 0;
}

int etw_kernel_set_constant(struct bpf_object *object, uint32_t value)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		/* The compiler may have constants of its own there. */
		if (strstr(bpf_map__name(map), ".rodata") &&
		    bpf_map__value_size(map) == sizeof(value))
			return bpf_map__set_initial_value(map, &value, sizeof(value));
	}
	return 0;
}

/* A descriptor that outlives the object it is of. @fd: borrowed; negative: why there is none */
static int copy_fd(int fd, int *ret)
{
	if (fd < 0)
		return fd;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return -errno;
	*ret = fd;
	return 0;
}

int etw_kernel_take_map(struct bpf_object *object, const char *name, int *ret)
{
	return copy_fd(bpf_object__find_map_fd_by_name(object, name), ret);
}

int etw_kernel_attach(struct bpf_object *object, const char *name, int *ret)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);
	int fd;

	if (!program)
		return -ENOENT;
	fd = bpf_raw_tracepoint_open(NULL, bpf_program__fd(program));
	if (fd < 0)
		return fd;
	*ret = fd;
	return 0;
}

int etw_kernel_take_program(struct bpf_object *object, const char *name, int *ret)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);

	return copy_fd(program ? bpf_program__fd(program) : -ENOENT, ret);
}

void etw_kernel_keep(const struct etw_source_host *host, const char *name, int fd)
{
	if (host->keep_fd)
		(void)host->keep_fd(host->context, name, fd);
}

int etw_kernel_refuse(int error, const char *tracepoint, struct etw_fault *reterr)
{
	if (error == -EPERM || error == -EACCES)
		return etw_fault_set(
			reterr, -EACCES, 0, "kernel source", "BPF",
			"loading BPF programs was refused: CAP_BPF and CAP_PERFMON are "
			"missing; an etwd that root started has them");
	if ((error == -ESRCH || error == -ENOENT) && tracepoint)
		return etw_fault_set(reterr, -ENOSYS, 0, "kernel source", tracepoint,
				     "the kernel lacks this tracepoint");
	return etw_fault_set(reterr, error, 0, "kernel source", "BPF",
			     "the kernel refused the BPF programs");
}

#endif
