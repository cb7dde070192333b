/* SPDX-License-Identifier: MIT */
/*
 * The services of systemd, without asking it: unit files say which there are and what they are called, its control groups
 * which of them have processes. None on a machine that systemd does not run.
 */
#ifndef ETW_SOURCE_KERNEL_MACHINE_SERVICES_H
#define ETW_SOURCE_KERNEL_MACHINE_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

#define ETW_KERNEL_SERVICES_MAX 4096

struct etw_kernel_service {
	uint32_t main_pid; /* 0: it has no processes */
	char name[128];    /* "ssh", without ".service" */
	char title[192];   /* Description= of its unit file; else empty */
	char program[64];  /* thread name of the main process */
	char slice[64];    /* "system.slice"; empty when it has no processes */
};

/* Told of a service, borrowed for the call. */
typedef void etw_kernel_service_told(void *context, const struct etw_kernel_service *service);

/*
 * etw_kernel_services_tell() - tells of each: those with processes first, then those that have a unit file.
 *
 * systemd does not write down which process is a service's main one. It is taken to be the oldest of those that
 * systemd is the parent of, or else the first of the group. Returns 0 or -ENOMEM.
 */
int etw_kernel_services_tell(const char *root, etw_kernel_service_told *told, void *context);

#endif
