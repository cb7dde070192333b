/* SPDX-License-Identifier: MIT */
/* A folder that looks like the root of a machine: two disks, two interfaces, services, devices. */
#ifndef ETW_TESTS_UNIT_SOURCE_FAKE_MACHINE_H
#define ETW_TESTS_UNIT_SOURCE_FAKE_MACHINE_H

#include "fake_procfs.h"

/* A folder and those above it. */
static inline void fake_folder(const char *root, const char *path)
{
	char file[128];

	snprintf(file, sizeof(file), "%.100s/.made", path);
	fake_text(root, file, "");
}

static inline void fake_machine_disks(const char *root)
{
	fake_text(root, "sys/block/sda/dev", "8:0\n");
	fake_text(root, "sys/block/sda/size", "4000000\n");
	fake_text(root, "sys/block/sda/queue/logical_block_size", "512\n");
	fake_text(root, "sys/block/sda/queue/write_cache", "write back\n");
	fake_text(root, "devices/2:0:1:3/vendor", "ATA     \n");
	fake_text(root, "devices/2:0:1:3/model", "Fast Disk 1\n");
	fake_link(root, "sys/block/sda/device", "../../../devices/2:0:1:3");
	for (unsigned i = 1; i <= 2; i++) {
		char path[64], text[32];

		snprintf(path, sizeof(path), "sys/block/sda/sda%u/partition", i);
		snprintf(text, sizeof(text), "%u\n", i);
		fake_text(root, path, text);
		snprintf(path, sizeof(path), "sys/block/sda/sda%u/dev", i);
		snprintf(text, sizeof(text), "8:%u\n", i);
		fake_text(root, path, text);
		snprintf(path, sizeof(path), "sys/block/sda/sda%u/start", i);
		snprintf(text, sizeof(text), "%u\n", i * 2048);
		fake_text(root, path, text);
		snprintf(path, sizeof(path), "sys/block/sda/sda%u/size", i);
		fake_text(root, path, "1000\n");
	}
	/* Before sda in the order of names, behind it in that of numbers; nameless, 4096 bytes a sector. */
	fake_text(root, "sys/block/nvme0n1/dev", "259:0\n");
	fake_text(root, "sys/block/nvme0n1/size", "8000\n");
	fake_text(root, "sys/block/nvme0n1/queue/logical_block_size", "4096\n");
	fake_text(root, "sys/block/nvme0n1/device/vendor", "0x1af4\n");
	/* Made of the second partition; mounted. */
	fake_text(root, "sys/block/dm-0/dev", "253:0\n");
	fake_text(root, "sys/block/dm-0/size", "900\n");
	fake_folder(root, "sys/block/dm-0/slaves/sda2");
	/* None of these is a disk. */
	fake_text(root, "sys/block/loop0/dev", "7:0\n");
	fake_text(root, "sys/block/sr0/dev", "11:0\n");
	fake_text(root, "sys/block/sr0/device/model", "DVD\n");
	fake_folder(root, "dev/mapper");
	fake_link(root, "dev/mapper/home", "../dm-0");
	fake_folder(root, "proc/self");
	fake_text(root, "proc/self/mountinfo",
		  "1 0 0:5 / /proc rw - proc proc rw\n"
		  "2 0 8:1 /deep /bind rw - ext4 /dev/sda1 rw\n"
		  "3 0 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
		  "4 0 0:33 / /home\\040of\\134all rw - btrfs /dev/mapper/home rw,subvol=/\n"
		  "5 0 259:0 / /fuse rw - fuseblk /dev/nvme0n1 rw\n"
		  "6 0 0:9 / /net rw - nfs server:/net rw\n"
		  "broken line\n7 0 x:y / /p rw - ext4 /dev/sdz rw\n");
}

