/* SPDX-License-Identifier: MIT */
/* What this machine lets the kernel's source do. See probe.h. */
#include "source/kernel/probe/probe.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/time_namespace.h"
#include "source/kernel/probe/probe_class.h"

#ifndef ETW_KERNEL_LEFT_OUT /* else CMake gives the reason, with a remedy */
#define ETW_KERNEL_LEFT_OUT "they are in this build"
#endif
/* Where etwd lies is nobody's business, and no PATH has it: who starts a session as root starts it, too. */
#define AS_ROOT "an etwd that root started has it, as by `sudo etw record`"
/* An inode that is part of Linux' interface. */
#define INITIAL_PID_NAMESPACE UINT64_C(0xEFFFFFFC)

static const struct {
	int error;
	const char *field;
	const char *sentence;
} needs[ETW_KERNEL_NEEDS] = {
	[ETW_KERNEL_NEED_BUILD] = {-ENOSYS, "libetw",
				   "libetw was built without them, because " ETW_KERNEL_LEFT_OUT},
	[ETW_KERNEL_NEED_BTF] = {-ENOSYS, "BTF",
				 "the kernel was built without CONFIG_DEBUG_INFO_BTF: there is no "
				 "/sys/kernel/btf/vmlinux; a kernel of Debian has it"},
	[ETW_KERNEL_NEED_CAP_BPF] = {-EACCES, "CAP_BPF", "CAP_BPF is missing: " AS_ROOT},
	[ETW_KERNEL_NEED_CAP_PERFMON] = {-EACCES, "CAP_PERFMON",
					 "CAP_PERFMON is missing: " AS_ROOT},
	[ETW_KERNEL_NEED_CAP_PTRACE] =
		{-EACCES, "CAP_SYS_PTRACE",
		 "without CAP_SYS_PTRACE the images of other users' processes that "
		 "run already stay unknown: " AS_ROOT},
	[ETW_KERNEL_NEED_PID_SPACE] =
		{-EOPNOTSUPP, "pid namespace",
		 "this host runs in a pid namespace of its own, where ids differ "
		 "from the kernel's: run etwd outside of the container"},
	[ETW_KERNEL_NEED_PROCFS] = {-ENOENT, "procfs",
				    "/proc shows no processes: `sudo mount -t proc proc /proc`"},
	[ETW_KERNEL_NEED_TIME_SPACE] =
		{-EOPNOTSUPP, "time namespace",
		 "this host runs in a time namespace whose clock differs from the kernel's, which "
		 "events have their times by: run etwd outside of it"},
	[ETW_KERNEL_NEED_TYPES] =
		{-ENOSYS, "BTF",
		 "libbpf cannot read the kernel's types: /sys/kernel/btf/vmlinux is damaged or "
		 "covered by a mount, or this libbpf is too old for the kernel"},
};

static bool is_capable(uint32_t capability)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{0}};

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[capability / 32].effective >> (capability % 32) & 1;
}

static bool is_initial_pid_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == INITIAL_PID_NAMESPACE;
}

/* Containers may have a time namespace with the kernel's own clock. */
static bool has_clock_of_kernel(void)
{
	struct etw_time_namespace ahead;
	int r = etw_time_namespace_read(&ahead);

	if (r == -ENOENT)
		return true; /* before Linux 5.6 there are none */
	return r == 0 && ahead.monotonic_ns == 0 && ahead.boottime_ns == 0;
}

void etw_kernel_probe_run(struct etw_kernel_probe *ret)
{
	bool is_admin = is_capable(CAP_SYS_ADMIN);

#ifdef ETW_KERNEL_BPF
	ret->has[ETW_KERNEL_NEED_BUILD] = true;
#else
	ret->has[ETW_KERNEL_NEED_BUILD] = false;
#endif
	ret->has[ETW_KERNEL_NEED_BTF] = access("/sys/kernel/btf/vmlinux", R_OK) == 0;
	ret->has[ETW_KERNEL_NEED_CAP_BPF] = is_admin || is_capable(CAP_BPF);
	ret->has[ETW_KERNEL_NEED_CAP_PERFMON] = is_admin || is_capable(CAP_PERFMON);
	ret->has[ETW_KERNEL_NEED_CAP_PTRACE] = is_capable(CAP_SYS_PTRACE);
	ret->has[ETW_KERNEL_NEED_PROCFS] = access("/proc/self/stat", R_OK) == 0;
	ret->has[ETW_KERNEL_NEED_PID_SPACE] = !ret->has[ETW_KERNEL_NEED_PROCFS] ||
					      is_initial_pid_namespace();
	ret->has[ETW_KERNEL_NEED_TIME_SPACE] = has_clock_of_kernel();
	/* What is not there, or not read in this build, is told already. */
	ret->has[ETW_KERNEL_NEED_TYPES] = !ret->has[ETW_KERNEL_NEED_BUILD] ||
					  !ret->has[ETW_KERNEL_NEED_BTF] ||
					  etw_kernel_probe_types() != -ENOSYS;
}

const char *etw_kernel_probe_name(enum etw_kernel_need need)
{
	return needs[need].field;
}

const char *etw_kernel_probe_sentence(enum etw_kernel_need need)
{
	return needs[need].sentence;
}

int etw_kernel_probe_check(struct etw_fault *reterr)
{
	struct etw_kernel_probe probe;

	etw_kernel_probe_run(&probe);
	for (size_t i = 0; i < ETW_KERNEL_NEEDS; i++)
		if (!probe.has[i] && i != ETW_KERNEL_NEED_CAP_PTRACE)
			return etw_fault_set(reterr, needs[i].error, 0, "kernel source",
					     needs[i].field, needs[i].sentence);
	return 0;
}
