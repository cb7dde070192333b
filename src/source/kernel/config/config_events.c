/* SPDX-License-Identifier: MIT */
#include "source/kernel/config/config_events.h"

#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/bytes.h"
#include "base/machine.h"
#include "base/macros.h"
#include "source/kernel/config/config_payload.h"
#include "source/kernel/events/events.h"
#include "source/kernel/machine/config.h"
#include "source/kernel/machine/devices.h"
#include "source/kernel/machine/disks.h"
#include "source/kernel/machine/interrupts.h"
#include "source/kernel/machine/mounts.h"
#include "source/kernel/machine/nics.h"
#include "source/kernel/machine/platform.h"
#include "source/kernel/machine/processors.h"
#include "source/kernel/machine/services.h"
#include "source/kernel/machine/volumes.h"

/* Opcodes of SystemConfig. */
#define PHY_DISK         11
#define LOG_DISK         12
#define NIC              13
#define VIDEO            14
#define SERVICES         15
#define POWER            16
#define NETWORK          17
#define IRQ              21
#define PNP              22
#define NUMA_NODE        24
#define PLATFORM         25
#define PROCESSOR_GROUP  26
#define PROCESSOR_NUMBER 27
#define PROCESSORS       35
#define BOOT_CONFIG      37

/* Opcodes of SysConfig. */
#define BUILD_INFO     32
#define SYSTEM_PATHS   33
#define VOLUME_MAPPING 35

#define VERSION_2 2
#define VERSION_3 3
#define VERSION_5 5

/* The translated geometry that every disk has had since disks hide theirs. */
#define SECTORS_PER_TRACK   63
#define TRACKS_PER_CYLINDER 255

#define LOG_DISK_BYTES  112
#define DRIVE_PARTITION 1 /* DriveType of LogDisk */
#define DRIVE_VOLUME    2

#define SERVICE_STOPPED 1 /* SERVICE_STOPPED, SERVICE_RUNNING of winsvc.h */
#define SERVICE_RUNNING 4

#define DISPLAY_ATTACHED 0x1 /* DISPLAY_DEVICE_* of wingdi.h */
#define DISPLAY_PRIMARY  0x4

#define DEVICE_LOADED  0x2 /* DN_DRIVER_LOADED, DN_STARTED of cfg.h */
#define DEVICE_STARTED 0x8

#define FIRMWARE_BIOS 1 /* FIRMWARE_TYPE of winnt.h */
#define FIRMWARE_UEFI 2

#define TIME_WAIT_S 60 /* TCP_TIMEWAIT_LEN of the kernel, which no setting changes */

#define TEXT_UNITS  256
#define LONG_UNITS  1024
#define GROUP_SHIFT 16 /* of PROCESSOR_NUMBER: the group is below the number */

static const GUID sys_config_class = {
	0x9b79ee91, 0xb5fd, 0x41c0, {0xa2, 0x43, 0x42, 0x48, 0xe2, 0x66, 0xe9, 0xd0}};

struct telling {
	struct etw_kernel_out *out;
	const char *root;
	struct etw_kernel_actor actor;
	struct etw_kernel_payload payload;
	struct etw_kernel_disks disks;
	struct etw_kernel_mounts mounts;
	uint32_t boot_disk; /* with the root file system */
};

uint32_t etw_kernel_config_groups(uint32_t flags, uint32_t word)
{
	uint32_t asked = word & ETW_KERNEL_CONFIG_ALL;

	if (asked)
		return asked;
	return flags & EVENT_TRACE_FLAG_NO_SYSCONFIG ? 0 : ETW_KERNEL_CONFIG_ALL;
}

static struct etw_kernel_payload *begin(struct telling *telling)
{
	etw_kernel_payload_begin(&telling->payload);
	return &telling->payload;
}

static void put16(struct etw_kernel_payload *payload, uint64_t value)
{
	etw_kernel_payload_put(payload, value, 2);
}

