/* SPDX-License-Identifier: MIT */
#include "source/kernel/machine/devices.h"

#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "source/kernel/machine/facts.h"

#define PCI_FOLDER "sys/bus/pci/devices"
#define ANY        0xFF /* subclass */

/* Setup classes as Microsoft's driver documentation lists them. */
#define CLASS(first, second, third, last)                                                      \
	{                                                                                      \
		first, second, third,                                                          \
		{                                                                              \
			(last) >> 56 & 0xFF, (last) >> 48 & 0xFF, (last) >> 40 & 0xFF,         \
				(last) >> 32 & 0xFF, (last) >> 24 & 0xFF, (last) >> 16 & 0xFF, \
				(last) >> 8 & 0xFF, (last)&0xFF                                \
		}                                                                              \
	}
#define OF_4D36E9(low) CLASS(0x4d36e900 | (low), 0xe325, 0x11ce, UINT64_C(0xbfc108002be10318))
#define CLASS_DISPLAY  OF_4D36E9(0x68)
#define CLASS_HDC      OF_4D36E9(0x6a)
#define CLASS_MEDIA    OF_4D36E9(0x6c)
#define CLASS_NET      OF_4D36E9(0x72)
#define CLASS_PORTS    OF_4D36E9(0x78)
#define CLASS_SCSI     OF_4D36E9(0x7b)
#define CLASS_SYSTEM   OF_4D36E9(0x7d)
#define CLASS_USB      CLASS(0x36fc9e60, 0xc465, 0x11cf, UINT64_C(0x8056444553540000))
#define CLASS_NONE     CLASS(0, 0, 0, UINT64_C(0))

/* Classes and subclasses of the PCI specification; the first row that fits counts. */
static const struct {
	uint8_t base, subclass;
	const char *description;
	GUID class_guid;
} classes[] = {
	{0x01, 0x01, "IDE controller", CLASS_HDC},
	{0x01, 0x06, "SATA controller", CLASS_HDC},
	{0x01, 0x08, "NVM Express controller", CLASS_SCSI},
	{0x01, ANY, "Mass storage controller", CLASS_SCSI},
	{0x02, 0x00, "Ethernet controller", CLASS_NET},
	{0x02, ANY, "Network controller", CLASS_NET},
	{0x03, ANY, "Display controller", CLASS_DISPLAY},
	{0x04, ANY, "Multimedia controller", CLASS_MEDIA},
	{0x05, ANY, "Memory controller", CLASS_SYSTEM},
	{0x06, 0x00, "Host bridge", CLASS_SYSTEM},
	{0x06, 0x01, "ISA bridge", CLASS_SYSTEM},
	{0x06, 0x04, "PCI bridge", CLASS_SYSTEM},
	{0x06, ANY, "Bridge", CLASS_SYSTEM},
	{0x07, 0x00, "Serial controller", CLASS_PORTS},
	{0x07, ANY, "Communication controller", CLASS_SYSTEM},
	{0x08, ANY, "System peripheral", CLASS_SYSTEM},
	{0x0B, ANY, "Processor", CLASS_SYSTEM},
	{0x0C, 0x03, "USB controller", CLASS_USB},
	{0x0C, 0x05, "SMBus controller", CLASS_SYSTEM},
	{0x0C, ANY, "Serial bus controller", CLASS_SYSTEM},
	{0x0D, ANY, "Wireless controller", CLASS_NET},
	{0x10, ANY, "Encryption controller", CLASS_SYSTEM},
	{0x11, ANY, "Signal processing controller", CLASS_SYSTEM},
	{0x12, ANY, "Processing accelerator", CLASS_SYSTEM},
};

struct walk {
	const char *root;
	etw_kernel_device_told *told;
	void *context;
	uint32_t count;
};

static uint32_t read_hex(const char *root, const char *address, const char *what)
{
	return (uint32_t)etw_kernel_fact_number(root, 0, PCI_FOLDER "/%s/%s", address, what);
}

static void name_class(uint32_t number, struct etw_kernel_device *device)
{
	uint8_t base = number >> 16 & 0xFF, subclass = number >> 8 & 0xFF;

	(void)snprintf(device->description, sizeof(device->description), "PCI device");
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		if (classes[i].base != base ||
		    (classes[i].subclass != ANY && classes[i].subclass != subclass))
			continue;
		(void)snprintf(device->description, sizeof(device->description), "%s",
			       classes[i].description);
		device->class_guid = classes[i].class_guid;
		return;
	}
}

/* From "../../../devices/pci0000:00/0000:00:1f.2" what begins with /devices. */
static void take_path(const char *root, const char *address, struct etw_kernel_device *device)
{
	char link[ETW_KERNEL_FACT_PATH_BYTES];
	const char *at;

	if (!etw_kernel_fact_link(root, link, sizeof(link), PCI_FOLDER "/%s", address))
		return;
	at = strstr(link, "/devices/");
	if (at && strlen(at) < sizeof(device->path))
		memcpy(device->path, at, strlen(at) + 1);
}

