/* SPDX-License-Identifier: MIT */
/* What a consumer receives for each header type, field by field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/guid.h"
#include "consumer/record.h"
#include "synthetic/made_event.h"
#include "wire/hook.h"

static struct made_event made;
static const struct made_ids ids = {0x11, 0x22, 0x33, 0x44};
static const GUID guid = {0x12345678, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID other = {0x87654321, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

#define RAW  1000
#define TIME 133000000000000000

static struct etw_recorder recorder;
static struct etw_etl_block block = {
	.buffer = {.processor_word = 0x123, .logger_id = 7, .flags = WIRE_BUFFER_PROC_INDEX}};

static const char *fill(EVENT_RECORD *record)
{
	struct etw_etl_event event;

	memset(record, 0xEE, sizeof(*record));
	record->UserContext = NULL;
	assert_null(etw_etl_event_peek(made.bytes, made.count, &event));
	return etw_recorder_fill(&recorder, &block, &event, TIME, record);
}

static void assert_common(const EVENT_RECORD *record, USHORT flags, size_t header_bytes)
{
	assert_int_equal(record->EventHeader.Size, made.count);
	assert_int_equal(record->EventHeader.HeaderType, 0);
	assert_int_equal(record->EventHeader.Flags, flags | EVENT_HEADER_FLAG_PROCESSOR_INDEX);
	assert_int_equal(record->EventHeader.TimeStamp.QuadPart, TIME);
	assert_int_equal(record->BufferContext.ProcessorIndex, 0x123);
	assert_int_equal(record->BufferContext.LoggerId, 7);
	assert_ptr_equal(record->UserData, made.bytes + header_bytes);
	assert_int_equal(record->UserDataLength, made.count - header_bytes);
	assert_null(record->UserContext);
}

static void assert_ids(const EVENT_RECORD *record, bool has_times)
{
	assert_int_equal(record->EventHeader.ProcessId, 0x11);
	assert_int_equal(record->EventHeader.ThreadId, 0x22);
	assert_int_equal(record->EventHeader.KernelTime, has_times ? 0x33 : 0);
	assert_int_equal(record->EventHeader.UserTime, has_times ? 0x44 : 0);
}

static void assert_classic(const EVENT_RECORD *record, const GUID *provider, unsigned version,
			   unsigned level, unsigned opcode)
{
	const EVENT_DESCRIPTOR *d = &record->EventHeader.EventDescriptor;

	assert_true(etw_guid_equal(&record->EventHeader.ProviderId, provider));
	assert_true(etw_guid_is_null(&record->EventHeader.ActivityId));
	assert_int_equal(d->Id, 0);
	assert_int_equal(d->Version, version);
	assert_int_equal(d->Channel, 0);
	assert_int_equal(d->Level, level);
	assert_int_equal(d->Opcode, opcode);
	assert_int_equal(d->Task, 0);
	assert_int_equal(d->Keyword, 0);
	assert_int_equal(record->EventHeader.EventProperty, 0);
}

static USHORT classic_flags(bool is_64)
{
	return EVENT_HEADER_FLAG_CLASSIC_HEADER |
	       (is_64 ? EVENT_HEADER_FLAG_64_BIT_HEADER : EVENT_HEADER_FLAG_32_BIT_HEADER);
}

static void test_record__system_and_compact(void **state)
{
	(void)state;
	for (enum wire_header_type type = WIRE_HEADER_SYSTEM32; type <= WIRE_HEADER_COMPACT64;
	     type++) {
		bool is_compact = type >= WIRE_HEADER_COMPACT32;
		EVENT_RECORD record;

		made_system(&made, type, 0x0503, 0x0103, RAW, &ids);
		made_fill(&made, 1, 10);
		assert_null(fill(&record));
		assert_common(&record, classic_flags(type % 2 == 0), is_compact ? 0x18 : 0x20);
		assert_ids(&record, !is_compact);
		assert_classic(&record, etw_hook_class(0x05, 3), 3, 0, 3);
		assert_int_equal(record.ExtendedDataCount, 0);
		assert_null(record.ExtendedData);
	}
}

static void test_record__image_load_is_delivered_as_image(void **state)
{
	EVENT_RECORD record;

	(void)state;
	made_system(&made, WIRE_HEADER_SYSTEM64, WIRE_HOOK_IMAGE_LOAD, 3, RAW, &ids);
	assert_null(fill(&record));
	assert_classic(&record, etw_hook_class(0x14, 0), 3, 0, 0x0A);
}

static void test_record__perfinfo_has_no_ids(void **state)
{
	EVENT_RECORD record;

	(void)state;
	made_perfinfo(&made, WIRE_HEADER_PERFINFO64, 0x0F2E, 2, RAW, NULL, 0);
	made_fill(&made, 1, 16);
	assert_null(fill(&record));
	assert_common(&record, classic_flags(true), 0x10);
	assert_classic(&record, etw_hook_class(0x0F, 0x2E), 2, 0, 0x2E);
	assert_int_equal(record.EventHeader.ProcessId, 0xFFFFFFFF);
	assert_int_equal(record.EventHeader.ThreadId, 0xFFFFFFFF);
	assert_int_equal(record.EventHeader.KernelTime, 0);
	assert_int_equal(record.ExtendedDataCount, 0);
	made_perfinfo(&made, WIRE_HEADER_PERFINFO32, 0x0F2E, 2, RAW, NULL, 0);
	assert_null(fill(&record));
	assert_common(&record, classic_flags(false), 0x10);
}

static void test_record__counters_become_items(void **state)
{
	static const uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};

	(void)state;
	for (unsigned i = 1; i < 16; i++) {
		unsigned counters = i & 7, pebs = i >> 3;
		EVENT_RECORD record;
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item;

		made_perfinfo(&made, WIRE_HEADER_PERFINFO64, 0x0F33,
			      (uint16_t)(2 | counters << 8 | pebs << 15), RAW, words,
			      counters + pebs);
		made_fill(&made, 9, 8);
		assert_null(fill(&record));
		assert_common(&record, classic_flags(true) | EVENT_HEADER_FLAG_EXTENDED_INFO,
			      0x10 + 8 * (counters + pebs));
		assert_int_equal(record.ExtendedDataCount, pebs + (counters > 0));
		item = record.ExtendedData;
		if (pebs) {
			assert_int_equal(item->ExtType, EVENT_HEADER_EXT_TYPE_PEBS_INDEX);
			assert_int_equal(item->DataSize, 8);
			assert_int_equal(etw_load64((const uint8_t *)(uintptr_t)item->DataPtr), 1);
			item++;
		}
		if (counters) {
			assert_int_equal(item->ExtType, EVENT_HEADER_EXT_TYPE_PMC_COUNTERS);
			assert_int_equal(item->DataSize, 8 * counters);
			assert_int_equal(etw_load64((const uint8_t *)(uintptr_t)item->DataPtr),
					 1 + pebs);
		}
	}
}

static void test_record__full(void **state)
{
	(void)state;
	for (unsigned is_64 = 0; is_64 < 2; is_64++) {
		EVENT_RECORD record;

		made_full(&made, is_64 ? WIRE_HEADER_FULL64 : WIRE_HEADER_FULL32, &guid, 9, 4,
			  0x105, RAW, &ids);
		made_fill(&made, 1, 3);
		assert_null(fill(&record));
		assert_common(&record, classic_flags(is_64), 0x30);
		assert_ids(&record, true);
		assert_classic(&record, &guid, 5, 4, 9);
	}
}

static void test_record__instance_has_its_item(void **state)
{
	EVENT_RECORD record;
	EVENT_EXTENDED_ITEM_INSTANCE instance;

	(void)state;
	made_full(&made, WIRE_HEADER_FULL32, &guid, 9, 4, 5, RAW, &ids);
	made_instance(&made, 77, 88, &other);
	made_fill(&made, 1, 3);
	assert_null(fill(&record));
	assert_common(&record, classic_flags(false) | EVENT_HEADER_FLAG_EXTENDED_INFO, 0x48);
	assert_ids(&record, true);
	assert_classic(&record, &guid, 5, 4, 9);
	assert_int_equal(record.ExtendedDataCount, 1);
	assert_int_equal(record.ExtendedData[0].ExtType, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO);
	assert_int_equal(record.ExtendedData[0].DataSize, sizeof(instance));
	memcpy(&instance, (const void *)(uintptr_t)record.ExtendedData[0].DataPtr,
	       sizeof(instance));
	assert_int_equal(instance.InstanceId, 77);
	assert_int_equal(instance.ParentInstanceId, 88);
	assert_true(etw_guid_equal(&instance.ParentGuid, &other));
}

static const struct made_descriptor descriptor = {.provider = &guid,
						  .activity = &other,
						  .id = 0xFEDC,
						  .version = 1,
						  .channel = 11,
						  .level = 5,
						  .opcode = 2,
						  .task = 0xBEEF,
						  .keyword = UINT64_C(0x8123456789ABCDEF)};

static void test_record__modern_is_as_stored(void **state)
{
	(void)state;
	for (unsigned is_64 = 0; is_64 < 2; is_64++) {
		EVENT_RECORD record;
		const EVENT_DESCRIPTOR *d = &record.EventHeader.EventDescriptor;

		made_modern(&made, is_64 ? WIRE_HEADER_EVENT64 : WIRE_HEADER_EVENT32, &descriptor,
			    RAW, &ids);
		etw_store16(made.bytes + 6, 0x0004); /* EventProperty */
		made_fill(&made, 1, 7);
		assert_null(fill(&record));
		assert_common(&record,
			      is_64 ? EVENT_HEADER_FLAG_64_BIT_HEADER
				    : EVENT_HEADER_FLAG_32_BIT_HEADER,
			      0x50);
		assert_ids(&record, true);
		assert_true(etw_guid_equal(&record.EventHeader.ProviderId, &guid));
		assert_true(etw_guid_equal(&record.EventHeader.ActivityId, &other));
		assert_int_equal(record.EventHeader.EventProperty, 4);
		assert_int_equal(d->Id, 0xFEDC);
		assert_int_equal(d->Version, 1);
		assert_int_equal(d->Channel, 11);
		assert_int_equal(d->Level, 5);
		assert_int_equal(d->Opcode, 2);
		assert_int_equal(d->Task, 0xBEEF);
		assert_int_equal(d->Keyword, UINT64_C(0x8123456789ABCDEF));
		assert_int_equal(record.ExtendedDataCount, 0);
		assert_null(record.ExtendedData);
	}
}