static void put32(struct etw_kernel_payload *payload, uint64_t value)
{
	etw_kernel_payload_put(payload, value, 4);
}

static void put64(struct etw_kernel_payload *payload, uint64_t value)
{
	etw_kernel_payload_put(payload, value, 8);
}

static void put_text(struct etw_kernel_payload *payload, const char *text)
{
	etw_kernel_payload_put_text(payload, text, TEXT_UNITS);
}

static void write_event(struct telling *telling, uint8_t opcode, uint8_t version)
{
	etw_kernel_payload_write(&telling->payload, telling->out, &telling->actor, opcode, version);
}

/* As the kernel itself writes: by no thread. */
static void write_brief(struct telling *telling, uint8_t opcode)
{
	etw_kernel_payload_write(&telling->payload, telling->out, NULL, opcode, VERSION_2);
}

static void write_sys_config(struct telling *telling, uint8_t opcode)
{
	etw_kernel_payload_write_classic(&telling->payload, telling->out, &sys_config_class,
					 opcode);
}

static void tell_processor_numbers(struct telling *telling)
{
	struct etw_kernel_processors *processors = malloc(sizeof(*processors));
	struct etw_kernel_payload *payload;

	if (!processors) {
		telling->out->no_memory++;
		return;
	}
	etw_kernel_processors_read(telling->root, processors);
	payload = begin(telling);
	put32(payload, processors->count);
	for (uint32_t i = 0; i < processors->count; i++)
		put32(payload, i / ETW_KERNEL_GROUP_PROCESSORS | (i % ETW_KERNEL_GROUP_PROCESSORS)
									 << GROUP_SHIFT);
	if (processors->count)
		write_brief(telling, PROCESSOR_NUMBER);
	payload = begin(telling);
	put32(payload, processors->group_count);
	for (uint32_t i = 0; i < processors->group_count; i++)
		put64(payload, processors->masks[i]);
	if (processors->group_count)
		write_brief(telling, PROCESSOR_GROUP);
	payload = begin(telling);
	put32(payload, processors->node_count);
	for (uint32_t i = 0; i < processors->node_count; i++) {
		put64(payload, processors->nodes[i].mask);
		put16(payload, processors->nodes[i].group);
		etw_kernel_payload_put(payload, 0, 6);
	}
	if (processors->node_count)
		write_brief(telling, NUMA_NODE);
	free(processors);
}

static void tell_processor(void *context, const struct etw_kernel_processor *processor)
{
	struct telling *telling = context;
	struct etw_kernel_payload *payload = begin(telling);
	char identifier[128];

#if defined(__x86_64__)
	(void)snprintf(identifier, sizeof(identifier), "%s Family %u Model %u Stepping %u",
		       strcmp(processor->vendor, "GenuineIntel") == 0 ? "Intel64" : "AMD64",
		       processor->family, processor->model, processor->stepping);
#else
	(void)snprintf(identifier, sizeof(identifier),
		       "ARMv8 (64-bit) Family %u Model %X Revision %u", processor->family,
		       processor->model, processor->stepping);
#endif
	put32(payload, processor->index);
	put32(payload, 0); /* FeatureSet */
	put32(payload, etw_machine_mhz());
	etw_kernel_payload_put_field(payload, processor->name, 64);
	etw_kernel_payload_put_field(payload, identifier, 128);
	etw_kernel_payload_put_field(payload, processor->vendor, 16);
	write_event(telling, PROCESSORS, VERSION_2);
}

static void tell_power(struct telling *telling, const struct etw_kernel_platform *platform)
{
	struct etw_kernel_payload *payload = begin(telling);

	etw_kernel_payload_put(payload, platform->can_standby, 1);
	etw_kernel_payload_put(payload, 0, 1);
	etw_kernel_payload_put(payload, platform->can_suspend, 1);
	etw_kernel_payload_put(payload, platform->can_hibernate, 1);
	etw_kernel_payload_put(payload, 1, 1);
	etw_kernel_payload_put(payload, platform->is_idle_suspend, 1);
	put16(payload, 0);
	write_event(telling, POWER, VERSION_2);
}

