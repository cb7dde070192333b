/* SPDX-License-Identifier: MIT */
#include "source/kernel/programs/prepare.h"

#ifdef ETW_KERNEL_BPF

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/file.h"
#include "base/macros.h"
#include "source/kernel/bpf/readable_call.h"
#include "source/kernel/programs/needed_types.h"

#define BTF_FILE "/sys/kernel/btf/vmlinux"
#define ANY_PROGRAM \
	1 /* no descriptor is looked at: libbpf need not know of the kernel what the program is attached to */

/* Of this process. Written once, under the lock, before any object is opened. */
static struct {
	pthread_mutex_t lock;
	bool is_registered;
	bool has_looked;
	struct etw_kernel_types types; /* empty: they could not be read */
	char path[32];                 /* of a file with the types */
} machine = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The file stays as long as the process. */
static int keep_as_file(const struct etw_kernel_types *types)
{
	uint32_t bytes;
	const void *data = etw_kernel_types_bytes(types, &bytes);
	int fd = memfd_create("etw-kernel-types", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = data ? etw_file_write_all(fd, data, bytes) : -ENOMEM;
	if (r) {
		close(fd);
		return r;
	}
	(void)snprintf(machine.path, sizeof(machine.path), "/proc/self/fd/%d", fd);
	return 0;
}

/* What cannot be had is done without. */
static void look(void)
{
	machine.has_looked = true;
	if (!etw_kernel_types_read(BTF_FILE, &machine.types) && keep_as_file(&machine.types))
		etw_kernel_types_close(&machine.types);
}

/* The kernel's number of bpf_rdonly_cast(). Without the types libbpf reads all of them for it. */
static uint32_t readable_function(void)
{
	int id;

	if (machine.types.some)
		return etw_kernel_types_readable(&machine.types);
	id = libbpf_find_vmlinux_btf_id(ETW_KERNEL_READABLE_FUNCTION, BPF_TRACE_FENTRY);
	return id > 0 ? (uint32_t)id : 0;
}

/* The last instruction before a call that sets its second argument; NULL: it is not a constant. */
static struct bpf_insn *second_argument(struct bpf_insn *first, struct bpf_insn *call)
{
	for (struct bpf_insn *at = call; at-- > first;) {
		uint8_t class = BPF_CLASS(at->code);

		/* Of a constant of 64 bits the second half has no code. */
		if (at->dst_reg != BPF_REG_2 || class == BPF_ST || class == BPF_STX || !at->code)
			continue;
		if (at->code == (BPF_LD | BPF_DW | BPF_IMM) ||
		    at->code == (BPF_ALU64 | BPF_MOV | BPF_K) ||
		    at->code == (BPF_ALU | BPF_MOV | BPF_K))
			return at;
		return NULL;
	}
	return NULL;
}

/* Programs that read by readable.h call the kernel's function in truth. Returns 0 or negative errno. */
static int put_function_in(struct bpf_insn *insns, size_t count)
{
	uint32_t function = 0;

	for (size_t i = 0; i < count; i++) {
		struct bpf_insn *type;

		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg ||
		    insns[i].imm != ETW_KERNEL_READABLE_CALL)
			continue;
		if (!function)
			function = readable_function();
		if (!function)
			return 0; /* before Linux 6.2 programs do not come there */
		type = second_argument(insns, &insns[i]);
		if (!type)
			return -EINVAL;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].imm = (int32_t)function;
		if (machine.types.some)
			type->imm = (int32_t)etw_kernel_types_of_kernel(&machine.types,
									(uint32_t)type->imm);
	}
	return 0;
}

/* libbpf calls it before it loads a program. */
static int prepare_program(struct bpf_program *program, struct bpf_prog_load_opts *options,
			   long cookie)
{
	size_t count = bpf_program__insn_cnt(program);
	CLEANUP(freep) struct bpf_insn *insns = malloc(count * sizeof(*insns));
	const char *section = bpf_program__section_name(program);
	int id;

	(void)cookie;
	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(program), count * sizeof(*insns));
	TRY(put_function_in(insns, count));
	TRY(bpf_program__set_insns(program, insns, count));
	if (machine.types.some)
		id = (int)etw_kernel_types_target(&machine.types, section);
	else
		id = libbpf_find_vmlinux_btf_id(strchr(section, '/') + 1,
						bpf_program__expected_attach_type(program));
	if (id <= 0)
		return -ESRCH;
	options->attach_prog_fd = 0;
	options->attach_btf_id = (uint32_t)id;
	return 0;
}

/* libbpf calls it when it has opened an object. */
static int set_up_program(struct bpf_program *program, long cookie)
{
	(void)cookie;
	return machine.types.some ? bpf_program__set_attach_target(program, ANY_PROGRAM, NULL) : 0;
}

/* Instead of what libbpf does for programs of such sections. */
static int take_over(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, options, .prog_setup_fn = set_up_program,
		    .prog_prepare_load_fn = prepare_program);
	int r = libbpf_register_prog_handler("tp_btf/", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP,
					     &options);

	if (r >= 0) {
		int iter = libbpf_register_prog_handler("iter/", BPF_PROG_TYPE_TRACING,
							BPF_TRACE_ITER, &options);

		if (iter < 0)
			(void)libbpf_unregister_prog_handler(r);
		r = iter;
	}
	return r < 0 ? r : 0;
}

int etw_kernel_prepare_open(struct bpf_object_open_opts *options)
{
	int r = 0;

	(void)pthread_mutex_lock(&machine.lock);
	if (!machine.is_registered)
		r = take_over();
	machine.is_registered = !r;
	if (!r && !machine.has_looked)
		look();
	if (machine.types.some)
		options->btf_custom_path = machine.path;
	(void)pthread_mutex_unlock(&machine.lock);
	return r;
}

#endif
