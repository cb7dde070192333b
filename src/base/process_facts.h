/* SPDX-License-Identifier: MIT */
/* What procfs says of whose a process is, beside its uid: for the extended items of its events. */
#ifndef ETW_BASE_PROCESS_FACTS_H
#define ETW_BASE_PROCESS_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include <guiddef.h>

#define ETW_SESSION_ID_UNKNOWN UINT32_MAX

struct etw_process_facts {
	uint64_t
		start_boot_ns; /* CLOCK_BOOTTIME when it started, rounded down to the kernel's tick */
	uint64_t start_key; /* start, in ticks since boot, times 2^22, and its number; 0: unknown */
	/* Of its login, as audit and logind number them; 0: of none, as services are. ETW_SESSION_ID_UNKNOWN */
	uint32_t session_id;
	GUID container; /* null: in none */
};

/* etw_process_facts_unknown() - of a process that nobody saw. */
struct etw_process_facts etw_process_facts_unknown(void);

/*
 * etw_process_facts_read() - of the process that has this number now.
 *
 * @ret: as etw_process_facts_unknown() where there is none
 *
 * Returns 0; -ESRCH: there is none, or procfs does not tell. Context: any thread; some system calls.
 */
int etw_process_facts_read(uint32_t pid, struct etw_process_facts *ret);

/* etw_process_start_boot_ns() - start_boot_ns alone; 0: there is no such process, or procfs does not tell. */
uint64_t etw_process_start_boot_ns(uint32_t pid);

/*
 * etw_container_of_cgroups() - the container that /proc/<pid>/cgroup tells of: the first 32 of the 64 hexadecimal digits
 * by which Docker, Podman, containerd and CRI-O name one, as a GUID that is written with the same digits.
 *
 * Returns whether there is one.
 */
bool etw_container_of_cgroups(const char *text, GUID *ret);

#endif