static void tell_boot(struct telling *telling, const struct etw_kernel_platform *platform)
{
	struct etw_kernel_payload *payload = begin(telling);

	put64(payload, 0);
	put32(payload, platform->is_uefi ? FIRMWARE_UEFI : FIRMWARE_BIOS);
	etw_kernel_payload_put(payload, platform->is_secure_boot, 1);
	etw_kernel_payload_put(payload, platform->is_secure_boot, 1);
	put16(payload, 0);
	write_event(telling, BOOT_CONFIG, VERSION_2);
}

static void tell_system(struct telling *telling)
{
	struct etw_kernel_platform platform;
	struct etw_kernel_payload *payload;
	struct etw_kernel_config config;

	tell_processor_numbers(telling);
	etw_kernel_config_gather(telling->root, &config);
	etw_kernel_write_config(telling->out, telling->actor, &config);
	etw_kernel_processors_tell(telling->root, tell_processor, telling);
	etw_kernel_platform_read(telling->root, &platform);
	tell_power(telling, &platform);
	payload = begin(telling);
	put_text(payload, platform.maker);
	put_text(payload, platform.product);
	put_text(payload, platform.bios_date);
	put_text(payload, platform.bios_version);
	write_event(telling, PLATFORM, VERSION_2);
	tell_boot(telling, &platform);
	payload = begin(telling);
	put_text(payload, "/");
	put_text(payload, "/");
	write_sys_config(telling, SYSTEM_PATHS);
	payload = begin(telling);
	put64(payload, platform.install_ft);
	put_text(payload, platform.build);
	put_text(payload, platform.system);
	write_sys_config(telling, BUILD_INFO);
}

static void tell_adapter(void *context, const struct etw_kernel_adapter *adapter)
{
	struct telling *telling = context;
	struct etw_kernel_payload *payload = begin(telling);

	put32(payload, MIN(adapter->memory_bytes, UINT32_MAX));
	put32(payload, adapter->width);
	put32(payload, adapter->height);
	put32(payload, adapter->bits_per_pixel);
	put32(payload, 0);                                                         /* VRefresh */
	etw_kernel_payload_put_field(payload, adapter->device.driver, TEXT_UNITS); /* ChipType */
	etw_kernel_payload_put_field(payload, "", TEXT_UNITS);                     /* DACType */
	etw_kernel_payload_put_field(payload, adapter->name, TEXT_UNITS);
	etw_kernel_payload_put_field(payload, "", TEXT_UNITS); /* BiosString */
	etw_kernel_payload_put_field(payload, adapter->device.id, TEXT_UNITS);
	put32(payload, (adapter->is_connected ? DISPLAY_ATTACHED : 0) |
			       (adapter->is_primary ? DISPLAY_PRIMARY : 0));
	write_event(telling, VIDEO, VERSION_2);
}

static void tell_disk(struct telling *telling, uint32_t number)
{
	const struct etw_kernel_disk *disk = &telling->disks.at[number];
	uint64_t cylinder_bytes = (uint64_t)disk->sector_bytes * SECTORS_PER_TRACK *
				  TRACKS_PER_CYLINDER;
	struct etw_kernel_payload *payload = begin(telling);

	put32(payload, number);
	put32(payload, disk->sector_bytes);
	put32(payload, SECTORS_PER_TRACK);
	put32(payload, TRACKS_PER_CYLINDER);
	put64(payload, cylinder_bytes ? disk->bytes / cylinder_bytes : 0);
	put32(payload, disk->scsi_port);
	put32(payload, disk->scsi_path);
	put32(payload, disk->scsi_target);
	put32(payload, disk->scsi_lun);
	etw_kernel_payload_put_field(payload, disk->model, TEXT_UNITS);
	put32(payload, disk->partition_count);
	etw_kernel_payload_put(payload, disk->is_write_back, 1);
	etw_kernel_payload_put(payload, 0, 1);
	etw_kernel_payload_put_field(payload, number == telling->boot_disk ? "/" : "", 3);
	put32(payload, 0); /* Spare */
	write_event(telling, PHY_DISK, VERSION_2);
}

