/* SPDX-License-Identifier: MIT */
/*
 * Steps of loading BPF programs that all of them take: opening an object, sharing maps, attaching, and saying in one
 * sentence why the kernel refused. Only in builds with libbpf.
 */
#ifndef ETW_SOURCE_KERNEL_PROGRAMS_LOAD_H
#define ETW_SOURCE_KERNEL_PROGRAMS_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/source.h"

struct bpf_object;

/* A map that is there already, by its name in the objects. */
struct etw_kernel_map_fd {
	const char *name;
	int fd; /* borrowed; -1: not yet */
};

/* etw_kernel_open_object() - @bytes: an ELF object, borrowed. Returns 0 with an object to be closed, or negative errno. */
int etw_kernel_open_object(const uint8_t *bytes, size_t byte_count, const char *name,
			   struct bpf_object **ret);

/* etw_kernel_reuse_maps() - the object takes the maps of @maps that it has by name. Returns 0 or negative errno. */
int etw_kernel_reuse_maps(struct bpf_object *object, const struct etw_kernel_map_fd *maps,
			  size_t count);

/* etw_kernel_set_constant() - of an object that has one constant, or none. Returns 0 or negative errno. */
int etw_kernel_set_constant(struct bpf_object *object, uint32_t value);

/* etw_kernel_take_map() - @ret: a descriptor of a loaded map, owned by the caller. Returns 0 or negative errno. */
int etw_kernel_take_map(struct bpf_object *object, const char *name, int *ret);

/* etw_kernel_attach() - @ret: a descriptor that keeps the program attached, owned by the caller. Returns 0 or negative errno. */
int etw_kernel_attach(struct bpf_object *object, const char *program, int *ret);

/* etw_kernel_take_program() - @ret: a descriptor of a loaded program, owned by the caller. Returns 0 or negative errno. */
int etw_kernel_take_program(struct bpf_object *object, const char *name, int *ret);

/* etw_kernel_keep() - offers the host a descriptor to be kept. */
void etw_kernel_keep(const struct etw_source_host *host, const char *name, int fd);

/*
 * etw_kernel_refuse() - why programs could not be had.
 *
 * @error:      what loading or attaching said
 * @tracepoint: of the program; NULL: that it is missing is not the reason
 *
 * Returns -EACCES, -ENOSYS, or @error.
 */
int etw_kernel_refuse(int error, const char *tracepoint, struct etw_fault *reterr);

#endif
