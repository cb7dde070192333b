/* SPDX-License-Identifier: MIT */
/*
 * The events about a made-up machine, and about this one, read by the classes that readers of Windows' traces have: each
 * payload to its last byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <evntrace.h>

#include "base/bytes.h"
#include "base/guid.h"
#include "base/text.h"
#include "decode/decode.h"
#include "decode/format.h"
#include "fake_machine.h"
#include "fake_source_host.h"
#include "source/kernel/config/config_events.h"
#include "wire/etl_event.h"

#define EVENTS_MAX  8192
#define GROUP       0x0B
#define SYS_CONFIG  0x100u /* added to the opcodes of the other class */
#define OPCODE_ANY  0xFF
#define OPCODES_MAX 0x200

static const GUID system_config = {
	0x01853a65, 0x418f, 0x4f36, {0xae, 0xfc, 0xdc, 0x0f, 0x1d, 0x2f, 0xd2, 0x35}};

struct fixture {
	char root[64];
	struct fake_source_host fake;
	struct etw_kernel_out out;
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	unsigned count;
	unsigned counts[OPCODES_MAX];
	unsigned opcodes[EVENTS_MAX];
	char *texts[EVENTS_MAX]; /* owned: "Name=value|Name=value|" */
};

static struct fixture fixture;

