/* SPDX-License-Identifier: MIT */
#include "tools/etw/stack_images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "decode/format.h"
#include "process/subject.h"
#include "tools/etw/schema_item.h"
#include "wire/class_guids.h"
#include "wire/image_symbols.h"

enum {
	IMAGE_UNLOAD = 2,
	IMAGE_DC_START = 3,
	IMAGE_DC_END = 4,
	IMAGE_LOAD = 10,
	ID_RSDS = 36,
};

#define GUID_BYTES 16

static const GUID class_image = WIRE_CLASS_IMAGE;
static const GUID class_image_id = WIRE_CLASS_IMAGE_ID;
static const GUID provider_symbols = WIRE_IMAGE_SYMBOLS_PROVIDER;

static bool is_of(const EVENT_RECORD *record, const GUID *provider)
{
	const GUID *own = &record->EventHeader.ProviderId;

	return UNLIKELY(own->Data1 == provider->Data1) && etw_guid_equal(own, provider);
}

bool stack_images_is_wanted(const EVENT_RECORD *record)
{
	return is_of(record, &class_image) || is_of(record, &class_image_id) ||
	       is_of(record, &provider_symbols);
}

/* What is beyond a limit, or of an image that nothing told of, changes nothing. */
static int ignore_refusal(int result)
{
	return result == -ENOMEM ? result : 0;
}

/* "vmlinux", "/usr/lib/debug/boot/vmlinux-6.1.0" */
static bool is_kernel_path(const char *path)
{
	const char *name = strrchr(path, '/');

	return strncmp(name ? name + 1 : path, "vmlinux", 7) == 0;
}

static int take_image(struct stack_images *images, const struct etw_decoding *decoding,
		      uint32_t *ret_gone)
{
	const EVENT_HEADER *header = &decoding->record->EventHeader;
	const struct etw_item *path = etw_decoding_find(decoding, "FileName");
	struct etw_symbol_image image = {0};
	enum etw_symbol_image_told told;
	struct etw_text text = {0};
	uint64_t pid;
	int result;

	switch (header->EventDescriptor.Opcode) {
	case IMAGE_LOAD:
		told = ETW_SYMBOL_LOAD;
		break;
	case IMAGE_UNLOAD:
		told = ETW_SYMBOL_UNLOAD;
		break;
	case IMAGE_DC_START:
		told = ETW_SYMBOL_WAS_LOADED;
		break;
	case IMAGE_DC_END:
		told = ETW_SYMBOL_IS_LOADED;
		break;
	default:
		return 0;
	}
	if (!path)
		path = etw_decoding_find(decoding, "ImageFileName");
	if (!etw_process_number(decoding, "ImageBase", &image.base) ||
	    !etw_process_number(decoding, "ImageSize", &image.bytes))
		return 0;
	if (!etw_process_number(decoding, "ProcessId", &pid))
		pid = header->ProcessId;
	image.pid = (uint32_t)pid;
	if (path)
		etw_format_item(decoding, path, &text);
	result = etw_text_error(&text);
	image.path = etw_text_string(&text);
	if (!image.pid && told != ETW_SYMBOL_UNLOAD && is_kernel_path(image.path))
		images->kernel_base = image.base;
	if (!result)
		result = etw_symbols_tell_image(images->symbols, told, &image,
						header->TimeStamp.QuadPart);
	etw_text_done(&text);
	if (told == ETW_SYMBOL_UNLOAD)
		*ret_gone = image.pid;
	return ignore_refusal(result);
}

static int take_id(struct stack_images *images, const struct etw_decoding *decoding)
{
	const EVENT_HEADER *header = &decoding->record->EventHeader;
	const struct etw_item *item = etw_decoding_find(decoding, "GuidSig");
	uint64_t pid, base;

	if (header->EventDescriptor.Opcode != ID_RSDS || !item || item->bytes != GUID_BYTES ||
	    !etw_process_number(decoding, "ProcessId", &pid) ||
	    !etw_process_number(decoding, "ImageBase", &base))
		return 0;
	return ignore_refusal(etw_symbols_tell_build_id(
		images->symbols, (uint32_t)pid, base, header->TimeStamp.QuadPart,
		(const uint8_t *)decoding->record->UserData + item->offset, GUID_BYTES));
}

/* Whoever has no file of an image has its names from here. */
static int take_symbols(struct stack_images *images, const EVENT_RECORD *record)
{
	CLEANUP(freep) struct etw_symbol_told *told = NULL;
	struct etw_image_symbols_cursor cursor;
	struct etw_image_symbols_part part;
	struct etw_image_symbol symbol;
	const struct etw_bytes payload = {record->UserData, record->UserDataLength};
	const struct etw_bytes schema = schema_item_of(record);
	struct etw_image_symbols_heir heir;
	size_t count = 0;

	if (!schema.at)
		return 0;
	if (etw_image_symbols_heir_parse(schema, payload, &heir))
		return ignore_refusal(etw_symbols_tell_inherited(
			images->symbols, heir.process_id, heir.image_base,
			record->EventHeader.TimeStamp.QuadPart, heir.of_process));
	if (!etw_image_symbols_parse(schema, payload, &part, &cursor) || !part.count)
		return 0;
	told = calloc(part.count, sizeof(*told));
	if (!told)
		return -ENOMEM;
	while (count < part.count && etw_image_symbols_next(&part, &cursor, &symbol))
		told[count++] = (struct etw_symbol_told){.start = symbol.offset,
							 .bytes = symbol.byte_count,
							 .name = symbol.name,
							 .name_bytes = symbol.name_bytes};
	/* What the kernel makes, as BPF programs, has its name at once; the kernel's own come at the end. */
	images->has_kernel_symbols |= count && !part.process_id &&
				      part.image_base == images->kernel_base;
	return ignore_refusal(
		etw_symbols_tell_symbols(images->symbols, part.process_id, part.image_base,
					 record->EventHeader.TimeStamp.QuadPart, told, count));
}

int stack_images_take(struct stack_images *images, const struct etw_decoding *decoding,
		      uint32_t *ret_gone)
{
	const EVENT_RECORD *record = decoding->record;

	*ret_gone = ETW_PROCESS_NONE;
	images->events++;
	if (is_of(record, &provider_symbols))
		return take_symbols(images, record);
	if (!decoding->schema)
		return 0;
	return is_of(record, &class_image) ? take_image(images, decoding, ret_gone)
					   : take_id(images, decoding);
}
