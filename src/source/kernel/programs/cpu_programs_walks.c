/* SPDX-License-Identifier: MIT */
/* Walks of the kernel over what is there: threads, open sockets and mappings. See cpu_programs.h. */
#include "source/kernel/programs/cpu_programs_internal.h"

#include <errno.h>

#ifdef ETW_KERNEL_BPF

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/macros.h"
#include "source/kernel/probe/probe_class.h"
#include "source/kernel/programs/load.h"

int etw_kernel_choose_walk(struct bpf_object *object)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, "etw_walk_sockets");

	if (!program)
		return 0;
	return bpf_program__set_autoload(
		program, etw_kernel_probe_features()->has[ETW_KERNEL_HAS_FILE_WALK]);
}

/* An object has a walk of one kind, or none. */
static int take_walk(const struct etw_source_host *host, struct bpf_object *object,
		     const char *name, const char *kept_name, int *ret)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);
	struct bpf_link *link;

	if (!program || !bpf_program__autoload(program) || *ret >= 0)
		return 0;
	link = bpf_program__attach_iter(program, NULL);
	if (libbpf_get_error(link))
		return -errno;
	*ret = fcntl(bpf_link__fd(link), F_DUPFD_CLOEXEC, 3);
	bpf_link__destroy(link);
	if (*ret < 0)
		return -errno;
	etw_kernel_keep(host, kept_name, *ret);
	return 0;
}

int etw_kernel_take_walks(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_source_host *host,
			  struct bpf_object *object)
{
	TRY(take_walk(host, object, "etw_walk_threads", "walk-threads", &cpu_bpf->walk_fd));
	TRY(take_walk(host, object, "etw_walk_memory", "walk-memory", &cpu_bpf->memory_walk_fd));
	return take_walk(host, object, "etw_walk_sockets", "walk-sockets",
			 &cpu_bpf->sockets_walk_fd);
}

static int walk(int walk_fd)
{
	char nothing[64];
	int fd = bpf_iter_create(walk_fd);

	if (fd < 0)
		return fd;
	while (read(fd, nothing, sizeof(nothing)) > 0)
		;
	close(fd);
	return 0;
}

int etw_kernel_cpu_bpf_walk(const struct etw_kernel_cpu_bpf *cpu_bpf, struct etw_fault *reterr)
{
	int r = walk(cpu_bpf->walk_fd);

	if (r)
		return etw_kernel_refuse(r, "iter/task", reterr);
	/* Threads first: sockets belong to them. Without it sockets have an owner once they are used. */
	if (cpu_bpf->sockets_walk_fd >= 0)
		(void)walk(cpu_bpf->sockets_walk_fd);
	return 0;
}

int etw_kernel_cpu_bpf_mappings(const struct etw_kernel_cpu_bpf *cpu_bpf,
				etw_kernel_mapped_told *told, void *context)
{
	struct etw_kernel_mapped some[64];
	size_t held = 0;
	ssize_t more;
	int fd;

	if (cpu_bpf->memory_walk_fd < 0)
		return 0;
	fd = bpf_iter_create(cpu_bpf->memory_walk_fd);
	if (fd < 0)
		return fd;
	while ((more = read(fd, (char *)some + held, sizeof(some) - held)) > 0) {
		size_t count = (held + (size_t)more) / sizeof(some[0]);

		for (size_t i = 0; i < count; i++)
			told(context, &some[i]);
		held = held + (size_t)more - count * sizeof(some[0]);
		memmove(some, &some[count], held);
	}
	close(fd);
	return more < 0 ? -errno : 0;
}

#else

int etw_kernel_cpu_bpf_walk(const struct etw_kernel_cpu_bpf *cpu_bpf, struct etw_fault *reterr)
{
	(void)cpu_bpf;
	(void)reterr;
	return -ENOSYS;
}

int etw_kernel_cpu_bpf_mappings(const struct etw_kernel_cpu_bpf *cpu_bpf,
				etw_kernel_mapped_told *told, void *context)
{
	(void)cpu_bpf;
	(void)told;
	(void)context;
	return 0;
}

#endif