static void find_boot_disk(void *context, const struct etw_kernel_volume *volume)
{
	struct telling *telling = context;

	if (volume->mount && strcmp(volume->mount->point, "/") == 0)
		telling->boot_disk = volume->disk;
}

static void tell_volume(void *context, const struct etw_kernel_volume *volume)
{
	const struct etw_kernel_mount *mount = volume->mount;
	struct telling *telling = context;
	struct etw_kernel_payload *payload = begin(telling);

	put64(payload, volume->start_bytes);
	put64(payload, volume->bytes);
	put32(payload, volume->disk);
	put32(payload, LOG_DISK_BYTES);
	put32(payload, volume->is_made ? DRIVE_VOLUME : DRIVE_PARTITION);
	etw_kernel_payload_put_field(payload, mount && strcmp(mount->point, "/") == 0 ? "/" : "",
				     4);
	put32(payload, 0);
	put32(payload, volume->partition);
	put32(payload, volume->sectors_per_cluster);
	put32(payload, volume->sector_bytes);
	put32(payload, 0);
	put64(payload, volume->free_clusters);
	put64(payload, volume->cluster_count);
	etw_kernel_payload_put_field(payload, mount ? mount->file_system : "", 16);
	put32(payload, 0);
	put32(payload, 0);
	write_event(telling, LOG_DISK, VERSION_2);
}

/* Both with a slash at the end, as Windows has a backslash there: one is to be put in the place of the other. */
static void tell_mapping(void *context, const struct etw_kernel_volume *volume)
{
	struct telling *telling = context;
	struct etw_kernel_payload *payload = begin(telling);
	char text[sizeof(volume->mount->point) + 2];

	if (!volume->mount)
		return;
	(void)snprintf(text, sizeof(text), "/dev/%s/", volume->name);
	put_text(payload, text);
	(void)snprintf(text, sizeof(text), "%s%s", volume->mount->point,
		       strcmp(volume->mount->point, "/") == 0 ? "" : "/");
	etw_kernel_payload_put_text(payload, text, LONG_UNITS);
	write_sys_config(telling, VOLUME_MAPPING);
}

static void tell_storage(struct telling *telling)
{
	if (etw_kernel_disks_read(telling->root, &telling->disks) ||
	    etw_kernel_mounts_read(telling->root, &telling->mounts)) {
		telling->out->no_memory++;
		return;
	}
	telling->boot_disk = ETW_KERNEL_NO_DISK;
	etw_kernel_volumes_tell(telling->root, &telling->disks, &telling->mounts, find_boot_disk,
				telling);
	for (uint32_t i = 0; i < telling->disks.count; i++)
		tell_disk(telling, i);
	etw_kernel_volumes_tell(telling->root, &telling->disks, &telling->mounts, tell_volume,
				telling);
	etw_kernel_volumes_tell(telling->root, &telling->disks, &telling->mounts, tell_mapping,
				telling);
}

static void tell_nic(void *context, const struct etw_kernel_nic *nic)
{
	struct telling *telling = context;
	struct etw_kernel_payload *payload = begin(telling);

	for (size_t i = 0; i < ETW_KERNEL_NIC_ADDRESS_BYTES; i++)
		etw_kernel_payload_put(payload, i < nic->address_bytes ? nic->address[i] : 0, 1);
	put32(payload, nic->address_bytes);
	put32(payload, nic->index);
	put32(payload, nic->index);
	put_text(payload, nic->description);
	etw_kernel_payload_put_text(payload, nic->addresses, LONG_UNITS);
	etw_kernel_payload_put_text(payload, nic->name_servers, LONG_UNITS);
	write_event(telling, NIC, VERSION_2);
}