static void test_record__extended_items(void **state)
{
	EVENT_RECORD record;

	(void)state;
	made_modern(&made, WIRE_HEADER_EVENT64, &descriptor, RAW, &ids);
	for (uint16_t i = 1; i <= 40; i++)
		made_item(&made, i, "0123456789abcdef0123456789abcdef0123456789", i);
	made_fill(&made, 1, 5);
	assert_null(fill(&record));
	assert_int_equal(record.ExtendedDataCount, 40);
	assert_int_equal(record.UserDataLength, 5);
	assert_true(record.EventHeader.Flags & EVENT_HEADER_FLAG_EXTENDED_INFO);
	for (uint16_t i = 0; i < 40; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record.ExtendedData[i];

		assert_int_equal(item->ExtType, i + 1);
		assert_int_equal(item->DataSize, i + 1);
		assert_int_equal(item->Linkage, i < 39);
		assert_int_equal(item->Reserved1, (8 + i + 1 + 7) / 8 * 8);
		assert_memory_equal((const void *)(uintptr_t)item->DataPtr, "0123",
				    i < 3 ? i + 1u : 4);
	}
}

static void test_record__damaged_items_leave_those_before(void **state)
{
	static const struct {
		size_t at; /* in the second item's header */
		uint16_t value;
		const char *sentence;
		unsigned items;
	} rows[] = {
		{0, 0, "an extended item's size does not fit", 1},
		{0, 8, "an extended item's size does not fit", 1},
		{0, 0xFFF8, "an extended item's size does not fit", 1},
		{6, 0xFFFF, "an extended item's size does not fit", 1},
		{4, 1, "an extended item reaches beyond its event", 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		EVENT_RECORD record;

		made_modern(&made, WIRE_HEADER_EVENT64, &descriptor, RAW, &ids);
		made_item(&made, 1, &guid, 16);
		made_item(&made, 2, "abc", 3);
		etw_store16(made.bytes + 0x50 + 24 + rows[i].at, rows[i].value);
		assert_string_equal(fill(&record), rows[i].sentence);
		assert_int_equal(record.ExtendedDataCount, rows[i].items);
		assert_int_equal(record.UserDataLength, 0);
		assert_true(etw_guid_equal(&record.EventHeader.ProviderId, &guid));
	}
	EVENT_RECORD record;

	made_modern(&made, WIRE_HEADER_EVENT64, &descriptor, RAW, &ids);
	etw_store16(made.bytes + 4, WIRE_EVENT_EXTENDED_INFO); /* and none is there */
	assert_string_equal(fill(&record), "an extended item reaches beyond its event");
	assert_int_equal(record.ExtendedDataCount, 0);
}

/* The sequence number is an item, if there is one. */
static void assert_sequence(const EVENT_RECORD *record, ULONG expected)
{
	EVENT_EXTENDED_ITEM_INSTANCE instance = {0};

	assert_int_equal(record->ExtendedDataCount, expected != 0);
	if (!expected)
		return;
	assert_int_equal(record->ExtendedData->ExtType, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO);
	assert_int_equal(record->ExtendedData->DataSize, sizeof(instance));
	memcpy(&instance, (const void *)(uintptr_t)record->ExtendedData->DataPtr, sizeof(instance));
	assert_int_equal(instance.InstanceId, expected);
	assert_int_equal(instance.ParentInstanceId, 0);
}

static void test_record__messages_of_every_option(void **state)
{
	struct made_message message = {
		.number = 321, .sequence = 9, .component = 0xC0FFEE, .guid = &guid, .ids = ids};

	(void)state;
	for (unsigned options = 0; options < 0x100; options++) {
		EVENT_RECORD record;
		const EVENT_HEADER *header = &record.EventHeader;
		size_t header_bytes;
		USHORT flags = EVENT_HEADER_FLAG_TRACE_MESSAGE;

		message.options = (uint16_t)options;
		made_wpp(&made, &message, RAW);
		header_bytes = made.count;
		made_fill(&made, 2, options % 7);
		if (options & 0x40)
			flags |= EVENT_HEADER_FLAG_32_BIT_HEADER;
		else if (options & 0x80)
			flags |= EVENT_HEADER_FLAG_64_BIT_HEADER;
		if (options & 0x01)
			flags |= EVENT_HEADER_FLAG_EXTENDED_INFO;
		assert_null(fill(&record));
		assert_common(&record, flags, header_bytes);
		assert_sequence(&record, options & 0x01 ? 9 : 0);
		assert_int_equal(header->EventDescriptor.Id, 321);
		assert_int_equal(header->ThreadId, options & 0x20 ? 0x22 : 0);
		assert_int_equal(header->ProcessId, options & 0x20 ? 0x11 : 0);
		if (options & 4)
			assert_int_equal(header->ProviderId.Data1, 0xC0FFEE);
		else if (options & 2)
			assert_true(etw_guid_equal(&header->ProviderId, &guid));
		else
			assert_true(etw_guid_is_null(&header->ProviderId));
	}
}

static void test_record__processor_of_older_windows(void **state)
{
	EVENT_RECORD record;

	(void)state;
	block.buffer.flags = 0;
	block.buffer.processor_word = 0x0803;
	made_full(&made, WIRE_HEADER_FULL64, &guid, 1, 1, 1, RAW, &ids);
	assert_null(fill(&record));
	assert_false(record.EventHeader.Flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX);
	assert_int_equal(record.BufferContext.ProcessorNumber, 3);
	assert_int_equal(record.BufferContext.Alignment, 8);
	block.buffer.flags = WIRE_BUFFER_PROC_INDEX;
	block.buffer.processor_word = 0x123;
}

static void test_record__losses(void **state)
{
	static const struct {
		uint16_t flag;
		UCHAR opcode;
	} rows[] = {{WIRE_BUFFER_EVENTS_LOST, 32},
		    {WIRE_BUFFER_BUFFER_LOST, 33},
		    {WIRE_BUFFER_RTBACKUP_CORRUPT, 34}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		EVENT_RECORD record;

		memset(&record, 0xEE, sizeof(record));
		etw_record_loss(&block, rows[i].flag, TIME, &record);
		assert_true(etw_guid_equal(&record.EventHeader.ProviderId, &etw_lost_event_guid));
		assert_int_equal(record.EventHeader.EventDescriptor.Opcode, rows[i].opcode);
		assert_int_equal(record.EventHeader.TimeStamp.QuadPart, TIME);
		assert_true(record.EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER);
		assert_int_equal(record.UserDataLength, 0);
		assert_null(record.UserData);
		assert_int_equal(record.ExtendedDataCount, 0);
		assert_int_equal(record.BufferContext.ProcessorIndex, 0x123);
	}
}

static int tear_down(void **state)
{
	(void)state;
	etw_recorder_done(&recorder);
	assert_null(recorder.items);
	etw_recorder_done(&recorder);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record__system_and_compact),
		cmocka_unit_test(test_record__image_load_is_delivered_as_image),
		cmocka_unit_test(test_record__perfinfo_has_no_ids),
		cmocka_unit_test(test_record__counters_become_items),
		cmocka_unit_test(test_record__full),
		cmocka_unit_test(test_record__instance_has_its_item),
		cmocka_unit_test(test_record__modern_is_as_stored),
		cmocka_unit_test(test_record__extended_items),
		cmocka_unit_test(test_record__damaged_items_leave_those_before),
		cmocka_unit_test(test_record__messages_of_every_option),
		cmocka_unit_test(test_record__processor_of_older_windows),
		cmocka_unit_test(test_record__losses),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