static bool read_device(const char *root, const char *address, struct etw_kernel_device *ret)
{
	char link[ETW_KERNEL_FACT_PATH_BYTES];

	*ret = (struct etw_kernel_device){.class_guid = CLASS_NONE};
	if (!etw_kernel_fact_exists(root, PCI_FOLDER "/%s/vendor", address))
		return false;
	(void)snprintf(ret->id, sizeof(ret->id),
		       "PCI\\VEN_%04X&DEV_%04X&SUBSYS_%04X%04X&REV_%02X\\%.31s",
		       read_hex(root, address, "vendor") & 0xFFFF,
		       read_hex(root, address, "device") & 0xFFFF,
		       read_hex(root, address, "subsystem_device") & 0xFFFF,
		       read_hex(root, address, "subsystem_vendor") & 0xFFFF,
		       read_hex(root, address, "revision") & 0xFF, address);
	name_class(read_hex(root, address, "class"), ret);
	take_path(root, address, ret);
	(void)etw_kernel_fact_text(root, ret->label, sizeof(ret->label), PCI_FOLDER "/%s/label",
				   address);
	if (etw_kernel_fact_link(root, link, sizeof(link), PCI_FOLDER "/%s/driver", address))
		(void)snprintf(ret->driver, sizeof(ret->driver), "%.63s",
			       etw_kernel_fact_base(link));
	return true;
}

static bool tell_device(void *context, const char *name)
{
	struct walk *walk = context;
	struct etw_kernel_device device;

	if (!read_device(walk->root, name, &device))
		return true;
	if (walk->count++ == ETW_KERNEL_DEVICES_MAX)
		return false;
	walk->told(walk->context, &device);
	return true;
}

void etw_kernel_devices_tell(const char *root, etw_kernel_device_told *told, void *context)
{
	struct walk walk = {root, told, context, 0};

	etw_kernel_fact_list(root, PCI_FOLDER, tell_device, &walk);
}

struct adapters {
	const char *root;
	etw_kernel_adapter_told *told;
	void *context;
	const char *card; /* whose outputs are listed */
	struct etw_kernel_adapter *adapter;
	uint32_t count;
};

/* "card0-HDMI-A-1" belongs to card0. */
static bool look_at_output(void *context, const char *name)
{
	struct adapters *walk = context;
	size_t bytes = strlen(walk->card);
	char text[64];

	if (strncmp(name, walk->card, bytes) != 0 || name[bytes] != '-')
		return true;
	(void)etw_kernel_fact_text(walk->root, text, sizeof(text), "sys/class/drm/%s/status", name);
	if (strcmp(text, "connected") != 0)
		return true;
	walk->adapter->is_connected = true;
	(void)etw_kernel_fact_text(walk->root, text, sizeof(text), "sys/class/drm/%s/modes", name);
	return sscanf(text, "%ux%u", &walk->adapter->width, &walk->adapter->height) != 2;
}

static bool tell_adapter(void *context, const char *name)
{
	struct adapters *walk = context;
	struct etw_kernel_adapter adapter = {0};
	char link[ETW_KERNEL_FACT_PATH_BYTES], driver[64] = "";
	const char *address;
	unsigned number;
	int used = 0;

	if (sscanf(name, "card%u%n", &number, &used) != 1 || name[used])
		return true;
	if (walk->count++ == ETW_KERNEL_ADAPTERS_MAX)
		return false;
	walk->card = name;
	walk->adapter = &adapter;
	if (etw_kernel_fact_link(walk->root, link, sizeof(link), "sys/class/drm/%s/device/driver",
				 name))
		(void)snprintf(driver, sizeof(driver), "%.63s", etw_kernel_fact_base(link));
	(void)etw_kernel_fact_link(walk->root, link, sizeof(link), "sys/class/drm/%s/device", name);
	address = etw_kernel_fact_base(link);
	(void)read_device(walk->root, address, &adapter.device);
	(void)snprintf(adapter.name, sizeof(adapter.name), "%s (%.63s)", driver[0] ? driver : name,
		       address);
	adapter.memory_bytes = etw_kernel_fact_number(
		walk->root, 0, "sys/class/drm/%s/device/mem_info_vram_total", name);
	adapter.is_primary = etw_kernel_fact_number(walk->root, 0,
						    "sys/class/drm/%s/device/boot_vga", name) == 1;
	adapter.bits_per_pixel = (uint32_t)etw_kernel_fact_number(
		walk->root, 0, "sys/class/graphics/fb0/bits_per_pixel");
	etw_kernel_fact_list(walk->root, "sys/class/drm", look_at_output, walk);
	walk->told(walk->context, &adapter);
	return true;
}

void etw_kernel_adapters_tell(const char *root, etw_kernel_adapter_told *told, void *context)
{
	struct adapters walk = {.root = root, .told = told, .context = context};

	etw_kernel_fact_list(root, "sys/class/drm", tell_adapter, &walk);
}
