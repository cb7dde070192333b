/* SPDX-License-Identifier: MIT */
#include "records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synthetic/maker.h"
#include "unit/schema/info_blob.h"

const GUID record_provider = {
	0x11112222, 0x3333, 0x4444, {0x55, 0x55, 0x66, 0x66, 0x77, 0x77, 0x88, 0x88}};

static const GUID metadata_class = {
	0xbbccf6c1, 0x6cd1, 0x48c4, {0x80, 0xff, 0x83, 0x94, 0x82, 0xe3, 0x76, 0x71}};

/* Id, Kind and Text, as the description says. */
static const BYTE file_payload[] = {5, 0, 0, 0, 1, 0, 0, 0, 'h', 0, 'i', 0, 0, 0};

static void begin(struct made_record *made, const GUID *provider)
{
	memset(made, 0, sizeof(*made));
	made->record.EventHeader.ProviderId = *provider;
	made->record.EventHeader.Flags = EVENT_HEADER_FLAG_64_BIT_HEADER;
	made->record.UserData = made->payload;
}

static void add_metadata(struct made_record *made, const void *bytes, size_t count)
{
	USHORT size = made->items[0].DataSize;

	if (size + count > sizeof(made->metadata))
		abort();
	memcpy(made->metadata + size, bytes, count);
	size = (USHORT)(size + count);
	made->items[0].DataSize = size;
	memcpy(made->metadata, &size, sizeof(size));
}

void record_tracelogging(struct made_record *made, const char *name)
{
	static const GUID provider = {0xA0A0A0A0, 1, 2, {0x80, 1, 2, 3, 4, 5, 6, 7}};

	begin(made, &provider);
	made->record.EventHeader.EventDescriptor.Channel = 11;
	made->record.EventHeader.EventDescriptor.Level = 4;
	made->record.ExtendedData = made->items;
	made->record.ExtendedDataCount = 1;
	made->items[0].ExtType = EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL;
	made->items[0].DataPtr = (ULONGLONG)(uintptr_t)made->metadata;
	add_metadata(made, "\0\0\0", 3);
	add_metadata(made, name, strlen(name) + 1);
}

void record_field(struct made_record *made, const char *name, BYTE in, BYTE out, USHORT count)
{
	BYTE type = (BYTE)(out ? in | 0x80 : in);

	add_metadata(made, name, strlen(name) + 1);
	add_metadata(made, &type, 1);
	if (out)
		add_metadata(made, &out, 1);
	if ((in & 0x60) == 0x20)
		add_metadata(made, &count, sizeof(count));
}

void record_put(struct made_record *made, const void *bytes, size_t count)
{
	USHORT at = made->record.UserDataLength;

	if (at + count > sizeof(made->payload))
		abort();
	memcpy(made->payload + at, bytes, count);
	made->record.UserDataLength = (USHORT)(at + count);
}

void record_classic(struct made_record *made, const GUID *class_guid, UCHAR opcode, UCHAR version)
{
	begin(made, class_guid);
	made->record.EventHeader.Flags |= EVENT_HEADER_FLAG_CLASSIC_HEADER;
	made->record.EventHeader.EventDescriptor.Opcode = opcode;
	made->record.EventHeader.EventDescriptor.Version = version;
}

void record_manifest(struct made_record *made, const GUID *provider, USHORT id, UCHAR version)
{
	begin(made, provider);
	made->record.EventHeader.EventDescriptor.Id = id;
	made->record.EventHeader.EventDescriptor.Version = version;
}

static void add_described(struct maker *maker, UCHAR opcode, const struct info_blob *blob,
			  int64_t time_raw)
{
	static struct made_event event;
	const struct made_ids ids = {0};

	made_full(&event, WIRE_HEADER_FULL64, &metadata_class, opcode, 0, 0, time_raw, &ids);
	made_put(&event, blob->at, blob->bytes);
	maker_add(maker, 0, &event);
}

void record_file_make(const char *path)
{
	static struct made_event event;
	static struct info_blob info, map;
	const struct made_descriptor descriptor = {
		.provider = &record_provider,
		.id = 7,
		.version = 1,
		.level = 2,
	};
	const struct made_ids ids = {.process_id = 1, .thread_id = 2};
	const struct maker_options options = {.t0_raw = 1000000};
	FILE *file = fopen(path, "w+b");
	struct wire_event_info info_head;
	struct wire_map_info map_head;
	struct maker *maker;

	if (!file)
		abort();
	info_blob_event(&info, &info_head);
	info_blob_map(&map, &map_head);
	maker = maker_open(&options, file);
	made_modern(&event, WIRE_HEADER_EVENT64, &descriptor, 1000100, &ids);
	made_put(&event, file_payload, sizeof(file_payload));
	maker_add(maker, 0, &event);
	add_described(maker, WIRE_EVENT_METADATA_INFO, &info, 1000200);
	add_described(maker, WIRE_EVENT_METADATA_MAP, &map, 1000300);
	(void)maker_close(maker, NULL);
	(void)fclose(file);
}

void record_file_event(struct made_record *made)
{
	record_manifest(made, &record_provider, 7, 1);
	record_put(made, file_payload, sizeof(file_payload));
}