static void tell_network(struct telling *telling)
{
	struct etw_kernel_platform platform;
	struct ifaddrs *addresses = NULL;
	struct etw_kernel_payload *payload;

	if (getifaddrs(&addresses))
		addresses = NULL;
	etw_kernel_nics_tell(telling->root, addresses, tell_nic, telling);
	if (addresses)
		freeifaddrs(addresses);
	etw_kernel_platform_read(telling->root, &platform);
	payload = begin(telling);
	put32(payload, 0);
	put32(payload, platform.hash_size);
	put32(payload, platform.last_port);
	put32(payload, TIME_WAIT_S);
	write_brief(telling, NETWORK);
}

static void tell_service(void *context, const struct etw_kernel_service *service)
{
	struct telling *telling = context;
	struct etw_kernel_payload *payload = begin(telling);

	put32(payload, service->main_pid);
	put32(payload, service->main_pid ? SERVICE_RUNNING : SERVICE_STOPPED);
	put32(payload, 0); /* SubProcessTag */
	put_text(payload, service->name);
	put_text(payload, service->title);
	put_text(payload, service->program);
	put_text(payload, "");
	put_text(payload, service->slice);
	write_event(telling, SERVICES, VERSION_3);
}

static void tell_device(void *context, const struct etw_kernel_device *device)
{
	struct telling *telling = context;
	struct etw_kernel_payload *payload = begin(telling);

	etw_kernel_payload_put_guid(payload, &device->class_guid);
	put32(payload, 0); /* filters */
	put32(payload, 0);
	put32(payload, device->driver[0] ? DEVICE_LOADED | DEVICE_STARTED : 0);
	put32(payload, 0); /* DevProblem */
	put_text(payload, device->id);
	put_text(payload, device->description);
	put_text(payload, device->label);
	put_text(payload, device->path);
	put_text(payload, device->driver);
	write_event(telling, PNP, VERSION_5);
}

static void tell_interrupt(void *context, const struct etw_kernel_interrupt *interrupt)
{
	struct telling *telling = context;
	struct etw_kernel_payload *payload = begin(telling);
	size_t before;

	put64(payload, interrupt->affinity);
	put16(payload, interrupt->group);
	put16(payload, 0);
	put32(payload, interrupt->number);
	put32(payload, 0);
	before = payload->count;
	put_text(payload, interrupt->handlers);
	/* In units, with the NUL. */
	if (!payload->is_full)
		etw_store32(payload->at + before - 4, (uint32_t)(payload->count - before) / 2);
	write_event(telling, IRQ, VERSION_3);
}

void etw_kernel_write_machine(struct etw_kernel_out *out, const char *root, uint32_t groups)
{
	CLEANUP(freep) struct telling *telling = calloc(1, sizeof(*telling));

	if (!telling) {
		out->no_memory++;
		return;
	}
	telling->out = out;
	telling->root = root;
	telling->actor = (struct etw_kernel_actor){.tid = (uint32_t)gettid(),
						   .pid = (uint32_t)getpid()};
	if (groups & ETW_KERNEL_CONFIG_NETWORK)
		tell_network(telling);
	if (groups & ETW_KERNEL_CONFIG_STORAGE)
		tell_storage(telling);
	if (groups & ETW_KERNEL_CONFIG_GRAPHICS)
		etw_kernel_adapters_tell(root, tell_adapter, telling);
	if (groups & ETW_KERNEL_CONFIG_PNP) {
		etw_kernel_devices_tell(root, tell_device, telling);
		etw_kernel_interrupts_tell(root, tell_interrupt, telling);
	}
	if ((groups & ETW_KERNEL_CONFIG_SERVICES) &&
	    etw_kernel_services_tell(root, tell_service, telling))
		out->no_memory++;
	if (groups & ETW_KERNEL_CONFIG_SYSTEM)
		tell_system(telling);
	etw_kernel_disks_done(&telling->disks);
	etw_kernel_mounts_done(&telling->mounts);
}