static inline void fake_machine_network(const char *root)
{
	fake_text(root, "sys/class/net/eth0/ifindex", "7\n");
	fake_text(root, "sys/class/net/eth0/type", "1\n");
	fake_text(root, "sys/class/net/eth0/address", "02:42:ac:11:00:0f\n");
	fake_folder(root, "sys/class/net/eth0/device");
	fake_link(root, "sys/class/net/eth0/device/driver", "../../../bus/pci/drivers/e1000");
	fake_text(root, "sys/class/net/lo/ifindex", "1\n");
	fake_text(root, "sys/class/net/lo/type", "772\n");
	fake_text(root, "sys/class/net/lo/address", "00:00:00:00:00:00\n");
	fake_text(root, "sys/class/net/bonding_masters", "\n");
	fake_text(root, "etc/resolv.conf",
		  "# made up\nnameserver 10.0.0.1\n nameserver\t2001:db8::1 # the other\n"
		  "nameserver\nsearch example.org\n");
	fake_text(root, "proc/sys/net/ipv4/tcp_ehash_entries", "65536\n");
	fake_text(root, "proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
}

static inline void fake_machine_devices(const char *root)
{
	fake_folder(root, "sys/bus/pci/devices");
	fake_text(root, "sys/devices/pci0000:00/0000:00:1f.2/vendor", "0x8086\n");
	fake_text(root, "sys/devices/pci0000:00/0000:00:1f.2/device", "0x2922\n");
	fake_text(root, "sys/devices/pci0000:00/0000:00:1f.2/subsystem_vendor", "0x1af4\n");
	fake_text(root, "sys/devices/pci0000:00/0000:00:1f.2/subsystem_device", "0x1100\n");
	fake_text(root, "sys/devices/pci0000:00/0000:00:1f.2/revision", "0x02\n");
	fake_text(root, "sys/devices/pci0000:00/0000:00:1f.2/class", "0x010601\n");
	fake_text(root, "sys/devices/pci0000:00/0000:00:1f.2/label", "Onboard SATA\n");
	fake_text(root, "sys/devices/pci0000:00/0000:00:1f.2/boot_vga", "1\n");
	fake_link(root, "sys/devices/pci0000:00/0000:00:1f.2/driver",
		  "../../../bus/pci/drivers/ahci");
	fake_link(root, "sys/bus/pci/devices/0000:00:1f.2",
		  "../../../devices/pci0000:00/0000:00:1f.2");
	/* An adapter of that device, with a screen at its second output. */
	fake_folder(root, "sys/class/drm/card0");
	fake_link(root, "sys/class/drm/card0/device", "../../../devices/pci0000:00/0000:00:1f.2");
	fake_text(root, "sys/class/drm/card0-DP-1/status", "disconnected\n");
	fake_text(root, "sys/class/drm/card0-HDMI-A-1/status", "connected\n");
	fake_text(root, "sys/class/drm/card0-HDMI-A-1/modes", "1920x1080\n1280x720\n");
	fake_text(root, "sys/class/drm/renderD128/dev", "226:128\n");
	fake_text(root, "sys/class/graphics/fb0/bits_per_pixel", "32\n");
	fake_text(root, "sys/kernel/irq/9/actions", "acpi\n");
	fake_text(root, "sys/kernel/irq/10/actions", "\n");
	fake_text(root, "sys/kernel/irq/120/actions", "nvme0q1,eth0\n");
	fake_text(root, "proc/irq/9/smp_affinity", "f\n");
	fake_text(root, "proc/irq/120/smp_affinity", "00000002,00000000,00000000\n");
}

static inline void fake_machine_services(const char *root)
{
	fake_folder(root, "run/systemd/system");
	fake_text(root, "sys/fs/cgroup/system.slice/web.service/cgroup.procs", "\n");
	fake_text(root, "sys/fs/cgroup/system.slice/web.service/workers/cgroup.procs",
		  "52\n51\n53\n");
	fake_text(root,
		  "sys/fs/cgroup/system.slice/system-getty.slice/getty@tty1.service/cgroup.procs",
		  "60\n");
	fake_text(root, "sys/fs/cgroup/system.slice/done.service/cgroup.procs", "");
	fake_text(root, "proc/51/stat",
		  "51 (ng) inx) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 900 1 1\n");
	fake_text(root, "proc/51/comm", "nginx\n");
	fake_text(root, "proc/52/stat",
		  "52 (nginx) S 51 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 100 1 1\n");
	fake_text(root, "proc/53/stat",
		  "53 (nginx) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 950 1 1\n");
	fake_text(root, "proc/60/stat",
		  "60 (agetty) S 7 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 1 1 1\n");
	fake_text(root, "proc/60/comm", "agetty\n");
	fake_text(root, "etc/systemd/system/web.service",
		  "[Unit]\nDescription=Web server\n[Service]\nExecStart=/x\n");
	fake_text(root, "usr/lib/systemd/system/web.service", "[Unit]\nDescription=Not this\n");
	fake_text(root, "usr/lib/systemd/system/getty@.service",
		  "[Unit]\nDescription=Getty on %I\n");
	fake_text(root, "usr/lib/systemd/system/done.service", "[Unit]\nDescription=Done\n");
	fake_text(root, "usr/lib/systemd/system/some.socket", "[Unit]\nDescription=Socket\n");
}

static inline void fake_machine_system(const char *root)
{
	fake_text(root, "sys/class/dmi/id/sys_vendor", "Maker\n");
	fake_text(root, "sys/class/dmi/id/product_name", "Machine 5\n");
	fake_text(root, "sys/class/dmi/id/bios_date", "01/02/2024\n");
	fake_text(root, "sys/class/dmi/id/bios_version", "7.1\n");
	fake_folder(root, "sys/firmware/efi/efivars");
	fake_file(root, "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
		  "\6\0\0\0\1", 5);
	fake_text(root, "sys/power/state", "freeze mem disk\n");
	fake_text(root, "sys/power/mem_sleep", "[s2idle] deep\n");
	fake_text(root, "etc/os-release", "NAME=x\nPRETTY_NAME=\"Made up 12\"\nID=x\n");
	fake_text(root, "sys/devices/system/cpu/possible", "0-65\n");
	fake_text(root, "sys/devices/system/node/node0/cpulist", "0-3\n");
	fake_text(root, "sys/devices/system/node/node1/cpulist", "64-65\n");
	fake_text(root, "sys/devices/system/node/node2/cpulist", "\n");
	fake_text(root, "proc/cpuinfo",
		  "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
		  "model name\t: Fast 3\nstepping\t: 4\n\n"
		  "processor\t: 65\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
		  "model name\t: Fast 4\nstepping\t: 4\n\n");
}

static inline void fake_machine(const char *root)
{
	fake_machine_disks(root);
	fake_machine_network(root);
	fake_machine_devices(root);
	fake_machine_services(root);
	fake_machine_system(root);
}

#endif