static int set_up(void **state)
{
	(void)state;
	memset(&fixture, 0, sizeof(fixture));
	strcpy(fixture.root, "/tmp/etw-machine-XXXXXX");
	fake_begin(fixture.root);
	fake_source_host_init(&fixture.fake);
	assert_int_equal(etw_kernel_out_init(&fixture.out, &fixture.fake.host, NULL), 0);
	etw_kernel_out_begin(&fixture.out, 77, 0, NULL);
	assert_int_equal(etw_schema_store_create(&fixture.store), 0);
	assert_int_equal(etw_decoder_create(fixture.store, &fixture.decoder), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (unsigned i = 0; i < fixture.count; i++)
		free(fixture.texts[i]);
	etw_decoder_free(fixture.decoder);
	etw_schema_store_free(fixture.store);
	etw_kernel_out_done(&fixture.out);
	fake_end(fixture.root);
	return 0;
}

/* The event as an EVENT_RECORD; returns its opcode, with SYS_CONFIG of that class. */
static unsigned make_record(const struct etw_source_event *event, EVENT_RECORD *ret)
{
	size_t header_bytes = sizeof(struct wire_full_header);
	uint8_t type = event->bytes[2];

	*ret = (EVENT_RECORD){
		.EventHeader = {.Flags = EVENT_HEADER_FLAG_64_BIT_HEADER |
					 EVENT_HEADER_FLAG_CLASSIC_HEADER},
	};
	if (type == WIRE_HEADER_FULL64) {
		assert_int_equal(etw_load16(event->bytes), event->byte_count);
		ret->EventHeader.ProviderId =
			etw_guid_read(event->bytes + offsetof(struct wire_full_header, guid));
		ret->EventHeader.EventDescriptor.Opcode = event->bytes[4];
	} else {
		header_bytes = type == WIRE_HEADER_SYSTEM64 ? sizeof(struct wire_system_header)
							    : sizeof(struct wire_perfinfo_header);
		assert_int_equal(etw_load16(event->bytes + 4), event->byte_count);
		assert_int_equal(event->bytes[7], GROUP);
		ret->EventHeader.ProviderId = system_config;
		ret->EventHeader.EventDescriptor.Opcode = event->bytes[6];
		ret->EventHeader.EventDescriptor.Version = (uint8_t)etw_load16(event->bytes);
	}
	ret->UserData = (void *)(uintptr_t)(event->bytes + header_bytes);
	ret->UserDataLength = (USHORT)(event->byte_count - header_bytes);
	return (unsigned)ret->EventHeader.EventDescriptor.Opcode |
	       (type == WIRE_HEADER_FULL64 ? SYS_CONFIG : 0u);
}

static void take_event(const struct etw_source_event *event)
{
	EVENT_RECORD record;
	struct etw_decoding decoding;
	struct etw_text text;
	unsigned opcode = make_record(event, &record);

	assert_int_equal(etw_decoder_run(fixture.decoder, &record, &decoding), 0);
	if (decoding.status != ETW_DECODE_COMPLETE)
		fail_msg("opcode %u: %s, %u of %u bytes", opcode,
			 decoding.reason ? decoding.reason : "?", decoding.consumed,
			 record.UserDataLength);
	etw_text_init(&text);
	for (uint32_t i = 0; i < decoding.item_count; i = decoding.items[i].end) {
		const struct etw_item *item = &decoding.items[i];

		etw_text_puts(&text, decoding.schema->fields[item->field].name);
		etw_text_putc(&text, '=');
		etw_format_item(&decoding, item, &text);
		etw_text_putc(&text, '|');
	}
	assert_int_equal(etw_text_error(&text), 0);
	assert_true(fixture.count < EVENTS_MAX);
	fixture.opcodes[fixture.count] = opcode;
	fixture.texts[fixture.count++] = text.at;
	fixture.counts[opcode]++;
}

static void tell(const char *root, uint32_t groups)
{
	struct etw_source_event event;
	struct etw_source_mark mark;

	etw_kernel_write_machine(&fixture.out, root, groups);
	assert_int_equal(fixture.out.no_memory, 0);
	while (etw_kernel_out_peek(&fixture.out, 0, &event)) {
		take_event(&event);
		etw_kernel_out_pop(&fixture.out, 0, &mark);
	}
}

/* That the event number @index of its opcode has @wanted in its text, behind what had the wanted before it. */
static void expect(unsigned opcode, unsigned index, const char *wanted)
{
	for (unsigned i = 0; i < fixture.count; i++) {
		if (fixture.opcodes[i] != opcode || index--)
			continue;
		if (!strstr(fixture.texts[i], wanted))
			fail_msg("opcode %u: no \"%s\" in \"%s\"", opcode, wanted,
				 fixture.texts[i]);
		return;
	}
	fail_msg("opcode %u: too few events", opcode);
}

static void test_config_events__disks_and_volumes(void **state)
{
	(void)state;
	fake_machine(fixture.root);
	tell(fixture.root, ETW_KERNEL_CONFIG_STORAGE);
	assert_int_equal(fixture.counts[11], 2);
	expect(11, 0,
	       "DiskNumber=0|BytesPerSector=512|SectorsPerTrack=63|TracksPerCylinder=255|"
	       "Cylinders=248|SCSIPort=2|SCSIPath=0|SCSITarget=1|SCSILun=3|"
	       "Manufacturer=ATA Fast Disk 1 (sda)|PartitionCount=2|WriteCacheEnabled=1|Pad=0|"
	       "BootDriveLetter=/|Spare=|");
	expect(11, 1, "DiskNumber=1|BytesPerSector=4096|");
	expect(11, 1,
	       "Manufacturer=nvme0n1|PartitionCount=0|WriteCacheEnabled=0|Pad=0|"
	       "BootDriveLetter=|");
	/* sda1, sda2, nvme0n1, dm-0 */
	assert_int_equal(fixture.counts[12], 4);
	expect(12, 0,
	       "StartOffset=1048576|PartitionSize=512000|DiskNumber=0|Size=112|DriveType=1|"
	       "DriveLetterString=/|Pad1=0|PartitionNumber=1|");
	expect(12, 0, "FileSystem=ext4|");
	expect(12, 1, "DriveLetterString=|Pad1=0|PartitionNumber=2|SectorsPerCluster=0|");
	expect(12, 1, "NumberOfFreeClusters=0|TotalNumberOfClusters=0|FileSystem=|");
	/* What a process serves is not asked. */
	expect(12, 2, "DiskNumber=1|Size=112|DriveType=1|");
	expect(12, 2, "TotalNumberOfClusters=0|FileSystem=fuseblk|");
	expect(12, 3, "PartitionSize=460800|DiskNumber=0|Size=112|DriveType=2|");
	expect(12, 3, "FileSystem=btrfs|");
	assert_int_equal(fixture.counts[SYS_CONFIG + 35], 3);
	expect(SYS_CONFIG + 35, 0, "NtPath=/dev/sda1/|DosPath=/|");
	expect(SYS_CONFIG + 35, 1, "NtPath=/dev/nvme0n1/|DosPath=/fuse/|");
	expect(SYS_CONFIG + 35, 2, "NtPath=/dev/dm-0/|DosPath=/home of\\all/|");
	assert_int_equal(fixture.count, 9);
}

static void test_config_events__network(void **state)
{
	(void)state;
	fake_machine(fixture.root);
	tell(fixture.root, ETW_KERNEL_CONFIG_NETWORK);
	assert_int_equal(fixture.counts[13], 2);
	expect(13, 0,
	       "PhysicalAddr=0xF0011AC4202|PhysicalAddrLen=6|Ipv4Index=7|Ipv6Index=7|"
	       "NICDescription=eth0 (e1000)|");
	expect(13, 0, "DnsServerAddresses=10.0.0.1;2001:db8::1|");
	expect(13, 1,
	       "PhysicalAddr=0x0|PhysicalAddrLen=0|Ipv4Index=1|Ipv6Index=1|"
	       "NICDescription=lo|");
	expect(13, 1, "DnsServerAddresses=|");
	expect(17, 0,
	       "TcbTablePartitions=0|MaxHashTableSize=65536|MaxUserPort=60999|"
	       "TcpTimedWaitDelay=60|");
	assert_int_equal(fixture.count, 3);
}

static void test_config_events__devices_and_interrupts(void **state)
{
	(void)state;
	fake_machine(fixture.root);
	tell(fixture.root, ETW_KERNEL_CONFIG_PNP | ETW_KERNEL_CONFIG_GRAPHICS);
	assert_int_equal(fixture.counts[22], 1);
	expect(22, 0,
	       "ClassGuid={4d36e96a-e325-11ce-bfc1-08002be10318}|UpperFiltersCount=0|"
	       "LowerFiltersCount=0|DevStatus=10|DevProblem=0|"
	       "DeviceID=PCI\\VEN_8086&DEV_2922&SUBSYS_11001AF4&REV_02\\0000:00:1f.2|"
	       "DeviceDescription=SATA controller|FriendlyName=Onboard SATA|"
	       "PdoName=/devices/pci0000:00/0000:00:1f.2|ServiceName=ahci|");
	assert_int_equal(fixture.counts[21], 2);
	expect(21, 0,
	       "IRQAffinity=0xF|IRQGroup=0|Reserved=0|IRQNum=9|DeviceDescriptionLen=5|"
	       "DeviceDescription=acpi|");
	expect(21, 1,
	       "IRQAffinity=0x2|IRQGroup=1|Reserved=0|IRQNum=120|DeviceDescriptionLen=13|"
	       "DeviceDescription=nvme0q1,eth0|");
	assert_int_equal(fixture.counts[14], 1);
	expect(14, 0,
	       "MemorySize=0|XResolution=1920|YResolution=1080|BitsPerPixel=32|VRefresh=0|"
	       "ChipType=ahci|DACType=|AdapterString=ahci (0000:00:1f.2)|BiosString=|"
	       "DeviceId=PCI\\VEN_8086");
	expect(14, 0, "StateFlags=0x5|");
}

static void test_config_events__services(void **state)
{
	(void)state;
	fake_machine(fixture.root);
	tell(fixture.root, ETW_KERNEL_CONFIG_SERVICES);
	assert_int_equal(fixture.counts[15], 3);
	expect(15, 0,
	       "ProcessId=0x3C|ServiceState=0x4|SubProcessTag=0x0|ServiceName=getty@tty1|"
	       "DisplayName=Getty on %I|ProcessName=agetty|LoadOrderGroup=|"
	       "SvchostGroup=system-getty.slice|");
	/* Of the two that systemd is the parent of the older one, and never the oldest of all. */
	expect(15, 1,
	       "ProcessId=0x33|ServiceState=0x4|SubProcessTag=0x0|ServiceName=web|"
	       "DisplayName=Web server|ProcessName=nginx|LoadOrderGroup=|"
	       "SvchostGroup=system.slice|");
	expect(15, 2,
	       "ProcessId=0x0|ServiceState=0x1|SubProcessTag=0x0|ServiceName=done|"
	       "DisplayName=Done|ProcessName=|");
}

static void test_config_events__no_services_without_systemd(void **state)
{
	(void)state;
	fake_text(fixture.root, "usr/lib/systemd/system/done.service", "[Unit]\n");
	tell(fixture.root, ETW_KERNEL_CONFIG_SERVICES);
	assert_int_equal(fixture.count, 0);
}

static void test_config_events__system(void **state)
{
	(void)state;
	fake_machine(fixture.root);
	tell(fixture.root, ETW_KERNEL_CONFIG_SYSTEM);
	expect(27, 0, "ProcessorCount=66|ProcessorNumber=[0x0, 0x10000, ");
	expect(27, 0, ", 0x3F0000, 0x1, 0x10001]|");
	expect(26, 0, "GroupCount=2|Affinity=[0xFFFFFFFFFFFFFFFF, 0x3]|");
	expect(24, 0,
	       "NodeCount=3|NodeMap=[{Mask=0xF, Group=0, Reserved=[0, 0, 0]}, {Mask=0x3, "
	       "Group=1, Reserved=[0, 0, 0]}, {Mask=0x0, Group=0, ");
	assert_int_equal(fixture.counts[10], 1);
	assert_int_equal(fixture.counts[35], 2);
	expect(35, 0, "ProcessorIndex=0|FeatureSet=0|");
	expect(35, 1, "ProcessorIndex=65|");
	expect(35, 1, "ProcessorName=Fast 4|");
	expect(35, 1, "VendorIdentifier=GenuineIntel|");
	expect(16, 0, "S1=0|S2=0|S3=1|S4=1|S5=1|Pad1=1|Pad2=0|Pad3=0|");
	expect(25, 0,
	       "SystemManufacturer=Maker|SystemProductName=Machine 5|BiosDate=01/02/2024|"
	       "BiosVersion=7.1|");
	expect(37, 0, "BootFlags=0|FirmwareType=2|SecureBootEnabled=1|SecureBootCapable=1|");
	expect(SYS_CONFIG + 33, 0, "SystemDirectory=/|SystemWindowsDirectory=/|");
	expect(SYS_CONFIG + 32, 0, "ProductName=Made up 12|");
	assert_int_equal(fixture.count, 3 + 1 + 2 + 1 + 1 + 1 + 1 + 1);
}

static void test_config_events__of_nothing(void **state)
{
	(void)state;
	tell(fixture.root, ETW_KERNEL_CONFIG_ALL);
	/* The machine has a processor, a power switch and a name all the same. */
	assert_int_equal(fixture.counts[10], 1);
	assert_int_equal(fixture.counts[16], 1);
	assert_int_equal(fixture.counts[25], 1);
	assert_int_equal(fixture.counts[37], 1);
	assert_int_equal(fixture.counts[17], 1);
	expect(SYS_CONFIG + 32, 0, "ProductName=Linux|");
	assert_int_equal(fixture.counts[11] + fixture.counts[12] + fixture.counts[13], 0);
	assert_int_equal(fixture.counts[24] + fixture.counts[26] + fixture.counts[27], 0);
}

static void test_config_events__of_this_machine(void **state)
{
	(void)state;
	tell("", ETW_KERNEL_CONFIG_ALL);
	assert_int_equal(fixture.counts[10], 1);
	assert_true(fixture.counts[27] <= 1);
}

/* What does not fit into a field is cut between characters; long names change nothing else. */
static void test_config_events__long_texts_are_cut(void **state)
{
	char text[8192];

	(void)state;
	for (size_t i = 0; i + 4 < sizeof(text); i += 4)
		memcpy(text + i, "\xF0\x9F\x98\x80", 5);
	fake_machine(fixture.root);
	fake_text(fixture.root, "devices/2:0:1:3/model", text);
	fake_text(fixture.root, "sys/class/dmi/id/product_name", text);
	fake_text(fixture.root, "proc/51/comm", text);
	fake_text(fixture.root, "etc/systemd/system/web.service", "[Unit]\nDescription=\xFF\xFE\n");
	fake_text(fixture.root, "etc/os-release", text);
	fake_text(fixture.root, "etc/resolv.conf", text);
	fake_text(fixture.root, "sys/kernel/irq/9/actions", text);
	tell(fixture.root, ETW_KERNEL_CONFIG_ALL);
	assert_int_equal(fixture.counts[11], 2);
	assert_int_equal(fixture.counts[15], 3);
	expect(15, 1, "DisplayName=\xEF\xBF\xBD\xEF\xBF\xBD|");
}

static void test_config_events__groups(void **state)
{
	(void)state;
	assert_int_equal(etw_kernel_config_groups(0, 0), ETW_KERNEL_CONFIG_ALL);
	assert_int_equal(etw_kernel_config_groups(EVENT_TRACE_FLAG_NO_SYSCONFIG, 0), 0);
	assert_int_equal(etw_kernel_config_groups(0, ETW_KERNEL_CONFIG_SERVICES),
			 ETW_KERNEL_CONFIG_SERVICES);
	assert_int_equal(etw_kernel_config_groups(EVENT_TRACE_FLAG_NO_SYSCONFIG, 0x1FFFFFFF),
			 ETW_KERNEL_CONFIG_ALL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_config_events__disks_and_volumes),
		TEST(test_config_events__network),
		TEST(test_config_events__devices_and_interrupts),
		TEST(test_config_events__services),
		TEST(test_config_events__no_services_without_systemd),
		TEST(test_config_events__system),
		TEST(test_config_events__of_nothing),
		TEST(test_config_events__of_this_machine),
		TEST(test_config_events__long_texts_are_cut),
		TEST(test_config_events__groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
