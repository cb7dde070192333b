/* SPDX-License-Identifier: MIT */
/* The devices on the PCI bus, and the display adapters among them. */
#ifndef ETW_SOURCE_KERNEL_MACHINE_DEVICES_H
#define ETW_SOURCE_KERNEL_MACHINE_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include <guiddef.h>

#define ETW_KERNEL_DEVICES_MAX  4096
#define ETW_KERNEL_ADAPTERS_MAX 64

struct etw_kernel_device {
	GUID class_guid;      /* Windows' setup class of the PCI class; zero: none is near */
	char id[96];          /* as Windows writes it, with Linux' address as instance */
	char description[64]; /* what the PCI class says: "Ethernet controller" */
	char label[64];       /* of the firmware, "Onboard LAN"; may be empty */
	char path[256];       /* in sysfs, from /devices on */
	char driver[64];      /* empty: none is bound */
};

/* Told of a device, borrowed for the call. */
typedef void etw_kernel_device_told(void *context, const struct etw_kernel_device *device);

/* etw_kernel_devices_tell() - tells of each, by address. */
void etw_kernel_devices_tell(const char *root, etw_kernel_device_told *told, void *context);

struct etw_kernel_adapter {
	uint64_t memory_bytes;           /* 0: the driver does not say */
	uint32_t width, height;          /* of the first mode of the first connected output */
	uint32_t bits_per_pixel;         /* of the console's frame buffer; 0: there is none */
	bool is_connected;               /* to a screen */
	bool is_primary;                 /* the firmware showed its text here */
	char name[160];                  /* driver and address */
	struct etw_kernel_device device; /* as above; empty where it is not on the PCI bus */
};

/* Told of an adapter, borrowed for the call. */
typedef void etw_kernel_adapter_told(void *context, const struct etw_kernel_adapter *adapter);

/* etw_kernel_adapters_tell() - tells of each card in /sys/class/drm. */
void etw_kernel_adapters_tell(const char *root, etw_kernel_adapter_told *told, void *context);

#endif
