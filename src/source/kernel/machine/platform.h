/* SPDX-License-Identifier: MIT */
/* What the firmware and the system say of themselves in a few words and numbers. */
#ifndef ETW_SOURCE_KERNEL_MACHINE_PLATFORM_H
#define ETW_SOURCE_KERNEL_MACHINE_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>

#define ETW_KERNEL_PLATFORM_BYTES 192 /* of each text */

struct etw_kernel_platform {
	/* From DMI; without it the device tree's model as the product. */
	char maker[ETW_KERNEL_PLATFORM_BYTES], product[ETW_KERNEL_PLATFORM_BYTES];
	char bios_date[ETW_KERNEL_PLATFORM_BYTES], bios_version[ETW_KERNEL_PLATFORM_BYTES];
	bool is_uefi, is_secure_boot;
	/* Of /sys/power: what the machine can do. */
	bool can_standby, can_suspend, can_hibernate, is_idle_suspend;
	/* Of TCP. */
	uint32_t hash_size; /* of the table of connections; 0: before Linux 6.1 */
	uint32_t last_port; /* that a program gets which asks for any */
	/* Of the system. */
	uint64_t install_ft;                    /* when its root folder was made, else 1970 */
	char build[256];                        /* release, version and machine of uname() */
	char system[ETW_KERNEL_PLATFORM_BYTES]; /* PRETTY_NAME of os-release, else "Linux" */
};

/* etw_kernel_platform_read() - asks. What nobody says is empty or 0. */
void etw_kernel_platform_read(const char *root, struct etw_kernel_platform *ret);

#endif
