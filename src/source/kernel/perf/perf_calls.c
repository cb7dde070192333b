/* SPDX-License-Identifier: MIT */
#include "source/kernel/perf/perf_calls.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int control(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument) ? -errno : 0;
}

static int attach(int fd, int program_fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) ? -errno : 0;
}

/* A pinned event that the kernel could not place has nothing to read. */
static bool is_counting(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) != 0;
}

#ifdef ETW_KERNEL_BPF

#include <bpf/bpf.h>

static int attach_with(int fd, int program_fd, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event.bpf_cookie = cookie);
	int link = bpf_link_create(program_fd, fd, BPF_PERF_EVENT, &options);

	return link < 0 ? -errno : link;
}

#else

static int attach_with(int fd, int program_fd, uint64_t cookie)
{
	(void)fd;
	(void)program_fd;
	(void)cookie;
	return -ENOSYS;
}

#endif

const struct etw_kernel_perf_calls etw_kernel_perf_calls = {
	.open = etw_perf_open,
	.attach = attach,
	.attach_with = attach_with,
	.control = control,
	.is_counting = is_counting,
};
