/* SPDX-License-Identifier: MIT */
/*
 * Those of the kernel's types that BPF objects name, as a file for libbpf. By itself libbpf reads all of them, some 150,000,
 * for each object, and goes through them for each type that the object names: most of what loading it costs. Here they
 * are gone through once for all objects.
 */
#ifndef ETW_SOURCE_KERNEL_PROGRAMS_NEEDED_TYPES_H
#define ETW_SOURCE_KERNEL_PROGRAMS_NEEDED_TYPES_H

#include <stddef.h>
#include <stdint.h>

struct btf;

struct etw_kernel_types {
	struct btf *some;     /* owned: those that are named, under numbers of its own */
	uint32_t *kernel_ids; /* owned; the kernel's numbers, by those of `some` */
	size_t count;         /* of kernel_ids */
};

/*
 * etw_kernel_types_read() - of a file of types those that the build's BPF objects need: each that they have a name of, with
 * what lies in it, and what their programs are attached to and call, which is here as a type without content.
 *
 * @btf_path: in BTF, as the kernel has it
 *
 * Where a type points to another one the other one is left out: who reads that one names it itself.
 *
 * Returns 0, with @ret to be closed; -ENOMEM, -ENOSYS in builds without libbpf, -EPROTO: libbpf numbered the copied types in
 * another order; or what libbpf said.
 */
int etw_kernel_types_read(const char *btf_path, struct etw_kernel_types *ret);

/* etw_kernel_types_bytes() - them in BTF, as long as they are open; NULL: no memory. */
const void *etw_kernel_types_bytes(const struct etw_kernel_types *types, uint32_t *ret_count);

/* etw_kernel_types_close() - frees what is in it. */
void etw_kernel_types_close(struct etw_kernel_types *types);

/* etw_kernel_types_of_kernel() - the kernel's number of the type that is @id in `some`; 0: there is no such. */
uint32_t etw_kernel_types_of_kernel(const struct etw_kernel_types *types, uint32_t id);

/* etw_kernel_types_target() - the kernel's number of what programs of section @section are attached to; 0: it is not there. */
uint32_t etw_kernel_types_target(const struct etw_kernel_types *types, const char *section);

#define ETW_KERNEL_READABLE_FUNCTION "bpf_rdonly_cast"

/* etw_kernel_types_readable() - the kernel's number of that function, which bpf/readable.h calls; 0: it is not there. */
uint32_t etw_kernel_types_readable(const struct etw_kernel_types *types);

#endif
